"""A tree that kernels grew as the arrays that a tree is predicted from.

No node is made: see :mod:`spinney.growth.engine.nodes` for what the nodes would be.
"""

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import TOLERANCE, Floats, Integers, ramps
from spinney.data import Schema
from spinney.growth.binned.loops.nodes import (
    ATTRIBUTE,
    CHILD,
    CUT_HIGH,
    CUT_LOW,
    CUT_MISSING,
    LINE,
    LINES,
    Lines,
    Shape,
)
from spinney.growth.leaf_estimates import outputs_of
from spinney.recipes import Recipe
from spinney.search import midpoints, policy_named
from spinney.trees import no_models
from spinney.trees.predict import FlatTree, Questions, no_questions


def arrays_of_grown(
    shape: Shape, lines: Lines, schema: Schema, recipe: Recipe
) -> FlatTree:
    """Return the arrays of a tree that kernels grew."""
    size = len(shape.whole)
    attribute = shape.whole[:, ATTRIBUTE].astype(np.int64)
    inner = np.flatnonzero(attribute >= 0)
    numeric = schema.target.is_numeric
    width = shape.weights.shape[1] // 2
    weights = moments_of(shape.weights[:, :width], numeric=numeric)
    missing, shares = _branches(shape, inner, numeric=numeric)
    policy = policy_named(recipe.missing)
    if not (policy.divides or policy.surrogates):
        # As ``first_best``: the second branch where it is clearly heavier.
        heavier = shares[:, 0] < shares.max(axis=1) - TOLERANCE
        missing = np.where(missing < 0, heavier, missing)
    nominal = np.array([a.kind == "nominal" for a in schema.attributes], np.bool_)
    by_code = nominal[attribute[inner]]
    low, high = shape.real[inner[~by_code]][:, [CUT_LOW, CUT_HIGH]].T
    threshold = np.full(size, np.nan)
    threshold[inner[~by_code]] = midpoints(low, high)
    first_code, codes, lookup = _lookup(shape.whole, inner[by_code], lines)
    nothing = np.zeros(size, np.int64)
    asked = Questions(
        attribute,
        threshold,
        first_code,
        codes,
        np.zeros(size, np.bool_),
        lookup,
        nothing,
        nothing,
        np.zeros(0),
    )

    def spread(entries: Integers | int, value: int) -> Integers:
        filled = np.full(size, value, np.int64)
        filled[inner] = entries
        return filled

    return FlatTree(
        asked,
        no_questions(),
        spread(missing, -1),
        spread(2 * np.arange(len(inner)), 0),
        spread(2, 0),
        nothing,
        nothing,
        shape.whole[inner, CHILD : CHILD + 2].astype(np.int64).ravel(),
        shares.ravel(),
        outputs_of(weights, schema.target, recipe=recipe, everything=weights[0]),
        no_models(size),
    )


def moments_of(weights: Floats, *, numeric: bool) -> Floats:
    """Return weights as count tables have them."""
    if not numeric:
        return weights
    weight, above, below, second = weights.T
    return np.stack([weight, above + below, second], axis=-1)


def _branches(
    shape: Shape, inner: Integers, *, numeric: bool
) -> tuple[Integers, Floats]:
    """Return where missing rows go, or -1, and the shares of the others."""
    missing = shape.real[inner, CUT_MISSING].astype(np.int64)
    width, n_counts = shape.weights.shape[1] // 2, shape.counts.shape[1] // 2
    children = shape.whole[inner, CHILD : CHILD + 2]
    weights, rows = shape.weights[children, :width], shape.counts[children, :n_counts]
    some = np.flatnonzero(missing >= 0)
    weights[some, missing[some]] -= shape.weights[inner[some], width:]
    rows[some, missing[some]] -= shape.counts[inner[some], n_counts:]
    weights = np.where(rows.any(axis=2, keepdims=True), weights, 0.0)
    sizes = weights[:, :, 0] if numeric else weights.sum(axis=2)
    return missing, sizes / sizes.sum(axis=1, keepdims=True)


def _lookup(
    whole: NDArray[np.int32], nodes: Integers, lines: Lines
) -> tuple[Integers, Integers, Integers]:
    """Return where the branches of codes begin, how many there are, and the branches.

    They end with the last code that takes a branch; -1 stands for none.
    """
    number = whole[nodes, LINES].astype(np.int64)
    owner = np.repeat(np.arange(len(nodes)), number)
    code, side = lines.codes[whole[nodes[owner], LINE] + ramps(number)].T
    owner, code, side = owner[side > 0], code[side > 0], side[side > 0]
    sizes = np.zeros(len(nodes), np.int64)
    np.maximum.at(sizes, owner, code + 1)
    begin = 1 + sizes.cumsum() - sizes
    lookup = np.full(1 + sizes.sum(), -1)
    lookup[begin[owner] + code] = side - 1
    first, codes = np.zeros(len(whole), np.int64), np.zeros(len(whole), np.int64)
    first[nodes], codes[nodes] = begin, sizes
    return first, codes, lookup
