"""Studies: recipes grown on training sets and measured on test sets."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import Progress, check_progress
from spinney._support.jit.loading_time import seconds_without_loading
from spinney._support.keyed_random import refuse_seed, seed_of
from spinney._support.peak_memory import peak_memory_of
from spinney._support.text import shown, value_text
from spinney._support.threads import limited_threads
from spinney.data import Cells, Costs, Table, Target, Value, cost_array
from spinney.errors import (
    DataError,
    ParameterError,
    Setting,
    SpinneyWarning,
    phrase,
    refusal,
)
from spinney.extensions.evaluation.candidates import (
    DEFAULT_RECIPES,
    FOREST,
    REMOTE_RECIPES,
    Recipes,
    StudyCandidate,
    study_candidates,
)
from spinney.extensions.evaluation.evaluation_rows import (
    EvaluationRows,
    class_codes,
    read_evaluation_rows,
)
from spinney.extensions.evaluation.measures import (
    Measured,
    class_measures,
    number_measures,
    size_measures,
    speed_measures,
)
from spinney.extensions.evaluation.results import Evaluation, FoldResult
from spinney.extensions.evaluation.splits import (
    Scheme,
    Split,
    choose_folds,
    make_splits,
)
from spinney.growth import prediction_only
from spinney.sources.training_data import (
    DECLARATION_PARAMETERS,
    INPUT_PARAMETERS,
    TableInput,
)
from spinney.trees import labels_of

Task = TypeVar("Task")


@dataclass(frozen=True, slots=True)
class TrainTestTask:
    """A training and a test set; ``tables`` creates both tables on demand."""

    split: Split
    tables: Callable[[], tuple[Table, Table]]
    conditions: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TestedRows:
    """Test rows with true and predicted class codes or numbers.

    ``outputs`` are the probabilities of all classes, or a column of numbers.
    """

    truth: Cells
    predicted: Cells
    outputs: Floats
    weights: Floats | None

    def quality(self, *, numeric: bool, costs: Floats | None) -> Measured:
        """Return the measures of quality."""
        if numeric:
            return number_measures(self.truth, self.predicted, weights=self.weights)
        return class_measures(
            self.truth, self.predicted, self.outputs, weights=self.weights, costs=costs
        )


def pool_rows(pieces: Sequence[TestedRows]) -> TestedRows:
    """Return several pieces of tested rows as one."""
    weights = [piece.weights for piece in pieces if piece.weights is not None]
    return TestedRows(
        np.concatenate([piece.truth for piece in pieces]),
        np.concatenate([piece.predicted for piece in pieces]),
        np.concatenate([piece.outputs for piece in pieces]),
        np.concatenate(weights) if weights else None,
    )


def make_tested_rows(
    truth: Cells,
    weights: Floats | None,
    classes: tuple[Value, ...] | None,
    *,
    target: Target,
    outputs: Floats,
) -> TestedRows:
    """Return predictions in the class codes of the whole table.

    ``target`` is the model's target; a class unknown to the model has probability 0.
    """
    if classes is None:
        return TestedRows(truth, outputs[:, 0], outputs, weights)
    codes = np.array(class_codes(target.classes, classes), dtype=np.int64)
    probabilities = np.zeros((len(outputs), len(classes)))
    probabilities[:, codes] = outputs
    predicted = codes[labels_of(outputs, target.costs)]
    return TestedRows(truth, predicted, probabilities, weights)


@dataclass(frozen=True, slots=True)
class PreparedStudy:
    """A study with its rows and splits."""

    rows: EvaluationRows
    splits: list[Split]
    scheme: Scheme
    candidates: tuple[StudyCandidate, ...]
    costs: Floats | None
    progress: Progress | None

    def run(
        self, tasks: Sequence[TrainTestTask], *, memory: bool = False
    ) -> Evaluation:
        """Measure each candidate on each task.

        ``memory`` also measures memory, by growing each candidate once more after a
        warm-up.
        """
        # scikit-learn can swallow an interrupt while it loads: import it before any
        # progress is shown.
        import spinney.api  # noqa: F401

        rows, tested_by_line = self.rows, dict[Any, list[TestedRows]]()

        def prepare(task: TrainTestTask) -> Callable[[StudyCandidate], FoldResult]:
            train, test = task.tables()
            split, counts = task.split, (train.n_rows, test.n_rows)

            def measure_candidate(candidate: StudyCandidate) -> FoldResult:
                tested, size = self._test_candidate(
                    candidate, task, train, test, memory=memory
                )
                measures = {**self._quality_measures(tested), **size}
                result = FoldResult(
                    candidate.label,
                    split.repeat,
                    split.fold,
                    *counts,
                    measures,
                    task.conditions,
                )
                if self.scheme.leave_one_out:
                    tested_by_line.setdefault(result.line, []).append(tested)
                return result

            return measure_candidate

        with limited_threads(None):  # an interrupt ends all threads
            if memory:
                with prediction_only(len(tasks) * len(self.candidates)):
                    self._warm_up(tasks[-1])
            results = run_tasks(tasks, self.candidates, prepare, self.progress)
        # AUC is undefined over all rows, because it would rank probabilities of
        # different models.
        pooled = {
            line: {**quality, "auc": None} if "auc" in quality else quality
            for line, tested in tested_by_line.items()
            for quality in (self._quality_measures(pool_rows(tested)),)
        }
        return Evaluation(
            rows.target, rows.classes, rows.n_rows, self.scheme, results, pooled
        )

    def _quality_measures(self, tested: TestedRows) -> Measured:
        return tested.quality(numeric=self.rows.classes is None, costs=self.costs)

    def _warm_up(self, task: TrainTestTask) -> None:
        """Grow each candidate once, to load modules and kernels before timing."""
        train, test = task.tables()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpinneyWarning)
            for candidate in self.candidates:
                self._grow_candidate(candidate, task, train).outputs(test)

    def _grow_candidate(
        self, candidate: StudyCandidate, task: TrainTestTask, train: Table
    ) -> Any:
        """Return the model of a candidate for the training set of a task."""
        from spinney.api import grow, grow_forest

        rows, split = self.rows, task.split
        grower = grow_forest if candidate.is_forest else grow
        arguments = _arguments_for(candidate.arguments, train[rows.target].cells, rows)
        with name_errors(candidate, split.repeat, split.fold, task.conditions):
            return grower(train, rows.target, weight=rows.weight, **arguments)

    def _test_candidate(
        self,
        candidate: StudyCandidate,
        task: TrainTestTask,
        train: Table,
        test: Table,
        *,
        memory: bool,
    ) -> tuple[TestedRows, Measured]:
        """Return a candidate's predictions of the test set, and its size and speed."""
        with warnings.catch_warnings():
            # Issues of the table were reported when it was read.
            warnings.simplefilter("ignore", SpinneyWarning)
            grow_once = partial(self._grow_candidate, candidate, task, train)
            # Not while timing: freed memory must be allocated again.
            peak = peak_memory_of(grow_once) if memory else None
            start = seconds_without_loading()
            model = grow_once()
            after_growing = seconds_without_loading()
            outputs = model.outputs(test)
            after_predicting = seconds_without_loading()
        rows, test_rows = self.rows, task.split.test
        tested = make_tested_rows(
            rows.truth[test_rows],
            None if rows.weights is None else rows.weights[test_rows],
            rows.classes,
            target=model.schema.target,
            outputs=outputs,
        )
        speed = speed_measures(
            after_growing - start, after_predicting - after_growing, test.n_rows, peak
        )
        return tested, {**size_measures(model), **speed}


def run_tasks(
    tasks: Sequence[Task],
    candidates: Sequence[StudyCandidate],
    prepare: Callable[[Task], Callable[[StudyCandidate], FoldResult]],
    progress: Progress | None,
) -> tuple[FoldResult, ...]:
    """Return the result of each candidate on each task, candidates first.

    ``prepare`` prepares a task, and returns a function that measures a candidate.
    """
    results: dict[tuple[int, int], FoldResult] = {}
    total = len(tasks) * len(candidates)
    with prediction_only(total):
        for task_number, task in enumerate(tasks):
            measure_candidate = prepare(task)
            for candidate_number, candidate in enumerate(candidates):
                if progress is not None:
                    progress(len(results), total)
                results[candidate_number, task_number] = measure_candidate(candidate)
    if progress is not None:
        progress(total, total)
    return tuple(results[key] for key in sorted(results))


def _arguments_for(
    arguments: Mapping[str, Any], cells: Any, rows: EvaluationRows
) -> dict[str, Any]:
    """Return arguments for a training set, without settings of absent classes."""
    remaining = {**arguments, **rows.kinds}
    if remaining.get("recipe") == FOREST:
        remaining["recipe"] = remaining.pop("trees", "cart")
    if rows.classes is None:
        # Few whole numbers in a training set must not become classes.
        remaining["numeric"] = [*remaining["numeric"], rows.target]
        return remaining
    present = np.unique(cells)
    if len(present) == len(rows.classes):
        return remaining
    weights, costs = remaining.get("class_weight"), remaining.get("cost_matrix")
    if isinstance(weights, Mapping):
        missing_classes = set(range(len(rows.classes))) - set(present.tolist())
        names = {value_text(rows.classes[code]) for code in missing_classes}
        remaining["class_weight"] = {
            label: weight
            for label, weight in weights.items()
            if value_text(label) not in names
        }
    if costs is not None:
        all_costs = cost_array(costs, rows.classes)
        remaining["cost_matrix"] = all_costs[np.ix_(present, present)]
    return remaining


@contextmanager
def name_errors(
    candidate: StudyCandidate, repeat: int, fold: int, conditions: Mapping[str, Any]
) -> Iterator[None]:
    """Prefix errors with the recipe, the repeat and the fold."""
    try:
        yield
    except DataError as error:
        where = [f"recipe {shown(candidate.label)!r}"]
        where += [f"{name} {value}" for name, value in conditions.items()]
        where.append(f"repeat {repeat}, fold {fold}")
        msg = f"{', '.join(where)}: {error}"
        raise DataError(msg) from error


@dataclass(frozen=True, slots=True)
class Study:
    """The settings of a study, before rows are read."""

    table: TableInput
    scheme: Scheme
    candidates: tuple[StudyCandidate, ...]
    uses_defaults: bool  # whether no recipes were named
    cost_matrix: Costs | None
    progress: Progress | None

    def costs(self, classes: tuple[Value, ...] | None) -> Floats | None:
        """Return the costs by class; refuse settings that do not fit the target."""
        for candidate in self.candidates:
            candidate.check(numeric=classes is None)
        if self.cost_matrix is None:
            return None
        if classes is None:
            msg = (
                f"cost_matrix needs classes, and the target {self.table.target!r} is "
                "numeric: remove it"
            )
            raise ParameterError(msg)
        return cost_array(self.cost_matrix, classes)


def make_study(recipes: Recipes | None, arguments: Mapping[str, Any]) -> Study:
    """Return the study for arguments of ``evaluate`` and settings of all recipes."""
    settings = dict(arguments)

    def pop(*names: str) -> dict[str, Any]:
        return {name: settings.pop(name) for name in names if name in settings}

    progress = settings.pop("progress", None)
    check_progress(progress)
    cost_matrix = settings.pop("cost_matrix", None)
    seed = seed_of(settings.pop("random_state", None), 0)
    scheme = Scheme(**pop("folds", "repeats", "holdout"), seed=seed)
    table = TableInput.of(
        pop("data", "target", *DECLARATION_PARAMETERS, *INPUT_PARAMETERS)
    )
    refuse_seed(settings)
    uses_defaults = recipes is None
    if recipes is None:
        recipes = REMOTE_RECIPES if table.is_remote else DEFAULT_RECIPES
    candidates = study_candidates(recipes, settings)
    return Study(table, scheme, candidates, uses_defaults, cost_matrix, progress)


def prepare_study(study: Study) -> PreparedStudy:
    """Return a study with its rows read and split."""
    if study.table.engine not in (None, "memory", "sqlite"):
        raise refusal(
            Setting("engine", study.table.engine),
            "does not read the rows, and this study needs them in memory",
            phrase("remove it, or read them ({})", Setting("engine", "memory")),
        )
    rows = read_evaluation_rows(replace(study.table, engine="memory"))
    costs = study.costs(rows.classes)
    scheme = choose_folds(study.scheme, rows)
    splits = make_splits(rows, scheme)
    return PreparedStudy(rows, splits, scheme, study.candidates, costs, study.progress)
