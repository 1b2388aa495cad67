"""JSON lines."""

import gzip

import pytest

from spinney.data.declarations import Declarations
from spinney.data.readers import read_table
from spinney.errors import CellError, DataError


def test_cells_keep_their_types(write, values):
    path = write(
        "t.jsonl",
        '{"n": 1, "s": "x", "b": true, "m": "1"}\n\n'
        '{"n": 2.5, "s": "", "b": null, "m": 1}\n',
    )
    table = read_table(path)
    assert values(table) == {
        "n": [1, 2.5],
        "s": ["x", None],
        "b": [True, None],
        "m": ["1", 1],
    }
    assert table["b"].levels == (True,)


def test_a_name_that_a_line_lacks_is_missing(write, values):
    path = write("t.ndjson", '{"a": 1}\n{"b": "x"}\n{"a": 2, "b": "y"}\n{}\n')
    assert values(read_table(path)) == {
        "a": [1, None, 2, None],
        "b": [None, "x", "y", None],
    }


def test_dates_are_numbers_as_in_csv(write, values):
    path = write(
        "t.jsonl",
        '{"d": "1970-01-02", "t": "1970-01-01T00:00:01Z", "x": "20200101"}\n'
        '{"d": null, "t": "1970-01-02", "x": "2020-W01-1"}\n',
    )
    table = read_table(path)
    assert values(table) == {
        "d": [1, None],
        "t": [1, 86400],
        "x": ["20200101", "2020-W01-1"],
    }
    assert table["d"].unit == "days since 1970-01-01"


def test_numbers_as_text_stay_text_unless_declared(write):
    path = write("t.jsonl", '{"a": "1"}\n{"a": "2"}\n')
    assert read_table(path)["a"].levels == ("1", "2")
    table = read_table(path, declarations=Declarations(numeric=("a",)))
    assert table["a"].cells.tolist() == [1, 2]


def test_compressed(write, values):
    path = write("t.jsonl.gz", gzip.compress(b'{"a": 1}\n'))
    assert values(read_table(path)) == {"a": [1]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}\n{"a": \n', "line 2 of .*is not JSON"),
        ("[1, 2]\n", "line 1 of .*not a JSON object"),
        ("[" * 100_000, "line 1 of .*is not JSON"),
        ("", "has no rows"),
        ('{"": 1}', "column 1 .*no name"),
        ('{"a": NaN}\n{"a": Infinity}', "'a' holds inf"),
        ("{}", "has no columns"),
    ],
)
def test_bad_file(write, content, message):
    with pytest.raises(DataError, match=message):
        read_table(write("bad.jsonl", content))


def test_nested_cells_are_refused(write):
    path = write("t.jsonl", '{"a": 1}\n{"a": {"b": 1}}\n')
    with pytest.raises(CellError, match="'a' holds a dict in row 2"):
        read_table(path)
    assert read_table(
        write("u.jsonl", '{"a": [1], "b": 1}\n'),
        declarations=Declarations(ignore=("a",)),
    ).names == ("b",)
