"""The complexity of each algorithm: measured exponents beside theory's O(…).

    python -m benchmarks.exponents [--quick] [--only c4.5,k-means] [--repeats 3]

Each line varies one thing (rows, attributes, values, classes, trees, clusters) and
keeps the rest, on made tables. What takes c · size^k lies on a line of slope k where
both axes are logarithms: the slope is fitted to the least of the repeats at each size,
and again to the last two sizes. Seconds are those of the processor, of all threads
together, so that other work on the machine says little. Every size is run once before,
so that nothing is loaded or compiled while it is timed, and trees are grown as those of
folds are, by one engine whatever their size. docs/complexity.md says what follows.
"""

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

import spinney
from spinney.extensions.evaluation import exponent
from spinney.growth import prediction_only

__all__ = ["LINES", "CostLine", "lines_of", "measured", "report_of"]

Work = Callable[[], Any]
# Rows of the lines that vary something else, and the sizes of quick runs relative to
# full ones.
FIXED_ROWS = 8000
MANY_TREES = 1000  # enough for compiled kernels to be worth loading
QUICKLY = 16


@dataclass(frozen=True)
class CostLine:
    """One algorithm along one axis.

    ``prepared`` is given a size and a number of rows, and returns the work to time;
    where rows are what varies, both are the same.
    """

    name: str
    axis: str
    theory: str
    sizes: tuple[int, ...]
    prepared: Callable[[int, int], Work]


def numbers(
    n_rows: int, n_attributes: int = 8, n_classes: int = 2, *, target: str = "class"
) -> Any:
    """Return a table of normal numbers; three of them decide the target, not fully."""
    random = np.random.default_rng(n_rows)
    cells = random.normal(size=(n_rows, max(3, n_attributes)))
    score = cells[:, 0] + cells[:, 1] * cells[:, 2] + random.normal(size=n_rows) / 2
    columns: dict[str, Any] = {f"x{i}": cells[:, i] for i in range(n_attributes)}
    if target == "number":
        return spinney.read_table({**columns, "y": score})
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return spinney.read_table({**columns, "y": _names(np.searchsorted(cuts, score))})


def names(
    n_rows: int, n_attributes: int = 8, n_values: int = 4, n_classes: int = 2
) -> Any:
    """Return a table of nominal attributes; the sum of three decides the class."""
    random = np.random.default_rng(n_rows)
    codes = random.integers(0, n_values, size=(n_rows, max(3, n_attributes)))
    noise = random.integers(0, n_values, size=n_rows)
    score = codes[:, :3].sum(axis=1) + noise
    ranks = np.argsort(np.argsort(score, kind="stable"), kind="stable")
    columns = {f"x{i}": _names(codes[:, i]) for i in range(n_attributes)}
    labels = _names(ranks * n_classes // n_rows)
    return spinney.read_table({**columns, "y": labels})


def _names(codes: Any) -> list[str]:
    return [f"v{code:03d}" for code in codes.tolist()]


def growing(make: Callable[..., Any], recipe: str, axis: str, **settings: Any) -> Any:
    """Return what prepares growing a tree where ``axis`` of the table varies."""

    def prepared(size: int, n_rows: int) -> Work:
        table = make(n_rows) if axis == "rows" else make(n_rows, **{axis: size})
        return partial(spinney.grow, table, "y", recipe=recipe, **settings)

    return prepared


def forests(axis: str) -> Any:
    """Return what prepares growing a forest."""

    def prepared(size: int, n_rows: int) -> Work:
        trees = size if axis == "trees" else 10
        return partial(spinney.grow_forest, numbers(n_rows), "y", n_estimators=trees)

    return prepared


def pruning(method: str, **options: Any) -> Any:
    """Return what prepares pruning a tree that is grown in full."""

    def prepared(_: int, n_rows: int) -> Work:
        table = numbers(n_rows)
        model = spinney.grow(table, "y", recipe="cart")
        given = {
            name: table if value == "rows" else value for name, value in options.items()
        }
        return partial(model.prune, method, **given)

    return prepared


def predicting(*, rows_vary: bool) -> Any:
    """Return what prepares predicting ever more rows, or by ever larger trees."""

    def prepared(_: int, n_rows: int) -> Work:
        grown_on, asked = (2000, n_rows) if rows_vary else (n_rows, 20_000)
        model = spinney.grow(numbers(grown_on), "y", recipe="cart")
        return partial(model.predict, numbers(asked))

    return prepared


def clusters(axis: str) -> Any:
    """Return what prepares ten iterations of k-means, from one start."""

    def prepared(size: int, n_rows: int) -> Work:
        n_columns = size if axis == "attributes" else 8
        k = size if axis == "clusters" else 8
        n_rows = n_rows if axis == "rows" else 8 * n_rows  # for compiled kernels
        cells = np.random.default_rng(1).normal(size=(n_rows, n_columns))
        model = spinney.KMeans(k, n_init=1, max_iter=10, tol=0, random_state=0)
        return partial(_quietly, model.fit, cells)

    return prepared


def _quietly(work: Callable[[Any], Any], cells: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work(cells)


def lines_of() -> tuple[CostLine, ...]:
    """Return all lines, in the order of the report."""
    rows = (8000, 16_000, 32_000, 64_000)
    few, many = (2000, 4000, 8000, 16_000), (64_000, 128_000, 256_000, 512_000)
    several, wide = (16_000, 32_000, 64_000, 128_000), (4, 8, 16, 32)
    by_rows, by_attributes = "n log n", "a"
    return (
        CostLine("id3: names", "rows", "n", rows, growing(names, "id3", "rows")),
        CostLine(
            "id3: names",
            "attributes",
            "a to a²",
            wide,
            growing(names, "id3", "n_attributes"),
        ),
        CostLine(
            "id3: names",
            "values",
            "1 to v",
            (2, 4, 8, 16),
            growing(names, "id3", "n_values", max_depth=2),
        ),
        CostLine(
            "c4.5: numbers", "rows", "n log² n", rows, growing(numbers, "c4.5", "rows")
        ),
        CostLine(
            "c4.5: numbers",
            "attributes",
            by_attributes,
            wide,
            growing(numbers, "c4.5", "n_attributes"),
        ),
        CostLine(
            "cart: numbers", "rows", by_rows, rows, growing(numbers, "cart", "rows")
        ),
        CostLine(
            "cart: numbers",
            "attributes",
            by_attributes,
            wide,
            growing(numbers, "cart", "n_attributes"),
        ),
        CostLine(
            "cart: numbers",
            "classes",
            "1 to c",
            (2, 4, 8, 16),
            growing(numbers, "cart", "n_classes", max_depth=6),
        ),
        CostLine(
            "cart: 2 classes",
            "values",
            "1 to v log v",
            (8, 16, 32, 64),
            growing(names, "cart", "n_values", max_depth=4),
        ),
        CostLine(
            "cart: 3 classes",
            "values",
            "2^v",
            (6, 8, 10, 12),
            growing(partial(names, n_classes=3), "cart", "n_values", max_depth=1),
        ),
        CostLine("chaid: names", "rows", "n", rows, growing(names, "chaid", "rows")),
        CostLine(
            "chaid: names",
            "values",
            "1 to v²",
            (8, 16, 32, 64),
            growing(names, "chaid", "n_values", max_depth=2),
        ),
        CostLine(
            "m5: numbers",
            "rows",
            by_rows,
            few,
            growing(partial(numbers, target="number"), "m5", "rows"),
        ),
        CostLine(
            "m5: numbers",
            "attributes",
            "a to a⁴",
            wide,
            growing(partial(numbers, target="number"), "m5", "n_attributes"),
        ),
        CostLine(
            "reduced-error",
            "rows",
            by_rows,
            rows,
            pruning("reduced-error", validation="rows"),
        ),
        CostLine("pessimistic", "rows", "m, m ~ n", rows, pruning("pessimistic")),
        CostLine("error-based", "rows", "m, m ~ n", few, pruning("error-based")),
        CostLine(
            "error-based: raising",
            "rows",
            "n log² n",
            few,
            pruning("error-based", data="rows"),
        ),
        CostLine(
            "cost-complexity",
            "rows",
            "m log² m",
            rows,
            pruning("cost-complexity", alpha=2),
        ),
        CostLine("forest", "rows", by_rows, rows, forests("rows")),
        CostLine("forest", "trees", "t", (10, 20, 40, 80), forests("trees")),
        CostLine("k-means: 10 iterations", "rows", "n", many, clusters("rows")),
        CostLine(
            "k-means: 10 iterations",
            "clusters",
            "k",
            (8, 16, 32, 64),
            clusters("clusters"),
        ),
        CostLine(
            "k-means: 10 iterations",
            "attributes",
            "a",
            (8, 16, 32, 64),
            clusters("attributes"),
        ),
        CostLine("predict", "rows", "n", several, predicting(rows_vary=True)),
        CostLine(
            "predict", "rows trained on", "log n", rows, predicting(rows_vary=False)
        ),
    )


LINES = lines_of()


def measured(line: CostLine, *, repeats: int, quick: bool) -> list[float]:
    """Return the least seconds of a line at each of its sizes."""
    fixed = FIXED_ROWS // QUICKLY if quick else FIXED_ROWS
    seconds = []
    with prediction_only(MANY_TREES):
        for size in reversed(sizes_of(line, quick=quick)):
            work = line.prepared(size, size if line.axis.startswith("rows") else fixed)
            work()
            seconds.append(min(_timed(work) for _ in range(repeats)))
    return seconds[::-1]


def sizes_of(line: CostLine, *, quick: bool) -> list[int]:
    """Return the sizes that are measured; quick ones are fewer and smaller."""
    if not quick:
        return list(line.sizes)
    of_rows = line.axis.startswith("rows")
    return [size // QUICKLY if of_rows else size for size in line.sizes[:2]]


def _timed(work: Work) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def report_of(line: CostLine, sizes: list[int], seconds: list[float]) -> str:
    """Return a line as text."""
    fitted, last = exponent(sizes, seconds), exponent(sizes[-2:], seconds[-2:])
    span = f"{sizes[0]:,} to {sizes[-1]:,}"
    return (
        f"{line.name:<23}{line.axis:<16}{line.theory:<14}{span:>18}"
        f"{seconds[-1]:>9.3f}{fitted:>7.2f}{last:>7.2f}"
    )


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command-line arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two small sizes each")
    parser.add_argument("--only", default="", help="beginnings of names, by commas")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    options.only = tuple(filter(None, options.only.split(",")))
    known = {line.name for line in LINES}
    for name in options.only:
        if not any(each.startswith(name) for each in known):
            parser.error(f"--only {name!r}: there are {', '.join(sorted(known))}")
    return options


def wanted(only: tuple[str, ...]) -> Iterator[CostLine]:
    """Give the lines whose names begin so; all, if nothing is asked for."""
    return (line for line in LINES if not only or line.name.startswith(only))


def main() -> None:
    """Measure and print."""
    options = parsed()
    warnings.simplefilter("ignore")
    print(
        f"spinney {spinney.__version__}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, Python {platform.python_version()}, "
        f"{datetime.now(UTC):%Y-%m-%d}, best of {options.repeats}"
    )
    print(
        f"{'':<23}{'in':<16}{'theory':<14}{'sizes':>18}{'seconds':>9}"
        f"{'power':>7}{'last':>7}",
        flush=True,
    )
    for line in wanted(options.only):
        seconds = measured(line, repeats=options.repeats, quick=options.quick)
        print(report_of(line, sizes_of(line, quick=options.quick), seconds), flush=True)


if __name__ == "__main__":
    main()
