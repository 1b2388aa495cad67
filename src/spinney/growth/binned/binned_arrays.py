"""Trees that compiled kernels grew as arrays: no node is made."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.ties import TOLERANCE
from spinney.data import Schema
from spinney.growth.binned.kernels.nodes import (
    ABOVE,
    ATTRIBUTE,
    CHILD,
    CUT_HIGH,
    CUT_LOW,
    CUT_MISSING,
    GAIN,
    LINE,
    LINES,
    REASON,
    Lines,
    Shape,
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


def arrays_of_grown(
    shape: Shape, lines: Lines, schema: Schema, recipe: Recipe, buckets: Buckets
) -> TreeArrays:
    """Return what loops grew as a compact tree, or several side by side."""
    attribute = shape.whole[:, ATTRIBUTE].astype(np.int32)
    inner = np.flatnonzero(attribute >= 0)
    numeric = schema.target.is_numeric
    width, n_counts = shape.weights.shape[1] // 2, shape.counts.shape[1] // 2
    weights = moments_of(shape.weights[:, :width], numeric=numeric)
    sizes = weights[:, 0] if numeric else weights.sum(axis=1)
    missing = np.full(len(attribute), -1, np.int16)
    missing[inner] = shape.real[inner, CUT_MISSING]
    policy = policy_named(recipe.missing)
    if not (policy.divides or policy.surrogates):
        # None was missing: the heaviest branch, the first of equals.
        open_ = inner[missing[inner] < 0]
        left, right = (sizes[shape.whole[open_, CHILD + side]] for side in (0, 1))
        missing[open_] = right / (left + right) > left / (left + right) + TOLERANCE
    return TreeArrays(
        **questions_of(shape, lines, schema, buckets),
        parent=shape.whole[:, ABOVE].astype(np.int32),
        missing=missing,
        gain=np.where(attribute >= 0, shape.real[:, GAIN], 0.0),
        weights=np.ascontiguousarray(weights),
        rows=np.einsum("ij->i", shape.counts[:, :n_counts]).astype(np.int32),
        absent=np.einsum("ij->i", shape.counts[:, n_counts:]).astype(np.int32),
        reason=REASONS[shape.whole[:, REASON]],
    )


def questions_of(
    records: Shape, lines: Lines, schema: Schema, buckets: Buckets
) -> dict[str, Any]:
    """Return the fields of ``RoutingArrays`` for nodes, or for splits that lost.

    Of a cut between bins of many numbers only the lower edge is known, and cuts there.
    """
    attribute = records.whole[:, ATTRIBUTE].astype(np.int32)
    inner = np.flatnonzero(attribute >= 0)
    nominal = np.array([a.kind == "nominal" for a in schema.attributes], np.bool_)
    by_code = nominal[attribute[inner]]
    cut, cuts = np.zeros(len(attribute)), inner[~by_code]
    low, high = records.real[cuts][:, [CUT_LOW, CUT_HIGH]].T
    cut[cuts] = thresholds_between(low, high, attribute[cuts], buckets)
    cut[inner[by_code]] = np.nan
    listed, branches = _branches(records, lines, inner[by_code])
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
    """Return the middles of numbers, or the cuts in the middle of their buckets.

    Where ``high`` is NaN, ``low`` is the threshold.
    """
    cut, known = low.copy(), ~np.isnan(high)
    cut[known] = midpoints(low[known], high[known])
    for a, cuts in buckets.items():
        own = known & (attribute == a)
        codes = [np.searchsorted(cuts, numbers[own]) for numbers in (low, high)]
        cut[own] = cuts[(codes[0] + codes[1]) // 2]
    return cut


def _branches(
    records: Shape, lines: Lines, grouped: Integers
) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """Return how many codes each record lists, and the branch of each code."""
    listed = np.zeros(len(records.whole), np.int32)
    first, number = records.whole[grouped][:, [LINE, LINES]].astype(np.int64).T
    if len(grouped):
        # Lines are in the order of their codes: the last one has the greatest.
        listed[grouped] = lines.codes[first + number - 1, 0] + 1
    starts = (listed.cumsum() - listed)[grouped]
    branches = np.full(int(listed.sum()), -1, np.int16)
    line = np.repeat(first, number) + ramps(number)
    branches[np.repeat(starts, number) + lines.codes[line, 0]] = (
        lines.codes[line, 1] - 1
    )
    return listed, branches


def moments_of(weights: Floats, *, numeric: bool) -> Floats:
    """Return weights as count tables have them."""
    if not numeric:
        return weights
    weight, above, below, second = np.moveaxis(weights, -1, 0)
    return np.stack([weight, above + below, second], axis=-1)


def with_typical(records: Shape, lines: Lines, schema: Schema, typical: Floats) -> None:
    """Send a later missing value where the typical one of its attribute goes.

    Of nodes, or of splits that lost, by thresholds; no row was missing.
    """
    asked = questions_of(records, lines, schema, {})
    inner = np.flatnonzero(asked["attribute"] >= 0)
    own = typical[asked["attribute"][inner]]
    records.real[inner, CUT_MISSING] = own > asked["cut"][inner]


class SentRows(NamedTuple):
    """The totals of the rows that surrogates sent to the first branch.

    ``line_of`` says which line is that of a node.
    """

    line_of: Integers
    weights: Floats
    counts: Integers


def sides_of(
    shape: Shape,
    inner: Integers,
    sent: SentRows | None = None,
    *,
    numeric: bool,
) -> tuple[Floats, Integers, Floats]:
    """Return weights and rows of both branches, rows with a missing value left out.

    Return as well the shares of the branches; all are nodes × 2 (× classes).
    """
    width, n_counts = shape.weights.shape[1] // 2, shape.counts.shape[1] // 2
    children = shape.whole[inner, CHILD : CHILD + 2]
    weights = moments_of(shape.weights[children, :width], numeric=numeric)
    rows = shape.counts[children, :n_counts]
    missing = shape.real[inner, CUT_MISSING].astype(np.int64)
    some = np.flatnonzero(missing >= 0)
    weights[some, missing[some]] -= moments_of(
        shape.weights[inner[some], width:], numeric=numeric
    )
    rows[some, missing[some]] -= shape.counts[inner[some], n_counts:]
    if sent is not None:
        line = sent.line_of[inner]
        weights -= moments_of(
            _divided(shape.weights[inner, width:], sent.weights[line]), numeric=numeric
        )
        rows -= _divided(shape.counts[inner, n_counts:], sent.counts[line])
    weights = np.where(rows.any(axis=2, keepdims=True), weights, 0.0)
    sizes = weights[:, :, 0] if numeric else weights.sum(axis=2)
    return weights, rows, sizes / sizes.sum(axis=1, keepdims=True)


def _divided(missing: NDArray[Any], first: NDArray[Any]) -> NDArray[Any]:
    """Return of missing rows those in the first branch, and the others."""
    return np.stack([first, missing - first], axis=1)
