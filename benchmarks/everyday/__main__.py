"""What a person waits for: small and middling tables, default settings, ratios.

    python -m benchmarks.everyday [--lines] [--grid] [--only iris] [--data FOLDER]

*Lines* are what people type. The *grid* is every recipe on six tables for classes and
one for numbers, plain and with each of five settings. Each cell runs in a process of
its own. A cell that is not done after ``--patience`` seconds is reported as such, and
one that fails as well. docs/speed.md says what is measured.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path

from benchmarks.everyday.cells import PEERS, Cell, Command, grid, lines
from benchmarks.everyday.tables import FILES
from benchmarks.speed import measure, report
from benchmarks.speed.command import keep_to_threads
from benchmarks.speed.data import AbsentError
from benchmarks.speed.outcome import OWN
from benchmarks.speed.programs import trees

from spinney._support.text_table import aligned

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"  # an installed package has its bytecode
TRANSLATES = "translates its loops"


@dataclass
class Result:
    """What a cell came to: the seconds of each program's runs, or why there are none.

    ``first`` is Spinney's first fit in the worker; ``runs`` are those after it, or all
    of a command. ``missed`` says that Spinney was not done, failed or had no table.
    ``ratio`` is its best run divided by ``reference``, the best of what is ``beside``.
    """

    name: str
    like: str = ""
    first: float | None = None
    runs: dict[str, list[float]] = field(default_factory=dict)
    missed: str = ""
    notes: list[str] = field(default_factory=list)
    beside: str = ""
    reference: float | None = None
    ratio: float | None = None

    def best(self) -> float | None:
        """Return the seconds of Spinney's shortest run."""
        return min(self.runs.get(OWN, ()), default=None)


def waited(arguments: Iterable[str], patience: float) -> tuple[str, str, int | None]:
    """Run a command; return what it wrote, and its code: None if it was not done."""
    process = subprocess.Popen(
        list(arguments),
        cwd=measure.ROOT,
        env={k: v for k, v in os.environ.items() if k != NO_BYTECODE},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        _end(process)
        return *process.communicate(), None
    except BaseException:
        _end(process)
        raise
    return out, err, process.returncode


def _end(process: "subprocess.Popen[str]") -> None:
    """End a process and those that it started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def not_done(options: argparse.Namespace, err: str) -> str:
    """Return the words for a program that was stopped."""
    translated = f" (Spinney {TRANSLATES} meanwhile)" if TRANSLATES in err else ""
    return f"not done after {options.patience:g} s{translated}"


def run_cell(cell: Cell, options: argparse.Namespace) -> Result:
    """Run a cell in a worker process."""
    request = {
        "cell": cell.name,
        "data": str(options.data.resolve()) if options.data else None,
        "repeats": options.repeats,
        "patience": options.patience,
    }
    worker = [sys.executable, "-m", "benchmarks.everyday.worker", json.dumps(request)]
    out, err, code = waited(worker, options.patience)
    told = [json.loads(each) for each in out.splitlines() if each.startswith("{")]
    result = Result(cell.name, cell.like)
    failed = {each["program"]: each["failed"] for each in told if "failed" in each}
    result.missed = failed.pop(OWN, "")
    result.notes += [f"{program}: {words}" for program, words in failed.items()]
    for each in told:
        if "seconds" in each:
            result.runs.setdefault(each["program"], []).append(each["seconds"])
        elif "absent" in each:
            result.missed = each["absent"]
    colds = {program: runs.pop(0) for program, runs in result.runs.items()}
    result.first = colds.get(OWN)
    if result.missed:
        return result
    if code is None and result.first is None:
        result.missed = not_done(options, err)
    elif code is None:
        result.notes.append(not_done(options, err))
        result.runs[OWN] = result.runs[OWN] or [result.first]
    elif code:
        result.missed = f"worker failed: {' '.join(err.split())[-300:]}"
    elif TRANSLATES in err:
        result.notes.append(f"its first fit {TRANSLATES}")
    return result


def run_command(command: Command, options: argparse.Namespace, scratch: Path) -> Result:
    """Run commands again and again, each in a fresh process.

    The first run is not counted: it may compile, bytecode as well.
    """
    result = Result(command.name, command.like)
    file = ""
    if command.table:
        try:
            file = str(FILES[command.table](scratch, options.data).resolve())
        except AbsentError as absent:
            result.missed = str(absent)
            return result
    for program, words in command.commands.items():
        arguments = [word.replace("{file}", file) for word in words]
        runs = result.runs.setdefault(program, [])
        while len(runs) <= options.repeats and sum(runs) < options.patience:
            began = time.perf_counter()
            _, err, code = waited(arguments, options.patience)
            if code == 0:
                runs.append(time.perf_counter() - began)
                continue
            why = not_done(options, err) if code is None else err.strip()[-300:]
            if program == OWN and not runs:
                result.missed = why
            else:
                result.notes.append(f"{program}: {why}")
            break
        first = runs.pop(0) if len(runs) > 1 else None
        result.first = first if program == OWN else result.first
    return result


def compare(results: list[Result]) -> None:
    """Set each ratio: to the fastest peer, or else to the cell that it is like."""
    by_name = {result.name: result for result in results}
    for result in results:
        known = {p: min(runs) for p, runs in result.runs.items() if runs}
        own = known.pop(OWN, None)
        like = by_name.get(result.like, Result(result.like)).best()
        if not known and like:
            known[result.like] = like
        if known:
            result.beside = min(known, key=lambda name: known[name])
            result.reference = known[result.beside]
            result.ratio = own / result.reference if own else None


def slowest_first(results: list[Result]) -> list[Result]:
    """Return cells that are not done, then by ratio; last those without one."""

    def rank(result: Result) -> tuple[float, float]:
        undone = result.missed.startswith("not done")
        return (inf if undone else result.ratio or 0.0), result.best() or 0.0

    return sorted(results, key=rank, reverse=True)


HEADS = ("cell", "spinney s", "runs", "first s", "beside s", "ratio", "beside")


def shown(results: Iterable[Result]) -> list[str]:
    """Return results as lines of a table, what is missing and what is noted last."""
    rows = [(*HEADS, "")]
    for result in results:
        numbers = (
            _seconds(result.best()),
            str(len(result.runs.get(OWN, ())) or ""),
            _seconds(result.first),
            _seconds(result.reference),
            "" if result.ratio is None else f"{result.ratio:.2f}",
        )
        words = "; ".join(filter(None, [result.missed, *result.notes]))
        rows.append((result.name, *numbers, result.beside, words))
    return aligned(rows, left=(0, 6, 7))


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:#.3g}"


def run(
    cells: Iterable[Cell | Command], options: argparse.Namespace, earlier: list[Result]
) -> list[Result]:
    """Run cells one after the other; keep what is done after each."""
    results: list[Result] = []
    absent: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for cell in [each for each in cells if options.only in each.name]:
            if isinstance(cell, Command):
                result = run_command(cell, options, Path(scratch))
            elif cell.table in absent:
                result = Result(cell.name, cell.like, missed=absent[cell.table])
            else:
                result = run_cell(cell, options)
                if "left out" in result.missed:
                    absent[cell.table] = result.missed
            results.append(result)
            words = result.missed or f"{_seconds(result.best())} s"
            print(f"{result.name}: {words}", file=sys.stderr, flush=True)
            compare(results)
            if options.output:
                keep(options.output, [*earlier, *results])
    return results


def keep(file: Path, results: list[Result]) -> None:
    """Write results and what they were measured on, as JSON."""
    told = {"machine": measure.machine(), "cells": [asdict(each) for each in results]}
    file.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return what the command was told."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.everyday", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    folder = os.environ.get("SPINNEY_DATA")
    add("--lines", action="store_true", help="only the lines; both if not said")
    add("--grid", action="store_true", help="only the grid")
    add("--only", default="", metavar="TEXT", help="only cells with this in their name")
    add(
        "--data",
        type=Path,
        default=Path(folder) if folder else None,
        help="the folder of tables; the variable SPINNEY_DATA",
    )
    add("--repeats", type=int, default=5, help="warm runs at least, the best counts")
    add("--patience", type=float, default=60, help="seconds to wait for a cell")
    add("-o", "--output", type=Path, help="write the results as JSON")
    options = parser.parse_args(arguments)
    if options.repeats < 1 or options.patience <= 0:
        parser.error("--repeats must be at least 1, --patience above 0")
    return options


def main(arguments: list[str]) -> None:
    """Run the lines and the grid, and print what they came to."""
    warnings.simplefilter("ignore")
    options = parsed(arguments)
    keep_to_threads()
    here = measure.machine()
    print(f"{report.machine_words(here)}, load {here['load']}")
    print(
        f"best of {options.repeats} warm runs or more, after a first fit in the same "
        "process; 'fresh process': from its start, nothing warm"
    )
    absent = [p.name for p in trees(None, 1) if p.name in PEERS and p.absence(1)]
    if absent:
        print(f"left out, not installed: {', '.join(absent)}")
    results: list[Result] = []
    if options.lines or not options.grid:
        results = run(lines(), options, [])
        print("", "lines", *shown(results), sep="\n", flush=True)
    if options.grid or not options.lines:
        cells = run(grid(), options, results)
        print("", "grid, the slowest first", *shown(slowest_first(cells)), sep="\n")
        results += cells
    if not results:
        msg = f"no cell has {options.only!r} in its name"
        raise SystemExit(msg)


if __name__ == "__main__":
    main(sys.argv[1:])
