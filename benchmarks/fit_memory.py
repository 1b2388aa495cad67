"""The memory of a fit beside its table: bytes per cell, by grower.

    python -m benchmarks.fit_memory [--rows 50000,200000] [--only cart,k-means]

Every line has a fresh process, which fits a small table of the same kind first, so that
what is loaded and compiled is there, and then made tables of ten columns of float64.
The figure is the peak of what is resident beyond what was resident with the table,
divided by the cells of the table. docs/reliability.md has what this printed.
"""

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import spinney
from spinney._support.peak_memory import peak_memory_of

__all__ = ["FITS", "Fit", "bytes_a_cell", "in_child"]

ROOT = Path(__file__).resolve().parents[1]
COLUMNS, SMALL = 10, 30_000
BOUND = 200  # bytes a cell: no fit here may need more, at 50,000 rows or above


@dataclass(frozen=True, slots=True)
class Fit:
    """A fit, who grows it, and whether its columns are names."""

    name: str
    engine: str
    model: Callable[[], Any]
    names: bool = False


def _tree(recipe: str, **settings: Any) -> Callable[[], Any]:
    return lambda: spinney.TreeClassifier(recipe=recipe, **settings)


FITS = {
    fit.name: fit
    for fit in (
        Fit("cart", "binned", _tree("cart")),
        Fit("c4.5", "multiway", _tree("c4.5")),
        Fit("id3", "multiway", _tree("id3"), names=True),
        Fit("chaid", "plain", _tree("chaid"), names=True),
        Fit("forest", "binned", lambda: spinney.ForestClassifier(n_estimators=10)),
        Fit("k-means", "k-means", lambda: spinney.KMeans(n_clusters=8)),
    )
}


def made(n_rows: int, *, names: bool) -> tuple[Any, Any]:
    """Return columns, and classes that two of them decide, not fully."""
    random = np.random.default_rng(n_rows)
    columns = random.normal(size=(n_rows, COLUMNS))
    if names:
        columns = np.floor(3 * columns)
    decided = columns[:, 0] + columns[:, 1] * random.normal(size=n_rows) > 0
    return columns, decided.astype(np.int64)


def bytes_a_cell(fit: Fit, rows: Sequence[int]) -> list[float]:
    """Return the peaks of fits on tables of so many rows, in this process."""
    nominal = {"nominal": list(range(COLUMNS))} if fit.names else {}
    peaks = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n_rows in (SMALL, *rows):
            columns, classes = made(n_rows, names=fit.names)
            model = fit.model().set_params(**nominal)
            peak = peak_memory_of(partial(model.fit, columns, classes))
            peaks.append((peak or 0) / columns.size)
            del model
    return peaks[1:]


def in_child(name: str, rows: Sequence[int]) -> list[float]:
    """Return the same of a fresh process."""
    command = [sys.executable, "-m", "benchmarks.fit_memory", "--one", name]
    command += ["--rows", ",".join(map(str, rows))]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if child.returncode:
        raise RuntimeError(child.stderr)
    peaks: list[float] = json.loads(child.stdout)
    return peaks


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table of bytes a cell; 1 if a figure is above the bound."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", default="50000,200000")
    parser.add_argument("--only", default=",".join(FITS))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    rows = [int(size) for size in options.rows.split(",")]
    if options.one:
        print(json.dumps(bytes_a_cell(FITS[options.one], rows)))
        return 0
    print("| fit | grown by |", " | ".join(f"{n:,} rows" for n in rows), "|")
    print("|---|---|" + "---:|" * len(rows))
    most = 0.0
    for name in options.only.split(","):
        peaks = in_child(name, rows)
        most = max(most, *peaks)
        cells = " | ".join(f"{peak:.0f}" for peak in peaks)
        print(f"| {name} | {FITS[name].engine} | {cells} |", flush=True)
    return 0 if most <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
