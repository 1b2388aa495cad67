"""Small plain files are the tables that DuckDB reads from them."""

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney.data import Declarations
from spinney.data.duckdb.columns import load
from spinney.data.readers import plain_delimited, read_table
from spinney.data.readers.local_files import LocalFile
from spinney.data.readers.plain_delimited import read_plain
from spinney.data.readers.read import scanned_file
from spinney.data.reading_notes import ReadingNotes

NUMBER_FORMATS = ["0", "1", "-2.5", "007", "1e3", "2E-05", "-0", "123456.789", "0.1"]
NUMBER_FORMATS += ["3.14159265358979323846", "9007199254740991", "1e-30", "-17"]
ODD = ["+5", ".5", "5.", " 5", "5 ", "1_000", "inf", "-Infinity", "nan", "NaN", "0x1F"]
ODD += ["1e999", "1e-999", "1e400", "9007199254740993", "2024-01-31", "12:30", "٣"]
ODD += ["2024-01-31 10:00:00", "true", "FALSE", "1.5.2", "-", "e5", "1e", "NA", "?"]
ODD += ["abcd-ef", "infinite", "nano", "no", "é", "x\u2028y", "#", "'", "\\N", "NULL"]
WORDS = ["red", "green", "Blue", "yes", "no", "a b", " lead", "x"]
CELLS = st.sampled_from(["", "?", *NUMBER_FORMATS, *ODD, *WORDS])


@st.composite
def files(draw: st.DrawFn) -> str:
    """Draw the text of a file: columns of numbers, words or anything."""
    n_rows, width = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    columns = []
    for _ in range(width):
        kinds = [
            NUMBER_FORMATS,
            WORDS,
            ["", "?", *NUMBER_FORMATS],
            ["", *WORDS],
            [*NUMBER_FORMATS, *WORDS],
        ]
        plain = st.sampled_from(draw(st.sampled_from(kinds)))
        cells = draw(st.sampled_from([plain, plain, plain, CELLS]))
        columns.append(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    rows = [[f"n{number}" for number in range(width)], *zip(*columns, strict=True)]
    text = end.join(draw(st.sampled_from(",;\t")).join(row) for row in rows)
    return text + draw(st.sampled_from([end, end, ""]))


DECLARED = [
    Declarations(),
    Declarations(missing=("?", "-17")),
    Declarations(nominal=("n0",), numeric=("n1",), only=("n0", "n1", "n2")),
    Declarations(
        ordinal={"n0": ("1", "0", "red", "yes")}, ignore=("n1",), missing=("x",)
    ),
]


@given(files(), st.sampled_from(DECLARED))
@settings(max_examples=examples(500), deadline=None)
def test_the_table_that_duckdb_reads(tmp_path_factory, assert_same_table, text, given):
    assume("n1" in text or not given.ignore)
    path = tmp_path_factory.getbasetemp() / "plain.csv"
    path.write_bytes(text.encode())
    table = read_plain(path, "plain.csv", kind="csv", declarations=given)
    if table is not None:
        with scanned(path, given) as opened:
            assert_same_table(table, load(opened.relation, opened.columns))


def scanned(path: Path, declarations: Declarations):
    file = LocalFile(path, "plain.csv", "csv", "utf-8")
    return scanned_file(file, declarations, ReadingNotes())


PLAIN = "size,colour,weight\n1,red,0.5\n,blue,\n3,,1e2\n"


def plain_table(tmp_path: Path, content: bytes):
    path = tmp_path / "some.csv"
    path.write_bytes(content)
    return read_plain(path, "some.csv", kind="csv", declarations=Declarations())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_what_is_plain_is_read(tmp_path, start, end):
    content = (start + PLAIN.replace("\n", end)).encode()
    table = plain_table(tmp_path, content)
    assert table["size"].kind == table["weight"].kind == "numeric"
    assert table["colour"].levels == ("blue", "red")
    assert table.row(1) == {"size": None, "colour": "blue", "weight": None}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a,b\n",
        b"a,b\n1,2\n\n3,4\n",
        b"a,b\n1\n",
        b'a,b\n"1",2\n',
        b"a,b\n1,\0\n",
        b"a,b\n1,\xff\n",
        b"a,b\n1,2\r\n3,4\n",
        b"a,b\n1,2\r3,4\r",
        b"a,b\n2024-01-01,x\n",
        b"a,b\n1,9007199254740993\n",
        b"a,b\n1,inf\n",
    ],
)
def test_what_is_not_plain_is_left_to_duckdb(tmp_path, content):
    assert plain_table(tmp_path, content) is None


def test_a_large_file_is_left_to_duckdb(tmp_path, monkeypatch):
    monkeypatch.setattr(plain_delimited, "LARGEST_FILE", len(PLAIN) - 1)
    assert plain_table(tmp_path, PLAIN.encode()) is None


def test_a_small_file_is_read_without_duckdb(tmp_path, monkeypatch):
    from spinney.data.readers import read

    path = tmp_path / "some.csv"
    path.write_text(PLAIN)
    monkeypatch.setattr(read, "scanned_file", None)
    assert read_table(path).n_rows == 3
