"""What pytest is told while branches are counted: contexts, and a limit of time.

``tools/branches.py`` loads it by ``-p``. Branches are kept by the file of tests that
took them, which is how ``tools/mutate.py`` knows what to run. With loops as plain
Python some tests would take hours: after so many seconds of a processor a test is left,
and counts as skipped; what it has done until then is counted.
"""

import json
import os
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import coverage
import pytest
from coverage import collector, inorout

__all__ = ["FOLDER", "LIMIT"]

FOLDER = Path(__file__).resolve().parents[1] / "build" / "coverage"
LIMIT = float(os.environ.get("SPINNEY_TEST_SECONDS", "2"))
NOTING = {collector.__file__, inorout.__file__}
OUT_OF_TIME = f"takes more than {LIMIT:g} seconds of a processor"

_seconds: defaultdict[str, float] = defaultdict(float)
_state = {"context": "", "left": ""}


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
def _limited() -> Iterator[None]:
    _state["left"] = ""
    before = signal.signal(signal.SIGPROF, _leave)
    signal.setitimer(signal.ITIMER_PROF, LIMIT, 0.05)
    try:
        yield
    except KeyboardInterrupt:
        if not _state["left"]:
            raise
        pytest.skip(_state["left"])  # what DuckDB makes of it is an interrupt
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Keep branches and seconds by the file of the test."""
    name = item.nodeid.partition("::")[0]
    measured = coverage.Coverage.current()
    if measured is not None and name != _state["context"]:
        measured.switch_context(name)
        _state["context"] = name
    start = time.process_time()
    try:
        return (yield)
    finally:
        _seconds[name] += time.process_time() - start


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    """Limit what comes before a test."""
    with _limited():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Limit a test."""
    with _limited():
        return (yield)


def pytest_sessionfinish() -> None:
    """Write what each file of tests took."""
    if _seconds:
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / f"seconds-{os.getpid()}.json"
        path.write_text(json.dumps(_seconds), "utf-8")
