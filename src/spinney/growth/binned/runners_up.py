"""The splits that lost at large nodes of a tree that kernels grew."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.ties import TOLERANCE
from spinney.data import Schema
from spinney.growth.binned.binned_arrays import Buckets, moments_of, questions_of
from spinney.growth.binned.kernels.nodes import (
    ABOVE,
    CUT_HIGH,
    CUT_LOW,
    CUT_MISSING,
    EXACT,
    GAIN,
    LINE,
    LINES,
    Lines,
    Shape,
)
from spinney.recipes import Recipe
from spinney.search import count_missing_at, policy_named
from spinney.trees import (
    CandidateArrays,
    CountTable,
    RoutingArrays,
    splits_of_routing,
)
from spinney.trees.criteria import Criterion


class Sides(NamedTuple):
    """The counts on both sides of splits, and beside them: splits × 2 (× classes)."""

    values: Floats
    weights: Floats
    rows: Integers
    missing: Floats
    missing_rows: Integers
    shares: Floats


def competitors_as_arrays(
    records: Shape,
    shape: Shape,
    lines: Lines,
    schema: Schema,
    recipe: Recipe,
    buckets: Buckets,
) -> CandidateArrays:
    """Return splits that lost, in the order of their nodes, of no node yet.

    ``records`` are lines of ``growth/binned/kernels/runners_up.py``, ``shape`` has the
    nodes' totals. Rows of later tables whose value is missing go to the heavier side
    where no row here was missing.
    """
    numeric = schema.target.is_numeric
    policy = policy_named(recipe.missing)
    sides = _sides(records, shape, numeric=numeric)
    into = records.real[:, CUT_MISSING].astype(np.int64)
    if not (policy.divides or policy.surrogates):
        shares = sides.shares
        heavier = shares[:, 0] < shares.max(axis=1) - TOLERANCE
        into = np.where(into < 0, heavier, into)
    return counted_candidates(
        RoutingArrays(**questions_of(records, lines, schema, buckets)),
        sides,
        records=records,
        lines=lines,
        schema=schema,
        missing=into,
        exact=records.whole[:, EXACT],
        gain=records.real[:, GAIN],
        criterion=recipe.measure(numeric=numeric),
    )


def _sides(records: Shape, shape: Shape, *, numeric: bool) -> Sides:
    """Return the counts on both sides of splits that lost."""
    owners = records.whole[:, ABOVE]
    left, missing = (
        moments_of(half, numeric=numeric)
        for half in np.split(records.weights, 2, axis=1)
    )
    width = shape.weights.shape[1] // 2
    total = moments_of(shape.weights[owners, :width], numeric=numeric)
    n_counts = shape.counts.shape[1] // 2
    left_rows, missing_rows = np.split(records.counts, 2, axis=1)
    rows = shape.counts[owners, :n_counts] - left_rows - missing_rows
    right = _amounts(total - left - missing, rows, numeric=numeric)
    left = _amounts(left, left_rows, numeric=numeric)
    missing = _amounts(missing, missing_rows, numeric=numeric)
    weights = np.stack([left, right], axis=1)
    sizes = weights[:, :, 0] if numeric else weights.sum(axis=2)
    low, high = records.real[:, CUT_LOW], records.real[:, CUT_HIGH].copy()
    edge = np.isnan(high)
    high[edge] = np.nextafter(low[edge], np.inf)
    return Sides(
        np.stack([low, high], axis=1),
        weights,
        np.stack([left_rows, rows], axis=1),
        missing,
        missing_rows,
        sizes / sizes.sum(axis=1, keepdims=True),
    )


def _amounts(sums: Floats, rows: Integers, *, numeric: bool) -> Floats:
    """Return sums without what differences leave where there are no rows, or below 0.

    The second of the moments of a number, Σwy, may be below 0.
    """
    least = np.array([0.0, -np.inf, 0.0]) if numeric else 0.0
    return np.asarray(np.maximum(np.where(rows > 0, sums, 0.0), least))


def _merits(
    sides: Sides, missing: NDArray[np.integer], gain: Floats, criterion: Criterion
) -> Floats:
    """Return the merits of splits."""
    if criterion.per is None:
        return gain
    stack = CountTable(
        np.arange(2),
        sides.weights.copy(),
        sides.rows.copy(),
        sides.missing.copy(),
        sides.missing_rows.copy(),
    )
    count_missing_at(stack, missing.astype(np.int64))
    return np.asarray(criterion.merit(stack))


def counted_candidates(
    questions: RoutingArrays,
    sides: Sides,
    *,
    records: Shape,
    lines: Lines,
    schema: Schema,
    missing: NDArray[np.integer],
    exact: NDArray[np.integer],
    gain: Floats,
    criterion: Criterion,
) -> CandidateArrays:
    """Return splits of two branches with their counts, of no node yet.

    The counts of a number are those of both sides, others are by code, as ``lines``
    have them.
    """
    kinds = np.array([a.kind == "numeric" for a in schema.attributes], np.bool_)
    numeric, n = kinds[questions.attribute], len(questions)
    own = records.whole[:, LINES].astype(np.int64)
    count = np.where(numeric, 2, own)
    of_sides = np.repeat(numeric, count)
    coded = np.flatnonzero(~numeric)
    line = np.repeat(records.whole[coded, LINE], own[coded]) + ramps(own[coded])
    by_line = moments_of(lines.weights[line], numeric=schema.target.is_numeric)

    def table(by_side: NDArray[Any], by_code: NDArray[Any]) -> NDArray[Any]:
        """Return the lines of all, in their order."""
        both = by_side[numeric].reshape(-1, *by_side.shape[2:])
        together = np.empty((len(of_sides), *both.shape[1:]), both.dtype)
        together[of_sides], together[~of_sides] = both, by_code
        return together

    none = np.zeros(0, np.int64)
    return CandidateArrays(
        count=none,
        chosen=none,
        splits=splits_of_routing(
            questions,
            n_branches=np.full(n, 2),
            missing=missing,
            shares=sides.shares.ravel(),
        ),
        gain=gain,
        merit=_merits(sides, missing, gain, criterion),
        exact=exact,
        p_value=np.full(n, np.nan),
        n_values=count,
        values=table(sides.values, lines.codes[line, 0]),
        weights=table(sides.weights, by_line),
        rows=table(sides.rows, lines.counts[line]),
        missing_weights=sides.missing,
        missing_rows=sides.missing_rows,
    )
