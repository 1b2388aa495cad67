"""Print how legible the source is, before and after."""

import argparse
import json
from pathlib import Path

from tools.house.children import ROOT, run_figures
from tools.house.source import Section, source_figures
from tools.house.table import comparison

BEFORE = ROOT / "tools" / "house_before.json"


def main() -> None:
    """Measure the source as the arguments say, and print the table."""
    arguments = read_arguments()
    after = measured(arguments.source.resolve(), with_runs=not arguments.skip_runs)
    if arguments.save:
        text = json.dumps(after, indent=2, ensure_ascii=False)
        arguments.save.write_text(text + "\n", encoding="utf-8")
    known = arguments.before.exists()
    before = json.loads(arguments.before.read_text(encoding="utf-8")) if known else {}
    print(comparison(before, after))


def measured(source: Path, *, with_runs: bool) -> dict[str, Section]:
    """Return the figures of the package in ``source``, a folder of a checkout."""
    figures = source_figures(source / "spinney", source.parent / "pyproject.toml")
    return figures | (run_figures(source) if with_runs else {})


def read_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.house", description=__doc__)
    parser.add_argument(
        "--before", type=Path, default=BEFORE, metavar="FILE", help="figures to compare"
    )
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="write the figures measured now"
    )
    parser.add_argument(
        "--skip-runs", action="store_true", help="only what needs no run: seconds"
    )
    parser.add_argument(
        "--source",
        type=Path,
        default=ROOT / "src",
        metavar="DIR",
        help="the folder src of another checkout, such as a git worktree",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
