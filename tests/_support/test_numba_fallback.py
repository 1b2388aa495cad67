"""Loops are left to Numba's own compiler where ours cannot be used."""

import os
import sys
import tomllib
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from spinney import SpinneyWarning
from spinney._support.jit import compile as jit
from spinney._support.jit.compile import (
    OFF,
    SUPPORTED_NUMBA,
    CachedCode,
    NumbaFallback,
    entry,
    kernel,
    prefetch,
)
from spinney.cli import compile_jobs, run

ROOT = Path(__file__).parents[2]
COMPILED = pytest.mark.skipif(OFF, reason="loops are not compiled")


class Sums(NamedTuple):
    numbers: NDArray[np.float64]
    sums: NDArray[np.float64]


def new_loops():
    """Return two entries that share a kernel, and were never compiled."""

    @kernel
    def add(given, i, weight):
        prefetch(given.numbers, 0, i)
        given.sums[0] += weight * given.numbers[0, i]

    @entry
    def add_all(given):
        for i in range(given.numbers.shape[1]):
            add(given, i, 1.0)
        return given.sums[0]

    @entry
    def add_half(given):
        for i in range(given.numbers.shape[1]):
            add(given, i, 0.5)
        return given.sums[0]

    return add_all, add_half


def given():
    return Sums(np.arange(4.0).reshape(1, 4), np.zeros(1))


@pytest.fixture
def own_compiler(monkeypatch, tmp_path):
    """Let our compiler be used at first, and code be stored for this test alone."""
    pytest.importorskip("numba")
    monkeypatch.setattr(NumbaFallback, "now", False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jit, "_announced", ["before"])


def check_fallback(match):
    first, second = new_loops()
    with pytest.warns(SpinneyWarning, match=match) as record:
        assert first(given()) == 6.0
    assert len(record) == 1
    assert "install numba>=0.61,<0." in str(record[0].message)
    with warnings.catch_warnings(record=True, action="always") as more:
        assert first(given()) == 6.0
        assert second(given()) == 3.0
    assert not [each for each in more if each.category is SpinneyWarning]
    assert first.is_loaded


@COMPILED
@pytest.mark.parametrize("version", ["0.60.2", "0.69.0", "1.0", "0.69.0dev0+1.g3", "x"])
def test_an_unknown_numba_compiles_by_its_public_means(
    version, own_compiler, monkeypatch
):
    import numba

    monkeypatch.setattr(numba, "__version__", version)
    assert not jit.is_supported_numba()
    if version == "0.69.0":
        check_fallback("Spinney was not tried with this version of Numba")


@COMPILED
@pytest.mark.parametrize("name", ["types_of", "block_module", "_Program"])
def test_a_compiler_that_fails_is_replaced(name, own_compiler, monkeypatch):
    """Private parts of Numba may go: before, amid and after the translation."""
    from spinney._support.jit import translate

    def gone(*arguments):
        msg = f"numba has no attribute {name!r}"
        raise AttributeError(msg)

    monkeypatch.setattr(translate, name, gone)
    check_fallback(r"could not be compiled \(AttributeError: numba has no attribute")


@COMPILED
def test_code_that_cannot_be_loaded_is_replaced(own_compiler, monkeypatch):
    def gone(code, kinds):
        msg = "llvmlite has changed"
        raise RuntimeError(msg)

    monkeypatch.setattr(jit, "call_of", gone)
    check_fallback(r"could not be compiled \(RuntimeError: llvmlite has changed\)")


@COMPILED
def test_what_was_loaded_before_stays_as_it_is(own_compiler, monkeypatch):
    first, second = new_loops()
    assert first(given()) == 6.0
    (before,) = first._callables.values()
    monkeypatch.setattr(NumbaFallback, "now", True)
    assert second(given()) == 3.0
    assert first(given()) == 6.0
    assert list(first._callables.values()) == [before] != [None]


@COMPILED
def test_want_of_memory_is_no_reason(own_compiler, monkeypatch):
    first, _ = new_loops()

    def full(*arguments):
        raise MemoryError

    monkeypatch.setattr(CachedCode, "load", full)
    with pytest.raises(MemoryError):
        first(given())
    assert not NumbaFallback.now


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_numba_stores_nothing_where_others_may_write(own_compiler, tmp_path):
    """What it stores are pickles, which run code when they are read."""
    mask = os.umask(0)
    try:
        first, _ = new_loops()
        NumbaFallback.now = True
        assert first(given()) == 6.0
    finally:
        os.umask(mask)
    # Whatever the mask was, nobody else can pass this folder, so none can write below.
    own = tmp_path / "spinney-numba"
    assert [*own.rglob("*.nbi")]
    assert own.stat().st_mode & 0o777 == 0o700
    assert jit._numba_folder() == str(own)
    own.chmod(0o755)  # what is in it may have been written by others
    assert jit._numba_folder() is None
    own.chmod(0o700)
    tmp_path.chmod(0o1777)
    assert jit._numba_folder() is None


def test_the_range_of_numba_is_that_of_the_package():
    oldest, following = (f"{major}.{minor}" for major, minor in SUPPORTED_NUMBA)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"numba>={oldest},<{following}" in project["project"]["dependencies"]
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    (pin,) = (line for line in pins if line.startswith("numba=="))
    major, minor, _ = pin.removeprefix("numba==").split(".")
    assert (int(major), int(minor) + 1) == SUPPORTED_NUMBA[1]


@COMPILED
def test_what_is_left_to_numba_is_compiled_ahead_all_the_same(
    own_compiler, monkeypatch, capsys
):
    import numba

    ran = []
    monkeypatch.setattr(numba, "__version__", "0.99.0")
    monkeypatch.setattr(compile_jobs, "_in_process", ran.append)
    assert run(["compile"]) == 0
    assert len(ran) == len(compile_jobs.all_jobs())
    assert "was not tried with this version of Numba" in capsys.readouterr().err
