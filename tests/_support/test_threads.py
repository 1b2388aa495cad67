"""No more threads than were allowed."""

import threading
from importlib import import_module

import pytest

import spinney
from spinney import ParameterError
from spinney._support import threads
from spinney._support.threads import (
    in_threads,
    limited_threads,
    n_threads,
    run_blocks,
    run_each,
    run_streamed,
)


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


@pytest.mark.parametrize("n_jobs", [0, "2", 1.0, True])
def test_a_limit_that_is_none_is_refused(n_jobs):
    said = f"n_jobs={n_jobs!r} must be a whole number of at least 1, or -1 for all cor"
    with pytest.raises(ParameterError, match=said), limited_threads(n_jobs):
        pass


def test_threads_know_the_limit_too():
    with limited_threads(2):
        assert run_each([n_threads] * 4) == [2] * 4


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_tree_grows_and_predicts_within_the_limit(n_jobs, monkeypatch):
    seen = set()

    def counted(work):
        def counts(*arguments, **options):
            seen.add(n_threads())
            return work(*arguments, **options)

        return counts

    for name in (
        "spinney.estimators.tree_estimators.grow_model",
        "spinney.api.grow_from",
        "spinney.models.fitted_tree.outputs",
        "spinney.models.fitted_tree.leaf_numbers",
        "spinney.growth.forest.grow_forest",
        "spinney.estimators.forest_estimators.grow_forest",
        "spinney.models.fitted_forest.forest_outputs",
    ):
        module, _, function = name.rpartition(".")
        work = getattr(import_module(module), function)
        monkeypatch.setattr(name, counted(work))

    def within_the_limit(work):
        seen.clear()
        result = work()
        assert seen == {n_jobs}
        assert n_threads() == 8
        return result

    rows, classes = [[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"]
    table = {"x": [1, 2, 3, 4], "y": classes}
    tree = spinney.TreeClassifier("cart", n_jobs=n_jobs)
    forest = spinney.ForestClassifier(3, n_jobs=n_jobs, random_state=0)
    within_the_limit(lambda: tree.fit(rows, classes))
    within_the_limit(lambda: tree.predict(rows))
    within_the_limit(lambda: tree.apply(rows))
    within_the_limit(lambda: forest.fit(rows, classes))
    within_the_limit(lambda: forest.predict(rows))
    grown = within_the_limit(
        lambda: spinney.grow(table, "y", recipe="cart", n_jobs=n_jobs)
    )
    within_the_limit(lambda: grown.predict(table))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_turns_are_taken_once_and_rooms_are_given_back(n_jobs):
    def work(first, last, room):
        room.extend(range(first, last))

    rooms = run_blocks(work, 10, step=3, n_jobs=n_jobs, make_workspace=list)
    assert len(rooms) == n_jobs
    assert sorted(each for room in rooms for each in room) == list(range(10))


def test_one_turn_takes_one_thread():
    rooms = run_blocks(lambda first, last, room: None, 3, step=3, n_jobs=4)
    assert rooms == [None]


@pytest.mark.parametrize("n_items", [0, 1, 2, 30])
@pytest.mark.parametrize("limit", [1, 2, 8])
def test_what_comes_is_worked_on_in_its_order(n_items, limit):
    with limited_threads(limit):
        results = run_streamed(lambda item: (item, n_threads()), range(n_items))
    assert results == [(item, limit) for item in range(n_items)]


def test_no_more_wait_than_there_are_threads():
    made, done = [], []

    def items():
        for item in range(20):
            made.append(item)
            assert len(made) - len(done) <= 5
            yield item

    with limited_threads(2):
        run_streamed(done.append, items())
    assert sorted(done) == list(range(20))


def test_a_thread_of_ours_does_not_wait_for_another():
    def nested(item: int) -> list[str]:
        return run_streamed(lambda _: threading.current_thread().name, range(3))

    with limited_threads(2):
        for names in run_streamed(nested, range(6)):
            assert len(set(names)) == 1


def test_what_fails_while_others_come_is_raised():
    def fails(item: int) -> int:
        return 1 // (item - 3)

    with pytest.raises(ZeroDivisionError):
        run_streamed(fails, range(6))
