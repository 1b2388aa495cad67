"""Evaluate recipes on a table that is away: its rows are divided by their numbers.

Which rows are in a fold follows from what is in them and from the seed, so every engine
has the same folds, and so have the same rows in memory. Models are grown where the rows
are; the rows to test on are read, as many at a time as have room. Codes and values are
those of the whole table.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from spinney._support.arrays import Floats
from spinney._support.jit.loading_time import seconds_without_loading
from spinney._support.threads import limited_threads
from spinney.errors import DataError, Setting, SpinneyWarning, refusal
from spinney.extensions.evaluation.measures import (
    Measured,
    size_measures,
    speed_measures,
)
from spinney.extensions.evaluation.results import Evaluation, FoldResult
from spinney.extensions.evaluation.runs import (
    each_result,
    joined_rows,
    naming,
    tested_rows,
)
from spinney.extensions.evaluation.setup import Experiment
from spinney.extensions.evaluation.splits import ONE_OUT, USUAL_FOLDS, Scheme
from spinney.extensions.evaluation.variants import WITHOUT_ROWS, Variant
from spinney.growth.forest import forest_outputs
from spinney.models import FittedForest, FittedTree, grow_drawn, grow_drawn_forest
from spinney.recipes import DEFAULT_RECIPE
from spinney.sources.rows import (
    HashSample,
    SampleableRows,
    hash_mixing,
    sample_fold,
    sample_share,
)
from spinney.sources.training_data import open_source
from spinney.trees.predict import flatten, outputs

FEWEST_FOR_DEFAULT = 60
ROWS_A_FOLD = 10
"""Where nothing is said, a fold has about so many rows at least."""

PartAway = tuple[int, int, HashSample]
"""A repeat and a fold, counted from 1, and the draw of the rows to test on."""


def evaluate_remote(asked: Experiment) -> Evaluation:
    """Measure recipes on rows of an engine that their trees have not seen."""
    scheme = asked.scheme
    if scheme.folds == ONE_OUT:
        raise refusal(
            Setting("folds", ONE_OUT),
            "leaves out one row after the other, and these stay where they are",
            "take a number of folds",
        )
    with open_source(asked.table, sampleable=True) as opened:
        assert opened.sampleable is not None
        form, n_rows, variants = opened.schema.target, opened.n_rows, asked.variants
        classes = None if form.is_numeric else form.classes
        if asked.by_default and n_rows < FEWEST_FOR_DEFAULT:
            variants = tuple(each for each in variants if each.label == WITHOUT_ROWS)
        runs = RemoteRuns(opened.sampleable, n_rows, asked.costs(classes))
        if scheme.holdout is None and scheme.folds is None:
            folds = max(2, min(USUAL_FOLDS, n_rows // ROWS_A_FOLD))
            scheme = replace(scheme, folds=folds)
        parts = list(parts_by_number(scheme))
        with limited_threads(None):  # an interrupt leaves none of them
            results = each_result(parts, variants, runs.prepared, asked.progress)
    return Evaluation(asked.table.target, classes, n_rows, scheme, results)


@dataclass(frozen=True, slots=True)
class RemoteRuns:
    """Rows that have numbers, how many they are, and what errors cost."""

    rows: SampleableRows
    n_rows: int
    costs: Floats | None

    def prepared(self, part: PartAway) -> Callable[[Variant], FoldResult]:
        """Return who measures a variant on a part."""
        repeat, fold, tested = part
        training = self.rows.subset(tested.others)
        n_train = training.root().n_rows
        n_test = self.n_rows - n_train
        if not n_train or not n_test:
            none = "test" if n_train else "train"
            msg = f"repeat {repeat}, fold {fold}: there is no row to {none} on"
            raise DataError(msg, remedy="take fewer folds, or another share")

        def result_of(variant: Variant) -> FoldResult:
            with naming(variant, repeat, fold, {}):
                measures = self._measures(variant, training, tested, n_test)
            return FoldResult(variant.label, repeat, fold, n_train, n_test, measures)

        return result_of

    def _measures(
        self,
        variant: Variant,
        training: SampleableRows,
        tested: HashSample,
        n_test: int,
    ) -> Measured:
        """Grow a variant on rows, and measure it on others."""
        target = self.rows.schema.target
        classes = None if target.is_numeric else target.classes
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpinneyWarning)
            began = seconds_without_loading()
            model, predict = _grown(variant, training)
            seconds, predicting, parts = seconds_without_loading() - began, 0.0, []
            for piece in tested.pieces(self._n_pieces(n_test)):
                rows, _ = self.rows.fetch_sample(piece)
                began = seconds_without_loading()
                found = predict(rows.columns, len(rows.classes))
                predicting += seconds_without_loading() - began
                known = rows.classes, rows.own_weights, classes
                of_model = model.schema.target
                parts.append(tested_rows(*known, target=of_model, outputs=found))
        joined = joined_rows(parts)
        quality = joined.quality(numeric=target.is_numeric, costs=self.costs)
        speed = speed_measures(seconds, predicting, n_test, None)
        return {**quality, **size_measures(model), **speed}

    def _n_pieces(self, n_test: int) -> int:
        """Return in how many pieces the rows to test on have room."""
        most = self.rows.most_rows
        if not most:
            msg = "rows to test on are read, and none have room in memory"
            raise DataError(msg, remedy="raise memory_limit")
        return 1 if n_test <= most else 2 * n_test // most + 1


def parts_by_number(scheme: Scheme) -> Iterator[PartAway]:
    """Give repeats and folds, counted from 1, and the draw of the rows to test on."""
    for repeat in range(1, scheme.repeats + 1):
        mixing = hash_mixing(scheme.seed, repeat)
        if scheme.holdout is not None:
            yield repeat, 1, sample_share(float(scheme.holdout), mixing)
            continue
        for fold in range(scheme.n_folds):
            yield repeat, fold + 1, sample_fold(fold, scheme.n_folds, mixing)


def _grown(variant: Variant, rows: SampleableRows) -> tuple[Any, Any]:
    """Return the model of a variant, and what predicts coded rows by it."""
    arguments = dict(variant.arguments)
    if variant.is_forest:
        forest = grow_drawn_forest(rows, arguments)
        return FittedForest(forest), lambda *coded: forest_outputs(forest, *coded)
    model = grow_drawn(rows, {"recipe": DEFAULT_RECIPE, **arguments})
    flat, schema = flatten(model.tree), model.tree.schema
    every = range(len(schema.attributes))

    def predict(columns: Any, n_rows: int) -> Floats:
        return outputs(flat, schema.completed(columns, every), n_rows)

    return FittedTree(model), predict
