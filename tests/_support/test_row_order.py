"""The order of rows by what is in them."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney._support import row_order
from spinney._support.row_order import MAX_COPIES, row_copies

cells = st.sampled_from([0.0, -0.0, 1.5, -2.0, np.nan, np.inf])
rows = st.lists(st.tuples(cells, st.integers(-1, 3), st.integers(0, 1)), min_size=1)


def as_columns(lines):
    number, code, label = zip(*lines, strict=True)
    return [np.array(number), np.array(code, dtype=np.int32), np.array(label)]


def content(columns, order):
    """What stands where, as text: NaN is NaN, and -0.0 is 0.0."""
    return [[str(column[place] + 0) for column in columns] for place in order]


@given(rows, st.randoms(use_true_random=False))
def test_shuffled_rows_come_in_the_same_order(lines, random):
    shuffled = random.sample(lines, len(lines))
    one, other = as_columns(lines), as_columns(shuffled)
    assert content(one, row_copies(one).places) == content(
        other, row_copies(other).places
    )


@given(st.lists(st.tuples(cells, st.integers(-1, 3), st.integers(1, 4)), min_size=1))
def test_a_weight_is_so_many_rows(lines):
    weights = np.array([line[-1] for line in lines], dtype=float)
    columns = as_columns(lines)[:2]
    copies = [np.repeat(column, weights.astype(int)) for column in columns]
    weighted = content(columns, row_copies(columns, weights).places)
    assert weighted == content(copies, row_copies(copies).places)


@pytest.mark.parametrize("weights", [[0.5, 1.0], [1.0, float(MAX_COPIES)]])
def test_weights_that_cannot_be_rows_leave_each_row_once(weights):
    order = row_copies([np.array([3.0, 1.0])], np.array(weights)).places
    assert sorted(order) == [0, 1]


@given(rows, st.sampled_from([0.1, 2.54, 1e-9, 1e9]))
def test_another_unit_changes_no_order(lines, factor):
    columns = as_columns(lines)
    scaled = [columns[0] * factor + 0.0, *columns[1:]]
    assert (row_copies(columns).places == row_copies(scaled).places).all()


@given(
    st.lists(st.tuples(cells, st.integers(-1, 3), st.integers(1, 4)), min_size=1),
    st.sampled_from([6, 12, 35]),
)
def test_a_large_weight_is_so_many_rows_too(lines, times):
    """Rows that come by the dozen are as few copies as rows of such weights."""
    weights = np.array([line[-1] for line in lines]) * float(times)
    columns = as_columns(lines)[:2]
    repeated = [np.repeat(column, weights.astype(int)) for column in columns]
    with patch.object(row_order, "MAX_COPIES", 20):
        few, same = row_copies(columns, weights), row_copies(repeated)
    if few.weight is None:  # beyond 20 copies and four a row
        assert weights.sum() / times > max(20, 4 * len(lines))
        return
    assert few.weight == same.weight
    assert few.weight * len(few.places) == weights.sum()
    assert len(few.places) <= max(20, weights.sum() / times)
    assert content(columns, few.places) == content(repeated, same.places)
    for found, copies in ((columns, few), (repeated, same)):
        assert np.isin(copies.twins, copies.places).all()
        twins = content(found, copies.twins)
        assert twins == content(found, range(len(copies.twins)))


def test_as_many_copies_as_are_at_hand():
    column = np.arange(10_000.0)
    weights = np.where(column < 5_000, 3.0, 4.0)
    assert len(row_copies([column], weights).places) == 35_000
    assert row_copies([column], weights + 1).weight is None
    assert row_copies([column], weights * 0 + 5).weight == 5
