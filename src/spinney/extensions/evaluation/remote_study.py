"""Studies of remote tables, whose rows are split by row hash.

The folds depend on the contents of rows and the seed, so they are the same in every
engine and in memory. Models are grown in the engine. Test rows are fetched in batches
that fit in memory. Codes and values come from the whole table.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from spinney._support.arrays import Floats
from spinney._support.jit.loading_time import seconds_without_loading
from spinney._support.threads import limited_threads
from spinney.errors import DataError, Setting, SpinneyWarning, refusal
from spinney.extensions.evaluation.candidates import REMOTE_RECIPE, StudyCandidate
from spinney.extensions.evaluation.measures import (
    Measured,
    size_measures,
    speed_measures,
)
from spinney.extensions.evaluation.results import Evaluation, FoldResult
from spinney.extensions.evaluation.splits import DEFAULT_FOLDS, LEAVE_ONE_OUT, Scheme
from spinney.extensions.evaluation.study import (
    Study,
    make_tested_rows,
    name_errors,
    pool_rows,
    run_tasks,
)
from spinney.growth.forest import forest_outputs
from spinney.models import FittedForest, FittedTree, grow_drawn, grow_drawn_forest
from spinney.recipes import DEFAULT_RECIPE
from spinney.sources.rows import (
    HashSample,
    SampleableRows,
    hash_mixing,
    sample_fold,
    sample_fraction,
)
from spinney.sources.training_data import open_source
from spinney.trees.predict import flatten, outputs

MIN_ROWS_FOR_DEFAULT = 60
MIN_ROWS_PER_FOLD = 10
"""The least number of rows of a fold by default."""

RemoteSplit = tuple[int, int, HashSample]
"""A repeat and a fold, counted from 1, and the hash sample of test rows."""


def evaluate_remote(study: Study) -> Evaluation:
    """Evaluate recipes on a remote table."""
    scheme = study.scheme
    if scheme.folds == LEAVE_ONE_OUT:
        raise refusal(
            Setting("folds", LEAVE_ONE_OUT),
            "needs the rows in memory, and this table is remote",
            "use a number of folds",
        )
    with open_source(study.table, sampleable=True) as opened:
        assert opened.sampleable is not None
        target, n_rows, candidates = (
            opened.schema.target,
            opened.n_rows,
            study.candidates,
        )
        classes = None if target.is_numeric else target.classes
        if study.uses_defaults and n_rows < MIN_ROWS_FOR_DEFAULT:
            candidates = tuple(c for c in candidates if c.label == REMOTE_RECIPE)
        runs = RemoteStudy(opened.sampleable, n_rows, study.costs(classes))
        if scheme.holdout is None and scheme.folds is None:
            folds = max(2, min(DEFAULT_FOLDS, n_rows // MIN_ROWS_PER_FOLD))
            scheme = replace(scheme, folds=folds)
        splits = list(splits_by_hash(scheme))
        with limited_threads(None):  # an interrupt ends all threads
            results = run_tasks(splits, candidates, runs.prepare, study.progress)
    return Evaluation(study.table.target, classes, n_rows, scheme, results)


@dataclass(frozen=True, slots=True)
class RemoteStudy:
    """Remote rows with their number and costs."""

    rows: SampleableRows
    n_rows: int
    costs: Floats | None

    def prepare(self, split: RemoteSplit) -> Callable[[StudyCandidate], FoldResult]:
        """Return a function that measures a candidate on a split."""
        repeat, fold, test_sample = split
        training = self.rows.subset(test_sample.complement)
        n_train = training.root().n_rows
        n_test = self.n_rows - n_train
        if not n_train or not n_test:
            none = "test" if n_train else "train"
            msg = f"repeat {repeat}, fold {fold} has no {none} rows"
            raise DataError(msg, remedy="use fewer folds, or another fraction")

        def measure_candidate(candidate: StudyCandidate) -> FoldResult:
            with name_errors(candidate, repeat, fold, {}):
                measures = self._measures(candidate, training, test_sample, n_test)
            return FoldResult(candidate.label, repeat, fold, n_train, n_test, measures)

        return measure_candidate

    def _measures(
        self,
        candidate: StudyCandidate,
        training: SampleableRows,
        test_sample: HashSample,
        n_test: int,
    ) -> Measured:
        """Grow a candidate on training rows, and measure it on the test sample."""
        target = self.rows.schema.target
        classes = None if target.is_numeric else target.classes
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpinneyWarning)
            start = seconds_without_loading()
            model, predict = _grow_candidate(candidate, training)
            seconds = seconds_without_loading() - start
            predict_seconds, pieces = 0.0, []
            for piece in test_sample.pieces(self._n_batches(n_test)):
                rows, _ = self.rows.fetch_sample(piece)
                start = seconds_without_loading()
                predicted = predict(rows.columns, len(rows.classes))
                predict_seconds += seconds_without_loading() - start
                pieces.append(
                    make_tested_rows(
                        rows.classes,
                        rows.sample_weights,
                        classes,
                        target=model.schema.target,
                        outputs=predicted,
                    )
                )
        quality = pool_rows(pieces).quality(numeric=target.is_numeric, costs=self.costs)
        speed = speed_measures(seconds, predict_seconds, n_test, None)
        return {**quality, **size_measures(model), **speed}

    def _n_batches(self, n_test: int) -> int:
        """Return the number of batches in which the test rows fit in memory."""
        max_rows = self.rows.max_rows
        if not max_rows:
            msg = "no test row fits in memory"
            raise DataError(msg, remedy="raise memory_limit")
        return 1 if n_test <= max_rows else 2 * n_test // max_rows + 1


def splits_by_hash(scheme: Scheme) -> Iterator[RemoteSplit]:
    """Yield repeats and folds, counted from 1, and the hash sample of test rows."""
    for repeat in range(1, scheme.repeats + 1):
        mixing = hash_mixing(scheme.seed, repeat)
        if scheme.holdout is not None:
            yield repeat, 1, sample_fraction(float(scheme.holdout), mixing)
            continue
        for fold in range(scheme.n_folds):
            yield repeat, fold + 1, sample_fold(fold, scheme.n_folds, mixing)


def _grow_candidate(candidate: StudyCandidate, rows: SampleableRows) -> tuple[Any, Any]:
    """Return the model of a candidate, and a function that predicts encoded rows."""
    arguments = dict(candidate.arguments)
    if candidate.is_forest:
        forest = grow_drawn_forest(rows, arguments)
        return FittedForest(forest), lambda *coded: forest_outputs(forest, *coded)
    model = grow_drawn(rows, {"recipe": DEFAULT_RECIPE, **arguments})
    flat, schema = flatten(model.tree), model.tree.schema
    indices = range(len(schema.attributes))

    def predict(columns: Any, n_rows: int) -> Floats:
        return outputs(flat, schema.completed(columns, indices), n_rows)

    return FittedTree(model), predict
