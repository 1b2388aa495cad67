"""Columns as codes: what is rare in a column is coded, too."""

import numpy as np
import pytest

from spinney.data.schema import Attribute
from spinney.growth.binned.binned_dataset import SAMPLE_ROWS, encode_cells

N_ROWS = 5 * SAMPLE_ROWS


def coded(*columns):
    matrix = np.column_stack(columns)
    attributes = [Attribute(f"a{j}", "numeric") for j in range(matrix.shape[1])]
    cells = encode_cells(attributes, list(matrix.T))
    np.testing.assert_array_equal(cells.codes[:, : len(columns)].T, cells.by_attribute)
    return cells


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rare_values_have_codes_of_their_own(dtype):
    column = np.zeros(N_ROWS, dtype)
    column[[3, 4_000, 9_999]] = 1, 7, -2
    column[17] = np.nan
    cells = coded(column, np.arange(N_ROWS) % 40)
    assert cells.column.tolist() == [-1, -1]
    assert cells.n_bins.tolist() == [4, 40]
    assert cells.values[0, :4].tolist() == [-2, 0, 1, 7]
    assert cells.by_attribute[0, [3, 4_000, 9_999, 17, 18]].tolist() == [
        2,
        3,
        0,
        255,
        1,
    ]


def test_many_rare_values_leave_bins_of_several():
    column = np.zeros(N_ROWS)
    column[::40] = np.arange(len(column[::40]))
    cells = coded(column)
    assert cells.column.tolist() == [0]
    assert np.isnan(cells.values[0]).all()


def test_a_column_whose_sample_is_missing():
    column = np.full(N_ROWS, np.nan)
    column[5], column[77] = 2.5, -1
    cells = coded(column)
    assert cells.n_bins.tolist() == [2]
    assert cells.values[0, :2].tolist() == [-1, 2.5]
    assert cells.by_attribute[0, [5, 77, 78]].tolist() == [1, 0, 255]
