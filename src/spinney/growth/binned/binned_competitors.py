"""Competitors at large nodes of a tree that kernels grew."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.ties import TOLERANCE
from spinney.data import Schema
from spinney.growth.binned.binned_arrays import Buckets, moments_of, questions_of
from spinney.growth.binned.kernels.nodes import (
    CUT_HIGH,
    CUT_LOW,
    CUT_MISSING,
    EXACT,
    FIRST_LINE,
    GAIN,
    N_LINES,
    PARENT_NODE,
    CodeCounts,
    NodeRecords,
)
from spinney.recipes import Recipe
from spinney.search import count_missing_at, policy_named
from spinney.trees import (
    CandidateArrays,
    CountTable,
    QuestionArrays,
    splits_of_questions,
)
from spinney.trees.criteria import Criterion


class Sides(NamedTuple):
    """Counts on both sides of splits, and beside them: splits × 2 (× classes)."""

    values: Floats
    weights: Floats
    rows: Integers
    missing: Floats
    missing_rows: Integers
    shares: Floats


def competitors_as_arrays(
    records: NodeRecords,
    nodes: NodeRecords,
    code_counts: CodeCounts,
    schema: Schema,
    recipe: Recipe,
    buckets: Buckets,
) -> CandidateArrays:
    """Return competitors in the order of their nodes, without node numbers.

    ``records`` are those of the competitors, ``nodes`` those of the tree. Missing
    values of later rows go to the heavier side if no row was missing in training.
    """
    numeric = schema.target.is_numeric
    policy = policy_named(recipe.missing)
    sides = _branch_counts(records, nodes, numeric=numeric)
    into = records.floats[:, CUT_MISSING].astype(np.int64)
    if not (policy.divides or policy.surrogates):
        shares = sides.shares
        heavier = shares[:, 0] < shares.max(axis=1) - TOLERANCE
        into = np.where(into < 0, heavier, into)
    return counted_candidates(
        QuestionArrays(**questions_of(records, code_counts, schema, buckets)),
        sides,
        records=records,
        code_counts=code_counts,
        schema=schema,
        missing=into,
        exact=records.ints[:, EXACT],
        gain=records.floats[:, GAIN],
        criterion=recipe.measure(numeric=numeric),
    )


def _branch_counts(records: NodeRecords, nodes: NodeRecords, *, numeric: bool) -> Sides:
    """Return the counts on both sides of competitors."""
    owners = records.ints[:, PARENT_NODE]
    left, missing = (
        moments_of(half, numeric=numeric)
        for half in np.split(records.weights, 2, axis=1)
    )
    width = nodes.weights.shape[1] // 2
    total = moments_of(nodes.weights[owners, :width], numeric=numeric)
    n_counts = nodes.counts.shape[1] // 2
    left_rows, missing_rows = np.split(records.counts, 2, axis=1)
    rows = nodes.counts[owners, :n_counts] - left_rows - missing_rows
    right = _amounts(total - left - missing, rows, numeric=numeric)
    left = _amounts(left, left_rows, numeric=numeric)
    missing = _amounts(missing, missing_rows, numeric=numeric)
    weights = np.stack([left, right], axis=1)
    sizes = weights[:, :, 0] if numeric else weights.sum(axis=2)
    low, high = records.floats[:, CUT_LOW], records.floats[:, CUT_HIGH].copy()
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
    """Return sums without the rounding of differences: 0 without rows, at least 0.

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
    questions: QuestionArrays,
    sides: Sides,
    *,
    records: NodeRecords,
    code_counts: CodeCounts,
    schema: Schema,
    missing: NDArray[np.integer],
    exact: NDArray[np.integer],
    gain: Floats,
    criterion: Criterion,
) -> CandidateArrays:
    """Return splits of two branches with their counts, without node numbers.

    Numbers have the counts of both sides, other attributes those by code in
    ``code_counts``.
    """
    kinds = np.array([a.kind == "numeric" for a in schema.attributes], np.bool_)
    numeric, n = kinds[questions.attribute], len(questions)
    own = records.ints[:, N_LINES].astype(np.int64)
    count = np.where(numeric, 2, own)
    of_sides = np.repeat(numeric, count)
    coded = np.flatnonzero(~numeric)
    line = np.repeat(records.ints[coded, FIRST_LINE], own[coded]) + ramps(own[coded])
    by_line = moments_of(code_counts.weights[line], numeric=schema.target.is_numeric)

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
        splits=splits_of_questions(
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
        values=table(sides.values, code_counts.codes[line, 0]),
        weights=table(sides.weights, by_line),
        rows=table(sides.rows, code_counts.counts[line]),
        missing_weights=sides.missing,
        missing_rows=sides.missing_rows,
    )
