"""Products of many parts at once, against sums in plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney.sources import sum_products
from spinney.sources.rows import row_products
from spinney.sources.rows.row_products import products_of_parts


def by_loops(lines, weights, rows, asked):
    """Return the sums of one part, a row at a time."""
    weight = sum(weights[row] for row in rows)
    means = [sum(weights[row] * lines[a][row] for row in rows) / weight for a in asked]
    centred = [
        [lines[a][row] - mean for row in rows]
        for a, mean in zip(asked, means, strict=True)
    ]
    own = [weights[row] for row in rows]
    spreads = [
        [
            sum(w * x * y for w, x, y in zip(own, one, other, strict=True))
            for other in centred
        ]
        for one in centred
    ]
    return weight, means, spreads


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([1, 40, 1 << 20]))
def test_parts_are_as_in_plain_loops(seed, n_parts, most_cells):
    generator = np.random.default_rng(seed)
    n_rows = generator.integers(0, 20, n_parts)
    start = np.concatenate([[0], n_rows.cumsum()])
    lines = generator.normal(size=(4, start[-1])) + 5
    weights = generator.uniform(0.5, 2, start[-1])
    asked = [
        generator.permutation(4)[: generator.integers(1, 5)].tolist()
        for _ in range(n_parts)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_products, "MAX_CELLS", most_cells)
        patch.setattr(row_products, "MAX_PRODUCTS", most_cells)
        found = products_of_parts(lines, weights, start, asked)
    for part, each in enumerate(found):
        (weight,), (means,), (spreads,) = each.weights, each.means, each.spreads
        assert spreads.shape == (len(asked[part]), len(asked[part]))
        rows = range(start[part], start[part + 1])
        if not rows:
            assert (weight, means.any(), spreads.any()) == (0.0, False, False)
            continue
        expected = by_loops(lines, weights, rows, asked[part])
        assert weight == pytest.approx(expected[0])
        assert means == pytest.approx(expected[1])
        np.testing.assert_allclose(spreads, expected[2], rtol=1e-9, atol=1e-9)


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from([0.0, 1e7]))
def test_the_sum_of_parts_is_the_whole(seed, n_parts, away):
    generator = np.random.default_rng(seed)
    n_rows = generator.integers(0, 9, n_parts)
    n_rows[0] += 1
    start = np.concatenate([[0], n_rows.cumsum()])
    lines = generator.normal(size=(3, start[-1])) + away
    weights = generator.uniform(0.5, 2, start[-1])
    parts = products_of_parts(lines, weights, start, [[0, 1, 2]] * n_parts)
    found, ends = sum_products(parts), np.array([0, start[-1]])
    (whole,) = products_of_parts(lines, weights, ends, [[0, 1, 2]])
    np.testing.assert_allclose(found.weights, whole.weights, rtol=1e-12)
    np.testing.assert_allclose(found.means, whole.means, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.spreads, whole.spreads, rtol=1e-6, atol=1e-6)


def test_far_numbers_keep_their_digits():
    """What is subtracted are the means, not squares of the means."""
    lines = 1e9 + np.array([[0.0, 1.0, 2.0]])
    (found,) = products_of_parts(lines, np.ones(3), np.array([0, 3]), [[0]])
    assert (found.weights, found.means) == ([3.0], [[1e9 + 1]])
    assert found.spreads == [[[2.0]]]
