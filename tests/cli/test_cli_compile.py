"""All loops compiled ahead, each set in a process of its own."""

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


@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_a_job_calls_its_loops(name):
    compile_jobs._in_process(name)
