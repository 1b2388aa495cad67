"""The cells of one row, against those of a table of that row."""

import datetime
import pickle

import numpy as np
import pytest

from spinney.data import Attribute, Schema, Target
from spinney.data.readers import RowReader, read_with_schema, row_reader
from spinney.errors import DataError, SpinneyWarning

SCHEMA = Schema(
    (
        Attribute("colour", "nominal", ("blue", "red", 7, True)),
        Attribute("size", "ordinal", ("small", "large")),
        Attribute("weight", "numeric"),
        Attribute("day", "numeric", unit="days since 1970-01-01"),
    ),
    Target("sort", ("a", "b")),
    markers=("?", "-1"),
)
READER = RowReader(SCHEMA, (0, 1, 2, 3), optional=(3,))


def as_table(row):
    """Return the cells of a table of one row, as its codes say them."""
    table = {name: [value] for name, value in row.items()}
    columns = SCHEMA.encode(
        read_with_schema(SCHEMA, (0, 1, 2, 3), table, optional=(3,))
    )
    return [float(cells[0]) for cells in columns]


@pytest.mark.parametrize(
    "change",
    [
        {"colour": value}
        for value in ("red", "?", "", None, 7, 7.0, "7", True, "TRUE", "pink", np.nan)
    ]
    + [{"size": value} for value in ("small", "large", "huge", None, 3)]
    + [
        {"weight": value}
        for value in (1, 2.5, -1, -1.0, "-1", "2.5", True, None, np.nan, np.float32(2))
    ]
    + [{"day": value} for value in (datetime.date(2024, 2, 3), "2024-02-03", None)]
    + [{"other": object(), "sort": "c"}],
)
def test_the_cells_of_a_table(change):
    row = {"colour": "blue", "size": "large", "weight": 3.5, "day": None} | change
    read = {n: value for n, value in row.items() if n not in ("other", "sort")}
    expected = [np.nan if cell == -1 else cell for cell in as_table(read)]
    for _ in range(2):  # the second time by what is kept
        assert READER.cells(row) == pytest.approx(expected, nan_ok=True, abs=0)


def test_a_column_that_may_lack():
    cells = READER.cells({"colour": "red", "size": "small", "weight": 1})
    assert cells[:3] == [1, 0, 1]
    assert np.isnan(cells[3])
    with pytest.raises(DataError, match="needs the column 'weight'"):
        READER.cells({"colour": "red", "size": "small"})


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(row_reader, "MAX_CACHED", 6)
    reader = RowReader(SCHEMA, (0,))
    for number in range(20):
        (cell,) = reader.cells({"colour": f"new {number}"})
        assert np.isnan(cell)
    (plan,) = reader._plans
    assert len(plan[2]) == 6
    assert reader.cells({"colour": 7}) == [2]


def test_large_numbers_are_warned_of_each_time():
    row = {"colour": "red", "size": "small", "weight": 2**53 + 1}
    for _ in range(2):
        with pytest.warns(SpinneyWarning, match=r"beyond 2\*\*53"):
            assert READER.cells(row)[2] == 2.0**53
    with pytest.raises(DataError, match="'weight' holds inf"):
        READER.cells(row | {"weight": np.inf})


def test_columns_of_one_row_and_a_copy():
    reader = pickle.loads(pickle.dumps(READER))  # noqa: S301
    cells = reader.cells({"colour": "pink", "size": "large", "weight": 2})
    colour, size, weight, day = reader.coded(cells)
    assert (colour.tolist(), size.tolist(), weight.tolist()) == ([-1], [1], [2.0])
    assert np.isnan(day).all()
