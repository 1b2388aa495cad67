"""The tasks: what is learnt or told, by whom, and what is asked of Spinney."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.speed import measure, report
from benchmarks.speed.command import wanted
from benchmarks.speed.data import Data, bundled, covertype, made, mixed
from benchmarks.speed.measure import Line
from benchmarks.speed.outcome import OWN, Bar, Outcome
from benchmarks.speed.programs import (
    Program,
    forests,
    nominal_trees,
    small_forests,
    trees,
)

__all__ = ["TASKS", "Options"]

# The sizes that the bars are about.
ROWS, COLUMNS = 500_000, 30
COVERTYPE_ROWS = 581_012

# Milliseconds need more runs.
SMALL_REPEATS = 9

BINARY = (
    "YDF, LightGBM and XGBoost split nominal values in two and do not prune. C4.5 and "
    "chefboost have one branch per value; C4.5 prunes"
)


@dataclass(frozen=True)
class Options:
    """The command's settings: sizes, runs, programs, and the folder of tables."""

    rows: int | None = None
    columns: int = COLUMNS
    repeats: int = 3
    limit: float = 300.0
    programs: tuple[str, ...] | None = None
    data: Path | None = None

    @property
    def n_rows(self) -> int:
        """How many rows are made."""
        return ROWS if self.rows is None else self.rows

    @property
    def full(self) -> bool:
        """Whether made tables have the size that the bars are about."""
        return self.n_rows == ROWS and self.columns == COLUMNS

    def wants(self, program: str) -> bool:
        """Return whether a program is to be run; a variant goes with its program."""
        return wanted(program, self.programs)


def one_tree(
    name: str, title: str, n_classes: int
) -> Callable[[Options], Iterator[Outcome]]:
    """Return the task of one tree of depth 8 on made numbers."""

    def run(options: Options) -> Iterator[Outcome]:
        data = made(options.n_rows, options.columns, n_classes)
        outcome = _begun(name, title, data, full=options.full)
        models = _fits(outcome, trees(8, len(data.labels)), data, options)
        _compare_impurity(outcome, models, data)
        if n_classes == 2:
            outcome.faster(100, "scikit-learn")
            outcome.faster(30, "YDF")
            outcome.faster(5, "LightGBM")
            outcome.faster(5, "XGBoost")
        else:
            outcome.faster(20, "scikit-learn")
        yield outcome

    return run


def full_depth(options: Options) -> Iterator[Outcome]:
    """Grow one tree to full depth on covertype."""
    data = covertype(options.data, options.rows)
    full = len(data.labels) == COVERTYPE_ROWS
    outcome = _begun("covertype", "one tree to full depth", data, full=full)
    outcome.notes.append(
        "all rows are timed; accuracy is of a tree grown on four fifths of them"
    )
    _fits(outcome, trees(None, len(data.labels)), data, options)
    outcome.faster(10, "scikit-learn")
    yield outcome


def forest(options: Options) -> Iterator[Outcome]:
    """Grow a forest of 20 trees of depth 16 on made numbers."""
    data = made(options.n_rows, options.columns, 2)
    title = "forest of 20, depth 16, √p attributes"
    outcome = _begun("forest", title, data, full=options.full)
    _fits(outcome, forests(20, 16, *data.cells.shape), data, options)
    outcome.faster(4, "XGBoost", "LightGBM", "YDF", "scikit-learn")
    outcome.as_good(0.002)
    yield outcome


def small(options: Options) -> Iterator[Outcome]:
    """Grow forests of 100 trees on small tables."""
    options = replace(options, repeats=max(SMALL_REPEATS, options.repeats))
    for name in ("iris", "breast_cancer", "digits"):
        data = bundled(name)
        title = f"forest of 100 on {name}"
        outcome = _begun(f"small {name}", title, data, full=True)
        _fits(outcome, small_forests(*data.cells.shape), data, options)
        outcome.faster(5, "scikit-learn", "scikit-learn, 1 thread")
        yield outcome


def c45(name: str, most_rows: int | None) -> Callable[[Options], Iterator[Outcome]]:
    """Return the task of C4.5 on a table with nominal values."""

    def run(options: Options) -> Iterator[Outcome]:
        most = most_rows if most_rows is not None else options.rows
        data = mixed(name, options.data, most)
        title = f"C4.5 on {name}" + (f", {most} of its rows" if most else "")
        task = f"c45 {name}" + (" small" if most_rows else "")
        full = most_rows is not None or options.rows is None
        outcome = _begun(task, title, data, full=full)
        outcome.notes.append(BINARY)
        _fits(outcome, nominal_trees(len(data.labels)), data, options)
        outcome.faster(10, "YDF")
        outcome.faster(10, "chefboost")
        yield outcome

    return run


def predict(options: Options) -> Iterator[Outcome]:
    """Tell the votes of 100 trees on twice as many rows as other tasks have."""
    learnt = made(options.n_rows // 5, options.columns, 2)
    told = made(2 * options.n_rows, options.columns, 2, seed=1)
    grown_on = f"grown on {len(learnt.labels)} rows"
    title = f"prediction of shares, 100 trees of depth 16 {grown_on}"
    outcome = _begun("predict", title, told, full=options.full)
    for program in _present(outcome, forests(100, 16, *learnt.cells.shape), options):
        model = program.model(2).fit(learnt.cells, learnt.labels)
        kept: list[Any] = []

        def work(model: Any = model, kept: list[Any] = kept) -> None:
            kept[:] = [model.predict_proba(told.cells)]

        line = measure.timed(program.name, work, options.repeats, options.limit)
        line.quality = float(np.mean(kept[0].argmax(axis=1) == told.labels))
        _add(outcome, line)
    outcome.faster(3, "scikit-learn")
    outcome.faster(1, "LightGBM")
    yield outcome


def scaling(options: Options) -> Iterator[Outcome]:
    """Grow one tree on twice the rows, and on twice the columns."""
    program = trees(8, options.n_rows)[0]
    rows, columns = options.n_rows, options.columns
    data = made(rows, columns, 2)
    title = "Spinney's tree of depth 8 on twice as much"
    outcome = _begun("scaling", title, data, full=options.full)
    sizes = {OWN: data}
    sizes["spinney, 2 × rows"] = made(2 * rows, columns, 2)
    sizes["spinney, 2 × columns"] = made(rows, 2 * columns, 2)
    for name, table in sizes.items():
        line, _ = measure.fitted(program, table, options.repeats, options.limit)
        line.program = name
        _add(outcome, line)
    for name in list(sizes)[1:]:
        ratio = outcome.ratio(name)
        if ratio is not None:
            outcome.at_most(f"time on {name.split(', ')[1]}", 2.2, ratio, " x")
    yield outcome


def memory(options: Options) -> Iterator[Outcome]:
    """Measure the peak of memory of one tree, each program in a fresh process."""
    data = made(options.n_rows, options.columns, 2)
    title = "peak memory of one tree, float32, each in a fresh process"
    outcome = _begun("memory", title, data, full=options.full)
    request = {"what": "memory", "rows": options.n_rows, "columns": options.columns}
    for program in _present(outcome, trees(8, outcome.rows), options):
        asked = {**request, "program": program.name, "repeats": 1}
        told = measure.in_child(asked)
        if told["peak"] is None:
            outcome.notes.append("this system does not tell the peak of memory")
            break
        times = told["peak"] / told["input"]
        note = f"{times:.2f} × the input, which is not counted"
        warm = [told["seconds"]]
        _add(outcome, Line(program.name, None, warm, None, told["peak"], note))
        if program.name == OWN:
            outcome.at_most("peak, the input not counted,", 1.5, times, " x input")
            outcome.at_most("peak, the input counted,", 1.5, 1 + times, " x input")
    yield outcome


def first(options: Options) -> Iterator[Outcome]:
    """Time the first fit ever, and the first in a later process."""
    data = made(options.n_rows, options.columns, 2)
    title = "first fits in fresh processes, the first with an empty cache"
    outcome = _begun("first", title, data, full=options.full)
    request = {"what": "first", "rows": options.n_rows, "columns": options.columns}
    request |= {"program": OWN, "repeats": options.repeats}
    with tempfile.TemporaryDirectory() as cache:
        runs = [measure.in_child(request, NUMBA_CACHE_DIR=cache) for _ in range(2)]
    extra = [run["first"] - run["warm"] for run in runs]
    for name, run in zip((OWN, "spinney, later process"), runs, strict=True):
        _add(outcome, Line(name, run["first"], [run["warm"]]))
    said = runs[0]["said"]
    words = f"it said: {said.splitlines()[-1]}" if said else "it said nothing on stderr"
    outcome.notes.append(f"while the first fit compiled, {words}")
    outcome.at_most("compile time, first fit − warm fit,", 12, extra[0], " s")
    outcome.at_most("a later process, first fit − warm fit,", 1, extra[1], " s")
    yield outcome


TASKS: dict[str, Callable[[Options], Iterator[Outcome]]] = {
    "tree2": one_tree("tree2", "one tree, 2 classes, depth 8", 2),
    "tree10": one_tree("tree10", "one tree, 10 classes, depth 8", 10),
    "numbers": one_tree("numbers", "one tree of numbers, depth 8", 0),
    "covertype": full_depth,
    "forest": forest,
    "small": small,
    "adult": c45("adult", None),
    "adult1000": c45("adult", 1_000),
    "airlines": c45("airlines_3m", None),
    "predict": predict,
    "scaling": scaling,
    "memory": memory,
    "first": first,
}


def _begun(name: str, title: str, data: Data, *, full: bool) -> Outcome:
    """Return an outcome without lines, and print its head."""
    quality = "accuracy" if data.n_classes else "R²"
    rows, columns = data.cells.shape
    outcome = Outcome(name, title, rows, columns, full, quality)
    outcome.machine = measure.machine()
    print(report.head(outcome), flush=True)
    return outcome


def _add(outcome: Outcome, line: Line) -> None:
    """Keep a line, and print it."""
    outcome.lines.append(line)
    print(report.row(outcome, line), flush=True)


def _present(
    outcome: Outcome, programs: list[Program], options: Options
) -> Iterator[Program]:
    """Yield the programs that are wanted and installed; note which are not."""
    for program in programs:
        if not options.wants(program.name):
            continue
        absence = program.absence(outcome.rows)
        if absence is None:
            yield program
        else:
            outcome.notes.append(f"{program.name}: {absence}")


def _fits(
    outcome: Outcome, programs: list[Program], data: Data, options: Options
) -> dict[str, Any]:
    """Time how each program learns; return the models by program."""
    models = {}
    for program in _present(outcome, programs, options):
        try:
            line, model = measure.fitted(program, data, options.repeats, options.limit)
        except Exception as error:
            # What a peer cannot do is told, and the others go on.
            if program.name == OWN:
                raise
            outcome.notes.append(f"{program.name}: failed, {error}")
            continue
        models[program.name] = model
        _add(outcome, line)
    return models


def _compare_impurity(outcome: Outcome, models: dict[str, Any], data: Data) -> None:
    """Compare the training impurity of Spinney's tree and scikit-learn's."""
    if not {OWN, "scikit-learn"} <= set(models):
        return
    own, other = (measure.impurity(models[n], data) for n in (OWN, "scikit-learn"))
    gap = abs(own - other)
    outcome.notes.append(
        f"training impurity: spinney {own:.12f}, scikit-learn {other:.12f}, "
        f"difference {gap:.1e}"
    )
    if data.n_classes != 2:
        return
    must = "training impurity as scikit-learn's to 1e-9"
    outcome.bars.append(Bar(must, f"{gap:.1e}", gap <= 1e-9))
