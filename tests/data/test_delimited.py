"""CSV and TSV: types from all rows, dialects, and every way a file can be bad."""

import gzip
import io
import sys

import duckdb
import numpy as np
import pytest

from spinney.data.declarations import Declarations
from spinney.data.duckdb.connection import connected
from spinney.data.readers import read_table
from spinney.errors import DataError, ParameterError, SpinneyNote, SpinneyWarning


def test_types_come_from_all_rows(write, values):
    rows = "".join(f"{i},{i}\n" for i in range(30_000))
    table = read_table(write("t.csv", f"a,b\n{rows}1.5,x\n"))
    assert table["a"].kind == "numeric"
    assert table["b"].kind == "nominal"
    assert table["b"].levels[0] == "0"
    assert table.n_rows == 30_001


def test_every_column_of_many_has_its_own_type(write):
    kinds = {
        "number": ("1.5", "", "numeric"),
        "joined": ("1_000", "2", "nominal"),
        "word": ("ab", "1", "nominal"),
        "dashed": ("2024-x", "2023-y", "nominal"),
        "day": ("2024-02-29", "", "numeric"),
        "instant": ("2024-02-29 10:00:00", "2024-03-01", "numeric"),
        "nothing": ("", "", "numeric"),
        "large": ("9007199254740993", "1", "numeric"),
    }
    names = [f"{kind}{number}" for number in range(40) for kind in kinds]
    rows = [[cells[row] for cells in kinds.values()] * 40 for row in (0, 1)]
    lines = [",".join(line) for line in (names, *rows)]
    with pytest.warns(SpinneyWarning, match="large") as told:
        table = read_table(write("t.csv", "\n".join([*lines, ""])))
    assert len(told) == 40
    found = {name: table[name].kind for name in names}
    assert found == {name: kinds[name.rstrip("0123456789")][2] for name in names}


def test_true_and_false_stay_text_as_written(write):
    assert read_table(write("t.csv", "a\ntrue\nFalse\n"))["a"].levels == (
        "False",
        "true",
    )


def test_declared_nominal_keeps_leading_zeros(write):
    path = write("t.csv", "zip,x\n007,1\n7,2\n")
    table = read_table(path, declarations=Declarations(nominal=("zip",)))
    assert table["zip"].levels == ("007", "7")


def test_declared_ordinal_keeps_text_and_order(write):
    path = write("t.csv", "size,n\nlarge,1\nsmall,2\n,3\n")
    declared = Declarations(ordinal={"size": ("small", "medium", "large")})
    column = read_table(path, declarations=declared)["size"]
    assert column.kind == "ordinal"
    assert column.levels == ("small", "medium", "large")
    assert column.cells.tolist() == [2, 0, -1]


def test_cell_outside_the_declared_levels_is_refused(write):
    path = write("t.csv", "size,n\nhuge,1\n")
    declared = Declarations(ordinal={"size": ("small", "large")})
    with pytest.raises(
        DataError, match=r"'size' holds 'huge'.*missing_values=\['huge'\]"
    ):
        read_table(path, declarations=declared)


def test_markers_are_missing_and_do_not_make_text(write, values):
    path = write("t.csv", 'age,city\n1,?\n?,"?"\n3,NA\n')
    table = read_table(path, declarations=Declarations(missing=("?",)))
    assert values(table) == {"age": [1, None, 3], "city": [None, None, "NA"]}


def test_a_marker_that_is_a_number_is_missing_by_value(write, values):
    path = write("t.csv", "a\n-999\n-999.0\n1\n")
    table = read_table(path, declarations=Declarations(missing=("-999",)))
    assert values(table) == {"a": [None, None, 1]}


def test_na_and_none_are_values_unless_declared(write):
    assert read_table(write("t.csv", "a\nNA\nNone\nnull\n"))["a"].levels == (
        "NA",
        "None",
        "null",
    )


def test_empty_text_is_missing(write, values):
    table = read_table(write("t.csv", 'a,b\n,x\n"",""\n1,y\n'))
    assert values(table) == {"a": [None, None, 1], "b": ["x", None, "y"]}


def test_a_column_without_a_cell_is_numeric(write):
    table = read_table(write("t.csv", "a,b\n,1\n,2\n"))
    assert table["a"].kind == "numeric"
    assert np.isnan(table["a"].cells).all()


def test_nan_is_missing_in_a_column_of_numbers(write, values):
    assert values(read_table(write("t.csv", "a\n1\nnan\nNaN\n"))) == {
        "a": [1, None, None]
    }


@pytest.mark.parametrize("text", ["inf", "-inf", "Infinity", "1e999"])
def test_infinity_is_refused(write, text):
    with pytest.raises(
        DataError, match=r"'a' holds -?inf.*missing_values=\['-?inf'\].*ignore=\['a'\]"
    ):
        read_table(write("t.csv", f"a\n1\n{text}\n"))


def test_infinity_can_be_declared_missing(write, values):
    path = write("t.csv", "a\n1\ninf\nInfinity\n")
    table = read_table(path, declarations=Declarations(missing=("inf",)))
    assert values(table) == {"a": [1, None, None]}


def test_underscores_are_no_numbers(write):
    assert read_table(write("t.csv", "a\n1_000\n2\n"))["a"].levels == ("1_000", "2")


def test_declared_numeric_refuses_text_by_name(write):
    path = write("t.csv", "a,b\n1,x\nabc,y\n")
    with pytest.raises(DataError, match=r"'a' was declared numeric but holds 'abc'"):
        read_table(path, declarations=Declarations(numeric=("a",)))


def test_declared_numeric_reads_numbers_beside_markers(write, values):
    path = write("t.csv", "a\n1\n?\n 2 \n")
    declared = Declarations(numeric=("a",), missing=("?",))
    assert values(read_table(path, declarations=declared)) == {"a": [1, None, 2]}


def test_dates_and_instants_are_numbers_with_a_unit(write, values):
    path = write("t.csv", "d,t\n1970-01-02,1970-01-01T00:01:00\n,1970-01-02\n")
    table = read_table(path)
    assert table["d"].unit == "days since 1970-01-01"
    assert table["t"].unit == "seconds since 1970-01-01T00:00:00"
    assert values(table) == {"d": [1, None], "t": [60, 86400]}


@pytest.mark.parametrize("text", ["13/13/2020", "2020-13-01", "24:30"])
def test_other_dates_stay_text(write, text):
    assert read_table(write("t.csv", f"a\n{text}\n"))["a"].levels == (text,)


def test_integers_beyond_the_exact_ones_are_warned_of(write):
    for code in (2**53 + 1, -(2**53) - 1, 10**24, 10**50):
        path = write("t.csv", f"code\n1\n{code}\n")
        with pytest.warns(SpinneyWarning, match=r"'code'.*2\*\*53.*nominal=\['code'\]"):
            read_table(path)
    read_table(write("t.csv", f"code\n{2**53}\n-{2**53}\n1e300\n"))


@pytest.mark.parametrize("delimiter", list(",;|\t"))
def test_delimiter_is_found(write, values, delimiter):
    text = f"a{delimiter}b c\n1{delimiter}x y\n2{delimiter}z\n"
    assert values(read_table(write("t.csv", text))) == {
        "a": [1, 2],
        "b c": ["x y", "z"],
    }


def test_semicolons_win_over_decimal_commas(write, values):
    path = write("t.csv", "a;b\n1,5;2,5\n3,5;4,5\n")
    with pytest.warns(SpinneyNote, match=r"read as numbers: a \('3,5' is 3\.5\)"):
        table = read_table(path)
    assert values(table) == {"a": [1.5, 3.5], "b": [2.5, 4.5]}


def test_tsv_is_split_at_tabs_only(write, values):
    path = write("t.tsv", "a,b\tc\n1,x\ty\n")
    assert values(read_table(path)) == {"a,b": ["1,x"], "c": ["y"]}


def test_single_column(write, values):
    assert values(read_table(write("t.csv", "a\nx\ny\n"))) == {"a": ["x", "y"]}


def test_quoted_newlines_quotes_and_delimiters(write, values):
    path = write("t.csv", 'a,b\n"x\ny","say ""hi"", twice"\n1,2\n')
    assert values(read_table(path)) == {
        "a": ["x\ny", "1"],
        "b": ['say "hi", twice', "2"],
    }


def test_windows_line_endings_and_no_last_newline(write, values):
    assert values(read_table(write("t.csv", "a,b\r\n1,x\r\n2,y"))) == {
        "a": [1, 2],
        "b": ["x", "y"],
    }


def test_byte_order_mark(write):
    assert read_table(write("t.csv", "\ufeffa,b\n1,2\n")).names == ("a", "b")


def test_hostile_names(write):
    names = ["it's", "a`b", "x; DROP TABLE t", "$1", "?", "{a}", "naïve 变量", "<b>"]
    header = ",".join(names)
    cells = ",".join(map(str, range(len(names))))
    table = read_table(write("t.csv", f'{header},"say ""x""\nor, y"\n{cells},z\n'))
    assert table.names == (*names, 'say "x"\nor, y')


def test_names_that_differ_in_case_only(write, values):
    assert values(read_table(write("t.csv", "a,A\n1,x\n"))) == {"a": [1], "A": ["x"]}


@pytest.mark.parametrize("name", ["a*.csv", "a?.csv", "a[b].csv", 'it\'s "q".csv'])
def test_file_name_is_taken_literally(write, values, name):
    write("ab.csv", "x\n1\n")
    assert values(read_table(write(name, "x\n2\n"))) == {"x": [2]}


def test_compressed(write, values):
    path = write("t.csv.gz", gzip.compress(b"a,b\n1,x\n"))
    assert values(read_table(path)) == {"a": [1], "b": ["x"]}


def test_encoding(write, values):
    path = write("t.csv", "a\ncafé\n".encode("latin-1"))
    assert values(read_table(path, encoding="latin-1")) == {"a": ["café"]}
    path = write("u.csv", "a\ncafé\n".encode("utf-16"))
    assert values(read_table(path, encoding="utf-16")) == {"a": ["café"]}


def test_ignored_columns_are_left_out_unread(write):
    path = write("t.csv", "a,b\n1,inf\n2,3\n")
    assert read_table(path, declarations=Declarations(ignore=("b",))).names == ("a",)


def test_only_the_columns_that_are_looked_for_are_read(write):
    path = write("t.csv", "a,b,c\n1,inf,x\n")
    declared = Declarations(only=("c", "a"), ignore=("d",))
    assert read_table(path, declarations=declared).names == ("a", "c")


def test_all_columns_ignored(write):
    with pytest.raises(DataError, match="leave at least one"):
        read_table(write("t.csv", "a\n1\n"), declarations=Declarations(ignore=("a",)))


def test_unknown_declared_name(write):
    with pytest.raises(DataError, match="did you mean 'colour'"):
        read_table(
            write("t.csv", "colour\n1\n"), declarations=Declarations(ignore=("color",))
        )


def test_standard_input(monkeypatch, values):
    data = io.TextIOWrapper(io.BytesIO(b"a\tb\n1\tx\n"))
    monkeypatch.setattr(sys, "stdin", data)
    assert values(read_table("-", format="tsv")) == {"a": [1], "b": ["x"]}


def test_a_file_cannot_reach_another_file(write):
    """The connection that reads a file may not read anything else."""
    path, other = write("t.csv", "a\n1\n"), write("other.csv", "a\n2\n")
    with connected(path) as connection:
        with pytest.raises(duckdb.PermissionException):
            connection.sql(f"FROM read_csv('{other}')")
        with pytest.raises(duckdb.Error):
            connection.execute("SET enable_external_access = true")
        with pytest.raises(duckdb.Error):
            connection.execute("INSTALL httpfs")


def test_long_cells(write, values):
    path = write("t.csv", f"a,b\n1,{'x' * 200_000}\n")
    assert values(read_table(path)) == {"a": [1], "b": ["x" * 200_000]}
    path = write("t.csv", '"a\nb",c\n1,' + "x" * 200_000)
    with pytest.raises(DataError, match=r"t\.csv' cannot be read .*shorten the cell"):
        read_table(path)


def test_line_ending_in_a_name(write, values):
    for text in ('"a\nb",c\r\n1,x\r\n', '"a\nb",c\n1,"x"\n', '"a\nb",c\r1,x'):
        assert values(read_table(write("t.csv", text))) == {"a\nb": [1], "c": ["x"]}


BAD = {
    "empty": ("", "is empty"),
    "only a newline": ("\n", "is empty"),
    "header only": ("a,b\n", "has no rows"),
    "short line": (
        "a,b\n1,2\n3\n",
        "line 3 and the header differ in their number of cells, 1 and 2",
    ),
    "long line": (
        "a,b\n1,2\n3,4,5\n",
        "line 3 and the header differ in their number of cells, 3 and 2",
    ),
    "long line after a quoted newline": (
        'a,b\n"1\n",2\n3,4,5\n',
        "line 4 and the header differ in their number of cells, 3 and 2",
    ),
    "line beyond DuckDB's limit": (f"a,b\n1,{'x' * 3_000_000}\n", "a line exceeds"),
    "open quote far from the end": (
        'a,b\n1,2\n3,"' + "x\n" * 300_000,
        "a quote is not closed",
    ),
    "open quote": ('a,b\n1,"x\n', "quote"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_file(write, case):
    content, message = BAD[case]
    path = write("bad.csv", content)
    with pytest.raises(DataError, match=message) as caught:
        read_table(path)
    assert "bad.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_truncated_or_damaged_gzip(write):
    whole = gzip.compress(b"a,b\n" + b"".join(b"%d,x\n" % i for i in range(5000)))
    with pytest.raises(DataError, match="truncated or damaged"):
        read_table(write("t.csv.gz", whole[: len(whole) // 2]))
    damaged = bytearray(whole)
    damaged[-6] ^= 255
    with pytest.raises(DataError, match="truncated or damaged"):
        read_table(write("t.csv.gz", bytes(damaged)))


def test_folder_missing_file_and_unknown_suffix(tmp_path, write):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path / "folder.csv")
    with pytest.raises(DataError, match="there is no file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(DataError, match="there is no file"):
        read_table("a\0.csv")
    with pytest.raises(DataError, match=r"is no known format.*\.parquet"):
        read_table(write("t.docx", "a\n1\n"))


def test_unreadable_file(write, monkeypatch):
    path = write("t.csv", "a\n1\n")

    def refuse(*_args, **_kwargs):
        raise PermissionError

    monkeypatch.setattr("spinney.data.readers.local_files.open", refuse, raising=False)
    with pytest.raises(DataError, match="permission denied"):
        read_table(path)


def test_unknown_format_and_encoding(write):
    path = write("t.dat", "a\n1\n")
    with pytest.raises(ParameterError, match="did you mean 'csv'"):
        read_table(path, format="cvs")
    with pytest.raises(ParameterError, match="encoding='klingon' is unknown"):
        read_table(path, format="csv", encoding="klingon")
    assert read_table(path, format="csv").names == ("a",)
