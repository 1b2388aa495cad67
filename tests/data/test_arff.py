"""ARFF, the format of Weka."""

import pytest

from spinney.data.declarations import Declarations
from spinney.data.readers import read_table
from spinney.errors import DataError, SpinneyNote

WEATHER = """% a comment
@RELATION 'the weather'

@Attribute outlook {sunny, 'over cast', "rain\\"y"}
@attribute 'wind speed' REAL
@ATTRIBUTE note string
@attribute day DATE "yyyy-MM-dd"
@attribute play{yes,no}

@DATA
sunny, 1.5, 'it\\'s', 1970-01-02, yes
% between
'over cast' , ?, "a, b", ?, no
"rain\\"y",-2e3,'?','1970-01-01T00:00:01',yes
"""


def arff(rows, header="@attribute a numeric\n@attribute b {x, y}"):
    return f"@relation r\n{header}\n@data\n{rows}\n"


def test_all_types(write, values):
    table = read_table(write("t.arff", WEATHER))
    assert values(table) == {
        "outlook": ["sunny", "over cast", 'rain"y'],
        "wind speed": [1.5, None, -2000],
        "note": ["it's", "a, b", "?"],
        "day": [86400, None, 1],
        "play": ["yes", "no", "yes"],
    }
    assert table["outlook"].levels == ("over cast", 'rain"y', "sunny")
    assert table["day"].unit == "seconds since 1970-01-01T00:00:00"


def test_a_header_declares_values_that_no_row_has(write):
    column = read_table(write("t.arff", arff("1, y")))["b"]
    assert (column.levels, column.without_rows) == (("x", "y"), ("x",))
    assert column.declared


def test_what_stands_for_missing_cells_is_no_value_of_a_header(write):
    declared = Declarations(missing=("x",))
    column = read_table(write("t.arff", arff("1, y")), declarations=declared)["b"]
    assert column.levels == ("y",)


def test_sparse_rows(write, values):
    rows = "{0 5, 1 y}\n{}\n{1 ?}\n{ 1 'y' }"
    assert values(read_table(write("t.arff", arff(rows)))) == {
        "a": [5, 0, 0, 0],
        "b": ["y", "x", None, "y"],
    }


def test_empty_text_is_missing(write, values):
    header = "@attribute a string\n@attribute b {x, ''}"
    assert values(read_table(write("t.arff", arff("'', ''\nz, x", header)))) == {
        "a": [None, "z"],
        "b": [None, "x"],
    }


def test_escapes(write, values):
    path = write("t.arff", arff(r"'a\tb\nc\\d\%\u0041'", "@attribute a string"))
    assert values(read_table(path)) == {"a": ["a\tb\nc\\d%A"]}


def test_declarations(write, values):
    declared = Declarations(nominal=("a",), ordinal={"b": ("y", "x")}, missing=("2",))
    table = read_table(write("t.arff", arff("1, x\n2, y")), declarations=declared)
    assert values(table) == {"a": [1, None], "b": ["x", "y"]}
    assert table["b"].levels == ("y", "x")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1, z", "line 5 of .*'z' for the nominal attribute 'b'"),
        ("1, x\none, x", "line 6 of .*'one' for the numeric attribute 'a'"),
        ("1", "line 5 of .*number of cells, 1 and 2"),
        ("1, x, y", "line 5 of .*number of cells, 3 and 2"),
        ("1, x, {5}", "line 5 of .*weights are not read"),
        ("{0 1}, {5}", "line 5 of .*weights are not read"),
        ("{7 1}", "line 5 of .*no 'index value'"),
        ("{zero 1}", "line 5 of .*no 'index value'"),
        ("1, 'x", "line 5 of .*cannot be split"),
        ("1, 'x'y", "line 5 of .*cannot be split"),
        ("inf, x", "'a' holds inf"),
        ("", "has no rows"),
    ],
)
def test_bad_rows(write, rows, message):
    with pytest.raises(DataError, match=message) as caught:
        read_table(write("bad.arff", arff(rows)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("@attribute a relational", "line 2 of .*of type 'relational'"),
        ("@attribute a {x, y", "line 2 of .*does not close"),
        ("@attribute a", "line 2 of .*is not an @relation, @attribute or @data"),
        ("nonsense", "line 2 of .*is not an @relation, @attribute or @data"),
        ("@attribute '' numeric", "no name"),
        ("", "has no columns"),
    ],
)
def test_bad_header(write, header, message):
    with pytest.raises(DataError, match=message):
        read_table(write("bad.arff", arff("1", header)))


def test_a_second_attribute_of_a_name_gets_another(write):
    header = "@attribute a {x, y}\n@attribute a real"
    path = write("twice.arff", arff("x, 1\ny, 2", header))
    with pytest.warns(SpinneyNote, match="a second column 'a' is renamed 'a_2'"):
        table = read_table(path)
    assert table.names == ("a", "a_2")
    assert table["a"].levels == ("x", "y")
    assert table["a_2"].cells.tolist() == [1.0, 2.0]


def test_without_data(write):
    with pytest.raises(DataError, match="has no @data line"):
        read_table(write("bad.arff", "@relation r\n@attribute a real\n"))


def test_string_that_a_sparse_row_leaves_out(write):
    with pytest.raises(DataError, match=r"line 4 of .*'a', which has no zero"):
        read_table(write("bad.arff", arff("{}", "@attribute a string")))
