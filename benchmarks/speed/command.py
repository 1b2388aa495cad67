"""The common parts of timing commands: options, cores, saved results."""

import argparse
import importlib.util
import os
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from benchmarks.speed import measure, outcome, report
from benchmarks.speed.outcome import Outcome
from benchmarks.speed.programs import THREADS

__all__ = [
    "Fit",
    "checked",
    "finished",
    "keep_to_threads",
    "names",
    "parser_of",
    "present",
    "show_and_keep",
    "wanted",
]

Fit = Callable[..., tuple[float, int]]
"""Fits a model; returns what it costs, and how many iterations it took."""


def names(text: str) -> tuple[str, ...]:
    """Return names that commas separate."""
    return tuple(text.split(","))


def parser_of(
    module: str, summary: str, tasks: Iterable[str]
) -> argparse.ArgumentParser:
    """Return a parser of the options that all commands have."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=summary)
    add = parser.add_argument
    separated = "names, separated by commas"
    add("--tasks", type=names, default=",".join(tasks), help=separated)
    add("--programs", type=names, help=f"{separated}; all that are installed")
    add("--rows", type=int, help="other rows than the task's; of a file, the most")
    add("--repeats", type=int, default=3, help="warm runs of each")
    add("--limit", type=float, default=300, help="seconds after which no run begins")
    add("--json", type=Path, help="keep what was measured; other tasks in it stay")
    add("--read", action="store_true", help="run nothing, read --json")
    add("--page", type=Path, help="put the tables into a page of Markdown")
    return parser


def checked(
    parser: argparse.ArgumentParser, arguments: list[str], **known: Collection[str]
) -> argparse.Namespace:
    """Return the arguments; ``known`` are the names that an option takes."""
    options = parser.parse_args(arguments)
    for option, allowed in known.items():
        for name in getattr(options, option) or ():
            if name not in allowed:
                parser.error(f"--{option}: {name} is none of {', '.join(allowed)}")
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    if options.read and not (options.json and options.json.is_file()):
        parser.error("--read needs --json with a file that an earlier run wrote")
    return options


def wanted(program: str, programs: Collection[str] | None) -> bool:
    """Return whether a program was asked for, by what stands before its comma."""
    return programs is None or program.split(",")[0] in programs


def present(
    programs: Mapping[str, tuple[str, Fit]], found: Outcome, options: argparse.Namespace
) -> Iterator[tuple[str, Fit]]:
    """Yield the programs that are wanted and installed; note which are not.

    ``programs`` has the package that must be installed, and what is to be timed.
    """
    for program, (package, fit) in programs.items():
        if not wanted(program, options.programs):
            continue
        if importlib.util.find_spec(package) is None:
            found.notes.append(f"{program}: not installed")
        else:
            yield program, fit


def show_and_keep(found: Outcome, file: Path | None) -> None:
    """Print how a task ended, and keep it if there is a file for it."""
    print(report.tail(found), flush=True)
    if file:
        outcome.kept(file, [found])


def finished(
    options: argparse.Namespace, run: Callable[[argparse.Namespace], list[Outcome]]
) -> list[Outcome]:
    """Run the tasks, or read those of a file; fill the page, return all."""
    found = [] if options.read else _run_alike(options, run)
    if options.json:
        found = outcome.read(options.json)
    if options.page:
        report.fill(options.page, report.markdown(found))
    return found


def _run_alike(
    options: argparse.Namespace, run: Callable[[argparse.Namespace], list[Outcome]]
) -> list[Outcome]:
    """Run the tasks, with as many cores for one program as for another."""
    warnings.simplefilter("ignore")
    keep_to_threads()
    here = measure.machine()
    print(f"{report.machine_words(here)}, load {here['load']}", flush=True)
    return run(options)


def keep_to_threads() -> None:
    """Keep this process and its children to as many cores as programs have threads.

    Spinney has as many threads as cores: two cores are two threads for all.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
