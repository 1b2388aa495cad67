"""Splits by a condition that a user has written, with their counts.

Splits are counted as in the search: missing rows go where the policy says, or to the
branch with the largest gain. The gain has no correction, since the split was not chosen
among others.
"""

from math import exp

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import first_best_by
from spinney._support.text import number_text, shown
from spinney._support.ties import TOLERANCE, first_best
from spinney.data import Attribute, Schema
from spinney.errors import ParameterError, Setting
from spinney.search.groupings import CandidateSplits, candidates_of
from spinney.search.missing_values import (
    FilledBatch,
    fill_missing,
    known_or_missing,
    place_missing,
)
from spinney.search.split_recount import sides_of
from spinney.search.tree_search import Search
from spinney.trees import (
    Candidate,
    CountTable,
    Groups,
    Split,
    SplitCondition,
    TableBatch,
    Threshold,
)


def split_by_condition(
    search: Search, table: CountTable, schema: Schema, condition: SplitCondition
) -> Candidate:
    """Return a condition as a split of a node, or refuse it.

    ``table`` has the counts of its attribute at the node, class weights included.
    """
    attribute = schema.attributes[condition.attribute]
    _refuse_buckets(search, attribute)
    batch = TableBatch.of([{condition.attribute: table}])
    traits = search.root_summary.traits.take(batch.attribute)
    counted = fill_missing(batch, search.policy, traits)
    branch = condition.branch_of(counted.batch.values)
    if condition.missing is None:
        _refuse_one_sided(table, attribute, condition)
    candidates = _missing_placements(search, counted, branch)
    if condition.cut == np.inf:
        candidates = known_or_missing(counted.batch.scaled(search.altered))
    elif condition.missing is not None and batch.has_missing[0]:
        candidates = candidates.take(
            np.flatnonzero(candidates.missing_at == condition.missing)
        )
    candidates = _keep_allowed(search, candidates, attribute)
    criterion = search.criterion
    gains = np.asarray(criterion.gain(candidates.table))
    unit = 1.0 if criterion.unit is None else criterion.gain_units(batch.total)
    start = np.array([0, len(candidates)])
    winner = int(first_best_by(gains, start, criterion.tolerance, unit)[0])
    merit = float(np.asarray(criterion.merit(candidates.table))[winner])
    missing = int(candidates.missing_at[winner])
    if counted.line[0] >= 0:
        missing = int(branch[counted.line[0]])
    sides = condition.branch_of(table.values)
    shares = np.bincount(sides, table.sizes, minlength=2) / table.sizes.sum()
    typical = float(traits.typical[0])
    split = _split(
        condition,
        attribute,
        tuple(shares.tolist()),
        _missing_at(search, condition, missing, shares, typical),
    )
    return Candidate(
        split,
        sides_of(table, split) if attribute.kind == "numeric" else table,
        float(gains[winner]),
        merit,
        exact=False,
        p_value=exp(-merit) if criterion.chance else None,
        given=True,
    )


def _missing_placements(
    search: Search, counted: FilledBatch, line_branch: Integers
) -> CandidateSplits:
    """Return the condition with missing rows in each branch that the policy allows."""
    batch = counted.batch.scaled(search.altered)
    weights, rows = batch.by_branch(line_branch, 2)
    owner = np.zeros(1, np.int64)
    candidates = candidates_of(
        batch, weights, rows, owner=owner, line_branches=lambda _: line_branch
    )
    candidates = place_missing(candidates, batch, search.policy)
    if search.policy.is_category and batch.has_missing[0]:
        candidates = candidates.take(
            np.arange(len(candidates) - 1)
        )  # not: is it known?
    return candidates


def _missing_at(
    search: Search,
    condition: SplitCondition,
    counted_branch: int,
    shares: Floats,
    typical: float,
) -> int | None:
    """Return the branch of missing values; -1 if their rows are in no branch."""
    policy = search.policy
    if counted_branch >= 0 or not policy.needs_default:
        return None if counted_branch < 0 else counted_branch
    if policy.imputes_typical:
        return int(condition.branch_of(np.array([typical]))[0])
    return int(first_best(shares))


def _split(
    condition: SplitCondition,
    attribute: Attribute,
    shares: tuple[float, ...],
    missing: int | None,
) -> Split:
    if condition.cut is not None:
        return Threshold(condition.attribute, condition.cut, shares, missing)
    left = set(condition.codes)
    others = tuple(code for code in range(len(attribute.values)) if code not in left)
    return Groups(condition.attribute, (condition.codes, others), shares, missing)


def _refuse_buckets(search: Search, attribute: Attribute) -> None:
    if attribute.kind != "numeric" or search.recipe.bucketing is None:
        return
    raise ParameterError(
        Setting("forced_splits"),
        f": {shown(attribute.name)!r} is in buckets, and is split between them only",
        remedy="force the attribute alone, or leave buckets out",
    )


def _refuse_one_sided(
    table: CountTable, attribute: Attribute, condition: SplitCondition
) -> None:
    """Refuse a condition that sends all known values to one branch."""
    sides = condition.branch_of(table.values)
    name, values = shown(attribute.name), table.values
    if len(np.unique(sides)) < 2:
        if not len(values):
            problem = "no row there has a value of it"
        elif attribute.kind == "numeric":
            low, high = (number_text(float(v), attribute.unit) for v in values[[0, -1]])
            problem = f"its values there lie between {low} and {high}"
        else:
            texts = ", ".join(shown(attribute.values[int(code)]) for code in values[:9])
            more = f" and {len(values) - 9} more" if len(values) > 9 else ""
            problem = f"the rows there have {texts}{more}"
        raise ParameterError(
            Setting("forced_splits"),
            f": the condition on {name!r} leaves one branch without rows: {problem}",
            remedy="use another",
        )


def _keep_allowed(
    search: Search, candidates: CandidateSplits, attribute: Attribute
) -> CandidateSplits:
    """Return the candidates that leave both branches enough weight, or refuse."""
    altered, min_weight = search.altered, search.recipe.min_branch_weight(search.total)
    own_table = (
        candidates.table if altered is None else candidates.table.scaled(1 / altered)
    )
    lighter_side = own_table.sizes.min(axis=1)
    allowed = np.flatnonzero(lighter_side >= min_weight * (1 - TOLERANCE))
    if len(allowed):
        return candidates.take(allowed)
    raise ParameterError(
        Setting("forced_splits"),
        f": the condition on {shown(attribute.name)!r} leaves a branch of weight "
        f"{lighter_side.max(initial=0):g}, and a branch needs {min_weight:g}",
        remedy=("use another, or lower ", Setting("min_samples_leaf")),
    )
