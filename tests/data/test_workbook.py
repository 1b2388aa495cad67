"""Excel workbooks: sheets, heads, and texts that are numbers."""

import pytest
from tests.helpers.workbooks import write_workbook

from spinney import look
from spinney.data import Declarations, TextFormat
from spinney.data.readers import read_table
from spinney.data.writers import Field, RowStream, write_rows
from spinney.errors import DataError, ParameterError, SpinneyNote

ROWS = [["size", "colour"], [1, "red"], [2.5, "blue"], [None, None], [3, None]]


def test_a_plain_sheet(tmp_path, values):
    table = read_table(write_workbook(tmp_path / "t.xlsx", {"Sheet1": ROWS}))
    assert values(table) == {"size": [1, 2.5, 3], "colour": ["red", "blue", None]}


def test_the_first_sheet_that_is_not_empty(tmp_path, values):
    sheets = {"Cover": [], "Data": ROWS, "More": [["x"], [1]]}
    path = write_workbook(tmp_path / "t.xlsx", sheets)
    with pytest.warns(SpinneyNote, match="sheet 'Data' is read; to read another"):
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
    with pytest.raises(DataError, match=r"sheet 'Sheet1' of .* has no header with"):
        read_table(empty)


COVER = [["Report of May", None], ["by", "Sales"]]


def test_a_cover_sheet_is_passed_over(tmp_path):
    sheets = {"Cover": COVER, "Data": ROWS, "More": [["x", "y"], [1, 2], [3, 4]]}
    path = write_workbook(tmp_path / "t.xlsx", sheets)
    said = r"sheet 'Data' is read; to read another \('Cover', 'More'\), set sheet"
    with pytest.warns(SpinneyNote, match=said):
        assert read_table(path).names == ("size", "colour")


@pytest.mark.parametrize("sheet", ["More", 3, "3"])
def test_a_named_sheet(tmp_path, sheet):
    sheets = {"Cover": COVER, "Data": ROWS, "More": [["x"], [1]]}
    path = write_workbook(tmp_path / "t.xlsx", sheets)
    given = Declarations(text_format=TextFormat(sheet=sheet))
    assert read_table(path, declarations=given).names == ("x",)
    assert look(path, text_format={"sheet": sheet}).columns[0].name == "x"


def test_messages_name_the_sheet(tmp_path):
    path = write_workbook(tmp_path / "t.xlsx", {"Data": ROWS, "Bare": [["x", "y"]]})
    for sheet, message in (
        ("Bare", "sheet 'Bare' of .* has no rows"),
        ("Mai", "sheet='Mai' is no sheet of .*: it has 'Data', 'Bare'"),
        (7, "a number from 1 to 2"),
    ):
        with pytest.raises((DataError, ParameterError), match=message):
            look(path, text_format={"sheet": sheet})
    csv = tmp_path / "t.csv"
    csv.write_text("x\n1\n")
    with pytest.raises(ParameterError, match="sheet='a' is for Excel workbooks"):
        look(csv, text_format={"sheet": "a"})


@pytest.mark.parametrize("titles", [[], [["Sales", None, None, None]]])
def test_a_header_of_two_lines(tmp_path, titles):
    lines = [[None, "2023", None, 2024], ["town", "Q1", "Q2", "Q1"]]
    rows = [*titles, *lines, ["Ur", 1, 2, 3], ["Rome", 4, 5, 6]]
    path = write_workbook(tmp_path / "t.xlsx", {"s": rows})
    with pytest.warns(SpinneyNote, match="header are joined, as in '2023 Q1'"):
        table = read_table(path)
    assert table.names == ("town", "2023 Q1", "2023 Q2", "2024 Q1")
    assert table.n_rows == 2


def test_a_group_ends_where_a_name_has_one_line(tmp_path):
    rows = [["2023", None, "all"], ["Q1", "Q2", None], [1, 2, 3], [4, 5, 6]]
    path = write_workbook(tmp_path / "t.xlsx", {"s": rows})
    with pytest.warns(SpinneyNote, match="joined"):
        assert read_table(path).names == ("2023 Q1", "2023 Q2", "all")


def test_what_is_written_is_read(tmp_path, values):
    fields = (
        ("size", "DOUBLE"),
        ("a & b", "VARCHAR"),
        ("day", "DATE"),
        ("on", "BOOLEAN"),
    )
    rows = RowStream(
        tuple(Field(*field) for field in fields),
        [
            [[1.5, None], ["<x>", " y\x01"], ["2026-11-17", None], [True, False]],
            [[10**20], ["=1+1"], ["2026-12-01"], [None]],
        ],
    )
    write_rows(tmp_path / "t.xlsx", rows, format="xlsx")
    assert (tmp_path / "t.xlsx").read_bytes() == _written_again(tmp_path, rows)
    table = read_table(tmp_path / "t.xlsx")
    assert values(table)["a & b"] == ["<x>", " y\ufffd", "=1+1"]
    assert values(table)["day"] == [20774, None, 20788]
    assert values(table)["on"] == [True, False, None]


def _written_again(folder, rows):
    write_rows(folder / "again.xlsx", rows, format="xlsx")
    return (folder / "again.xlsx").read_bytes()


def test_too_many_columns_for_a_sheet(tmp_path):
    rows = RowStream(tuple(Field(f"x{i}") for i in range(16_385)), [])
    with pytest.raises(ParameterError, match=r"at most 16384 columns.*-o out\.csv"):
        write_rows(tmp_path / "t.xlsx", rows, format="xlsx")
    assert not (tmp_path / "t.xlsx").exists()
