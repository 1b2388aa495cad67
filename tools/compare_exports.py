"""Compare every export with its model and print how many rows were the same.

    python -m tools.compare_exports [--formats python,onnx] [--models c4.5]

Every format is run for real over models of every kind: on training rows, at every
threshold and one unit in the last place on either side, without cells, with values that
were never seen, and in tables with a column of every name that the export has inside.
What a format cannot say must be refused by name; a format whose tool is not installed
is named, and not counted.
"""

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field

from tests.helpers.export_cases import CASES, Case
from tests.helpers.export_compare import WAYS, compare
from tests.helpers.export_names import CAPITALS

ALL_CAPITALS = tuple(CAPITALS)


@dataclass
class Counts:
    """The result of a comparison."""

    rows: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    different: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, case: Case, *, capitals: str) -> None:
        """Compare one model, in the table of its case and in one of hostile columns."""
        way = WAYS[name]
        result = compare(way, case)
        if result.refusal is not None:
            self.refused[name] += 1
            return
        self.models[name] += 1
        for found in (result, compare(way, case, beside=capitals)):
            self.rows[name] += found.rows
            if found.differences:
                self.different[f"{name}, {case}"] = found.differences

    def lines(self) -> list[str]:
        """Return what there is to tell, a line for each format, and the sums."""
        told = [
            f"{name:12} {self.models[name]:4} models {self.rows[name]:8,} rows "
            f"{self.refused[name]:4} refused by name"
            for name in self.models | self.refused
        ]
        told += [f"{name:12} left out: {why}" for name, why in self.left_out.items()]
        told += [f"{name}: {n} rows differ" for name, n in self.different.items()]
        n_formats, n_models = len(self.models), self.models.total()
        total = sum(self.different.values())
        last = (
            f"exports: {n_formats} ways to run them, {n_models} models, "
            f"{self.rows.total():,} rows compared, {total} differences"
        )
        return [*told, last]


def counted(formats: list[str] | None = None, models: str = "") -> Counts:
    """Compare models with their exports; ``models`` is in the names of those meant."""
    counts = Counts()
    for name in formats or WAYS:
        way = WAYS[name]
        if way.missing_tool:
            counts.left_out[name] = way.missing_tool
            continue
        for at, case in enumerate(CASES):
            if models in str(case):
                counts.add(name, case, capitals=ALL_CAPITALS[at % len(ALL_CAPITALS)])
    return counts


def main() -> int:
    """Print the counts; the exit code is 1 where anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--formats", help=f"some of {', '.join(WAYS)}")
    parser.add_argument("--models", default="", help="what their names have in them")
    options = parser.parse_args()
    counts = counted(options.formats and options.formats.split(","), options.models)
    print(*counts.lines(), sep="\n")
    return 1 if counts.different else 0


if __name__ == "__main__":
    sys.exit(main())
