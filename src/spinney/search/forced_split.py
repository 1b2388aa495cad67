"""The split that a user has written, with the counts behind it.

It is counted as a split that was sought: missing rows go where the policy says, or to
the branch where they gain most. It was chosen among no others, so nothing is taken off
its gain for that.
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
    search: Search, table: CountTable, schema: Schema, question: SplitCondition
) -> Candidate:
    """Return a question as a split of a node, or refuse it.

    ``table`` has the counts of its attribute there, class weights included.
    """
    attribute = schema.attributes[question.attribute]
    _refuse_buckets(search, attribute)
    batch = TableBatch.of([{question.attribute: table}])
    traits = search.root_summary.traits.take(batch.attribute)
    counted = fill_missing(batch, search.policy, traits)
    branch = question.branch_of(counted.batch.values)
    if question.missing is None:
        _refuse_one_sided(table, attribute, question)
    candidates = _ways(search, counted, branch)
    if question.cut == np.inf:
        candidates = known_or_missing(counted.batch.scaled(search.altered))
    elif question.missing is not None and batch.has_missing[0]:
        candidates = candidates.take(
            np.flatnonzero(candidates.missing_at == question.missing)
        )
    candidates = _allowed(search, candidates, attribute)
    criterion = search.criterion
    gains = np.asarray(criterion.gain(candidates.table))
    unit = 1.0 if criterion.unit is None else criterion.gain_units(batch.total)
    start = np.array([0, len(candidates)])
    won = int(first_best_by(gains, start, criterion.tolerance, unit)[0])
    merit = float(np.asarray(criterion.merit(candidates.table))[won])
    missing = int(candidates.missing_at[won])
    if counted.line[0] >= 0:
        missing = int(branch[counted.line[0]])
    sides = question.branch_of(table.values)
    shares = np.bincount(sides, table.sizes, minlength=2) / table.sizes.sum()
    typical = float(traits.typical[0])
    split = _split(
        question,
        attribute,
        tuple(shares.tolist()),
        _missing_at(search, question, missing, shares, typical),
    )
    return Candidate(
        split,
        sides_of(table, split) if attribute.kind == "numeric" else table,
        float(gains[won]),
        merit,
        exact=False,
        p_value=exp(-merit) if criterion.chance else None,
        given=True,
    )


def _ways(search: Search, counted: FilledBatch, branch: Integers) -> CandidateSplits:
    """Return the question with missing rows in each branch that they may take."""
    batch = counted.batch.scaled(search.altered)
    weights, rows = batch.by_branch(branch, 2)
    owner = np.zeros(1, np.int64)
    candidates = candidates_of(
        batch, weights, rows, owner=owner, line_branches=lambda _: branch
    )
    candidates = place_missing(candidates, batch, search.policy)
    if search.policy.tells and batch.has_missing[0]:
        candidates = candidates.take(
            np.arange(len(candidates) - 1)
        )  # not: is it known?
    return candidates


def _missing_at(
    search: Search,
    question: SplitCondition,
    counted_at: int,
    shares: Floats,
    typical: float,
) -> int | None:
    """Return the branch of missing values, -1 being none that counts them here."""
    policy = search.policy
    if counted_at >= 0 or not policy.needs_default:
        return None if counted_at < 0 else counted_at
    if policy.by_root:
        return int(question.branch_of(np.array([typical]))[0])
    return int(first_best(shares))


def _split(
    question: SplitCondition,
    attribute: Attribute,
    shares: tuple[float, ...],
    missing: int | None,
) -> Split:
    if question.cut is not None:
        return Threshold(question.attribute, question.cut, shares, missing)
    left = set(question.codes)
    others = tuple(code for code in range(len(attribute.values)) if code not in left)
    return Groups(question.attribute, (question.codes, others), shares, missing)


def _refuse_buckets(search: Search, attribute: Attribute) -> None:
    if attribute.kind != "numeric" or search.recipe.bucketing is None:
        return
    raise ParameterError(
        Setting("forced_splits"),
        f": {shown(attribute.name)!r} is in buckets, and cut between them only",
        remedy="force the attribute alone, or leave buckets out",
    )


def _refuse_one_sided(
    table: CountTable, attribute: Attribute, question: SplitCondition
) -> None:
    """Refuse a question that sends all known values one way."""
    sides = question.branch_of(table.values)
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
            f": the question about {name!r} leaves one side without rows: {problem}",
            remedy="ask another",
        )


def _allowed(
    search: Search, candidates: CandidateSplits, attribute: Attribute
) -> CandidateSplits:
    """Return the ways that give both branches enough weight, or refuse."""
    altered, least = search.altered, search.recipe.least_branch(search.total)
    own = candidates.table if altered is None else candidates.table.scaled(1 / altered)
    lighter = own.sizes.min(axis=1)
    allowed = np.flatnonzero(lighter >= least * (1 - TOLERANCE))
    if len(allowed):
        return candidates.take(allowed)
    raise ParameterError(
        Setting("forced_splits"),
        f": the question about {shown(attribute.name)!r} leaves a side of weight "
        f"{lighter.max(initial=0):g}, and a branch needs {least:g}",
        remedy=("ask another, or lower ", Setting("min_samples_leaf")),
    )
