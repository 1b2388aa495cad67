"""Buckets against their naive twins, and what must hold of any buckets."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.twins import naive_buckets as naive

import spinney
from spinney.search.buckets import (
    METHODS,
    Buckets,
    bucketed,
    cuts_of,
    entropy_mdl,
    equal_frequency,
    equal_width,
    k_means,
)
from spinney.trees.counts import CountTable

# Whole numbers and quarters: sums are exact, and what is a tie is one in both.
WEIGHTS = st.sampled_from((1.0, 2.0, 0.25, 7.0))
VALUES = st.one_of(
    st.integers(-12, 12),
    st.sampled_from((-2.5, -0.1, 0.1, 0.3, 1e6, 1e9, -1e9, 1e9 + 1)),
)
NUMBERS = st.integers(2, 6)
UNSUPERVISED = ("equal-width", "equal-frequency", "k-means")


def lines_of(values, max_size: int = 9, min_size: int = 1):
    """Return a strategy of distinct values, rising, with their weights."""
    return st.dictionaries(values, WEIGHTS, min_size=min_size, max_size=max_size).map(
        lambda found: sorted(found.items())
    )


@st.composite
def class_lines(draw: st.DrawFn, max_size: int = 14):
    """Return distinct values, rising, with the weight of each of up to 3 classes."""
    k = draw(st.integers(1, 3))
    # Up to 40 rows a line, mostly of one class, so that cuts are worth something.
    weight = st.sampled_from((0.0, 0.0, 0.0, 1.0, 2.0, 8.0, 40.0, 0.25))
    line = st.lists(weight, min_size=k, max_size=k).filter(any)
    lines = draw(st.dictionaries(VALUES, line, min_size=1, max_size=max_size))
    return sorted(lines.items())


def table_of(lines) -> CountTable:
    values = np.array([value for value, _ in lines], dtype=float)
    weights = [w if isinstance(w, list) else [w] for _, w in lines]
    return replace(CountTable.of(weights), values=values)


def starts_of(lines, cuts: np.ndarray) -> list[int]:
    """Return the places where buckets start, by plain comparison."""
    numbers = [sum(value > cut for cut in cuts) for value, _ in lines]
    return [i for i in range(1, len(lines)) if numbers[i] != numbers[i - 1]]


# The twins


@given(lines_of(st.integers(-40, 40)), NUMBERS)
def test_equal_width_is_the_naive_one(lines, n):
    cuts = equal_width(table_of(lines), n)
    assert starts_of(lines, cuts) == naive.equal_width(lines, n)


@given(lines_of(VALUES, max_size=15), NUMBERS)
@settings(max_examples=examples(300))
def test_equal_frequency_is_the_naive_one(lines, n):
    cuts = equal_frequency(table_of(lines), n)
    assert starts_of(lines, cuts) == naive.equal_frequency(lines, n)


@given(lines_of(VALUES), NUMBERS)
@settings(max_examples=examples(300))
def test_k_means_is_the_best_of_all_partitions(lines, n):
    cuts = k_means(table_of(lines), n)
    assert len(cuts) == min(n, len(lines)) - 1
    found = naive.inertia(lines, starts_of(lines, cuts))
    best = naive.inertia(lines, naive.k_means(lines, n))
    assert float(found) <= float(best) * (1 + 1e-11)


@given(lines_of(st.integers(-12, 12)), NUMBERS)
@settings(max_examples=examples(300))
def test_k_means_settles_ties_by_its_rule(lines, n):
    cuts = k_means(table_of(lines), n)
    assert starts_of(lines, cuts) == naive.k_means(lines, n)


@given(st.integers(0, 10**6), st.integers(20, 45), NUMBERS)
@settings(max_examples=examples(30))
def test_k_means_by_a_plain_program(seed, d, n):
    """More values than can be enumerated: D(c, j) in plain loops."""
    generator = np.random.default_rng(seed)
    values = np.unique(generator.integers(0, 200, d)).tolist()
    lines = [(value, float(generator.integers(1, 5))) for value in values]
    d, n = len(lines), min(n, len(lines))
    apart = {
        (i, j): float(naive.squares(lines[i : j + 1]))
        for i in range(d)
        for j in range(i, d)
    }
    least = [apart[0, j] for j in range(d)]
    for clusters in range(2, n + 1):
        least = [
            min(
                (least[i - 1] + apart[i, j] for i in range(clusters - 1, j + 1)),
                default=float("inf"),
            )
            for j in range(d)
        ]
    cuts = k_means(table_of(lines), n)
    found = float(naive.inertia(lines, starts_of(lines, cuts)))
    assert found == pytest.approx(least[-1], rel=1e-10, abs=1e-9)


@given(class_lines())
@settings(max_examples=examples(300))
def test_entropy_mdl_is_the_naive_one(lines):
    cuts = entropy_mdl(table_of(lines))
    assert starts_of(lines, cuts) == naive.entropy_mdl(lines)


# What must hold of any buckets


@given(class_lines(), NUMBERS, st.sampled_from(sorted(METHODS)))
@settings(max_examples=examples(300))
def test_cuts_rise_between_values_and_no_bucket_is_empty(lines, n, method):
    table = table_of(lines)
    cuts = cuts_of(table, method, n)
    assert cuts.dtype == np.float64
    assert (np.diff(cuts) > 0).all()
    assert ((table.values[0] <= cuts) & (cuts < table.values[-1])).all()
    merged = bucketed(table, cuts)
    assert (merged.rows.sum(axis=1) > 0).all()
    np.testing.assert_allclose(merged.total, table.total)
    if method in ("equal-frequency", "k-means"):
        assert len(merged.values) == min(n, len(lines))
    if method in UNSUPERVISED:
        assert len(merged.values) <= n


rows_of = st.lists(
    st.tuples(
        st.one_of(st.none(), VALUES),
        st.sampled_from("abc"),
        st.sampled_from((1.0, 2.0, 3.0, 1 / 3, 0.1)),
    ),
    min_size=1,
    max_size=25,
).filter(lambda rows: any(value is not None for value, _, _ in rows))


def discretised(rows, method: str, n: int) -> Buckets:
    values, classes, weights = zip(*rows, strict=True)
    return spinney.discretise(
        list(values), method, n_buckets=n, classes=list(classes), weights=list(weights)
    )


@given(rows_of, st.randoms(), NUMBERS, st.sampled_from(sorted(METHODS)))
@settings(max_examples=examples(200))
def test_the_order_of_rows_does_not_matter(rows, random, n, method):
    shuffled = list(rows)
    random.shuffle(shuffled)
    found, other = discretised(rows, method, n), discretised(shuffled, method, n)
    assert found.cuts.tolist() == other.cuts.tolist()
    assert found.counts.tolist() == other.counts.tolist()


@given(rows_of, NUMBERS, st.sampled_from(sorted(METHODS)))
@settings(max_examples=examples(200))
def test_weight_two_is_the_row_twice(rows, n, method):
    doubled = [(value, label, 2 * weight) for value, label, weight in rows]
    found, other = discretised(doubled, method, n), discretised(rows * 2, method, n)
    assert found.cuts.tolist() == other.cuts.tolist()
    np.testing.assert_allclose(found.counts, other.counts)


@given(rows_of, NUMBERS, st.sampled_from(UNSUPERVISED))
@settings(max_examples=examples(200))
def test_the_unit_of_weights_does_not_matter(rows, n, method):
    trebled = [(value, label, 3 * weight) for value, label, weight in rows]
    found, other = discretised(trebled, method, n), discretised(rows, method, n)
    assert found.cuts.tolist() == other.cuts.tolist()


@given(rows_of, NUMBERS, st.sampled_from(sorted(METHODS)))
def test_codes_count_the_rows(rows, n, method):
    found = discretised(rows, method, n)
    codes = found.codes([value for value, _, _ in rows])
    weights = np.array([weight for _, _, weight in rows])
    for number, count in enumerate(found.counts):
        assert weights[codes == number].sum() == pytest.approx(count)
    assert (codes == -1).tolist() == [value is None for value, _, _ in rows]
    assert len(found.labels) == len(found) == len(found.cuts) + 1
