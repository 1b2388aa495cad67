"""All loops compiled ahead, each set in a process of its own."""

import subprocess
import sys

import pytest

from spinney import SpinneyError
from spinney._support.jit.call_arguments import Code
from spinney._support.jit.code_cache import CachedCode, sources
from spinney._support.jit.compilation_record import is_all_compiled
from spinney.cli import compile_jobs, run
from spinney.cli.compile_jobs import all_jobs, compile_ahead


def test_progress_is_told_and_every_job_is_run(monkeypatch):
    ran, told = [], []
    monkeypatch.setattr(compile_jobs, "_in_process", ran.append)
    compile_ahead(lambda done, total: told.append((done, total)))
    assert sorted(ran) == sorted(all_jobs())
    assert told == [(done, len(all_jobs())) for done in range(len(all_jobs()) + 1)]


def test_a_second_time_nothing_is_compiled(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    loop = next(path for path in sources() if path.parent.name == "kernels")
    kept, ran = CachedCode(loop, "a_loop"), []

    def compile_one(name):
        ran.append(name)
        kept.save((), Code("a_loop", "d", (), b"code"))

    monkeypatch.setattr(compile_jobs, "_in_process", compile_one)
    assert run(["compile"]) == 0
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first == f"spinney: compiling: 0 of {len(all_jobs())} sets of kernels done"
    assert last == "spinney: compiled all kernels in 0 s"
    assert run(["compile"]) == 0
    assert capsys.readouterr().err == "spinney: all kernels are already compiled\n"
    assert len(ran) == len(all_jobs())
    for code in tmp_path.rglob("*.code"):
        code.unlink()
    assert run(["compile"]) == 0
    assert len(ran) == 2 * len(all_jobs())


def test_what_was_not_kept_is_no_success(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_jobs, "_in_process", lambda name: None)
    assert run(["compile"]) == 1
    assert "compiled code cannot be stored in" in capsys.readouterr().err
    assert not is_all_compiled()
    assert not list(tmp_path.rglob("*.code"))


def test_nothing_is_compiled_where_nothing_can_be_kept(monkeypatch, capsys, tmp_path):
    file = tmp_path / "file"
    file.write_text("no folder")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file / "below"))
    ran = []
    monkeypatch.setattr(compile_jobs, "_in_process", ran.append)
    assert run(["compile"]) == 1
    said = capsys.readouterr().err
    assert f"compiled code cannot be stored in '{file / 'below'}" in said
    assert "(Not a directory: 'file')" in said
    assert "set NUMBA_CACHE_DIR to a folder that you can write to" in said
    assert not ran


@pytest.mark.skipif(sys.platform == "win32", reason="folders say who may write")
def test_nothing_is_compiled_where_others_may_write(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_jobs, "_in_process", lambda name: None)
    assert run(["compile"]) == 1
    for folder in tmp_path.iterdir():
        folder.chmod(0o777)
    capsys.readouterr()
    assert run(["compile"]) == 1
    err = capsys.readouterr().err
    assert "(everybody may write there)" in err
    assert "0 of" not in err


def test_a_job_that_fails_is_named():
    with pytest.raises(SpinneyError, match="'no such loops' could not be compiled"):
        compile_ahead(jobs=["no such loops"])


BINNED, MULTIWAY = "spinney.growth.binned.kernels", "spinney.growth.multiway.kernels"
ENTRIES = {
    "trees of two branches": f"{BINNED}.grow:run_task",
    "trees of a branch per value": f"{MULTIWAY}.grow:grow_nodes",
    "trees of two branches, single precision": f"{BINNED}.grow:run_task",
    "surrogates": f"{BINNED}.surrogates:find_surrogates",
    "surrogates, single precision": f"{BINNED}.route:route_rows",
    "the default recipe": f"{BINNED}.grow:run_task",
    "forests": "spinney.growth.forest.kernels.path_sums:add_paths",
    "forests, single precision": "spinney.growth.forest.kernels.path_sums:add_paths",
    "optimal trees": "spinney.extensions.optimal.kernels.solve:search_subtrees",
    "streams": "spinney.extensions.streaming.kernels.learn:learn_rows",
    "predictions": "spinney.trees.predict.compiled.kernels.walk:descend",
    "clusters": "spinney.extensions.clustering.kernels.assign:assign_waiting",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", all_jobs())
def test_a_job_calls_its_loops(name):
    module, entry = ENTRIES[name].split(":")
    code = (
        f"from spinney.cli.compile_jobs import run_job; run_job({name!r}); "
        f"from {module} import {entry}; print({entry}.is_loaded)"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == "True\n"
