"""All loops compiled ahead, each set in a process of its own."""

import subprocess
import sys

import pytest

from spinney import SpinneyError
from spinney.cli import compile_jobs, run
from spinney.cli.compile_jobs import JOBS, compile_ahead


def test_progress_is_told_and_every_job_is_run(monkeypatch):
    ran, told = [], []
    monkeypatch.setattr(compile_jobs, "_in_process", ran.append)
    compile_ahead(lambda done, total: told.append((done, total)))
    assert sorted(ran) == sorted(JOBS)
    assert told == [(done, len(JOBS)) for done in range(len(JOBS) + 1)]


def test_the_command(monkeypatch, capsys):
    monkeypatch.setattr(compile_jobs, "_in_process", lambda name: None)
    assert run(["compile"]) == 0
    assert "compiled all loops in 0 s" in capsys.readouterr().err


def test_a_job_that_fails_is_named():
    with pytest.raises(SpinneyError, match="'no such loops' could not be compiled"):
        compile_ahead(jobs=["no such loops"])


BINNED, RANKED = "spinney.growth.binned.loops", "spinney.growth.ranked.loops"
ENTRIES = {
    "trees of two branches": f"{BINNED}.grow:work_on",
    "trees of a branch per value": f"{RANKED}.grow:grow",
    "trees of two branches, single precision": f"{BINNED}.grow:work_on",
    "surrogates": f"{BINNED}.surrogates:find_surrogates",
    "surrogates, single precision": f"{BINNED}.route:route_rows",
    "the default recipe": f"{BINNED}.grow:work_on",
    "forests": "spinney.growth.forest.loops.path_sums:add_paths",
    "forests, single precision": "spinney.growth.forest.loops.path_sums:add_paths",
    "predictions": "spinney.trees.predict.compiled.loops.walk:descend",
    "clusters": "spinney.cluster.loops.assign:settle",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_a_job_calls_its_loops(name):
    module, entry = ENTRIES[name].split(":")
    code = (
        f"from spinney.cli.compile_jobs import run_job; run_job({name!r}); "
        f"from {module} import {entry}; print(len({entry}.signatures))"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(result.stdout) > 0
