"""How loops are compiled: tuples by reference, a digest of all, and plain Numba."""

import ast
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import spinney
from spinney._support.jit import loading_time
from spinney._support.jit.call_arguments import Code, MissingSymbolError, call_of
from spinney._support.jit.code_cache import CachedCode, sources
from spinney._support.jit.compile import Entry, entry, kernel

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
    for i in range(len(outer.first.numbers)):
        add(outer, i)


def test_a_tuple_in_a_tuple_is_a_reference_too():
    first, second = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])
    outer = Outer(Inner(first, 2.0), np.zeros(1, np.int64), Inner(second, 0.5))
    add_all(outer)
    assert second.tolist() == [11.0, 22.0, 33.0]
    assert outer.steps[0] == 3


class Mixed(NamedTuple):
    yes: bool
    many: np.uint64
    pair: tuple[int, float]


@entry
def mixed(numbers, short, factor, some, more):
    """Add up whatever there is, each of its own weight."""
    total = 0.0
    for i in range(numbers.shape[0]):
        for j in range(numbers.shape[1]):
            total += (10 * i + j) * numbers[i, j]
    total += 1e3 * short + 1e4 * factor + 1e5 * more[0] + 1e6 * more[1]
    if some.yes:
        total += some.pair[0] * some.pair[1] + np.float64(some.many >> np.uint64(63))
    return total


@entry
def is_above(number, least):
    return number > least


def expected(numbers, *given):
    """Return what the loop adds up as plain Python."""
    return mixed.function(np.asarray(numbers), *given)


GIVEN = (np.float32(0.5), 3, Mixed(True, np.uint64(2**63), (2, 0.25)), (4, 5))


@pytest.mark.parametrize(
    "numbers",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(24.0).reshape(4, 6)[::2, ::-2],
        np.arange(3.0).reshape(3, 1),
        np.zeros((0, 4)),
    ],
    ids=["C", "Fortran", "strided", "one column", "empty"],
)
def test_arrays_of_every_layout_and_numbers_of_every_kind(numbers):
    assert mixed(numbers, *GIVEN) == expected(numbers, *GIVEN)


def test_arrays_that_are_read_only_and_subclasses_compile_nothing_again(tmp_path):
    numbers = np.arange(6.0).reshape(2, 3)
    mixed(numbers, *GIVEN)
    known = len(mixed._callables)
    numbers.tofile(tmp_path / "numbers")
    numbers.flags.writeable = False
    mapped = np.memmap(tmp_path / "numbers", mode="r", shape=(2, 3), dtype=float)
    some = Mixed(np.bool_(True), np.uint64(2**63), (np.int64(2), np.float64(0.25)))
    for each in (numbers, mapped):
        assert mixed(each, np.float32(0.5), 3, some, (4, 5)) == expected(each, *GIVEN)
    assert len(mixed._callables) == known


def test_an_entry_returns_yes_or_no_or_nothing():
    assert is_above(2, 1) is True
    assert is_above(1, 2) is False
    outer = Outer(Inner(np.ones(1), 2.0), np.zeros(1, np.int64), Inner(np.ones(1), 0.5))
    assert add_all(outer) is None


def test_what_loops_do_not_take_is_refused():
    with pytest.raises(TypeError, match="not <class 'str'>"):
        is_above("2", 1)
    with pytest.raises(TypeError, match="put is a kernel"):
        put(None, 0, 0.0)


LATER = """
import sys
import numpy as np
from spinney._support.kernels.hashing import hash_columns
marks = np.zeros(2, np.uint64)
hash_columns(np.arange(6.0).reshape(3, 2), 0, 3, marks)
print(marks.tolist(), "numba" in sys.modules)
"""


def test_machine_code_is_kept_and_loaded_without_numba(tmp_path):
    def run():
        variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", LATER]
        done = subprocess.run(
            command, env=variables, capture_output=True, text=True, check=True
        )
        return done.stdout.rsplit(maxsplit=1), done.stderr

    (marks, by_numba), said = run()
    assert by_numba == "True"
    assert "Compiling for this machine (up to 20 s, first run only)." in said
    (kept,) = tmp_path.rglob("hashing.hash_columns.*.code")
    assert run() == ([marks, "False"], "")
    content = kept.read_bytes()
    kept.write_bytes(content[:-1])
    assert run()[0] == [marks, "True"]
    assert kept.read_bytes() == content


def test_code_of_older_sources_is_let_go(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    file, code = tmp_path / "loop.py", Code("f", "q", ("log2",), b"code")
    for text in ("old", "new"):
        file.write_text(text, encoding="utf-8")
        kept = CachedCode(file, "loop")
        assert not kept.exists()
        assert kept.load((int,)) is None
        kept.save((int,), code)
        assert kept.exists()
        assert kept.load((int,)) == code
        assert kept.load((float,)) is None
    assert len(list(tmp_path.rglob("*.code"))) == 1


def test_code_that_cannot_be_kept_is_used_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    CachedCode(Path(__file__), "loop").save((int,), Code("f", "q", (), b""))
    assert CachedCode(Path(__file__), "loop").load((int,)) is None


def test_code_that_calls_what_nobody_has_is_not_run():
    with pytest.raises(MissingSymbolError, match="no_such_function"):
        call_of(Code("f", "q", ("log2", "no_such_function"), b""), ())


def loop_files():
    return [
        path
        for folder in PACKAGE.rglob("kernels")
        if folder.is_dir()
        for path in folder.rglob("*.py")
    ]


def test_the_digest_covers_all_folders_of_loops():
    assert len({path.parent for path in loop_files()}) > 4
    assert set(loop_files()) <= set(sources())


def test_the_digest_covers_all_that_loops_import():
    for path in loop_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("spinney"):
                home = PACKAGE.parent / Path(*node.module.split("."))
                names = [home / f"{alias.name}.py" for alias in node.names]
                files = [name for name in names if name.exists()]
                assert set(files or [home.with_suffix(".py")]) <= set(sources()), path


TIMES = """
import sys
sys.path.insert(0, {folder!r})
from times_loops import times_{first}{more}
print(times_{first}(7), {call})
"""

TIMES_LOOPS = """
from spinney._support.jit.compile import entry, kernel

def multiplied(factor):
    @kernel
    def inner(number):
        total = 0
        for i in range(number):
            LINES
        return total

    return inner

twice, thrice = multiplied(20), multiplied(3000)

@entry
def times_two(number):
    return twice(number) + twice(number + 1)

@entry
def times_three(number):
    return thrice(number) + thrice(number + 1)
"""


def test_code_of_two_processes_is_not_mixed_up(tmp_path):
    """Numba calls the functions of both by the same names, which a linker shares."""
    # So long that it stays a function of its own.
    lines = [f"total += factor * (i % {k} + 1) // (i + {k})" for k in range(3, 60)]
    text = TIMES_LOOPS.replace("LINES", ("\n" + 12 * " ").join(lines))
    (tmp_path / "times_loops.py").write_text(text, encoding="utf-8")

    def run(first, second=""):
        more = f", times_{second}" if second else ""
        call = f"times_{second}(7)" if second else "0"
        text = TIMES.format(folder=str(tmp_path), first=first, more=more, call=call)
        variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "stored")}
        done = subprocess.run(
            [sys.executable, "-c", text],
            env=variables,
            capture_output=True,
            text=True,
            check=True,
        )
        return [int(number) for number in done.stdout.split()]

    (two, _), (three, _) = run("two"), run("three")
    assert two != three
    assert run("two", "three") == [two, three]
    assert run("three", "two") == [three, two]


PLAIN = """
import numpy as np
from spinney._support.jit.compile import NumbaFallback
from spinney._support.kernels.hashing import hash_columns
from spinney.growth.binned.binned_dataset import encode_cells
from spinney.growth.binned.kernels.route import RoutedTree, route_tree
from spinney.data import Attribute
assert NumbaFallback.now
numbers = np.array([3.0, 1.0, np.nan, 2.0])
marks = np.zeros(1, np.uint64)
hash_columns(numbers[:, None], 0, 4, marks)
cells = encode_cells([Attribute("x", "numeric")], [numbers])
whole = np.full((3, 9), -1, np.int32)
whole[0] = 0, -1, 0, 0, 1, 2, 0, 0, 0
real = np.array([[1.0, 2.0, 1.0, 0.5]] * 3)
spans = np.array([[0, 4], [0, 0], [0, 0]])
rows, spare = np.arange(4, dtype=np.uint32), np.zeros(4, np.int64)
codes = np.zeros((0, 2), np.int64)
tree = RoutedTree(cells, whole, real, codes, spans, rows)
route_tree(tree, np.zeros(256, np.int64), spare)
print(marks[0], rows.tolist(), spans.tolist(), type(hash_columns).__name__)
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


def code_cache(tmp_path, monkeypatch):
    """Return code that is kept, and its file."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    (tmp_path / "loop.py").touch()
    kept = CachedCode(tmp_path / "loop.py", "loop")
    kept.save((int,), Code("f", "q", (), b"code"))
    assert kept.load((int,)) is not None
    (path,) = tmp_path.rglob("*.code")
    return kept, path


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_code_that_others_could_have_written_is_not_run(tmp_path, monkeypatch):
    kept, path = code_cache(tmp_path, monkeypatch)
    path.chmod(0o666)
    assert kept.load((int,)) is None
    path.chmod(0o600)
    path.parent.chmod(0o777)
    assert kept.load((int,)) is None
    path.parent.chmod(0o1777)  # nor where everybody may create files
    assert kept.load((int,)) is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners")
def test_code_of_another_user_is_not_run(tmp_path, monkeypatch):
    kept, path = code_cache(tmp_path, monkeypatch)
    if os.geteuid() != 0:
        pytest.skip("only the superuser may give files away")
    os.chown(path, 12345, -1)
    assert kept.load((int,)) is None


@pytest.mark.parametrize(
    "about",
    [b"", b"{}", b"[1, 2]", b'[1, "q", []]', b'["f", "x", []]', b'["f", "", 3]'],
)
def test_forged_code_is_no_code(about, tmp_path, monkeypatch):
    kept, path = code_cache(tmp_path, monkeypatch)
    rest = about + b"\n" + b"code"
    path.write_bytes(sha256(rest).hexdigest().encode() + b"\n" + rest)
    assert kept.load((int,)) is None


def test_a_recipe_is_not_charged_for_loops_that_are_made_ready_meanwhile(monkeypatch):
    """The first fold of a fresh machine seemed to take fifteen seconds to grow."""
    now = [100.0]
    monkeypatch.setattr(loading_time, "perf_counter", lambda: now[0])

    class Slow(Entry):
        def _loaded(self, key):
            now[0] += 12.0
            return lambda slots: now.__setitem__(0, now[0] + 3.0)

    loop = Slow(add_all.function if isinstance(add_all, Entry) else add_all)
    for _ in range(2):
        began = loading_time.seconds_without_loading()
        loop(1.0)
        assert loading_time.seconds_without_loading() - began == 3.0
    assert now[0] == 100.0 + 12.0 + 2 * 3.0


def test_the_clock_stands_while_another_thread_compiles(monkeypatch):
    """Who begins to measure in the middle of it is not given back what was before."""
    now = [10.0]
    monkeypatch.setattr(loading_time, "perf_counter", lambda: now[0])
    with loading_time.LOADING_TIME.running():
        now[0] += 5.0
        began = loading_time.seconds_without_loading()
        now[0] += 2.0
        assert loading_time.seconds_without_loading() == began
    now[0] += 1.0
    assert loading_time.seconds_without_loading() - began == 1.0
