"""Trees of compiled kernels as arrays, without nodes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.ties import TOLERANCE
from spinney.data import Schema
from spinney.growth.binned.kernels.nodes import (
    ATTRIBUTE,
    CUT_HIGH,
    CUT_LOW,
    CUT_MISSING,
    FIRST_LINE,
    GAIN,
    LEFT_CHILD,
    N_LINES,
    PARENT_NODE,
    REASON,
    CodeCounts,
    NodeRecords,
)
from spinney.recipes import Recipe
from spinney.search import midpoints, policy_named
from spinney.trees import Reason, TreeArrays, reason_codes

# By the kernels' numbers of reasons; the last of them is that of ``recount``.
REASONS = reason_codes(
    None,
    Reason.PURE,
    Reason.DEPTH,
    Reason.ROWS_TO_SPLIT,
    Reason.DEVIATION,
    Reason.IDENTICAL,
    Reason.ROWS_IN_LEAF,
    Reason.MIN_GAIN,
    Reason.PRUNED,
)


Buckets = Mapping[int, Floats]
"""The cuts between the buckets of numbers, by attribute."""


def grown_tree_arrays(
    records: NodeRecords,
    code_counts: CodeCounts,
    schema: Schema,
    recipe: Recipe,
    buckets: Buckets,
) -> TreeArrays:
    """Return the records of kernels as a compact tree, or several packed trees."""
    attribute = records.ints[:, ATTRIBUTE].astype(np.int32)
    inner = np.flatnonzero(attribute >= 0)
    numeric = schema.target.is_numeric
    width, n_counts = records.weights.shape[1] // 2, records.counts.shape[1] // 2
    weights = moments_of(records.weights[:, :width], numeric=numeric)
    sizes = weights[:, 0] if numeric else weights.sum(axis=1)
    missing = np.full(len(attribute), -1, np.int16)
    missing[inner] = records.floats[inner, CUT_MISSING]
    policy = policy_named(recipe.missing_policy)
    if not (policy.divides_rows or policy.surrogates):
        # None was missing: the heaviest branch, the first of equals.
        unrouted = inner[missing[inner] < 0]
        left, right = (
            sizes[records.ints[unrouted, LEFT_CHILD + side]] for side in (0, 1)
        )
        missing[unrouted] = right / (left + right) > left / (left + right) + TOLERANCE
    return TreeArrays(
        **routing_fields(records, code_counts, schema, buckets),
        parent=records.ints[:, PARENT_NODE].astype(np.int32),
        missing=missing,
        gain=np.where(attribute >= 0, records.floats[:, GAIN], 0.0),
        weights=np.ascontiguousarray(weights),
        rows=np.einsum("ij->i", records.counts[:, :n_counts]).astype(np.int32),
        absent=np.einsum("ij->i", records.counts[:, n_counts:]).astype(np.int32),
        reason=REASONS[records.ints[:, REASON]],
    )


def routing_fields(
    records: NodeRecords, code_counts: CodeCounts, schema: Schema, buckets: Buckets
) -> dict[str, Any]:
    """Return the fields of ``RoutingArrays`` for nodes or competitors.

    For a cut between bins of many numbers only the lower edge is known; it becomes the
    threshold.
    """
    attribute = records.ints[:, ATTRIBUTE].astype(np.int32)
    inner = np.flatnonzero(attribute >= 0)
    nominal = np.array([a.kind == "nominal" for a in schema.attributes], np.bool_)
    by_code = nominal[attribute[inner]]
    cut, cuts = np.zeros(len(attribute)), inner[~by_code]
    low, high = records.floats[cuts][:, [CUT_LOW, CUT_HIGH]].T
    cut[cuts] = thresholds_between(low, high, attribute[cuts], buckets)
    cut[inner[by_code]] = np.nan
    listed, branches = _branches_by_code(records, code_counts, inner[by_code])
    return {
        "attribute": attribute,
        "cut": cut,
        "listed": listed,
        "branches": branches,
        "cuts": np.zeros(0),
    }


def thresholds_between(
    low: Floats, high: Floats, attribute: NDArray[Any], buckets: Buckets
) -> Floats:
    """Return the midpoints of neighbouring numbers, or cuts in the middle of buckets.

    If ``high`` is NaN, ``low`` is the threshold.
    """
    cut, has_high = low.copy(), ~np.isnan(high)
    cut[has_high] = midpoints(low[has_high], high[has_high])
    for index, cuts in buckets.items():
        in_buckets = has_high & (attribute == index)
        codes = [np.searchsorted(cuts, numbers[in_buckets]) for numbers in (low, high)]
        cut[in_buckets] = cuts[(codes[0] + codes[1]) // 2]
    return cut


def _branches_by_code(
    records: NodeRecords, code_counts: CodeCounts, grouped: Integers
) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """Return the number of recorded codes per split, and the branch of each code."""
    listed = np.zeros(len(records.ints), np.int32)
    first, number = records.ints[grouped][:, [FIRST_LINE, N_LINES]].astype(np.int64).T
    if len(grouped):
        # Lines are in the order of their codes: the last one has the greatest.
        listed[grouped] = code_counts.codes[first + number - 1, 0] + 1
    starts = (listed.cumsum() - listed)[grouped]
    branches = np.full(int(listed.sum()), -1, np.int16)
    line = np.repeat(first, number) + ramps(number)
    branches[np.repeat(starts, number) + code_counts.codes[line, 0]] = (
        code_counts.codes[line, 1] - 1
    )
    return listed, branches


def moments_of(weights: Floats, *, numeric: bool) -> Floats:
    """Return weights with the last axis of count tables."""
    if not numeric:
        return weights
    weight, above, below, second = np.moveaxis(weights, -1, 0)
    return np.stack([weight, above + below, second], axis=-1)


def set_missing_by_typical(
    records: NodeRecords, code_counts: CodeCounts, schema: Schema, typical: Floats
) -> None:
    """Route missing values of later rows as the typical value of the attribute.

    For nodes or competitors with thresholds, if no training value was missing.
    """
    routing = routing_fields(records, code_counts, schema, {})
    inner = np.flatnonzero(routing["attribute"] >= 0)
    typical_values = typical[routing["attribute"][inner]]
    records.floats[inner, CUT_MISSING] = typical_values > routing["cut"][inner]


class SurrogateTotals(NamedTuple):
    """Totals of rows that surrogates sent left; ``line_of`` gives a node's line."""

    line_of: Integers
    weights: Floats
    counts: Integers


def branch_counts(
    records: NodeRecords,
    inner: Integers,
    surrogate_totals: SurrogateTotals | None = None,
    *,
    numeric: bool,
) -> tuple[Floats, Integers, Floats]:
    """Return weights, rows and proportions of branches, nodes × 2 (× classes).

    Rows with a missing value are not counted.
    """
    width, n_counts = records.weights.shape[1] // 2, records.counts.shape[1] // 2
    children = records.ints[inner, LEFT_CHILD : LEFT_CHILD + 2]
    weights = moments_of(records.weights[children, :width], numeric=numeric)
    rows = records.counts[children, :n_counts]
    missing = records.floats[inner, CUT_MISSING].astype(np.int64)
    with_missing = np.flatnonzero(missing >= 0)
    weights[with_missing, missing[with_missing]] -= moments_of(
        records.weights[inner[with_missing], width:], numeric=numeric
    )
    rows[with_missing, missing[with_missing]] -= records.counts[
        inner[with_missing], n_counts:
    ]
    if surrogate_totals is not None:
        line = surrogate_totals.line_of[inner]
        weights -= moments_of(
            _split_missing(
                records.weights[inner, width:], surrogate_totals.weights[line]
            ),
            numeric=numeric,
        )
        rows -= _split_missing(
            records.counts[inner, n_counts:], surrogate_totals.counts[line]
        )
    weights = np.where(rows.any(axis=2, keepdims=True), weights, 0.0)
    sizes = weights[:, :, 0] if numeric else weights.sum(axis=2)
    return weights, rows, sizes / sizes.sum(axis=1, keepdims=True)


def _split_missing(missing: NDArray[Any], first: NDArray[Any]) -> NDArray[Any]:
    """Return the missing rows of the first branch, and of the second."""
    return np.stack([first, missing - first], axis=1)
