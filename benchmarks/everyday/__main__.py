"""Times that users wait: small and medium tables, default settings, ratios.

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
from pathlib import Path
from typing import Any

from benchmarks.everyday.bars import NOT_RUN, check_targets
from benchmarks.everyday.cells import (
    PEERS,
    Cell,
    Command,
    grid,
    lines,
)
from benchmarks.everyday.results import (
    Result,
    compare,
    keep,
    markdown,
    read,
    seconds_text,
    shown,
    slowest_first,
)
from benchmarks.everyday.tables import FILES
from benchmarks.speed import measure, report
from benchmarks.speed.command import keep_to_threads
from benchmarks.speed.data import AbsentError
from benchmarks.speed.outcome import OWN, Bar
from benchmarks.speed.programs import trees

from spinney._support.text_table import aligned

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"  # an installed package has its bytecode
COMPILES = "Compiling "  # as its message begins


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
    compiled = " (Spinney compiled meanwhile)" if COMPILES in err else ""
    return f"not done after {options.patience:g} s{compiled}"


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
    messages = [json.loads(each) for each in out.splitlines() if each.startswith("{")]
    result = Result(cell.name, cell.like)
    failed = {each["program"]: each["failed"] for each in messages if "failed" in each}
    result.missed = failed.pop(OWN, "")
    result.notes += [f"{program}: {words}" for program, words in failed.items()]
    for each in messages:
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
        late = [each["begins"] for each in messages if "begins" in each][-1:]
        result.notes.append(": ".join([*late, not_done(options, err)]))
        result.runs[OWN] = result.runs[OWN] or [result.first]
    elif code:
        result.missed = f"worker failed: {' '.join(err.split())[-300:]}"
    elif COMPILES in err:
        result.notes.append("its first fit compiled")
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


def run(cells: Iterable[Cell | Command], options: argparse.Namespace) -> list[Result]:
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
            words = result.missed or f"{seconds_text(result.best())} s"
            print(f"{result.name}: {words}", file=sys.stderr, flush=True)
            if options.output:
                keep(options.output, [result])
    compare(results)
    return results


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return the command-line arguments."""
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
    add("-o", "--output", type=Path, help="keep the results; other cells in it stay")
    add("--read", action="store_true", help="run nothing, read the file of -o")
    add("--page", type=Path, help="put the tables into a page of Markdown")
    options = parser.parse_args(arguments)
    if options.repeats < 1 or options.patience <= 0:
        parser.error("--repeats must be at least 1, --patience above 0")
    if options.read and not (options.output and options.output.is_file()):
        parser.error("--read needs -o with a file that an earlier run wrote")
    return options


def measured(options: argparse.Namespace, machine: dict[str, Any]) -> list[Result]:
    """Run the lines and the grid, as far as they are wanted."""
    keep_to_threads()
    print(f"{report.machine_words(machine)}, load {machine['load']}")
    print(
        f"best of {options.repeats} warm runs or more, after a first fit in the same "
        "process; 'fresh process': from its start, nothing warm"
    )
    absent = [p.name for p in trees(None, 1) if p.name in PEERS and p.absence(1)]
    if absent:
        print(f"left out, not installed: {', '.join(absent)}")
    results: list[Result] = []
    if options.lines or not options.grid:
        results += run(lines(), options)
    if options.grid or not options.lines:
        results += run(grid(), options)
    if not results:
        msg = f"no cell has {options.only!r} in its name"
        raise SystemExit(msg)
    return results


def parts_of(results: list[Result]) -> tuple[list[Result], list[Result]]:
    """Return the lines in their order, and the cells of the grid, slowest first."""
    by_name = {result.name: result for result in results}
    found = [by_name[cell.name] for cell in lines() if cell.name in by_name]
    of_grid = {cell.name for cell in grid()}
    return found, slowest_first([each for each in results if each.name in of_grid])


def verdicts(bars: Iterable[Bar]) -> list[tuple[str, str, str]]:
    """Return bars as rows: the target, the measured value, and the verdict."""
    said = {True: "reached", False: "missed"}
    return [
        (bar.must, bar.reached, "" if bar.reached == NOT_RUN else said[bar.met])
        for bar in bars
    ]


TARGET_HEADS = ("required", "worst cell", "")


def page_text(results: list[Result], machine: dict[str, Any]) -> str:
    """Return the requirements, with their worst cells, as a section of a page."""
    words = f"Measured on: {report.machine_words(machine)}; load {machine['load']}."
    bars = markdown(TARGET_HEADS, verdicts(check_targets(results)), left=3)
    return "\n\n".join([words, "### Requirements for everyday tasks", bars])


def main(arguments: list[str]) -> None:
    """Run cells, or read those of a file; print what they came to, fill the page."""
    warnings.simplefilter("ignore")
    options = parsed(arguments)
    machine = measure.machine()
    found = [] if options.read else measured(options, machine)
    results = found
    if options.output:
        results, machine = read(options.output)
    typed, cells = parts_of(results if options.read else found)
    if typed:
        print("", "lines", *shown(typed), sep="\n")
    if cells:
        print("", "grid, the slowest first", *shown(cells), sep="\n")
    messages = aligned(
        [TARGET_HEADS, *verdicts(check_targets(results))], left=(0, 1, 2)
    )
    print("", "targets", *messages, sep="\n", flush=True)
    if options.page:
        report.fill(options.page, page_text(results, machine), "everyday")


if __name__ == "__main__":
    main(sys.argv[1:])
