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
from pathlib import Path

from benchmarks.speed import chart
from benchmarks.speed.command import checked, finished, parser_of, show_and_keep
from benchmarks.speed.data import AbsentError
from benchmarks.speed.outcome import Outcome
from benchmarks.speed.programs import NAMES
from benchmarks.speed.tasks import COLUMNS, TASKS, Options


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return the command-line arguments."""
    parser = parser_of("benchmarks.speed", __doc__.splitlines()[0], TASKS)
    add = parser.add_argument
    add("--columns", type=int, default=COLUMNS, help="columns of made tables")
    add("--data", type=Path, help="the folder of tables; the variable SPINNEY_DATA")
    add("--chart", type=Path, help="draw the ratios, as .svg or .png")
    return checked(parser, arguments, tasks=TASKS, programs=NAMES)


def run(options: argparse.Namespace) -> list[Outcome]:
    """Run the tasks and print what they came to."""
    folder = options.data or os.environ.get("SPINNEY_DATA")
    told = Options(
        rows=options.rows,
        columns=options.columns,
        repeats=options.repeats,
        limit=options.limit,
        programs=options.programs,
        data=Path(folder) if folder else None,
    )
    found: list[Outcome] = []
    for name in options.tasks:
        try:
            for each in TASKS[name](told):
                show_and_keep(each, options.json)
                found.append(each)
        except AbsentError as absent:
            print(f"\n[{name}] {absent}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\npeak memory of this process: {peak / 1024:.0f} MiB")
    return found


def main() -> None:
    """Run the tasks, or read those of a file; print, keep, draw."""
    logging.getLogger("absl").setLevel(logging.ERROR)
    options = parsed(sys.argv[1:])
    found = finished(options, run)
    if options.chart:
        chart.draw(options.chart, found)


if __name__ == "__main__":
    main()
