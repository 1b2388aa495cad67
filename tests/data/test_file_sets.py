"""Tables in several Parquet files: folders, partitions and patterns."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spinney
from spinney.data.declarations import Declarations
from spinney.data.readers import read_table
from spinney.data.readers.file_sets import TableFile, key_types
from spinney.errors import DataError, ParameterError

HOSTILE = [
    "it's.parquet",
    "'); DROP TABLE t; --.parquet",
    "a[1]*.parquet",
    "two\nlines.parquet",
    "Köln 中.parquet",
    "--.parquet",
]


def written(path, **columns):
    """Write a file, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture
def sales(tmp_path):
    """Give a folder of partitions by year and city, a row in each file."""
    folder = tmp_path / "sales"
    for year in (2023, 2024):
        for size, city in enumerate(("Bonn", "it's", "a%2Fb")):
            name = f"year={year}/city={city}/part-0.parquet"
            written(folder / name, size=[size + year / 10_000])
    return folder


def test_a_file_in_a_partition_is_that_file(tmp_path, values):
    path = written(tmp_path / "year=2024" / "part.parquet", x=[1, 2])
    assert values(read_table(path)) == {"x": [1, 2]}
    with_key = written(tmp_path / "x=5" / "part.parquet", x=[1, 2])
    assert values(read_table(with_key)) == {"x": [1, 2]}


@pytest.mark.parametrize("path", ["", "**/*.parquet", "*/*/part-?.parquet", "*"])
def test_partition_keys_are_columns(path, sales, values):
    table = read_table(sales / path)
    assert values(table) == {
        "size": [i + year / 10_000 for year in (2023, 2024) for i in (0, 2, 1)],
        "year": [2023] * 3 + [2024] * 3,
        "city": ["Bonn", "a/b", "it's"] * 2,
    }
    assert table["year"].kind == "numeric"


def test_a_pattern_names_some_partitions(sales, values):
    assert set(values(read_table(f"{sales}/year=2024/**/*.parquet"))["year"]) == {2024}
    # The folder of a partition is a table without its key.
    assert read_table(sales / "year=2024").names == ("size", "city")


def test_a_partition_without_a_value_is_missing(tmp_path, values):
    for name in ("city=Bonn", "city=__HIVE_DEFAULT_PARTITION__", "city="):
        written(tmp_path / name / "a.parquet", x=[1])
    assert values(read_table(tmp_path))["city"] == [None, "Bonn", None]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["01", "-2", "3"], "BIGINT"),
        (["1", "2.5"], "VARCHAR"),
        (["1.0", "2.5"], "DOUBLE"),
        (["2024-02-29", "2025-01-01"], "DATE"),
        (["2023-02-29"], "VARCHAR"),
        (["1", "x"], "VARCHAR"),
        (["9" * 19], "VARCHAR"),
        (["٣"], "VARCHAR"),
        ([None], "VARCHAR"),
        ([None, "7"], "BIGINT"),
    ],
)
def test_types_of_keys(values, kind, tmp_path):
    files = [TableFile(tmp_path, (("k", value),)) for value in values]
    assert key_types(files) == {"k": kind}


def test_names_of_files_are_taken_literally(tmp_path, values):
    folder = tmp_path / "'; --=1' OR '1'='1"
    for number, name in enumerate(sorted(HOSTILE)):
        written(folder / name, x=[number])
    read = values(read_table(tmp_path))
    assert read == {
        "x": list(range(len(HOSTILE))),
        "'; --": ["1' OR '1'='1"] * len(HOSTILE),
    }
    # A name with wildcards that is there is that file, and no pattern.
    assert values(read_table(folder / "a[1]*.parquet")) == {
        "x": [sorted(HOSTILE).index("a[1]*.parquet")]
    }
    data = folder / "*.parquet"
    assert values(read_table(data)) == read


def test_a_folder_with_wildcards_in_its_name(tmp_path, values):
    written(tmp_path / "[ab]*" / "t.parquet", x=[1])
    written(tmp_path / "a" / "t.parquet", x=[2])
    assert values(read_table(tmp_path / "[ab]*")) == {"x": [1]}


def test_hidden_files_are_no_part(sales, values):
    before = values(read_table(sales))
    for name in ("_SUCCESS", ".part.parquet.crc", "_temporary/0/a.parquet"):
        path = sales / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"no table")
    (sales / ".hidden").mkdir()
    (sales / ".hidden" / "a.parquet").write_bytes(b"no table")
    (sales / "README.txt").write_text("about the table")
    assert values(read_table(sales)) == before
    assert values(read_table(f"{sales}/**/*")) == before


def test_columns_in_another_order_are_found_by_name(tmp_path, values):
    written(tmp_path / "a.parquet", x=[1], y=["p"])
    written(tmp_path / "b.parquet", y=["q"], x=[2])
    assert values(read_table(tmp_path)) == {"x": [1, 2], "y": ["p", "q"]}


def test_names_that_differ_in_case_in_several_files(tmp_path, values):
    for name in ("a", "b"):
        written(tmp_path / "X=3" / f"{name}.parquet", x=[1], X=[2])
    assert values(read_table(tmp_path)) == {"x": [1, 1], "X": [2, 2]}


def test_files_without_a_cell_or_a_row_fit(tmp_path, values):
    written(tmp_path / "a.parquet", x=pa.nulls(2), y=["p", "q"])
    written(tmp_path / "b.parquet", x=["r"], y=pa.nulls(1))
    written(tmp_path / "c.parquet", x=pa.array([], "int8"), y=pa.array([], "string"))
    assert values(read_table(tmp_path)) == {
        "x": [None, None, "r"],
        "y": ["p", "q", None],
    }


def test_numbers_of_any_size_are_numbers(tmp_path, values):
    written(tmp_path / "a.parquet", x=pa.array([1], "int8"))
    written(tmp_path / "b.parquet", x=pa.array([100_000], "int64"))
    written(tmp_path / "c.parquet", x=pa.array([0.5]))
    assert values(read_table(tmp_path)) == {"x": [1, 100_000, 0.5]}


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (
            {"x": ["r"]},
            r"column 'x' is of type VARCHAR in '.*b\.parquet' and BIGINT in",
        ),
        ({"z": [1]}, r"b\.parquet' lacks column 'x' of '.*a\.parquet'"),
        ({"x": [1], "z": [1]}, r"b\.parquet' has a column 'z' that is not in '.*a\.pa"),
    ],
)
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_files_that_differ_are_named(columns, words, engine, tmp_path):
    written(tmp_path / "a.parquet", x=[1])
    written(tmp_path / "b.parquet", **columns)
    with pytest.raises(DataError, match=words):
        spinney.grow(tmp_path, "x", engine=engine)


def test_partitions_by_other_keys_are_refused(tmp_path):
    written(tmp_path / "year=1" / "a.parquet", x=[1])
    written(tmp_path / "b.parquet", x=[1])
    with pytest.raises(DataError, match=r"has the partition keys 'year', and .*has no"):
        read_table(tmp_path)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    "folders", [["k=1/k=2"], ["k=1/k=2", "k=1/k=3"], ["k=1", "k=1/j=2/k=2"]]
)
def test_a_partition_that_repeats_a_key_is_refused(folders, engine, tmp_path):
    for folder in folders:
        written(tmp_path / folder / "part.parquet", x=[1, 2], t=["a", "b"])
    with pytest.raises(DataError) as told:
        spinney.grow(tmp_path, "t", engine=engine)
    path = tmp_path / next(each for each in folders if each.count("k=") > 1)
    assert str(told.value) == (
        f"{str(path / 'part.parquet')!r} repeats the partition key 'k': rename one of "
        "its folders, so that each key occurs once"
    )


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_files_of_other_formats_in_a_folder_are_skipped(engine, tmp_path):
    """They are the same files in memory and in an engine."""
    plain = spinney.grow(weather(tmp_path / "plain"), "play", engine=engine)
    mixed = weather(tmp_path / "mixed")
    (mixed / "readme.txt").write_text("of the weather")
    (mixed / "inner").mkdir()
    (mixed / "inner" / "notes.md").write_text("of the weather")
    assert str(spinney.grow(mixed, "play", engine=engine)) == str(plain)
    (mixed / "more.csv").write_text("play\nyes\n")
    with pytest.raises(DataError, match=r"files of several formats \(\.csv and \.par"):
        spinney.grow(mixed, "play", engine=engine)


def weather(folder):
    """Write a table in two files, and give their folder."""
    for day in range(2):
        rows = {"wind": [1, 2, 3, 4] * 3, "play": ["no", "no", "yes", "yes"] * 3}
        written(folder / f"{day}.parquet", **rows)
    return folder


def test_a_damaged_file_is_named(sales):
    (sales / "year=2024" / "city=Bonn" / "z.parquet").write_bytes(b"no table")
    with pytest.raises(DataError, match=r"z\.parquet' cannot be read by DuckDB"):
        read_table(sales)


def test_what_is_no_table_is_refused(tmp_path, sales):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="empty' is a folder without Parquet files"):
        read_table(tmp_path / "empty")
    with pytest.raises(DataError, match="no file of a table matches"):
        read_table(tmp_path / "none*.parquet")
    (sales / "a.csv").write_text("x\n1\n")
    with pytest.raises(DataError, match=r"several formats \(\.csv and \.parquet\)"):
        read_table(sales)
    with pytest.raises(DataError, match=r"has \.csv files: a table in several files"):
        read_table(sales / "*.csv")
    with pytest.raises(DataError, match="has files of format csv"):
        read_table(sales, format="csv")
    with pytest.raises(ParameterError, match="encoding='utf-8' is for text"):
        read_table(tmp_path / "sales" / "year=*", encoding="utf-8")


def test_a_folder_that_may_not_be_read(sales, monkeypatch):
    def refused(_):
        raise PermissionError(13, "Permission denied", str(sales))

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(DataError, match="permission denied"):
        read_table(sales)


def test_keys_are_declared_as_other_columns_are(sales):
    declared = Declarations(nominal=("year",), ignore=("city",))
    table = read_table(sales, declarations=declared)
    assert table.names == ("size", "year")
    assert table["year"].levels == (2023, 2024)


@pytest.mark.parametrize("pattern", ["", "**/*.parquet"])
def test_trees_are_the_same_in_memory_and_in_duckdb(pattern, tmp_path):
    folder = tmp_path / "it's"
    for year in (2023, 2024):
        sizes = [float(i % 7 + year) for i in range(40)]
        label = ["late" if i % 7 > 3 or year == 2024 else "ok" for i in range(40)]
        written(folder / f"year={year}" / "a.parquet", size=sizes, y=label)
    data = folder / pattern
    (first, second) = (
        spinney.grow(data, "y", recipe="c4.5", engine=engine)
        for engine in ("memory", "duckdb")
    )
    assert "year" in str(first)
    assert str(first) == str(second)
    assert str(spinney.look(data, "y")).startswith("80 rows, 3 columns")
    assert len(first.predict(data)) == 80
