"""CSV from standard input and from pipes."""

import gzip
import io
import os
import sys
import threading

import pytest

from spinney.data.readers import read_table
from spinney.errors import SpinneyNote


def test_standard_input_is_csv_and_leaves_no_copy(monkeypatch, tmp_path, values):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n1\n")))
    assert values(read_table("-")) == {"a": [1]}
    assert os.listdir(tmp_path) == []


def test_compressed_standard_input(monkeypatch, values):
    data = io.BytesIO(gzip.compress(b"a\n1\n"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    assert values(read_table("-")) == {"a": [1]}


def test_standard_input_is_named(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,a\n1,2\n")))
    with pytest.warns(SpinneyNote, match="'standard input': a second column"):
        read_table("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_named_pipe(tmp_path, values):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"a\n1\n",))
    writer.start()
    assert values(read_table(path)) == {"a": [1]}
    writer.join()
