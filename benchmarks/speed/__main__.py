"""Spinney beside its peers: the same data, one process, ratios.

    python -m benchmarks.speed [--rows 500000] [--tasks tree2,forest] [--repeats 3]

Peers that are not installed are left out (``pip install -e '.[bench]'`` has them all).
Every program has two threads. The first run of each is told apart as *cold*. Ratios are
of the median of the warm ones. docs/speed.md says what the tasks are.
"""

import argparse
import logging
import os
import resource
import sys
import warnings
from pathlib import Path

from benchmarks.speed import chart, measure, outcome, report
from benchmarks.speed.data import AbsentError
from benchmarks.speed.programs import NAMES, THREADS
from benchmarks.speed.tasks import COLUMNS, TASKS, Options


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return what the command was told."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--rows", type=int, help="rows of made tables, and the most of others")
    add("--columns", type=int, default=COLUMNS, help="columns of made tables")
    add("--tasks", default=",".join(TASKS), help="names, separated by commas")
    add("--programs", help="names, separated by commas; all that are installed")
    add("--repeats", type=int, default=3, help="warm runs of each")
    add("--limit", type=float, default=300, help="seconds after which no run begins")
    add("--data", type=Path, help="the folder of tables; the variable SPINNEY_DATA")
    add("--json", type=Path, help="keep what was measured; other tasks in it stay")
    add("--read", action="store_true", help="run nothing, read --json")
    add("--chart", type=Path, help="draw the ratios, as .svg or .png")
    add("--page", type=Path, help="put the tables into a page of Markdown")
    options = parser.parse_args(arguments)
    for name in options.tasks.split(","):
        if name not in TASKS:
            parser.error(f"--tasks: {name} is none of {', '.join(TASKS)}")
    for name in (options.programs or NAMES[0]).split(","):
        if name not in NAMES:
            parser.error(f"--programs: {name} is none of {', '.join(NAMES)}")
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    if options.read and not (options.json and options.json.is_file()):
        parser.error("--read needs --json with a file that an earlier run wrote")
    return options


def run(options: argparse.Namespace) -> list[outcome.Outcome]:
    """Run the tasks and print what they came to."""
    folder = options.data or os.environ.get("SPINNEY_DATA")
    told = Options(
        rows=options.rows,
        columns=options.columns,
        repeats=options.repeats,
        limit=options.limit,
        programs=tuple(options.programs.split(",")) if options.programs else None,
        data=Path(folder) if folder else None,
    )
    here = measure.machine()
    print(f"{report.machine_words(here)}, load {here['load']}", flush=True)
    found: list[outcome.Outcome] = []
    for name in options.tasks.split(","):
        try:
            for each in TASKS[name](told):
                print(report.tail(each), flush=True)
                found.append(each)
                if options.json:
                    outcome.kept(options.json, [each])
        except AbsentError as absent:
            print(f"\n[{name}] {absent}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\npeak memory of this process: {peak / 1024:.0f} MiB")
    return found


def main() -> None:
    """Run the tasks, or read those of a file; print, keep, draw."""
    warnings.simplefilter("ignore")
    logging.getLogger("absl").setLevel(logging.ERROR)
    options = parsed(sys.argv[1:])
    # Spinney has as many threads as cores: two cores are two threads for all.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    found = [] if options.read else run(options)
    if options.json:
        found = outcome.read(options.json)
    if options.chart:
        chart.draw(options.chart, found)
    if options.page:
        report.fill(options.page, found)


if __name__ == "__main__":
    main()
