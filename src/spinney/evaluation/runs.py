"""Grow on one part of the rows, measure on the other."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import Progress, check_progress
from spinney._support.text import shown, value_text
from spinney.data import Table, Value, cost_array
from spinney.errors import DataError, SpinneyWarning
from spinney.evaluation.evaluation_rows import EvaluationRows, codes_of
from spinney.evaluation.measures import (
    Measured,
    class_measures,
    number_measures,
    size_measures,
)
from spinney.evaluation.results import FoldResult
from spinney.evaluation.splits import Part
from spinney.evaluation.variants import FOREST, Variant
from spinney.growth import only_to_predict


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """What is trained and tested on at one time, for every recipe alike.

    ``tables`` makes the training and the test table when its turn comes, so that
    only one pair is in memory.
    """

    part: Part
    tables: Callable[[], tuple[Table, Table]]
    conditions: dict[str, Any]


def run_all(
    rows: EvaluationRows,
    tasks: Sequence[TrainingTask],
    variants: Sequence[Variant],
    *,
    costs: Floats | None = None,
    progress: Progress | None = None,
) -> tuple[FoldResult, ...]:
    """Return the result of each variant on each task, variants first."""
    check_progress(progress)
    # It brings scikit-learn, which can swallow an interrupt while it loads: before
    # any progress is shown.
    from spinney.api import grow, grow_forest

    results: dict[tuple[int, int], FoldResult] = {}
    total = len(tasks) * len(variants)
    with only_to_predict(total):
        for turn, task in enumerate(tasks):
            train, test = task.tables()
            for number, variant in enumerate(variants):
                if progress is not None:
                    progress(len(results), total)
                grower = grow_forest if variant.is_forest else grow
                measures = _measured(
                    grower, rows, variant, task, train, test, costs=costs
                )
                results[number, turn] = FoldResult(
                    variant.label,
                    task.part.repeat,
                    task.part.fold,
                    train.n_rows,
                    test.n_rows,
                    measures,
                    task.conditions,
                )
    if progress is not None:
        progress(total, total)
    return tuple(results[key] for key in sorted(results))


def _measured(
    grow: Callable[..., Any],
    rows: EvaluationRows,
    variant: Variant,
    task: TrainingTask,
    train: Table,
    test: Table,
    *,
    costs: Floats | None,
) -> Measured:
    """Return the measures of one variant on one task."""
    with warnings.catch_warnings():
        # What is odd about the table was warned of when it was read, once.
        warnings.simplefilter("ignore", SpinneyWarning)
        start = time.perf_counter()
        try:
            model = grow(
                train,
                rows.target,
                weight=rows.weight,
                **_for_these(variant.arguments, train[rows.target].cells, rows),
            )
        except DataError as error:
            raise DataError(_where(variant, task) + str(error)) from error
        seconds = time.perf_counter() - start
        sizes = size_measures(model, seconds)
        weights = None if rows.weights is None else rows.weights[task.part.test]
        truth = rows.truth[task.part.test]
        if rows.classes is None:
            predicted = np.asarray(model.predict(test), dtype=np.float64)
            return {**number_measures(truth, predicted, weights=weights), **sizes}
        labels = codes_of(model.predict(test).tolist(), rows.classes)
        measures = class_measures(
            truth,
            np.array(labels, dtype=np.int64),
            _all_shares(model, test, rows.classes),
            weights=weights,
            costs=costs,
        )
    return {**measures, **sizes}


def _all_shares(model: Any, test: Table, classes: tuple[Value, ...]) -> Floats:
    """Return the shares of all classes, those that the model never saw at 0."""
    shares = np.zeros((test.n_rows, len(classes)))
    known = codes_of(model.classes_.tolist(), classes)
    shares[:, known] = model.predict_proba(test)
    return shares


def _for_these(
    arguments: Mapping[str, Any], cells: Any, rows: EvaluationRows
) -> dict[str, Any]:
    """Return arguments for a part of the rows, which may lack a class.

    A setting for such a class is left out: ``grow`` would take it for a slip.
    """
    given = dict(arguments)
    if given.get("recipe") == FOREST:
        given["recipe"] = given.pop("trees", "cart")
    if rows.classes is None:
        # Few whole numbers in a part are no reason to take them for classes.
        given["numeric"] = [rows.target]
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


def _where(variant: Variant, task: TrainingTask) -> str:
    """Return where a training part could not be grown on."""
    parts = [f"recipe {shown(variant.label)!r}"]
    parts += [f"{name} {value}" for name, value in task.conditions.items()]
    parts.append(f"repeat {task.part.repeat}, fold {task.part.fold}")
    return f"{', '.join(parts)}: "
