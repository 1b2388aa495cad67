"""No more threads than were allowed."""

import threading

import numpy as np
import pytest

import spinney
from spinney import ParameterError
from spinney._support import threads
from spinney._support.threads import in_threads, limited_threads, n_threads, run_each


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch):
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: range(8))


def names_of(n_rows: int) -> set[str]:
    """Return the threads in which stretches of rows are worked on."""
    met = threading.Barrier(min(n_threads(), n_rows // 4096), timeout=10)

    def stretch(first: int, last: int) -> str:
        met.wait()
        return threading.current_thread().name

    return set(in_threads(stretch, n_rows))


def test_a_limit_holds_while_it_is_set():
    assert n_threads() == 8
    with limited_threads(3):
        assert n_threads() == 3
        assert len(names_of(100_000)) == 3
        with limited_threads(1):
            assert names_of(100_000) == {threading.current_thread().name}
        assert n_threads() == 3
    with limited_threads(None):
        assert n_threads() == 8
    with limited_threads(-2):
        assert n_threads() == 7
    with limited_threads(100):
        assert n_threads() == 8
    with pytest.raises(ParameterError, match="n_jobs=0"), limited_threads(0):
        pass
    assert n_threads() == 8


def test_threads_know_the_limit_too():
    with limited_threads(2):
        assert run_each([n_threads] * 4) == [2] * 4


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_tree_grows_and_predicts_within_the_limit(n_jobs, monkeypatch):
    seen = set()

    def counted(pieces):
        pieces = list(pieces)
        seen.add(n_threads())
        return [piece() for piece in pieces]

    for module in (
        "spinney._support.threads",
        "spinney.growth.binned.grow_binned",
        "spinney.growth.binned.binned_rows",
        "spinney.trees.predict.compiled.walk_rows",
    ):
        monkeypatch.setattr(f"{module}.run_all", counted)
    random = np.random.default_rng(0)
    rows = random.normal(size=(40_000, 3))
    classes = np.where(rows[:, 0] + rows[:, 1] > 0, "a", "b")
    settings = {"recipe": "cart", "max_depth": 3, "n_jobs": n_jobs}
    model = spinney.TreeClassifier(**settings).fit(rows, classes)
    assert seen == {n_jobs}
    seen.clear()
    model.predict(rows)
    assert seen == {n_jobs}
    seen.clear()
    table = {"x": rows[:, 0], "y": classes}
    assert spinney.grow(table, "y", **settings).n_jobs == n_jobs
    assert seen == {n_jobs}
