"""Rows written to files: whole or not at all."""

import os

import duckdb
import pytest

from spinney import DataError, ParameterError
from spinney.data.writers import Field, RowStream, row_writers, write_rows
from spinney.data.writers.row_writers import LONGEST_LINE


def batches(n, length):
    for start in range(n):
        yield [[f"{start}-{row}" + "x" * length for row in range(1000)]]


def test_parquet_of_several_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(row_writers, "ROW_GROUP", 4096)  # a tenth of what it is
    path = tmp_path / "rows.parquet"
    rows = RowStream((Field("x"),), batches(15, 1000))
    write_rows(path, rows, format="parquet")
    assert path.stat().st_size > 0
    found = duckdb.sql(f"SELECT count(*), count(DISTINCT x) FROM '{path}'").fetchall()
    assert found == [(15_000, 15_000)]
    groups = f"SELECT count(DISTINCT row_group_id) FROM parquet_metadata('{path}')"
    assert duckdb.sql(groups).fetchall() == [(4,)]
    first = duckdb.sql(f"SELECT x FROM '{path}' LIMIT 1001").fetchall()
    assert [first[place][0][:4] for place in (0, 1, 1000)] == ["0-0x", "0-1x", "1-0x"]


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_rows_that_fail_leave_the_old_file(tmp_path, format):
    path = tmp_path / "rows"
    path.write_text("precious")

    def failing():
        yield [["a"]]
        msg = "a late row"
        raise DataError(msg)

    with pytest.raises(DataError, match="a late row"):
        write_rows(path, RowStream((Field("x"),), failing()), format=format)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["rows"]


def test_a_cell_that_is_too_long_for_parquet(tmp_path):
    rows = RowStream((Field("x"),), [[["x" * (LONGEST_LINE + 10)]]])
    with pytest.raises(ParameterError, match="Parquet cannot be written"):
        write_rows(tmp_path / "rows.parquet", rows, format="parquet")
    assert os.listdir(tmp_path) == []
