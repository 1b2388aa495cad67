"""The best split of a node, from its count tables.

Merits that are equal within a relative 1e-12, and an absolute one below their unit,
are a tie, and a tie goes to the first attribute in column order, or in the order the
user prefers.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import TOLERANCE, Floats, first_best
from spinney.data import Attribute, Schema
from spinney.errors import ParameterError, Setting
from spinney.recipes import Recipe
from spinney.search.attribute_split import propose
from spinney.search.missing_values import Policy, policy_named
from spinney.search.root_statistics import Overall
from spinney.trees import Candidate, CountTable, Reason, Threshold


@dataclass(frozen=True, slots=True)
class Decision:
    """What was found at a node: the candidates, and the winner or the reason."""

    candidates: tuple[Candidate, ...]
    chosen: int | None = None
    reason: Reason | None = None


def decide(
    tables: Mapping[int, CountTable],
    schema: Schema,
    *,
    recipe: Recipe,
    preference: Sequence[int] = (),
    forced: int | None = None,
    total: float = 0.0,
    cuts: Mapping[int, Floats] = MappingProxyType({}),
    altered: Floats | None = None,
    paid: Collection[int] = (),
    observed: Mapping[int, NDArray[Any]] = MappingProxyType({}),
    overall: Mapping[int, Overall] = MappingProxyType({}),
) -> Decision:
    """Choose the split of a node from the tables of its attributes.

    ``total`` is the weight of all rows of the tree, for limits that are shares;
    ``cuts`` are those between the buckets of numeric attributes. ``altered`` is
    what class weights are multiplied by to find merits. An attribute's merit is
    divided by 1 + what it costs to ask for it, unless it was ``paid`` for above.
    ``observed`` has the values of attributes over all rows, and ``overall`` what
    all rows say of each attribute.
    """
    proposals = [
        propose(
            tables[place],
            schema.attributes[place],
            place,
            recipe=recipe,
            total=total,
            cuts=cuts.get(place),
            altered=altered,
            observed=observed.get(place),
            overall=overall.get(place),
        )
        for place in sorted(tables)
    ]
    candidates = tuple(found for found in proposals if found is not None)
    if forced is not None:
        return _forced(candidates, schema.attributes[forced], forced)
    if not candidates:
        return Decision((), reason=_why_none(tables, policy_named(recipe.missing)))
    able = [
        place
        for place in compete(candidates, schema, recipe=recipe, total=total)
        if candidates[place].gain >= recipe.min_gain * (1 - TOLERANCE)
    ]
    if not able:
        return Decision(candidates, reason=Reason.MIN_GAIN)
    able = [place for place in able if is_significant(candidates[place], recipe)]
    if not able:
        return Decision(candidates, reason=Reason.SIGNIFICANCE)

    rank = {attribute: order for order, attribute in enumerate(preference)}
    able.sort(key=lambda place: rank.get(candidates[place].attribute, len(rank)))
    merits = np.array([worth(candidates[place], schema, paid) for place in able])
    criterion = recipe.measure(numeric=schema.target.is_numeric)
    table = next(iter(tables.values()))
    unit = criterion.merit_unit(table.total + table.missing)
    return Decision(candidates, able[first_best(merits, criterion.tolerance, unit)])


def worth(candidate: Candidate, schema: Schema, paid: Collection[int]) -> float:
    """Return a merit by what it costs to ask, but for what was ``paid`` above."""
    return candidate.merit / (1 + price(candidate, schema, paid))


def price(candidate: Candidate, schema: Schema, paid: Collection[int]) -> float:
    """Return what it costs to ask, but for what was ``paid`` above."""
    known = set(schema.behind(paid))
    columns = schema.behind([candidate.attribute])
    return sum(schema.attributes[place].cost for place in columns if place not in known)


def is_significant(candidate: Candidate, recipe: Recipe) -> bool:
    """Return whether a candidate's p is at most the recipe's level, if it has one."""
    if recipe.alpha_split is None or candidate.p_value is None:
        return True
    return candidate.p_value <= recipe.alpha_split * (1 + TOLERANCE)


def compete(
    candidates: Sequence[Candidate], schema: Schema, *, recipe: Recipe, total: float
) -> list[int]:
    """Return the places of the candidates that the criterion lets compete."""
    criterion = recipe.measure(numeric=schema.target.is_numeric)
    if not criterion.average:
        return list(range(len(candidates)))
    average = average_gain(candidates, schema, recipe=recipe, total=total)
    gains = np.array([candidate.gain for candidate in candidates])
    margin = criterion.slack + TOLERANCE * max(1.0, float(gains.max(initial=0.0)))
    return [
        place
        for place, candidate in enumerate(candidates)
        if gains[place] >= average - margin and _is_worth_its_cost(candidate, recipe)
    ]


def average_gain(
    candidates: Sequence[Candidate], schema: Schema, *, recipe: Recipe, total: float
) -> float:
    """Return the average gain; infinite where no candidate counts in it.

    Not counted are thresholds whose gain is used up by the correction, and nominal
    attributes of many values, which gain by having them.
    """
    criterion = recipe.measure(numeric=schema.target.is_numeric)
    most = criterion.many_values * total * (1 - TOLERANCE)
    many = [a.kind == "nominal" and len(a.values) >= most for a in schema.attributes]
    none = all(many)
    gains = [
        candidate.gain
        for candidate in candidates
        if _is_worth_its_cost(candidate, recipe)
        and (none or not many[candidate.attribute])
    ]
    return float(np.mean(gains)) if gains else np.inf


def _is_worth_its_cost(candidate: Candidate, recipe: Recipe) -> bool:
    """Return whether a corrected gain is one."""
    corrected = recipe.mdl_correction and isinstance(candidate.split, Threshold)
    return not corrected or candidate.gain > recipe.min_gain


def _forced(
    candidates: tuple[Candidate, ...], attribute: Attribute, place: int
) -> Decision:
    for chosen, candidate in enumerate(candidates):
        if candidate.attribute == place:
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
