"""The counts and merit of a given split over other rows."""

from dataclasses import replace
from math import exp

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.segments import sums_in_order
from spinney.data import Attribute
from spinney.trees import Candidate, CountTable, Intervals, Split, branch_table
from spinney.trees.criteria import Criterion


def recount(
    candidate: Candidate,
    table: CountTable,
    attribute: Attribute,
    *,
    criterion: Criterion,
    altered: Floats | None = None,
) -> Candidate:
    """Return a candidate's split over other rows, with new shares, counts and merit.

    A code without a branch goes where missing values go. No threshold was chosen by
    these rows, so the gain pays for no choice.
    """
    split = candidate.split
    table = _with_branches_only(table, split)
    merged = table.merged(split.branch_of(table.values), split.n_branches)
    numeric = merged.weights.shape[1] != merged.rows.shape[1]
    sizes = merged.weights[:, 0] if numeric else sums_in_order(merged.weights)
    known = float(sums_in_order(sizes))
    shares = sizes / known if known > 0 else np.full(len(sizes), 1 / len(sizes))
    split = replace(split, shares=tuple(shares.tolist()))
    counts = sides_of(table, split) if attribute.kind == "numeric" else table
    branches = branch_table(counts, split).scaled(altered)
    gain, merit = float(criterion.gain(branches)), float(criterion.merit(branches))
    p_value = exp(-merit) if criterion.chance else None
    exact, given = candidate.exact, candidate.given
    return Candidate(split, counts, gain, merit, exact, p_value, given)


def _with_branches_only(table: CountTable, split: Split) -> CountTable:
    """Return a table whose codes without a branch are counted as missing."""
    has_no_branch = split.branch_of(table.values) < 0
    if not has_no_branch.any():
        return table
    return replace(
        table,
        values=table.values[~has_no_branch],
        weights=table.weights[~has_no_branch],
        rows=table.rows[~has_no_branch],
        missing=table.missing + table.weights[has_no_branch].sum(axis=0),
        missing_rows=table.missing_rows + table.rows[has_no_branch].sum(axis=0),
    )


def sides_of(table: CountTable, split: Split) -> CountTable:
    """Return a numeric table by sides, at the values beside the threshold.

    Intervals have one line each, at their greatest values. A side without rows has no
    line.
    """
    branches = split.branch_of(table.values)
    if isinstance(split, Intervals):
        ends = np.append(np.flatnonzero(branches[1:] != branches[:-1]), -1)
        merged = table.merged(branches, split.n_branches).occurring()
        return replace(merged, values=table.values[ends])
    n_left = int(np.count_nonzero(branches == 0))
    edges = table.values[max(n_left - 1, 0) : n_left + 1]
    lines = branches if n_left else np.zeros_like(branches)
    return replace(table.merged(lines, len(edges)), values=edges)
