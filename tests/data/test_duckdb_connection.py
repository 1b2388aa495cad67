"""Where DuckDB puts what does not fit into memory."""

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from spinney.data.duckdb.connection import connected


@pytest.mark.parametrize("fails", [False, True])
def test_what_is_spilled_is_ours_alone_and_gone_after(fails, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with suppress(KeyError), connected(tmp_path / "rows.csv") as connection:
        asked = "SELECT current_setting('temp_directory')"
        (folder,) = connection.execute(asked).fetchone() or ()
        assert Path(folder).parent == tmp_path
        assert Path(folder).stat().st_mode & 0o777 == 0o700
        (Path(folder) / "left behind").touch()
        if fails:
            raise KeyError
    assert list(tmp_path.iterdir()) == []
