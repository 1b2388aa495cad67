"""Studies of remote tables, whose rows are split by row hash.

The folds depend on the contents of rows and the seed, so they are the same in every
engine and in memory. Models are grown in the engine. Test rows are fetched in batches
that fit in memory. Codes and values are those of the whole table.
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
from spinney.extensions.evaluation.splits import LEAVE_ONE_OUT, USUAL_FOLDS, Scheme
from spinney.extensions.evaluation.study import (
    Study,
    name_errors,
    pool_rows,
    run_tasks,
    tested_rows,
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

FEWEST_FOR_DEFAULT = 60
ROWS_A_FOLD = 10
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
        form, n_rows, candidates = opened.schema.target, opened.n_rows, study.candidates
        classes = None if form.is_numeric else form.classes
        if study.uses_defaults and n_rows < FEWEST_FOR_DEFAULT:
            candidates = tuple(
                each for each in candidates if each.label == REMOTE_RECIPE
            )
        runs = RemoteStudy(opened.sampleable, n_rows, study.costs(classes))
        if scheme.holdout is None and scheme.folds is None:
            folds = max(2, min(USUAL_FOLDS, n_rows // ROWS_A_FOLD))
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
        """Return who measures a variant on a part."""
        repeat, fold, tested = split
        training = self.rows.subset(tested.others)
        n_train = training.root().n_rows
        n_test = self.n_rows - n_train
        if not n_train or not n_test:
            none = "test" if n_train else "train"
            msg = f"repeat {repeat}, fold {fold} has no {none} rows"
            raise DataError(msg, remedy="use fewer folds, or another fraction")

        def measure_candidate(candidate: StudyCandidate) -> FoldResult:
            with name_errors(candidate, repeat, fold, {}):
                measures = self._measures(candidate, training, tested, n_test)
            return FoldResult(candidate.label, repeat, fold, n_train, n_test, measures)

        return measure_candidate

    def _measures(
        self,
        candidate: StudyCandidate,
        training: SampleableRows,
        tested: HashSample,
        n_test: int,
    ) -> Measured:
        """Grow a variant on rows, and measure it on others."""
        target = self.rows.schema.target
        classes = None if target.is_numeric else target.classes
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpinneyWarning)
            start = seconds_without_loading()
            model, predict = _grown(candidate, training)
            seconds, predict_seconds, splits = (
                seconds_without_loading() - start,
                0.0,
                [],
            )
            for piece in tested.pieces(self._n_pieces(n_test)):
                rows, _ = self.rows.fetch_sample(piece)
                start = seconds_without_loading()
                predicted = predict(rows.columns, len(rows.classes))
                predict_seconds += seconds_without_loading() - start
                known = rows.classes, rows.sample_weights, classes
                model_target = model.schema.target
                splits.append(
                    tested_rows(*known, target=model_target, outputs=predicted)
                )
        joined = pool_rows(splits)
        quality = joined.quality(numeric=target.is_numeric, costs=self.costs)
        speed = speed_measures(seconds, predict_seconds, n_test, None)
        return {**quality, **size_measures(model), **speed}

    def _n_pieces(self, n_test: int) -> int:
        """Return in how many pieces the test rows fit in memory."""
        most = self.rows.most_rows
        if not most:
            msg = "no test row fits in memory"
            raise DataError(msg, remedy="raise memory_limit")
        return 1 if n_test <= most else 2 * n_test // most + 1


def splits_by_hash(scheme: Scheme) -> Iterator[RemoteSplit]:
    """Give repeats and folds, counted from 1, and the draw of the rows to test on."""
    for repeat in range(1, scheme.repeats + 1):
        mixing = hash_mixing(scheme.seed, repeat)
        if scheme.holdout is not None:
            yield repeat, 1, sample_fraction(float(scheme.holdout), mixing)
            continue
        for fold in range(scheme.n_folds):
            yield repeat, fold + 1, sample_fold(fold, scheme.n_folds, mixing)


def _grown(candidate: StudyCandidate, rows: SampleableRows) -> tuple[Any, Any]:
    """Return the model of a variant, and what predicts coded rows by it."""
    arguments = dict(candidate.arguments)
    if candidate.is_forest:
        forest = grow_drawn_forest(rows, arguments)
        return FittedForest(forest), lambda *coded: forest_outputs(forest, *coded)
    model = grow_drawn(rows, {"recipe": DEFAULT_RECIPE, **arguments})
    flat, schema = flatten(model.tree), model.tree.schema
    every = range(len(schema.attributes))

    def predict(columns: Any, n_rows: int) -> Floats:
        return outputs(flat, schema.completed(columns, every), n_rows)

    return FittedTree(model), predict
