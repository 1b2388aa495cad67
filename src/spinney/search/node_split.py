"""The best split of a node, from its count tables.

Merits that are equal within a relative 1e-12, and an absolute one below their unit,
are a tie, and a tie goes to the first attribute in column order, or in the order the
user prefers.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spinney._support.ties import TOLERANCE, first_best
from spinney.data import Attribute, Schema
from spinney.errors import ParameterError, Setting
from spinney.recipes import Recipe
from spinney.search.attribute_split import propose
from spinney.search.missing_values import Policy
from spinney.search.tree_search import Search
from spinney.trees import Candidate, CountTable, Reason, Threshold


@dataclass(frozen=True, slots=True)
class Decision:
    """What was found at a node: the candidates, and the winner or the reason."""

    candidates: tuple[Candidate, ...]
    chosen: int | None = None
    reason: Reason | None = None


def decide(
    search: Search,
    tables: Mapping[int, CountTable],
    schema: Schema,
    *,
    forced: int | None = None,
    paid: Collection[int] = (),
) -> Decision:
    """Choose the split of a node from the tables of its attributes.

    An attribute's merit is divided by 1 + what it costs to ask for it, unless it was
    ``paid`` for above. One that is ``forced`` wins whatever its merit.
    """
    proposals = (
        propose(search, tables[index], schema.attributes[index], index)
        for index in sorted(tables)
    )
    candidates = tuple(each for each in proposals if each is not None)
    if forced is not None:
        return _forced(candidates, schema.attributes[forced], forced)
    if not candidates:
        return Decision((), reason=_why_none(tables, search.policy))
    recipe, criterion = search.recipe, search.criterion
    able = [
        number
        for number in compete(search, candidates, schema)
        if candidates[number].gain >= recipe.min_gain * (1 - TOLERANCE)
    ]
    if not able:
        return Decision(candidates, reason=Reason.MIN_GAIN)
    able = [number for number in able if is_significant(candidates[number], recipe)]
    if not able:
        return Decision(candidates, reason=Reason.SIGNIFICANCE)

    rank = {attribute: order for order, attribute in enumerate(search.preference)}
    able.sort(key=lambda number: rank.get(candidates[number].attribute, len(rank)))
    scores = np.array([score(candidates[number], schema, paid) for number in able])
    table = next(iter(tables.values()))
    unit = criterion.merit_unit(table.total + table.missing)
    return Decision(candidates, able[first_best(scores, criterion.tolerance, unit)])


def score(candidate: Candidate, schema: Schema, paid: Collection[int]) -> float:
    """Return a merit by what it costs to ask, but for what was ``paid`` above."""
    return candidate.merit / (1 + price(candidate, schema, paid))


def price(candidate: Candidate, schema: Schema, paid: Collection[int]) -> float:
    """Return what it costs to ask, but for what was ``paid`` above."""
    known = set(schema.behind(paid))
    columns = schema.behind([candidate.attribute])
    return sum(schema.attributes[index].cost for index in columns if index not in known)


def is_significant(candidate: Candidate, recipe: Recipe) -> bool:
    """Return whether a candidate's p is at most the recipe's level, if it has one."""
    if recipe.alpha_split is None or candidate.p_value is None:
        return True
    return candidate.p_value <= recipe.alpha_split * (1 + TOLERANCE)


def compete(
    search: Search, candidates: Sequence[Candidate], schema: Schema
) -> list[int]:
    """Return the numbers of the candidates that the criterion lets compete."""
    criterion = search.criterion
    if not criterion.average:
        return list(range(len(candidates)))
    average = average_gain(search, candidates, schema)
    gains = np.array([candidate.gain for candidate in candidates])
    margin = criterion.slack + TOLERANCE * max(1.0, float(gains.max(initial=0.0)))
    return [
        number
        for number, candidate in enumerate(candidates)
        if gains[number] >= average - margin and _pays(candidate, search.recipe)
    ]


def average_gain(
    search: Search, candidates: Sequence[Candidate], schema: Schema
) -> float:
    """Return the average gain; infinite where no candidate counts in it.

    Not counted are thresholds whose gain is used up by the correction, and nominal
    attributes of many values, which gain by having them.
    """
    most = search.criterion.many_values * search.total * (1 - TOLERANCE)
    many = [a.kind == "nominal" and len(a.values) >= most for a in schema.attributes]
    none = all(many)
    gains = [
        candidate.gain
        for candidate in candidates
        if _pays(candidate, search.recipe) and (none or not many[candidate.attribute])
    ]
    return float(np.mean(gains)) if gains else np.inf


def _pays(candidate: Candidate, recipe: Recipe) -> bool:
    """Return whether a corrected gain is one."""
    corrected = recipe.mdl_correction and isinstance(candidate.split, Threshold)
    return not corrected or candidate.gain > recipe.min_gain


def _forced(
    candidates: tuple[Candidate, ...], attribute: Attribute, index: int
) -> Decision:
    for chosen, candidate in enumerate(candidates):
        if candidate.attribute == index:
            return Decision(candidates, chosen)
    raise ParameterError(
        Setting("force"),
        f": the attribute {attribute.name!r} cannot split its node: it has one value "
        "there, or its branches would be too small; force another one",
    )


def _why_none(tables: Mapping[int, CountTable], policy: Policy) -> Reason:
    """Return why no attribute could be split."""
    if not tables:
        return Reason.EXHAUSTED
    different = max(n_different(table, policy) for table in tables.values())
    return Reason.IDENTICAL if different < 2 else Reason.ROWS_IN_LEAF


def n_different(table: CountTable, policy: Policy) -> int:
    """Return how many values the rows of a node have, as far as the policy tells."""
    return len(table.values) + (policy.tells and bool(table.missing_rows.any()))
