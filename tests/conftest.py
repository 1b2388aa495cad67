"""What all tests share: texts that are kept beside them, and how to accept new ones."""

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from tests.helpers.fuzz import examples

from spinney._support.jit import loading_time
from spinney.growth import growers
from spinney.growth.forest.bags import ForestBags
from spinney.sources.training_data import open_data

# How long an example takes is the machine's affair. The gate tries the same examples
# on every machine, so that whoever is stopped by it has broken something; new ones are
# what ``make test-fuzz`` looks for.
settings.register_profile(
    "spinney",
    deadline=None,
    max_examples=examples(100),
    derandomize="SPINNEY_FUZZ" not in os.environ,
)
settings.load_profile("spinney")

GOLDEN = Path(__file__).parent / "golden"
# Programs that made fixtures import what the tests do not need.
collect_ignore_glob = ["oracle/fixtures/*"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept",
        action="store_true",
        help="take the texts that the tests produce as the golden ones",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Let no later search for garbage look through modules and tests once more.

    They are near a million objects, which stay until the end.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """Give back what was set apart, so that the process ends as any other."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def plain_learner_of_small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test depend on what was loaded, compiled or grown for long before it.

    ``tests/growth/test_replayed_nodes.py`` is about what loops then grow.
    """
    monkeypatch.setattr(growers, "growers_agree", lambda training, options: False)
    monkeypatch.setattr(ForestBags, "sums_are_exact", lambda bags: False)
    monkeypatch.setattr(loading_time.TIME_WITHOUT_KERNELS, "seconds", 0.0)
    monkeypatch.setattr(loading_time, "_is_compiled", lambda module, name: True)


@pytest.fixture(autouse=True)
def rows_stay_in_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests of engines count there, though their tables are small enough to read.

    ``tests/extensions/databases/test_holding_source.py`` is about rows that are read.
    """
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: 0)


def compare_with_golden(path: Path, text: str, *, accept: bool) -> None:
    """Assert that a text is the kept one; on a mismatch write the new one beside it."""
    proposal = path.with_name(path.name + ".new")
    kept = path.read_text(encoding="utf-8") if path.exists() else None
    if accept or kept == text:
        proposal.unlink(missing_ok=True)
    if accept and kept != text:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    elif kept != text:
        proposal.write_text(text, encoding="utf-8")
        what = "is not there yet" if kept is None else "reads otherwise"
        pytest.fail(
            f"{path} {what}: compare it with {proposal.name} beside it and, if the "
            "new text is right, run this test again with --accept"
        )


@pytest.fixture
def assert_golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return the comparison of a text with the golden one of this name."""
    accept = request.config.getoption("--accept")

    def compare(name: str, text: str) -> None:
        compare_with_golden(GOLDEN / name, text, accept=accept)

    return compare
