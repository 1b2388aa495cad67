"""The order of rows by what is in them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.row_order import MOST_COPIES, rows_in_order

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
    assert content(one, rows_in_order(one)) == content(other, rows_in_order(other))


@given(st.lists(st.tuples(cells, st.integers(-1, 3), st.integers(1, 4)), min_size=1))
def test_a_weight_is_so_many_rows(lines):
    weights = np.array([line[-1] for line in lines], dtype=float)
    columns = as_columns(lines)[:2]
    copies = [np.repeat(column, weights.astype(int)) for column in columns]
    weighted = content(columns, rows_in_order(columns, weights))
    assert weighted == content(copies, rows_in_order(copies))


@pytest.mark.parametrize("weights", [[0.5, 1.0], [1.0, float(MOST_COPIES)]])
def test_weights_that_cannot_be_rows_leave_each_row_once(weights):
    order = rows_in_order([np.array([3.0, 1.0])], np.array(weights))
    assert sorted(order) == [0, 1]
