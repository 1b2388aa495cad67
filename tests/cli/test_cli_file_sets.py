"""Tables in several Parquet files, in the shell."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def sales(tmp_path):
    """Give a folder of two partitions, 40 rows in each."""
    folder = tmp_path / "it's sales"
    for year in (2023, 2024):
        path = folder / f"year={year}" / "a.parquet"
        path.parent.mkdir(parents=True)
        sizes = [float(i % 7) for i in range(40)]
        label = ["late" if i % 7 > 3 or year == 2024 else "ok" for i in range(40)]
        pq.write_table(pa.table({"size": sizes, "y": label}), path)
    return folder


@pytest.mark.parametrize("pattern", ["", "*/*.parquet", "year=*"])
def test_commands_take_folders_and_patterns(pattern, sales, tmp_path, works):
    data, model = sales / pattern, tmp_path / "m.spinney"
    grow = ["grow", data, "--target", "y", "--recipe", "cart"]
    assert "year" in works("look", data)
    grown = works(*grow, "-o", model)
    assert "year" in grown
    assert works(*grow, "--engine", "duckdb") == grown
    assert "cart" in works("evaluate", data, "--target", "y", "--recipe", "cart")
    assert "80 rows, 80 correctly classified" in works("score", model, data)
    lines = works("predict", model, data, "--keep", "year").splitlines()
    assert lines[0] == "year,y"
    assert len(lines) == 81


def test_a_folder_of_several_formats(sales, folder, refused):
    (folder / "data").mkdir()
    for name in ("a.csv", "b.parquet"):
        (folder / "data" / name).write_text("x,y")
    line = refused(3, "grow", "data", "--target", "y")
    assert "'data' has files of several formats (.csv and .parquet)" in line
