"""Excel workbooks: sheets, heads, and texts that are numbers."""

import sys

import pytest
from tests.helpers.workbooks import write_workbook

from spinney.data import Declarations, TextFormat
from spinney.data.readers import read_table
from spinney.errors import DataError, MissingExtraError, SpinneyNote

ROWS = [["size", "colour"], [1, "red"], [2.5, "blue"], [None, None], [3, None]]


def test_a_plain_sheet(tmp_path, values):
    table = read_table(write_workbook(tmp_path / "t.xlsx", {"Sheet1": ROWS}))
    assert values(table) == {"size": [1, 2.5, 3], "colour": ["red", "blue", None]}


def test_the_first_sheet_that_is_not_empty(tmp_path, values):
    sheets = {"Cover": [], "Data": ROWS, "More": [["x"], [1]]}
    path = write_workbook(tmp_path / "t.xlsx", sheets)
    with pytest.warns(SpinneyNote, match="sheet 'Data' is read, one of 3"):
        table = read_table(path)
    assert table.names == ("size", "colour")


def test_titles_texts_and_placeholders(tmp_path, values):
    rows = [
        ["Sales in May", None, None],
        ["price", "sold", "day"],
        ["1.017,50 €", 5, "17.11.2026"],
        ["3,5 €", "N/A", "1.12.2026"],
        ["20 €", 7, None],
    ]
    path = write_workbook(tmp_path / "t.xlsx", {"May": rows})
    said = "header was skipped .skip=1.; read as numbers: price .*; read as dates: day"
    with pytest.warns(SpinneyNote, match=said):
        table = read_table(path)
    assert values(table) == {
        "price": [1017.5, 3.5, 20],
        "sold": [5, None, 7],
        "day": [20774, 20788, None],
    }
    given = Declarations(
        text_format=TextFormat(",", None, "dayfirst", 1), missing=("N/A",)
    )
    assert values(read_table(path, declarations=given)) == values(table)


def test_what_is_no_workbook(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(DataError, match=r"not an Excel workbook .*save it again as"):
        read_table(path)
    empty = write_workbook(tmp_path / "e.xlsx", {"Sheet1": []})
    with pytest.raises(DataError, match="no header with column names"):
        read_table(empty)


def test_without_the_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    path = write_workbook(tmp_path / "t.xlsx", {"Sheet1": ROWS})
    with pytest.raises(MissingExtraError, match=r"pip install 'spinney\[excel\]'"):
        read_table(path)
