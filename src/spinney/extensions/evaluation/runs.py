"""Grow on one part of the rows, measure on the other."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import Progress
from spinney._support.jit.loading_time import steady_seconds
from spinney._support.peak_memory import peak_of
from spinney._support.text import shown, value_text
from spinney.data import Cells, Table, Target, cost_array
from spinney.errors import DataError, SpinneyWarning
from spinney.extensions.evaluation.evaluation_rows import EvaluationRows, codes_of
from spinney.extensions.evaluation.measures import (
    Measured,
    class_measures,
    number_measures,
    size_measures,
    speed_measures,
)
from spinney.extensions.evaluation.results import FoldResult, Pooled
from spinney.extensions.evaluation.splits import Part
from spinney.extensions.evaluation.variants import FOREST, Variant
from spinney.growth import only_to_predict
from spinney.trees import labels_of

Task = TypeVar("Task")


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """What is trained and tested on at one time, for every recipe alike.

    ``tables`` makes the training and the test table when its turn comes, so that
    only one pair is in memory.
    """

    part: Part
    tables: Callable[[], tuple[Table, Table]]
    conditions: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TestedRows:
    """What was predicted of rows, beside the truth.

    ``outputs`` are the shares of all classes, or in one column the numbers;
    ``predicted`` are codes of classes, or the numbers.
    """

    truth: Cells
    predicted: Cells
    outputs: Floats
    weights: Floats | None

    def quality(self, *, numeric: bool, costs: Floats | None) -> Measured:
        """Return how good they are."""
        if numeric:
            return number_measures(self.truth, self.predicted, weights=self.weights)
        return class_measures(
            self.truth, self.predicted, self.outputs, weights=self.weights, costs=costs
        )


def joined_rows(parts: Sequence[TestedRows]) -> TestedRows:
    """Return those of several parts as of one."""
    weights = [part.weights for part in parts if part.weights is not None]
    return TestedRows(
        np.concatenate([part.truth for part in parts]),
        np.concatenate([part.predicted for part in parts]),
        np.concatenate([part.outputs for part in parts]),
        np.concatenate(weights) if weights else None,
    )


def run_all(
    rows: EvaluationRows,
    tasks: Sequence[TrainingTask],
    variants: Sequence[Variant],
    *,
    costs: Floats | None = None,
    progress: Progress | None = None,
    pool: bool = False,
    memory: bool = False,
) -> tuple[tuple[FoldResult, ...], Pooled]:
    """Return the result of each variant on each task, variants first.

    With ``pool`` also the measures of all parts together, by variant and condition;
    ``memory`` grows each once more to see how much of that it takes, and the largest,
    the last, before all: what a process loads once must not be measured.
    """
    # It brings scikit-learn, which can swallow an interrupt while it loads: before
    # any progress is shown.
    import spinney.api  # noqa: F401

    pooled: dict[Any, list[TestedRows]] = {}
    numeric = rows.classes is None
    if memory:
        with only_to_predict(len(tasks) * len(variants)):
            _warm_up(rows, tasks[-1], variants)

    def prepared(task: TrainingTask) -> Callable[[Variant], FoldResult]:
        train, test = task.tables()

        def result_of(variant: Variant) -> FoldResult:
            tested, size = _run(rows, variant, task, train, test, memory=memory)
            quality = tested.quality(numeric=numeric, costs=costs)
            result = FoldResult(
                variant.label,
                task.part.repeat,
                task.part.fold,
                train.n_rows,
                test.n_rows,
                {**quality, **size},
                task.conditions,
            )
            if pool:
                pooled.setdefault(result.line, []).append(tested)
            return result

        return result_of

    results = each_result(tasks, variants, prepared, progress)
    together = {
        line: _over_all(joined_rows(parts), numeric=numeric, costs=costs)
        for line, parts in pooled.items()
    }
    return results, together


def each_result(
    tasks: Sequence[Task],
    variants: Sequence[Variant],
    prepared: Callable[[Task], Callable[[Variant], FoldResult]],
    progress: Progress | None,
) -> tuple[FoldResult, ...]:
    """Return the result of each variant on each task, variants first.

    ``prepared`` makes what a task needs, once, and returns who measures a variant.
    """
    results: dict[tuple[int, int], FoldResult] = {}
    total = len(tasks) * len(variants)
    with only_to_predict(total):
        for turn, task in enumerate(tasks):
            result_of = prepared(task)
            for number, variant in enumerate(variants):
                if progress is not None:
                    progress(len(results), total)
                results[number, turn] = result_of(variant)
    if progress is not None:
        progress(total, total)
    return tuple(results[key] for key in sorted(results))


def _over_all(tested: TestedRows, *, numeric: bool, costs: Floats | None) -> Measured:
    """Return the quality over rows that several models predicted.

    No AUC: it ranks rows, and each was given its share by another model. One that says
    the commonest class of its training rows would come to 0, for that is the less
    common where the row is of it.
    """
    quality = tested.quality(numeric=numeric, costs=costs)
    return {**quality, "auc": None} if "auc" in quality else quality


def _warm_up(
    rows: EvaluationRows, task: TrainingTask, variants: Sequence[Variant]
) -> None:
    """Grow each variant once, to load what growing and predicting need."""
    train, test = task.tables()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpinneyWarning)
        for variant in variants:
            grown_on(rows, variant, task, train).outputs(test)


def grown_on(
    rows: EvaluationRows, variant: Variant, task: TrainingTask, train: Table
) -> Any:
    """Return the model of a variant for the training part of a task."""
    from spinney.api import grow, grow_forest

    grower = grow_forest if variant.is_forest else grow
    try:
        return grower(
            train,
            rows.target,
            weight=rows.weight,
            **_for_these(variant.arguments, train[rows.target].cells, rows),
        )
    except DataError as error:
        where = where_of(variant, task.part.repeat, task.part.fold, task.conditions)
        raise DataError(where + str(error)) from error


def _run(
    rows: EvaluationRows,
    variant: Variant,
    task: TrainingTask,
    train: Table,
    test: Table,
    *,
    memory: bool,
) -> tuple[TestedRows, Measured]:
    """Return what a variant predicts of a task's test part, its size and its speed."""
    with warnings.catch_warnings():
        # What is odd about the table was warned of when it was read, once.
        warnings.simplefilter("ignore", SpinneyWarning)
        grow = partial(grown_on, rows, variant, task, train)
        # Not while it is timed: memory that was given back must be had again.
        peak = peak_of(grow) if memory else None
        began = steady_seconds()
        model = grow()
        built = steady_seconds()
        outputs = model.outputs(test)
        used = steady_seconds()
    tested = _tested_rows(rows, task.part, model.schema.target, outputs)
    speed = speed_measures(built - began, used - built, test.n_rows, peak)
    return tested, {**size_measures(model), **speed}


def _tested_rows(
    rows: EvaluationRows, part: Part, target: Target, outputs: Floats
) -> TestedRows:
    """Return what a model says of a test part, in the codes of the whole table.

    A class that the model never saw has the share 0.
    """
    truth = rows.truth[part.test]
    weights = None if rows.weights is None else rows.weights[part.test]
    if rows.classes is None:
        return TestedRows(truth, outputs[:, 0], outputs, weights)
    codes = np.array(codes_of(target.classes, rows.classes), dtype=np.int64)
    shares = np.zeros((len(outputs), len(rows.classes)))
    shares[:, codes] = outputs
    predicted = codes[labels_of(outputs, target.costs)]
    return TestedRows(truth, predicted, shares, weights)


def _for_these(
    arguments: Mapping[str, Any], cells: Any, rows: EvaluationRows
) -> dict[str, Any]:
    """Return arguments for a part of the rows, which may lack a class.

    A setting for such a class is left out: ``grow`` would take it for a slip.
    """
    given = {**arguments, **rows.kinds}
    if given.get("recipe") == FOREST:
        given["recipe"] = given.pop("trees", "cart")
    if rows.classes is None:
        # Few whole numbers in a part are no reason to take them for classes.
        given["numeric"] = [*given["numeric"], rows.target]
        return given
    present = np.unique(cells)
    if len(present) == len(rows.classes):
        return given
    weights, costs = given.get("class_weight"), given.get("cost_matrix")
    if isinstance(weights, Mapping):
        absent = set(range(len(rows.classes))) - set(present.tolist())
        names = {value_text(rows.classes[code]) for code in absent}
        given["class_weight"] = {
            label: weight
            for label, weight in weights.items()
            if value_text(label) not in names
        }
    if costs is not None:
        whole = cost_array(costs, rows.classes)
        given["cost_matrix"] = whole[np.ix_(present, present)]
    return given


def where_of(
    variant: Variant, repeat: int, fold: int, conditions: Mapping[str, Any]
) -> str:
    """Return where a training part could not be grown on."""
    parts = [f"recipe {shown(variant.label)!r}"]
    parts += [f"{name} {value}" for name, value in conditions.items()]
    parts.append(f"repeat {repeat}, fold {fold}")
    return f"{', '.join(parts)}: "
