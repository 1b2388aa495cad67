"""How loops are compiled: tuples by reference, a digest of all, and plain Numba."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import spinney
from spinney._support.jit.compile import entry, kernel
from spinney._support.jit.references import reference
from spinney._support.jit.translate import SOURCES

PACKAGE = Path(spinney.__file__).parent


class Inner(NamedTuple):
    numbers: NDArray[np.float64]
    factor: float


class Outer(NamedTuple):
    first: Inner
    steps: NDArray[np.int64]
    second: Inner


@kernel
def add(outer, i):
    """Write through a field of a field, handed on as a tuple of its own."""
    put(outer.second, i, outer.first.factor * outer.first.numbers[i])
    outer.steps[0] += 1


@kernel
def put(inner, i, number):
    inner.numbers[i] += inner.factor * number


@entry
def add_all(outer):
    outer = reference(outer)
    for i in range(len(outer.first.numbers)):
        add(outer, i)


def test_a_tuple_in_a_tuple_is_a_reference_too():
    first, second = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])
    outer = Outer(Inner(first, 2.0), np.zeros(1, np.int64), Inner(second, 0.5))
    add_all(outer)
    assert second.tolist() == [11.0, 22.0, 33.0]
    assert outer.steps[0] == 3


def loop_files():
    return [
        path
        for folder in PACKAGE.rglob("loops")
        if folder.is_dir()
        for path in folder.rglob("*.py")
    ]


def test_the_digest_covers_all_folders_of_loops():
    assert len({path.parent for path in loop_files()}) > 4
    assert set(loop_files()) <= set(SOURCES)


def test_the_digest_covers_all_that_loops_import():
    for path in loop_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("spinney"):
                home = PACKAGE.parent / Path(*node.module.split("."))
                names = [home / f"{alias.name}.py" for alias in node.names]
                files = [name for name in names if name.exists()]
                assert set(files or [home.with_suffix(".py")]) <= set(SOURCES), path


PLAIN = """
import numpy as np
from spinney._support.jit import compile
from spinney._support.loops.hashing import mark_rows
from spinney.growth.binned.binned_rows import cells_of
from spinney.growth.binned.loops.send import send_all
from spinney.data import Attribute
assert compile.PLAIN
numbers = np.array([3.0, 1.0, np.nan, 2.0])
marks = np.zeros(1, np.uint64)
mark_rows(numbers[:, None], 0, 4, marks)
cells = cells_of([Attribute("x", "numeric")], [numbers])
whole = np.full((3, 9), -1, np.int32)
whole[0] = 0, -1, 0, 0, 1, 2, 0, 0, 0
real = np.array([[1.0, 2.0, 1.0, 0.5]] * 3)
spans = np.array([[0, 4], [0, 0], [0, 0]])
rows, spare = np.arange(4, dtype=np.uint32), np.zeros(4, np.int64)
codes = np.zeros((0, 2), np.int64)
send_all(cells, whole, real, codes, spans, rows, np.zeros(256, np.int64), spare)
print(marks[0], rows.tolist(), spans.tolist(), type(mark_rows).__name__)
"""


def test_plain_numba_gives_the_same(tmp_path):
    told = [
        subprocess.run(
            [sys.executable, "-c", PLAIN.replace("assert", more)],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **variables},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for more, variables in (
            ("assert", {"SPINNEY_PLAIN_JIT": "1"}),
            ("assert not", {"NUMBA_DISABLE_JIT": "1", "SPINNEY_PLAIN_JIT": "0"}),
        )
    ]
    plain, without = (text.rsplit(maxsplit=1) for text in told)
    assert plain[0] == without[0]
    assert "[1, 0, 2, 3] [[0, 4], [0, 1], [1, 4]]" in plain[0]
    assert without[1] == "function"
