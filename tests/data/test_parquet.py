"""Parquet, typed by itself."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spinney import look
from spinney.data.declarations import Declarations
from spinney.data.readers import read_table
from spinney.errors import DataError, SpinneyNote


def test_types_are_those_of_the_file(tmp_path, assert_same_table):
    frame = pl.DataFrame(
        {"i": [1, 2, None], "b": [True, None, False], "s": ["x", "", "y"]}
    ).with_columns(d=pl.date(2020, 1, pl.col("i").fill_null(5)))
    frame.write_parquet(tmp_path / "t.parquet")
    assert_same_table(read_table(tmp_path / "t.parquet"), read_table(frame))


def test_declared_nominal_numbers_stay_numbers(tmp_path):
    pl.DataFrame({"f": [1.0, 2.5], "i": [7, 8]}).write_parquet(tmp_path / "t.parquet")
    declared = Declarations(nominal=("f", "i"))
    table = read_table(tmp_path / "t.parquet", declarations=declared)
    assert list(map(repr, table["f"].levels)) == ["1", "2.5"]
    assert table["i"].levels == (7, 8)


def test_nested_columns_are_excluded_with_a_note(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"l": [[1]], "s": [{"a": 1, "b": {"c": 2}}], "x": [1]}).write_parquet(
        path
    )
    with pytest.warns(SpinneyNote) as notes:
        assert read_table(path).names == ("x",)
    said = [str(each.message) for each in notes]
    assert said[0] == "column 'l' has type BIGINT[] and was excluded"
    assert len(said) == 2
    assert "'l' has type BIGINT[] and was excluded" in str(look(path))
    declared = Declarations(nominal=("l",))
    with pytest.raises(DataError, match=r"'l' has type BIGINT\[\].*ignore=\['l'\]"):
        read_table(path, declarations=declared)
    table = read_table(path, declarations=Declarations(ignore=("l", "s")))
    assert table.names == ("x",)


def test_names_named_twice_and_names_that_differ_in_case(tmp_path, values):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    with pytest.raises(DataError, match="more than one column named 'a'"):
        read_table(path)
    pq.write_table(pa.table([[1], [2]], names=["a", "A"]), path)
    assert values(read_table(path)) == {"a": [1], "A": [2]}


def test_name_of_the_file_is_taken_literally(tmp_path, values):
    for name, cell in (("a*.parquet", 1), ("ab.parquet", 2), ("it's.parquet", 3)):
        pd.DataFrame({"x": [cell]}).to_parquet(tmp_path / name)
    assert values(read_table(tmp_path / "a*.parquet")) == {"x": [1]}
    assert values(read_table(tmp_path / "it's.parquet")) == {"x": [3]}


def test_truncated_or_not_parquet(tmp_path, write):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"x": list(range(1000))}).write_parquet(path)
    for content in (path.read_bytes()[:-20], b"", b"a,b\n1,2\n"):
        with pytest.raises(DataError, match=r"bad\.parquet") as caught:
            read_table(write("bad.parquet", content))
        assert "\n" not in str(caught.value)


def test_without_rows(tmp_path):
    pl.DataFrame({"x": []}, schema={"x": pl.Int64}).write_parquet(
        tmp_path / "t.parquet"
    )
    with pytest.raises(DataError, match="has no rows"):
        read_table(tmp_path / "t.parquet")
