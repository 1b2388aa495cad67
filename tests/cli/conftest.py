"""The shell tool in a temporary folder, in process and as a process."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from spinney.cli import run

TABLES = Path(__file__).parents[1] / "tables"


@dataclass(frozen=True)
class Outcome:
    """What a run of the tool left behind."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder that a test works in; plain surroundings."""
    for name in ("SPINNEY_TRACEBACK", "COLUMNS", "PYTHONIOENCODING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tool(capfdbinary):
    """Run the tool in process."""

    def run_tool(*arguments):
        capfdbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Outcome(code, out.decode(), err.decode())

    return run_tool


@pytest.fixture
def works(tool):
    """Run the tool, which must succeed, and return what it wrote to stdout."""

    def run_well(*arguments):
        outcome = tool(*arguments)
        assert outcome.code == 0, outcome.err
        return outcome.out

    return run_well


@pytest.fixture
def refused(tool, folder):
    """Run the tool, which must fail by this code, and return its one line of talk.

    Nothing is on stdout, and no file has come, gone or changed.
    """

    def run_badly(code, *arguments):
        before = contents(folder)
        outcome = tool(*arguments)
        assert outcome.code == code, outcome.err
        assert outcome.out == ""
        assert contents(folder) == before
        said = outcome.err.splitlines()
        lines = [line for line in said if not line.startswith("spinney: note: ")]
        assert len(lines) == 1, outcome.err
        assert lines[0].startswith("spinney: error: ")
        assert "Traceback" not in outcome.err
        assert "bug in Spinney" not in outcome.err
        return lines[0]

    return run_badly


def contents(folder):
    """Return the bytes of every file under a folder."""
    return {
        path: path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture
def process(folder):
    """Run the tool as a process of its own; ``stdin`` is text or a file."""

    def run_process(*arguments, stdin="", environment=None, **options):
        if hasattr(stdin, "fileno"):
            options["stdin"] = stdin
        else:
            options["input"] = stdin.encode()
        options.setdefault("stdout", subprocess.PIPE)
        found = subprocess.run(
            [sys.executable, "-m", "spinney", *map(str, arguments)],
            env={**os.environ, **(environment or {})},
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            **options,
        )
        out = (found.stdout or b"").decode("utf-8", "replace")
        err = found.stderr.decode("utf-8", "replace")
        return Outcome(found.returncode, out, err)

    return run_process


@pytest.fixture(scope="session")
def melons():
    """A table: 17 melons, all attributes nominal but for density and sugar."""
    return TABLES / "watermelon_3.0.csv"


@pytest.fixture(scope="session")
def model(tmp_path_factory, melons):
    """A saved model of the melons, CART."""
    path = tmp_path_factory.mktemp("model") / "melons.spinney"
    arguments = f"grow {melons} --target ripe --ignore id --recipe cart --quiet -o"
    assert run([*arguments.split(), str(path)]) == 0
    return path


@pytest.fixture
def write(folder):
    """Write a file of this name into the folder, and return its path."""

    def write_file(name, content):
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture
def mixed(write):
    """Rows with a name each, of two groups by size and hue alike."""
    rows = ["id,size,hue"] + [
        f"r{place},{place % 2 * 10 + place / 10},{'red' if place % 2 else 'blue'}"
        for place in range(12)
    ]
    return write("mixed.csv", "\n".join(rows))
