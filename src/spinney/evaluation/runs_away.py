"""Evaluate recipes on a table that is away: its rows are divided by their numbers.

Which rows are in a fold follows from what is in them and from the seed, so every engine
has the same folds, and so have the same rows in memory. Models are grown where the rows
are; the rows to test on are read, as many at a time as have room. Codes and values are
those of the whole table.
"""

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import Progress, check_progress
from spinney._support.keyed_random import refuse_seed, seed_of
from spinney.data import cost_array, declarations_of
from spinney.errors import DataError, Setting, SpinneyWarning, refusal
from spinney.evaluation.measures import size_measures, speed_measures
from spinney.evaluation.results import Evaluation, FoldResult
from spinney.evaluation.runs import TestedRows, joined_rows
from spinney.evaluation.splits import ONE_OUT, USUAL_FOLDS, Scheme
from spinney.evaluation.variants import Recipes, Variant, variants_of
from spinney.growth.forest import forest_outputs
from spinney.models import FittedForest, FittedTree, grow_drawn, grow_drawn_forest
from spinney.recipes import DEFAULT_RECIPE
from spinney.sources.opened import open_source
from spinney.sources.rows import (
    Draw,
    HashedRows,
    fold_of_rows,
    mixing_of,
    share_of_rows,
)
from spinney.trees import labels_of
from spinney.trees.predict import flatten, outputs

# What needs no folds of its own.
RECIPES_AWAY = (DEFAULT_RECIPE, "c4.5")
ROWS_A_FOLD = 10
"""Where nothing is said, a fold has about so many rows at least."""
OPENING = ("source", "connection", "table", "memory_limit", "format", "encoding")


def evaluate_away(
    data: Any, target: str, recipes: Recipes | None, arguments: Mapping[str, Any]
) -> Evaluation:
    """Measure recipes on rows of an engine that their trees have not seen.

    ``arguments`` are those of ``evaluate``: its own, and settings for all recipes.
    """
    settings = dict(arguments)

    def given(*names: str) -> dict[str, Any]:
        return {name: settings.pop(name) for name in names if name in settings}

    progress = settings.pop("progress", None)
    check_progress(progress)
    cost_matrix = settings.pop("cost_matrix", None)
    seed = seed_of(settings.pop("random_state", None), 0)
    scheme = Scheme(**given("folds", "repeats", "holdout"), seed=seed)
    _refuse_one_out(scheme)
    declarations = declarations_of(
        **given("nominal", "ordinal", "numeric", "ignore", "values"),
        **given("missing_values", "notation"),
    )
    opening = {**given("weight"), **given(*OPENING)}
    refuse_seed(settings)
    variants = variants_of(RECIPES_AWAY if recipes is None else recipes, settings)
    with open_source(
        data, target, declarations=declarations, hashed=True, **opening
    ) as opened:
        assert opened.hashed is not None
        classes = None
        if not opened.schema.target.is_numeric:
            classes = opened.schema.target.classes
        elif cost_matrix is not None:
            raise refusal(
                Setting("cost_matrix"), "is for classes, and the target is a number"
            )
        for variant in variants:
            variant.check(numeric=classes is None)
        costs = None if cost_matrix is None else cost_array(cost_matrix, classes or ())
        runs = RunsAway(opened.hashed, variants, costs)
        n_rows = opened.n_rows
        scheme = _with_folds(scheme, n_rows)
        results = runs.results(scheme, progress)
    return Evaluation(target, classes, n_rows, scheme, results)


def _refuse_one_out(scheme: Scheme) -> None:
    if scheme.folds == ONE_OUT:
        raise refusal(
            Setting("folds", ONE_OUT),
            "leaves out one row after the other, and these stay where they are",
            "take a number of folds",
        )


def _with_folds(scheme: Scheme, n_rows: int) -> Scheme:
    """Return a scheme with as many folds as so many rows have by default."""
    if scheme.holdout is not None or scheme.folds is not None:
        return scheme
    return replace(scheme, folds=max(2, min(USUAL_FOLDS, n_rows // ROWS_A_FOLD)))


@dataclass(frozen=True, slots=True)
class RunsAway:
    """Rows that have numbers, and what is compared on them."""

    rows: HashedRows
    variants: Sequence[Variant]
    costs: Floats | None

    def results(
        self, scheme: Scheme, progress: Progress | None
    ) -> tuple[FoldResult, ...]:
        """Return the result of each variant on each part, variants first."""
        parts = list(parts_by_number(scheme))
        results: dict[tuple[int, int], FoldResult] = {}
        total = len(parts) * len(self.variants)
        for turn, (repeat, fold, tested) in enumerate(parts):
            training = self.rows.among(tested.others)
            for number, variant in enumerate(self.variants):
                if progress is not None:
                    progress(len(results), total)
                where = f"recipe {variant.label!r}, repeat {repeat}, fold {fold}: "
                try:
                    results[number, turn] = self._result(
                        variant, training, tested, repeat, fold
                    )
                except DataError as error:
                    raise DataError(where + str(error)) from error
        if progress is not None:
            progress(total, total)
        return tuple(results[key] for key in sorted(results))

    def _result(
        self,
        variant: Variant,
        training: HashedRows,
        tested: Draw,
        repeat: int,
        fold: int,
    ) -> FoldResult:
        """Grow a variant on rows, and measure it on others."""
        n_train = int(training.root().rows.sum())
        n_test = int(self.rows.root().rows.sum()) - n_train
        if not n_train or not n_test:
            none = "test" if n_train else "train"
            msg = f"there is no row to {none} on"
            raise DataError(msg, remedy="take fewer folds, or another share")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpinneyWarning)
            began = time.perf_counter()
            model, predict = _grown(variant, training)
            seconds, predicting, parts = time.perf_counter() - began, 0.0, []
            for piece in self._pieces(tested, n_test):
                rows, _ = self.rows.fetched(piece)
                began = time.perf_counter()
                said = predict(rows.columns, len(rows.classes))
                predicting += time.perf_counter() - began
                parts.append(_tested(rows, said, model.schema.target.costs))
        numeric = self.rows.schema.target.is_numeric
        quality = joined_rows(parts).quality(numeric=numeric, costs=self.costs)
        speed = speed_measures(seconds, predicting, n_test, None)
        measures = {**quality, **size_measures(model), **speed}
        return FoldResult(variant.label, repeat, fold, n_train, n_test, measures)

    def _pieces(self, tested: Draw, n_test: int) -> Iterator[Draw]:
        """Give the rows to test on in pieces, each of which has room."""
        low, high = (0.0, *tested.limits)[-2:]
        most = self.rows.most_rows
        if not most:
            msg = "rows to test on are read, and none have room in memory"
            raise DataError(msg, remedy="raise memory_limit")
        n_pieces = 1 if n_test <= most else 2 * n_test // most + 1
        ends = [low + (high - low) * n / n_pieces for n in range(1, n_pieces)]
        starts, ends = [low, *ends], [*ends, high]
        for start, end in zip(starts, ends, strict=True):
            yield Draw((start, end), (0, 1, 0), tested.mixing)


def parts_by_number(scheme: Scheme) -> Iterator[tuple[int, int, Draw]]:
    """Give repeats and folds, counted from 1, and the draw of the rows to test on."""
    for repeat in range(1, scheme.repeats + 1):
        mixing = mixing_of(scheme.seed, repeat)
        if scheme.holdout is not None:
            yield repeat, 1, share_of_rows(float(scheme.holdout), mixing)
            continue
        for fold in range(scheme.n_folds):
            yield repeat, fold + 1, fold_of_rows(fold, scheme.n_folds, mixing)


def _grown(variant: Variant, rows: HashedRows) -> tuple[Any, Any]:
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


def _tested(rows: Any, said: Floats, costs: Any) -> TestedRows:
    """Return what is predicted of rows beside the truth."""
    weights = rows.own_weights
    if rows.schema.target.is_numeric:
        return TestedRows(rows.classes, said[:, 0], said, weights)
    predicted = np.asarray(labels_of(said, costs), np.int64)
    return TestedRows(rows.classes, predicted, said, weights)
