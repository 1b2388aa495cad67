"""The pytest plug-in for branch coverage: contexts and time limits.

``tools/branches.py`` loads it by ``-p``. Branches are kept by the file of tests that
took them, which is how ``tools/mutate.py`` knows what to run. With loops as plain
Python some tests would take hours, so the run has some minutes of a processor, shells
that it starts included, and divides them: a test has some times an even share of what
is left, and no more than some seconds; with its cases it has that times the root of
their number, and each of them no more than half of what its test still has. A test is
left when that is used up, and counts as skipped; what it has done until then is
counted, and its further cases are not begun. As most tests need little, the share grows
while the tests go on, and no run takes much longer than it was given.
"""

import json
import os
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from types import FrameType

import coverage
import pytest
from coverage import collector, inorout

__all__ = ["FOLDER", "LIMIT", "MINUTES", "NOT_BEGUN", "OUT_OF_TIME", "ROOT", "Shares"]

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("SPINNEY_COVERAGE", ROOT / "build" / "coverage"))
LIMIT = float(os.environ.get("SPINNEY_TEST_SECONDS", "3"))
MINUTES = float(os.environ.get("SPINNEY_TEST_MINUTES", "30"))
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
EVEN = 5.0  # times an even share of what is left
LEAST = 0.05  # seconds that are worth beginning with
BEFORE = 2.0  # times the limit of a test: what many tests begin with is made once
NOTING = {collector.__file__, inorout.__file__}
OUT_OF_TIME = "left after its seconds of a processor"
NOT_BEGUN = "not begun: the cases before it took the seconds of their test"

_seconds: defaultdict[str, float] = defaultdict(float)
_outcomes: Counter[str] = Counter()
_state = {"context": "", "left": ""}


def spent() -> float:
    """Return the seconds of a processor of this process, and of those it waited for."""
    return sum(os.times()[:4])


@dataclass(slots=True)
class Shares:
    """Seconds of a processor, and the tests that divide them by how many cases."""

    seconds: float
    cases: Mapping[str, int]
    of_test: dict[str, float] = field(default_factory=dict)
    waiting: float = field(init=False)

    def __post_init__(self) -> None:
        self.waiting = sum(map(sqrt, self.cases.values()))

    def of_case(self, name: str) -> float:
        """Return how long a case of a test may take.

        >>> shares = Shares(60.0, {"test_alone": 1, "test_cases": 4})
        >>> shares.of_case("test_alone"), shares.of_case("test_cases[id3]")
        (3.0, 3.0)
        >>> shares.take("test_cases[id3]", 3.0)
        >>> shares.of_case("test_cases[c4.5]")
        1.5
        """
        test, bracket, _ = name.partition("[")
        if test not in self.of_test:
            root = sqrt(self.cases[test])
            even = max(0.0, self.seconds) / max(1.0, self.waiting)
            self.of_test[test] = root * min(LIMIT, EVEN * even)
            self.waiting -= root
        left = self.of_test[test]
        return min(LIMIT, max(left / 2, min(left, LEAST * 5)) if bracket else left)

    def take(self, name: str, seconds: float) -> None:
        """Take what a case took from its test."""
        self.of_test[name.partition("[")[0]] -= seconds


_shares = Shares(MINUTES * 60, {})


def _leave(_: int, frame: FrameType | None) -> None:
    """End a test that takes too long; no handler of Exception catches it.

    Not while coverage.py notes something down: it would keep its lock for ever.
    """
    while frame is not None:
        if frame.f_code.co_filename in NOTING:
            return
        frame = frame.f_back
    _state["left"] = OUT_OF_TIME
    pytest.skip(OUT_OF_TIME)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    _state["left"] = ""
    before = signal.signal(signal.SIGPROF, _leave)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.05)
    try:
        yield
    except KeyboardInterrupt:
        if not _state["left"]:
            raise
        pytest.skip(_state["left"])  # what DuckDB makes of it is an interrupt
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count the cases of tests; of several workers each has its part of the time."""
    global _shares
    cases = Counter(item.nodeid.partition("[")[0] for item in session.items)
    _shares = Shares(MINUTES * 60 / WORKERS, cases)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Keep branches and seconds by the file of the test."""
    name = item.nodeid.partition("::")[0]
    measured = coverage.Coverage.current()
    if measured is not None and name != _state["context"]:
        measured.switch_context(name)
        _state["context"] = name
    start, before = time.process_time(), spent()
    try:
        return (yield)
    finally:
        _seconds[name] += time.process_time() - start
        _shares.seconds -= spent() - before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Limit what comes before a test, which others may share; begin no further case."""
    if _shares.of_case(item.nodeid) < LEAST:
        pytest.skip(NOT_BEGUN)
    with _limited(BEFORE * LIMIT):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Limit a test."""
    before = spent()
    try:
        with _limited(_shares.of_case(item.nodeid)):
            return (yield)
    finally:
        _shares.take(item.nodeid, spent() - before)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count what became of the tests."""
    if report.when == "call" or report.outcome != "passed":
        _outcomes[_outcome(report)] += 1


def _outcome(report: pytest.TestReport) -> str:
    said = str(report.longrepr)
    if report.skipped:
        reasons: Sequence[str] = (OUT_OF_TIME, NOT_BEGUN)
        return next((reason for reason in reasons if reason in said), "skipped")
    return str(report.outcome)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what each file of tests took, and what became of all tests."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if _seconds:
        path = FOLDER / f"seconds-{os.getpid()}.json"
        path.write_text(json.dumps(_seconds), "utf-8")
    if not hasattr(session.config, "workerinput"):  # who hears of all tests
        told = {"tests": session.config.args, "seconds": spent()}
        told |= {"limit": LIMIT, "outcomes": _outcomes}
        path = FOLDER / f"tests-{os.getpid()}.json"
        path.write_text(json.dumps(told), "utf-8")
