"""The rows in the form of multiway kernels: every value as its rank."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import run_all
from spinney._support.ties import TOLERANCE
from spinney.data import Attribute, Schema
from spinney.growth.binned.binned_limits import COMPETITOR_ROWS_DIVISOR, MAX_DEPTH
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
    """The ranked rows with the limits of the search."""

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
    """Return the rows as ranks; costs of errors alter the class weights."""
    schema, classes = training.schema, training.classes
    pairs = list(zip(schema.attributes, training.columns, strict=True))
    in_threads = len(classes) > MIN_PARALLEL_ROWS
    ranked_columns = run_all(
        [partial(_rank_cells, *pair) for pair in pairs], in_threads=in_threads
    )
    values = tuple(column for column, _ in ranked_columns)
    n_codes = [len(column) for column in values]
    n_classes, fractions = schema.n_classes, training.weights
    small = max(*n_codes, n_classes) < 2**16
    dtype = np.uint16 if small else np.uint32
    codes = np.empty((len(classes), len(pairs) + 1), dtype)

    def fill(column: int, ranks: NDArray[Any]) -> None:
        codes[:, column] = ranks

    columns_to_fill = [*(ranks for _, ranks in ranked_columns), classes]
    run_all(
        [partial(fill, *column) for column in enumerate(columns_to_fill)],
        in_threads=in_threads,
    )
    weights = np.bincount(classes, fractions, minlength=n_classes)
    counts = np.bincount(classes, minlength=n_classes)
    total = float(weights.sum())
    numeric = [a for a, x in enumerate(schema.attributes) if x.kind == "numeric"]
    steps = np.zeros(len(schema.attributes))
    steps[numeric] = [recipe.min_step_of(values[a]) for a in numeric]
    columns = RankedColumns(
        codes,
        _facts(schema, recipe, n_codes, total),
        np.concatenate([np.zeros(0), *(values[a] for a in numeric)]),
        steps,
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
        recipe.min_node_weight(total),
        recipe.min_branch_weight(total),
        float(recipe.min_cut_share),
        float(recipe.min_branch_share),
        float(recipe.min_gain),
        recipe.mdl_correction and criterion.bits,
        n_rows // COMPETITOR_ROWS_DIVISOR,
        MAX_SIDE_WEIGHT,
        altered,
        recipe.reuse_attributes,
    )


def _facts(
    schema: Schema, recipe: Recipe, n_codes: list[int], total: float
) -> Integers:
    """Return kind, codes, starts of tables and numbers, and many values or not."""
    from spinney.growth.multiway.kernels.value_counts import MAX_TABLE_CODES

    max_values = recipe.measure(numeric=False).many_values * total * (1 - TOLERANCE)
    attributes = schema.attributes
    many = [a.kind == "nominal" and len(a.values) >= max_values for a in attributes]
    facts = np.zeros((len(attributes), 5), np.int64)
    lines, numbers = 0, 0
    for a, attribute in enumerate(attributes):
        k, kind = n_codes[a], KINDS[attribute.kind]
        facts[a] = kind, k, lines, numbers, many[a] and not all(many)
        lines += k + 1 if k <= MAX_TABLE_CODES else 0
        numbers += k if kind == layout.NUMERIC else 0
    return facts


def _rank_cells(
    attribute: Attribute, cells: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the values and the rank of each cell; missing cells have the next rank."""
    if attribute.kind != "numeric":
        k = len(attribute.values)
        return np.arange(k), np.where(cells < 0, k, cells)
    numbers = np.asarray(cells, dtype=np.float64) + 0.0  # -0.0 is 0.0
    is_missing = np.isnan(numbers)
    observed = numbers[~is_missing] if is_missing.any() else numbers
    values, observed_ranks = _distinct(observed)
    if observed is numbers:
        return values, observed_ranks
    ranks = np.full(len(numbers), len(values), np.int64)
    ranks[~is_missing] = observed_ranks
    return values, ranks


def _distinct(numbers: Floats) -> tuple[Floats, Integers]:
    """Return the distinct numbers, rising, and the rank of each number among them.

    Whole numbers that lie close together are marked in a list rather than sorted.
    """
    if len(numbers):
        lowest, highest = float(numbers.min()), float(numbers.max())
        if highest - lowest < 8 * len(numbers) and abs(lowest) < 2**52:
            offsets = (numbers - lowest).astype(np.int64)
            if np.array_equal(offsets + lowest, numbers):
                occurs = np.zeros(int(highest - lowest) + 1, np.bool_)
                occurs[offsets] = True
                ranks = np.cumsum(occurs) - 1
                return lowest + np.flatnonzero(occurs).astype(np.float64), ranks[
                    offsets
                ]
    values, ranks = np.unique(numbers, return_inverse=True)
    return values, ranks
