"""Rows in the form of multiway kernels: every value by its rank."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import run_all
from spinney._support.ties import TOLERANCE
from spinney.data import Attribute, Schema
from spinney.growth.binned.binned_limits import COMPETITOR_SHARE, MAX_DEPTH
from spinney.growth.multiway.kernels import layout
from spinney.growth.multiway.kernels.layout import Limits, RankedColumns
from spinney.recipes import MAX_SIDE_WEIGHT, Recipe
from spinney.trees import altered_priors

if TYPE_CHECKING:
    from spinney.sources.rows import TrainingSet

KINDS = {
    "numeric": layout.NUMERIC,
    "ordinal": layout.ORDINAL,
    "nominal": layout.NOMINAL,
}
MIN_PARALLEL_ROWS = 10_000  # that threads are woken for to rank a column


@dataclass(frozen=True, slots=True)
class MultiwayDataset:
    """Ranked rows with the limits of the search."""

    schema: Schema
    columns: RankedColumns
    limits: Limits
    values: tuple[NDArray[Any], ...]
    fractions: Floats | None
    weights: Floats
    counts: Integers


def rank_rows(
    training: "TrainingSet", recipe: Recipe, costs: Floats | None = None
) -> MultiwayDataset:
    """Rank rows for the kernels; costs of errors alter the weights of classes."""
    schema, classes = training.schema, training.classes
    pairs = list(zip(schema.attributes, training.columns, strict=True))
    many = len(classes) > MIN_PARALLEL_ROWS
    ranked_columns = run_all(
        [partial(_rank_cells, *pair) for pair in pairs], in_threads=many
    )
    values = tuple(each for each, _ in ranked_columns)
    n_codes = [len(each) for each in values]
    n_classes, fractions = schema.n_classes, training.weights
    small = max(*n_codes, n_classes) < 2**16
    dtype = np.uint16 if small else np.uint32
    codes = np.empty((len(classes), len(pairs) + 1), dtype)

    def fill(column: int, ranks: NDArray[Any]) -> None:
        codes[:, column] = ranks

    every = [*(ranks for _, ranks in ranked_columns), classes]
    run_all([partial(fill, *each) for each in enumerate(every)], in_threads=many)
    weights = np.bincount(classes, fractions, minlength=n_classes)
    counts = np.bincount(classes, minlength=n_classes)
    total = float(weights.sum())
    columns = RankedColumns(
        codes,
        _facts(schema, recipe, n_codes, total),
        np.concatenate([np.zeros(0), *_numbers(schema, values)]),
        _steps(schema, recipe, values),
    )
    if fractions is not None and np.all(fractions == 1.0):
        fractions = None
    altered = np.ones(n_classes)
    if costs is not None:
        altered = altered_priors(weights.astype(np.float64), costs)
    limits = _limits(recipe, total, len(classes), altered)
    return MultiwayDataset(
        schema,
        columns,
        limits,
        values,
        fractions,
        weights.astype(np.float64),
        counts.astype(np.int64),
    )


def _limits(recipe: Recipe, total: float, n_rows: int, altered: Floats) -> Limits:
    criterion = recipe.measure(numeric=False)
    return Limits(
        len(altered),
        layout.GINI if criterion.name == "gini" else layout.ENTROPY,
        criterion.average,
        float(criterion.slack),
        MAX_DEPTH if recipe.max_depth is None else min(MAX_DEPTH, recipe.max_depth),
        recipe.least_node(total),
        recipe.least_branch(total),
        float(recipe.min_cut_share),
        float(recipe.min_branch_share),
        float(recipe.min_gain),
        recipe.mdl_correction and criterion.bits,
        n_rows // COMPETITOR_SHARE,
        MAX_SIDE_WEIGHT,
        altered,
        recipe.reuse_attributes,
    )


def _facts(
    schema: Schema, recipe: Recipe, n_codes: list[int], total: float
) -> Integers:
    """Return kind, codes, starts of tables and numbers, and many values or not."""
    from spinney.growth.multiway.kernels.value_counts import MOST_LISTED

    most = recipe.measure(numeric=False).many_values * total * (1 - TOLERANCE)
    attributes = schema.attributes
    many = [a.kind == "nominal" and len(a.values) >= most for a in attributes]
    facts = np.zeros((len(attributes), 5), np.int64)
    lines, numbers = 0, 0
    for a, attribute in enumerate(attributes):
        k, kind = n_codes[a], KINDS[attribute.kind]
        facts[a] = kind, k, lines, numbers, many[a] and not all(many)
        lines += k + 1 if k <= MOST_LISTED else 0
        numbers += k if kind == layout.NUMERIC else 0
    return facts


def _numbers(schema: Schema, values: tuple[NDArray[Any], ...]) -> list[Floats]:
    pairs = zip(schema.attributes, values, strict=True)
    return [numbers for attribute, numbers in pairs if attribute.kind == "numeric"]


def _steps(schema: Schema, recipe: Recipe, values: tuple[NDArray[Any], ...]) -> Floats:
    pairs = zip(schema.attributes, values, strict=True)
    return np.array(
        [
            recipe.step_of(each) if attribute.kind == "numeric" else 0.0
            for attribute, each in pairs
        ]
    )


def _rank_cells(
    attribute: Attribute, cells: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the values and the rank of each cell; a missing one has the next rank."""
    if attribute.kind != "numeric":
        k = len(attribute.values)
        return np.arange(k), np.where(cells < 0, k, cells)
    numbers = np.asarray(cells, dtype=np.float64) + 0.0  # -0.0 is 0.0
    missing_code = np.isnan(numbers)
    known = numbers[~missing_code] if missing_code.any() else numbers
    values, known_ranks = _distinct(known)
    if known is numbers:
        return values, known_ranks
    ranks = np.full(len(numbers), len(values), np.int64)
    ranks[~missing_code] = known_ranks
    return values, ranks


def _distinct(numbers: Floats) -> tuple[Floats, Integers]:
    """Return the distinct numbers, rising, and the rank of each number among them.

    Whole numbers that lie close together are marked in a list rather than sorted.
    """
    if len(numbers):
        least, most = float(numbers.min()), float(numbers.max())
        if most - least < 8 * len(numbers) and abs(least) < 2**52:
            steps = (numbers - least).astype(np.int64)
            if np.array_equal(steps + least, numbers):
                occurs = np.zeros(int(most - least) + 1, np.bool_)
                occurs[steps] = True
                ranks = np.cumsum(occurs) - 1
                return least + np.flatnonzero(occurs).astype(np.float64), ranks[steps]
    values, ranks = np.unique(numbers, return_inverse=True)
    return values, ranks
