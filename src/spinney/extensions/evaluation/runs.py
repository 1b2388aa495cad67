"""Grow on one part of the rows, measure on the other."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import Progress
from spinney._support.jit.loading_time import seconds_without_loading
from spinney._support.peak_memory import peak_memory_of
from spinney._support.text import shown, value_text
from spinney._support.threads import limited_threads
from spinney.data import Cells, Table, Target, Value, cost_array
from spinney.errors import DataError, SpinneyWarning
from spinney.extensions.evaluation.evaluation_rows import EvaluationRows, codes_of
from spinney.extensions.evaluation.measures import (
    Measured,
    class_measures,
    number_measures,
    size_measures,
    speed_measures,
)
from spinney.extensions.evaluation.results import Evaluation, FoldResult
from spinney.extensions.evaluation.splits import Part, Scheme
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


def tested_rows(
    truth: Cells,
    weights: Floats | None,
    classes: tuple[Value, ...] | None,
    *,
    target: Target,
    outputs: Floats,
) -> TestedRows:
    """Return what a model says of rows, in the codes of the whole table's classes.

    ``target`` is the model's. A class that it never saw has the share 0.
    """
    if classes is None:
        return TestedRows(truth, outputs[:, 0], outputs, weights)
    codes = np.array(codes_of(target.classes, classes), dtype=np.int64)
    shares = np.zeros((len(outputs), len(classes)))
    shares[:, codes] = outputs
    predicted = codes[labels_of(outputs, target.costs)]
    return TestedRows(truth, predicted, shares, weights)


@dataclass(frozen=True, slots=True)
class Setup:
    """All that is the same whatever is done to the training rows."""

    rows: EvaluationRows
    parts: list[Part]
    scheme: Scheme
    variants: tuple[Variant, ...]
    costs: Floats | None
    progress: Progress | None

    def run(self, tasks: Sequence[TrainingTask], *, memory: bool = False) -> Evaluation:
        """Measure each variant on each task, variants first.

        ``memory`` grows each once more to see how much of that it takes, and the
        largest, the last, before all: what a process loads once must not be measured.
        """
        # It brings scikit-learn, which can swallow an interrupt while it loads: before
        # any progress is shown.
        import spinney.api  # noqa: F401

        rows, parts = self.rows, dict[Any, list[TestedRows]]()

        def prepared(task: TrainingTask) -> Callable[[Variant], FoldResult]:
            train, test = task.tables()
            at, counts = task.part, (train.n_rows, test.n_rows)

            def result_of(variant: Variant) -> FoldResult:
                tested, size = self._tested(variant, task, train, test, memory=memory)
                measures = {**self._quality(tested), **size}
                result = FoldResult(
                    variant.label,
                    at.repeat,
                    at.fold,
                    *counts,
                    measures,
                    task.conditions,
                )
                if self.scheme.one_out:
                    parts.setdefault(result.line, []).append(tested)
                return result

            return result_of

        with limited_threads(None):  # an interrupt leaves none of them
            if memory:
                with only_to_predict(len(tasks) * len(self.variants)):
                    self._warm_up(tasks[-1])
            results = each_result(tasks, self.variants, prepared, self.progress)
        # No AUC of all rows: it ranks them, and each was given its share by another
        # model. One that says the commonest class of its training rows would come to
        # 0, for that is the less common where the row is of it.
        pooled = {
            line: {**found, "auc": None} if "auc" in found else found
            for line, tested in parts.items()
            for found in (self._quality(joined_rows(tested)),)
        }
        return Evaluation(
            rows.target, rows.classes, rows.n_rows, self.scheme, results, pooled
        )

    def _quality(self, tested: TestedRows) -> Measured:
        return tested.quality(numeric=self.rows.classes is None, costs=self.costs)

    def _warm_up(self, task: TrainingTask) -> None:
        """Grow each variant once, to load what growing and predicting need."""
        train, test = task.tables()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpinneyWarning)
            for variant in self.variants:
                self._grown(variant, task, train).outputs(test)

    def _grown(self, variant: Variant, task: TrainingTask, train: Table) -> Any:
        """Return the model of a variant for the training part of a task."""
        from spinney.api import grow, grow_forest

        rows, grower = self.rows, grow_forest if variant.is_forest else grow
        arguments = _for_these(variant.arguments, train[rows.target].cells, rows)
        with naming(variant, task.part.repeat, task.part.fold, task.conditions):
            return grower(train, rows.target, weight=rows.weight, **arguments)

    def _tested(
        self,
        variant: Variant,
        task: TrainingTask,
        train: Table,
        test: Table,
        *,
        memory: bool,
    ) -> tuple[TestedRows, Measured]:
        """Return what a variant predicts of the test part, its size and its speed."""
        with warnings.catch_warnings():
            # What is odd about the table was warned of when it was read, once.
            warnings.simplefilter("ignore", SpinneyWarning)
            grow = partial(self._grown, variant, task, train)
            # Not while it is timed: memory that was given back must be had again.
            peak = peak_memory_of(grow) if memory else None
            began = seconds_without_loading()
            model = grow()
            built = seconds_without_loading()
            outputs = model.outputs(test)
            used = seconds_without_loading()
        rows, at = self.rows, task.part.test
        tested = tested_rows(
            rows.truth[at],
            None if rows.weights is None else rows.weights[at],
            rows.classes,
            target=model.schema.target,
            outputs=outputs,
        )
        speed = speed_measures(built - began, used - built, test.n_rows, peak)
        return tested, {**size_measures(model), **speed}


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


@contextmanager
def naming(
    variant: Variant, repeat: int, fold: int, conditions: Mapping[str, Any]
) -> Iterator[None]:
    """Say in refusals of rows which recipe could not be grown on which part."""
    try:
        yield
    except DataError as error:
        parts = [f"recipe {shown(variant.label)!r}"]
        parts += [f"{name} {value}" for name, value in conditions.items()]
        parts.append(f"repeat {repeat}, fold {fold}")
        msg = f"{', '.join(parts)}: {error}"
        raise DataError(msg) from error
