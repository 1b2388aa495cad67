"""From what compiled loops grew to a member of a forest."""

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import TOLERANCE, Integers
from spinney.data import Schema
from spinney.growth.forest.compact_tree import Member, narrowed
from spinney.recipes import Recipe
from spinney.search import midpoints, policy_named

if TYPE_CHECKING:
    from spinney.growth.binned.loops.nodes import Lines, Shape


def members_of_grown(
    shape: "Shape", lines: "Lines", roots: Integers, schema: Schema, recipe: Recipe
) -> list[Member]:
    """Return trees that compiled loops grew as members of a forest.

    Their nodes are numbered through; ``roots`` says where each tree begins.
    """
    sizes = np.diff(roots, append=len(shape.whole))
    whole = _whole(shape, lines, schema, recipe)
    parent = whole.parent - np.repeat(roots, sizes)
    parent[roots] = -1
    in_branches = np.append(0, whole.listed.cumsum())
    nodes = {
        field.name: getattr(whole, field.name)
        for field in fields(Member)
        if field.name not in ("parent", "branches", "cuts")
    }
    return [
        Member(
            **{name: array[start:end] for name, array in nodes.items()},
            parent=parent[start:end].astype(np.int32),
            branches=whole.branches[in_branches[start] : in_branches[end]],
            cuts=whole.cuts,
        )
        for start, end in zip(roots, roots + sizes, strict=True)
    ]


def _whole(shape: "Shape", lines: "Lines", schema: Schema, recipe: Recipe) -> Member:
    """Return all trees as if they were one."""
    from spinney.growth.binned.binned_nodes import REASONS
    from spinney.growth.binned.loops.nodes import (
        ABOVE,
        ATTRIBUTE,
        CHILD,
        CUT_HIGH,
        CUT_LOW,
        CUT_MISSING,
        GAIN,
        REASON,
    )

    attribute = shape.whole[:, ATTRIBUTE].astype(np.int32)
    inner = np.flatnonzero(attribute >= 0)
    numeric = schema.target.is_numeric
    width, n_counts = shape.weights.shape[1] // 2, shape.counts.shape[1] // 2
    weights = shape.weights[:, :width]
    if numeric:
        weight, above, below, second = weights.T
        weights = np.column_stack([weight, above + below, second])
    sizes = weights[:, 0] if numeric else weights.sum(axis=1)
    missing = np.full(len(attribute), -1, np.int16)
    missing[inner] = shape.real[inner, CUT_MISSING]
    policy = policy_named(recipe.missing)
    if not (policy.divides or policy.surrogates):
        # None was missing: the heaviest branch, the first of equals.
        open_ = inner[missing[inner] < 0]
        left, right = (sizes[shape.whole[open_, CHILD + side]] for side in (0, 1))
        missing[open_] = right / (left + right) > left / (left + right) + TOLERANCE
    nominal = np.array([a.kind == "nominal" for a in schema.attributes])
    cut, grouped = np.zeros(len(attribute)), inner[nominal[attribute[inner]]]
    by_number = inner[~nominal[attribute[inner]]]
    cut[by_number] = midpoints(
        shape.real[by_number, CUT_LOW], shape.real[by_number, CUT_HIGH]
    )
    cut[grouped] = np.nan
    listed, branches = _branches(shape, lines, grouped)
    return Member(
        attribute,
        shape.whole[:, ABOVE].astype(np.int32),
        cut,
        missing,
        np.where(attribute >= 0, shape.real[:, GAIN], 0.0),
        narrowed(np.ascontiguousarray(weights)),
        shape.counts[:, :n_counts].sum(axis=1).astype(np.int32),
        shape.counts[:, n_counts:].sum(axis=1).astype(np.int32),
        REASONS[shape.whole[:, REASON]],
        listed,
        branches,
        np.zeros(0),
    )


def _branches(
    shape: "Shape", lines: "Lines", grouped: Integers
) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """Return how many codes each node lists, and the branch of each code."""
    from spinney.growth.binned.loops.nodes import LINE, LINES

    listed = np.zeros(len(shape.whole), np.int32)
    first, number = shape.whole[grouped, LINE], shape.whole[grouped, LINES]
    if len(grouped):
        # Lines are in the order of their codes: the last one has the greatest.
        listed[grouped] = lines.codes[first + number - 1, 0] + 1
    starts = (listed.cumsum() - listed)[grouped]
    branches = np.full(int(listed.sum()), -1, np.int16)
    step = np.arange(number.sum()) - np.repeat(number.cumsum() - number, number)
    line = np.repeat(first, number) + step
    place = np.repeat(starts, number) + lines.codes[line, 0]
    branches[place] = lines.codes[line, 1] - 1
    return listed, branches
