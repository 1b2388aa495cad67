"""Data frames, Arrow streams, arrays, dictionaries, relations: the same tables."""

import datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from spinney.data.declarations import Declarations
from spinney.data.readers import read_table
from spinney.errors import (
    CellError,
    DataError,
    ParameterError,
    SpinneyNote,
    SpinneyWarning,
)

COLUMNS = {
    "number": [1, 2, None],
    "real": [0.5, None, -0.0],
    "text": ["b", "", "a"],
    "flag": [True, None, False],
    "day": [datetime.date(1970, 1, 2), None, datetime.date(1969, 12, 31)],
    "instant": [datetime.datetime(1970, 1, 1, 0, 0, 1, 500_000), None, None],
}
EXPECTED = {
    "number": [1, 2, None],
    "real": [0.5, None, 0.0],
    "text": ["b", None, "a"],
    "flag": [True, None, False],
    "day": [1, None, -1],
    "instant": [1.5, None, None],
}


class OnlyArrow:
    """An object that has an Arrow stream and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def relation_of(table):
    connection = duckdb.connect()
    return connection.from_arrow(table)


SOURCES = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas Arrow": lambda columns: pa.table(columns).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "pyarrow batches": lambda columns: pa.table(columns).to_reader(),
    "Arrow stream": lambda columns: OnlyArrow(pa.table(columns)),
    "DuckDB": lambda columns: relation_of(pa.table(columns)),
    "dict of object arrays": lambda columns: {
        name: np.array(cells, dtype=object) for name, cells in columns.items()
    },
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_table(source, assert_same_table, values):
    table = read_table(SOURCES[source](COLUMNS))
    assert_same_table(table, read_table(COLUMNS))
    assert values(table) == EXPECTED
    assert table["flag"].levels == (False, True)
    assert table["day"].unit == "days since 1970-01-01"
    assert table["instant"].unit == "seconds since 1970-01-01T00:00:00"
    assert not np.signbit(table["real"].cells[2])


@pytest.mark.parametrize("source", SOURCES)
def test_declarations_apply_to_every_source(source, assert_same_table, values):
    columns = {
        "code": [1.0, 2.5, 9.0],
        "grade": [3, 1, 2],
        "word": ["1", "2.5", "none"],
        "late": [1, 2, 3],
        "gone": ["x", "y", "z"],
        "day": [datetime.date(2020, 1, 1), datetime.date(9999, 12, 31), None],
        "flag": [True, False, True],
    }
    declared = Declarations(
        nominal=("code", "day"),
        ordinal={"grade": ("1", "2", "3")},
        numeric=("word", "flag"),
        ignore=("gone",),
        missing=("9", "none", "9999-12-31"),
    )
    table = read_table(SOURCES[source](columns), declarations=declared)
    assert values(table) == {
        "code": [1, 2.5, None],
        "grade": [3, 1, 2],
        "word": [1, 2.5, None],
        "late": [1, 2, 3],
        "day": ["2020-01-01", None, None],
        "flag": [1, 0, 1],
    }
    assert list(map(repr, table["code"].levels)) == ["1", "2.5"]
    assert table["grade"].kind == "ordinal"
    assert table["grade"].levels == (1, 2, 3)


@pytest.mark.parametrize("source", SOURCES)
def test_a_level_that_was_not_declared_is_refused(source):
    declared = Declarations(ordinal={"g": ("1", "2")})
    with pytest.raises(
        DataError, match=r"'g' holds 3.*levels 1 < 2.*missing_values=\['3'\]"
    ):
        read_table(SOURCES[source]({"g": [1, 2, 3]}), declarations=declared)


@pytest.mark.parametrize("source", SOURCES)
def test_infinity_is_refused_from_every_source(source):
    data = SOURCES[source]({"x": [1.0, float("-inf")]})
    with pytest.raises(DataError, match=r"'x' holds -inf.*missing_values=\['-inf'\]"):
        read_table(data)
    with pytest.raises(DataError, match="'x' holds -inf"):
        read_table(
            SOURCES[source]({"x": [1.0, float("-inf")]}),
            declarations=Declarations(nominal=("x",)),
        )


@pytest.mark.parametrize("source", SOURCES)
def test_infinity_declared_missing_from_every_source(source, values):
    data = SOURCES[source]({"x": [1.0, float("inf")]})
    table = read_table(data, declarations=Declarations(missing=("inf",)))
    assert values(table) == {"x": [1, None]}


@pytest.mark.parametrize("source", SOURCES)
def test_text_declared_numeric_is_refused_by_value(source):
    with pytest.raises(DataError, match="'x' was declared numeric but holds 'abc'"):
        read_table(
            SOURCES[source]({"x": ["1", "abc"]}),
            declarations=Declarations(numeric=("x",)),
        )


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("text", ["1_000", "\u0661"])
def test_only_plain_digits_are_numbers(source, text):
    with pytest.raises(DataError, match=f"'x' was declared numeric but holds '{text}'"):
        read_table(
            SOURCES[source]({"x": ["1", text]}),
            declarations=Declarations(numeric=("x",)),
        )


@pytest.mark.parametrize("source", SOURCES)
def test_a_boolean_can_be_a_marker(source, values):
    data = SOURCES[source]({"x": [True, False]})
    table = read_table(data, declarations=Declarations(missing=("false",)))
    assert values(table) == {"x": [True, None]}


@pytest.mark.parametrize("source", SOURCES)
def test_large_integers_are_warned_of(source, values):
    columns = {"key": [2**53 + 1, 2**53 + 2, 5]}
    with pytest.warns(SpinneyWarning, match=r"'key'.*2\*\*53"):
        read_table(SOURCES[source](columns))
    table = read_table(
        SOURCES[source](columns), declarations=Declarations(nominal=("key",))
    )
    assert table["key"].levels == (5, 2**53 + 1, 2**53 + 2)


@pytest.mark.parametrize("source", SOURCES)
def test_na_as_text_is_a_value(source):
    assert read_table(SOURCES[source]({"x": ["NA", "None", "nan"]}))["x"].levels == (
        "NA",
        "None",
        "nan",
    )


@pytest.mark.parametrize("source", sorted(set(SOURCES) - {"dict"}))
def test_zero_rows_and_all_missing(source):
    table = read_table(SOURCES[source]({"x": pa.array([], pa.int64()).to_pylist()}))
    assert table.n_rows == 0
    assert read_table(SOURCES[source]({"x": [None, None]}))["x"].missing.all()


@pytest.mark.parametrize(
    "data",
    [
        lambda: pl.DataFrame({"x": pl.Series([None], dtype=pl.String)}),
        lambda: pd.DataFrame({"x": pd.array([None], dtype="string")}),
        lambda: pa.table({"x": pa.array([None], pa.string())}),
        lambda: relation_of(pa.table({"x": pa.array([None], pa.string())})),
    ],
    ids=["polars", "pandas", "pyarrow", "DuckDB"],
)
def test_a_text_column_without_a_cell_is_nominal(data):
    column = read_table(data())["x"]
    assert (column.kind, column.levels) == ("nominal", ())


def test_ordered_categorical_of_pandas_is_ordinal():
    cells = pd.Categorical(["b", "a", None], categories=["c", "b", "a"], ordered=True)
    column = read_table(pd.DataFrame({"x": cells}))["x"]
    assert column.kind == "ordinal"
    assert column.levels == ("c", "b", "a")
    assert column.cells.tolist() == [1, 2, -1]


def test_ordered_dictionary_of_arrow_is_ordinal():
    cells = pa.DictionaryArray.from_arrays([0, 1, None], ["z", "a"], ordered=True)
    column = read_table(pa.table({"x": cells}))["x"]
    assert (column.kind, column.levels) == ("ordinal", ("z", "a"))


def test_ordered_categorical_of_numbers_keeps_numbers():
    cells = pd.Categorical([10, 2], categories=[10, 2], ordered=True)
    column = read_table(pd.DataFrame({"x": cells}))["x"]
    assert list(map(repr, column.levels)) == ["10", "2"]


def test_declared_nominal_overrules_an_order():
    cells = pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True)
    declared = Declarations(nominal=("x",))
    column = read_table(pd.DataFrame({"x": cells}), declarations=declared)["x"]
    assert (column.kind, column.levels) == ("nominal", ("a", "b"))


@pytest.mark.parametrize("nominal", [(), ("x",)])
def test_unordered_categories_keep_those_that_no_row_has(nominal):
    cells = pd.Categorical(["b", "a"], categories=["z", "b", "a"])
    declared = Declarations(nominal=nominal)
    column = read_table(pd.DataFrame({"x": cells}), declarations=declared)["x"]
    assert (column.kind, column.levels) == ("nominal", ("a", "b", "z"))
    assert column.cells.tolist() == [1, 0]
    assert column.without_rows == ("z",)


def test_categories_of_arrow_and_of_numbers():
    cells = pa.array(["b", "a"]).dictionary_encode()
    filtered = pa.table({"x": cells}).slice(0, 1)
    assert read_table(filtered)["x"].levels == ("a", "b")
    numbers = pd.Categorical([2, 1], categories=[3, 2, 1])
    assert read_table(pd.DataFrame({"x": numbers}))["x"].levels == (1, 2, 3)
    flags = pd.Categorical([True, None], categories=[True, False])
    assert read_table(pd.DataFrame({"x": flags}))["x"].levels == (False, True)


def test_very_many_categories_without_rows_are_left_out_and_told():
    names = [f"n{i:02}" for i in range(23)]
    frame = pd.DataFrame({"x": pd.Categorical(["n00", "n01"], categories=names)})
    with pytest.warns(SpinneyNote, match="21 values of its type occur in no row"):
        table = read_table(frame)
    assert table["x"].levels == ("n00", "n01")
    assert len(table.notes) == 1
    shorter = frame.astype(pd.CategoricalDtype(names[:22]))
    assert len(read_table(shorter)["x"].levels) == 22
    declared = Declarations(values={"x": tuple(names)})
    assert len(read_table(frame, declarations=declared)["x"].levels) == 23


@pytest.mark.parametrize("dtype", [pl.Enum(["b", "a", "z"]), pl.Categorical])
def test_enum_and_categorical_of_polars_are_nominal(dtype):
    frame = pl.DataFrame({"x": pl.Series(["b", "a", None], dtype=dtype)})
    column = read_table(frame)["x"]
    # Categoricals of Polars share their categories with others, and declare nothing.
    named = ("a", "b", "z") if isinstance(dtype, pl.Enum) else ("a", "b")
    assert (column.kind, column.levels) == ("nominal", named)
    declared = Declarations(ordinal={"x": ("b", "a", "z")})
    column = read_table(frame, declarations=declared)["x"]
    assert (column.kind, column.cells.tolist()) == ("ordinal", [0, 1, -1])


def test_every_missing_of_pandas(values):
    frame = pd.DataFrame(
        {
            "object": [None, pd.NA, np.nan, pd.NaT, "", "x"],
            "time": [*[pd.NaT] * 5, pd.Timestamp(1, unit="s")],
        }
    )
    assert values(read_table(frame)) == {
        "object": [*[None] * 5, "x"],
        "time": [*[None] * 5, 1],
    }


def test_time_zones_are_counted_in_utc(values):
    instants = pd.to_datetime(["1970-01-01 01:00"]).tz_localize("Europe/Paris")
    assert values(read_table(pd.DataFrame({"x": instants}))) == {"x": [0]}
    assert values(read_table({"x": list(instants)})) == {"x": [0]}
    declared = Declarations(nominal=("x",))
    assert values(read_table({"x": list(instants)}, declarations=declared)) == {
        "x": ["1970-01-01 00:00:00"]
    }


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"x": [[1], [2]]}),
        pl.DataFrame({"x": [[1], [2]]}),
        pl.DataFrame({"x": [b"1"]}),
        pl.DataFrame({"x": [datetime.timedelta(1)]}),
        pd.DataFrame({"x": pd.cut([1, 2], 2)}),
    ],
)
def test_nested_cells_in_frames_are_refused(data):
    with pytest.raises(CellError, match=r"column 'x'.*ignore=\['x'\]"):
        read_table(data)


def test_names_become_text():
    frame = pd.DataFrame([[1, 2]], columns=[0, ("a", "b")])
    assert read_table(frame).names == ("0", "('a', 'b')")
    assert read_table({1: [1]}).names == ("1",)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column named 'a'"),
        (pd.DataFrame([[1, 2]], columns=["0", 0]), "more than one column named '0'"),
        (pa.table([[1], [2]], names=["a", "a"]), "more than one column named 'a'"),
        ({1: [1], "1": [1]}, "more than one column named '1'"),
        ({"": [1], " ": [2]}, "columns 1, 2 of the table.*give every column a name"),
        (pd.DataFrame({"\t": [1]}), "column 1 of the table.*give every column a name"),
        (pd.DataFrame(index=[1, 2]), "has no columns"),
        (pl.DataFrame(), "has no columns"),
        ({}, "has no columns"),
    ],
)
def test_bad_names(data, message):
    with pytest.raises(DataError, match=message):
        read_table(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"a": [1], "b": [1, 2]}, "differ in length"),
        ({"a": "text"}, "'a' is of type str"),
        ({"a": 1}, "'a' is of type int"),
        ({"a": np.zeros((2, 2))}, "'a' is a 2-dim"),
        (3, "type int is no table"),
        ([1, 2], "type list is no table"),
        (None, "type NoneType is no table"),
        (pd.Series([1]), "is no table"),
    ],
)
def test_what_is_no_table(data, message):
    with pytest.raises(DataError, match=message):
        read_table(data)


def test_series_as_columns_of_a_dict(values):
    data = {"a": pd.Series([1, 2]), "b": pl.Series(["x", None]), "c": (1, 2)}
    assert values(read_table(data)) == {"a": [1, 2], "b": ["x", None], "c": [1, 2]}


def test_a_series_of_polars_is_no_table():
    with pytest.raises(DataError) as caught:
        read_table(pl.Series([1, 2]))
    assert "\n" not in str(caught.value)


def test_table_is_given_back_without_the_ignored(assert_same_table):
    table = read_table({"a": [1], "b": [2]})
    assert_same_table(read_table(table), table)
    assert_same_table(
        read_table(table, declarations=Declarations(ignore=("a",))),
        read_table({"b": [2]}),
    )


def test_declared_twice():
    with pytest.raises(ParameterError, match="'a' is declared 2 times"):
        read_table(
            {"a": [1]}, declarations=Declarations(nominal=("a",), numeric=("a",))
        )


def test_hostile_names_in_a_relation(values):
    names = ['q"uote', "it's", "c0", "c1", "spinney", "$1", "a;b", "x\ny", "?", "%s"]
    columns = {name: [place] for place, name in enumerate(names)}
    assert values(read_table(relation_of(pa.table(columns)))) == columns


def test_a_relation_keeps_its_order_of_rows(values):
    relation = duckdb.connect().sql(
        "SELECT i, 'v' || i AS t FROM range(100000) r(i) ORDER BY i DESC"
    )
    table = read_table(relation)
    assert table["i"].cells.tolist() == list(map(float, range(99_999, -1, -1)))
    assert values(table)["t"][:2] == ["v99999", "v99998"]


@pytest.mark.parametrize("missing", [(), ("?",), ("low", "?")])
def test_a_categorical_reads_as_its_texts_do(missing):
    texts = ["low", None, "high", "?", "low", "", "mid"]
    every = ["mid", "low", "?", "", "high"]
    coded = pd.Series(pd.Categorical(texts, categories=every))
    plain = pd.Series(texts, dtype=object)
    declared = Declarations(missing=missing)
    one, other = (
        read_table(pd.DataFrame({"x": series}), declarations=declared).columns[0]
        for series in (coded, plain)
    )
    assert (one.kind, one.levels) == (other.kind, other.levels)
    np.testing.assert_array_equal(one.cells, other.cells)
    assert one.cells.dtype == other.cells.dtype
