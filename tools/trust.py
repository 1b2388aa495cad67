"""Count what is checked, and write the counts into ``docs/trust.md``.

``python -m tools.trust`` (``make trust``) runs scikit-learn's checks of all estimators,
damages model files, runs the tests of the known faults and compares the exports with
their models. What ``make fuzz-files`` recorded of this version is told, too. It prints
a line for each with its failures, and ends with 1 if there is any. A part that is not
there, or did not run to its end, is told as such and is no success; only with all of
them are the counts written, with date and version, between the marks of the page.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spinney import __version__
from tools.pages import PAGE, dated, written

__all__ = ["COMMAND", "Count", "Part", "counted", "main", "parts", "table"]

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests" / "golden" / "mutations.json"
COMMAND = "make trust"


@dataclass(frozen=True, slots=True)
class Count:
    """The result of a part; failures are None if it did not finish."""

    what: str
    done: str
    failures: int | None


@dataclass(frozen=True, slots=True)
class Part:
    """A command, its requirements, and the parser of its output."""

    what: str
    command: Sequence[str]
    needs: str
    read: Callable[[str], tuple[str, int] | None]


def _pytest(noun: str) -> Callable[[str], tuple[str, int] | None]:
    def read(output: str) -> tuple[str, int] | None:
        last = re.findall(r"^.*\b(?:passed|failed|error).* in [\d.]+s.*$", output, re.M)
        if not last:
            return None
        number = {
            word: int(n)
            for n, word in re.findall(
                r"(\d+) (passed|failed|skipped|error|xfailed)", last[-1]
            )
        }
        bad = sum(number.get(word, 0) for word in ("failed", "error", "xfailed"))
        passed, skipped = number.get("passed", 0), number.get("skipped", 0)
        left = f", {skipped} skipped" if skipped else ""
        return f"{passed:,} of {passed + bad:,} {noun} passed{left}", bad

    return read


def _faults(output: str) -> tuple[str, int] | None:
    """Read how many different faults have a test that passed."""
    tests = _pytest("tests")(output)
    names = set(re.findall(r"::test_fault_(\d+)_\S* PASSED", output))
    return (f"{len(names)} faults, {tests[0]}", tests[1]) if tests else None


def _fuzz(output: str) -> tuple[str, int] | None:
    line = re.search(r"^(\d+) mutations of (\d+) files: .*; (\d+) finds$", output, re.M)
    if line is None:
        return None
    count, files, finds = map(int, line.groups())
    return f"{count:,} mutations of {files} files{_recorded()}", finds


def _recorded() -> str:
    """Return what a longer run of this version has tried before.

    What it found is kept, and tried again by every run: no find is forgotten.
    """
    if not RECORD.exists():
        return ""
    facts = json.loads(RECORD.read_text("utf-8"))
    if facts["version"] != __version__:
        return ""
    mended = f" ({len(facts['mended'])} finds, mended)" if facts["mended"] else ""
    return f", and {facts['mutations']:,} on {facts['date']}{mended}"


def _exports(output: str) -> tuple[str, int] | None:
    line = re.search(r"^exports: (.*), ([\d,]+) differences$", output, re.M)
    if line is None:
        return None
    left = len(re.findall(r"^\S+ +left out:", output, re.M))
    missing = f"; {left} left out, as their tools are not installed" if left else ""
    return f"{line[1]}{missing}", int(line[2].replace(",", ""))


def parts(mutations: int) -> tuple[Part, ...]:
    """Return all that is counted."""
    checks = "tests/conformance/test_scikit_learn_checks.py"
    quiet = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    return (
        Part("scikit-learn's checks", (*quiet, checks), checks, _pytest("checks")),
        Part(
            "damaged model files",
            ("-m", "tools.fuzz_files", "--count", str(mutations), "--seed", "1"),
            "tools/fuzz_files.py",
            _fuzz,
        ),
        Part(
            "known faults of others",
            ("-m", "pytest", "-v", "-p", "no:cacheprovider", "tests/faults"),
            "tests/faults",
            _faults,
        ),
        Part(
            "exports",
            ("-m", "tools.compare_exports"),
            "tools/compare_exports.py",
            _exports,
        ),
    )


def counted(part: Part) -> Count:
    """Run a part and read what came of it."""
    if not (ROOT / part.needs).exists():
        return Count(part.what, f"not there: {part.needs}", None)
    # Without this variable scikit-learn skips its checks of the array API.
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    run = subprocess.run(
        [sys.executable, *part.command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    read = part.read(run.stdout)
    if read is None:
        last = (run.stderr.strip() or run.stdout.strip()).splitlines()[-1:]
        return Count(part.what, f"did not end: {' '.join(last)[:100]}", None)
    done, failures = read
    if failures:
        print(*re.findall(r"^FAILED.*$", run.stdout, re.M), sep="\n", file=sys.stderr)
    if run.returncode and not failures:  # it says that all is well, and ends otherwise
        return Count(part.what, f"{done}; ended with {run.returncode}", None)
    return Count(part.what, done, failures)


def table(counts: Sequence[Count]) -> list[str]:
    """Return counts as lines of Markdown.

    >>> table([Count("checks", "3 of 3 passed", 0)])[-1]
    '| checks | 3 of 3 passed | 0 |'
    """
    lines = ["| what | how much | failures |", "|---|---|---|"]
    for count in counts:
        failures = "not known" if count.failures is None else str(count.failures)
        lines.append(f"| {count.what} | {count.done} | {failures} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Count all, and say whether nothing failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mutations", type=int, default=20_000)
    options = parser.parse_args(arguments)
    counts = []
    for part in parts(options.mutations):
        count = counted(part)
        counts.append(count)
        print(table([count])[-1], flush=True)
    whole = all(count.failures is not None for count in counts)
    if whole:
        lines = [f"{dated()}:", "", *table(counts)]
        page = written(PAGE.read_text("utf-8"), lines, command=COMMAND)
        PAGE.write_text(page, "utf-8")
    else:
        print("some parts did not run: the page is as it was", file=sys.stderr)
    return 0 if whole and not any(count.failures for count in counts) else 1


if __name__ == "__main__":
    sys.exit(main())
