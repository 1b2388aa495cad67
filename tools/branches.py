"""Count the branches that tests take, with loops as plain Python.

``python -m tools.branches`` (``make coverage``) runs the tests with the compiler off,
shells that they start included, prints for each package how many of its branches were
taken, and writes the table into ``docs/trust.md``. It ends with 1 where that is less
than the bar. What compiles is run once more with the compiler on, as it does nothing
without. ``--report`` reads what the last run has left in ``build/coverage``, ``--add``
runs some files of tests more, or anew, and adds what they take; the page tells runs.

Loops as Python are hundreds of times slower: property tests try their fewest examples,
and the tests divide some minutes of a processor (``tools/covered_tests.py``). What is
not run at all has its reason below. A test that fails without the compiler is told, and
is no failure: ``make test`` is who judges.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.covered_tests import FOLDER, LIMIT, MINUTES, NOT_BEGUN, OUT_OF_TIME, ROOT
from tools.pages import PAGE, dated, written

__all__ = ["BAR", "by_package", "main", "table"]

BAR = 95.0  # percent of all branches
COMMAND = "make coverage"
LEFT_OUT = {
    "tests/extensions/explorer/browser": "scripts of pages, in a browser",
    "tests/conformance": "scikit-learn's checks, which fit the same models again",
    "tests/benchmarking": "programs beside the package",
    "tests/slow": "long ones",
}
WITH_COMPILER = ("tests/_support/test_jit.py", "tests/cli/test_cli_compile.py")
OFF = "NUMBA_DISABLE_JIT"
ENVIRONMENT = {
    "SPINNEY_FUZZ": "0.02",
    "COVERAGE_FILE": str(FOLDER / "data"),
    "PYTHONPATH": str(ROOT),
}


def run_tests(tests: Sequence[str], workers: int, minutes: float) -> None:
    """Run tests without the compiler, some with it, and keep what they took."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    left_out = [f"--ignore={path}" for path in LEFT_OUT]
    settings = {OFF: "1", "SPINNEY_TEST_MINUTES": str(minutes)}
    _run(["-W", "ignore::RuntimeWarning", *left_out, *tests], workers, settings)
    if not tests:
        _run(WITH_COMPILER, workers, {"SPINNEY_TEST_SECONDS": "60"})


def _run(arguments: Sequence[str], workers: int, settings: dict[str, str]) -> None:
    command = [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q"]
    command += ["-p", "tools.covered_tests", "-p", "no:cacheprovider", "--tb=line"]
    command += ["-n", str(workers if workers > 1 else 0), "-m", "not slow", *arguments]
    subprocess.run(command, cwd=ROOT, env=os.environ | ENVIRONMENT | settings)


def reported() -> dict[str, Any]:
    """Return what was taken of each file, of all processes together."""
    coverage = [sys.executable, "-m", "coverage"]
    environment = os.environ | ENVIRONMENT
    if any(FOLDER.glob("data.*")):
        combine = [*coverage, "combine", "--quiet", "--append"]
        subprocess.run(combine, cwd=ROOT, env=environment, check=True)
    path = FOLDER / "report.json"
    report = [*coverage, "json", "--quiet", "--fail-under=0", "-o", str(path)]
    subprocess.run(report, cwd=ROOT, env=environment, check=True)
    files: dict[str, Any] = json.loads(path.read_text("utf-8"))["files"]
    return files


def by_package(files: Mapping[str, Any]) -> dict[str, Counter[str]]:
    """Return branches and lines of each package, and how many of them were taken.

    >>> summary = {"num_branches": 4, "covered_branches": 3}
    >>> summary |= {"num_statements": 9, "covered_lines": 8}
    >>> by_package({"src/spinney/trees/split.py": {"summary": summary}})["trees"]
    Counter({'lines': 9, 'lines taken': 8, 'branches': 4, 'branches taken': 3})
    """
    packages: dict[str, Counter[str]] = {}
    for name, file in files.items():
        inside = re.sub(r"^.*?src/spinney/", "", name)
        package = inside.partition("/")[0] if "/" in inside else "spinney"
        summary = file["summary"]
        packages.setdefault(package, Counter()).update(
            {
                "branches": summary["num_branches"],
                "branches taken": summary["covered_branches"],
                "lines": summary["num_statements"],
                "lines taken": summary["covered_lines"],
            }
        )
    return dict(sorted(packages.items()))


def _share(counts: Counter[str], what: str) -> float:
    return 100 * counts[f"{what} taken"] / max(1, counts[what])


def table(packages: Mapping[str, Counter[str]]) -> list[str]:
    """Return packages as lines of Markdown, and all of them together."""
    whole = sum(packages.values(), Counter[str]())
    lines = ["| package | branches | taken | lines taken |", "|---|---|---|---|"]
    for name, counts in {**packages, "all": whole}.items():
        taken = (f"{_share(counts, what):.1f} %" for what in ("branches", "lines"))
        lines.append(f"| {name} | {counts['branches']:,} | {' | '.join(taken)} |")
    return lines


def runs() -> list[str]:
    """Return what became of the tests of each run as lines of Markdown."""
    outcomes = ("passed", "failed", OUT_OF_TIME, NOT_BEGUN, "skipped")
    lines = [
        "| tests of | passed | failed | left | not begun | skipped | minutes |",
        "|---|---|---|---|---|---|---|",
    ]
    for path in sorted(
        FOLDER.glob("tests-*.json"), key=lambda path: path.stat().st_mtime
    ):
        facts = json.loads(path.read_text("utf-8"))
        numbers = [f"{facts['outcomes'].get(each, 0):,}" for each in outcomes]
        numbers.append(f"{facts['seconds'] / 60:.1f}")
        lines.append(f"| {', '.join(facts['tests'])} | {' | '.join(numbers)} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests, print and write the figures; 1 if they are below the bar."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--report", action="store_true", help="run no test")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of a processor")
    parser.add_argument("--add", action="store_true", help="to what was run before")
    parser.add_argument("tests", nargs="*", help="only these; only added is written")
    options = parser.parse_args(arguments)
    if not options.report:
        if not options.add:
            shutil.rmtree(FOLDER, ignore_errors=True)
        run_tests(options.tests, options.workers, options.minutes)
    packages = by_package(reported())
    lines = table(packages)
    print(*lines, sep="\n")
    if options.add or not options.tests:
        page = PAGE.read_text("utf-8")
        head = f"{dated()}, {LIMIT:g} seconds of a processor for a test at most:"
        total = [*lines[:2], lines[-1]]  # packages are printed only
        page = written(page, [head, "", *total, "", *runs()], command=COMMAND)
        Path(PAGE).write_text(page, "utf-8")
    share = _share(sum(packages.values(), Counter[str]()), "branches")
    if share < BAR:
        print(f"{share:.1f} % is below the bar of {BAR:g} %", file=sys.stderr)
    return 0 if share >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
