"""The best split of a node, from its count tables.

Merits that are equal within a relative 1e-12 are a tie, and a tie goes to the
first attribute in column order, or in the order the user prefers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney.candidates import Groupings
from spinney.counts import TOLERANCE, CountTable, first_best
from spinney.criteria import Criterion
from spinney.errors import ParameterError
from spinney.missing import Overall, Policy, overall_of, policy_named, ways_to_branch
from spinney.recipe import Recipe
from spinney.schema import Attribute, Schema
from spinney.split import Groups, Split, Threshold, branch_table
from spinney.tree import Candidate, Reason

__all__ = ["Decision", "compete", "decide", "propose"]


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
    overall: Mapping[int, Overall] | None = None,
) -> Decision:
    """Choose the split of a node from the tables of its attributes.

    ``total`` is the weight of all rows of the tree, for limits that are shares, and
    ``overall`` what all rows say of each attribute.
    """
    proposals = [
        propose(
            tables[place],
            schema.attributes[place],
            place,
            recipe=recipe,
            total=total,
            overall=None if overall is None else overall[place],
        )
        for place in sorted(tables)
    ]
    candidates = tuple(found for found in proposals if found is not None)
    numeric = schema.target.is_numeric
    if forced is not None:
        return _forced(candidates, schema.attributes[forced], forced)
    if not candidates:
        return Decision((), reason=_why_none(tables, policy_named(recipe.missing)))
    criterion = recipe.measure(numeric=numeric)
    able = [
        place
        for place in compete(candidates, criterion)
        if candidates[place].gain >= recipe.min_gain
    ]
    if not able:
        return Decision(candidates, reason=Reason.MIN_GAIN)
    rank = {attribute: order for order, attribute in enumerate(preference)}
    able.sort(key=lambda place: rank.get(candidates[place].attribute, len(rank)))
    merits = np.array([candidates[place].merit for place in able])
    return Decision(candidates, able[first_best(merits, criterion.tolerance)])


def compete(candidates: Sequence[Candidate], criterion: Criterion) -> list[int]:
    """Return the places of the candidates that the criterion lets compete."""
    if not criterion.average:
        return list(range(len(candidates)))
    gains = np.array([candidate.gain for candidate in candidates])
    least = gains.mean() - TOLERANCE * max(1.0, float(gains.max()))
    return [int(place) for place in np.flatnonzero(gains >= least)]


def _forced(
    candidates: tuple[Candidate, ...], attribute: Attribute, place: int
) -> Decision:
    for chosen, candidate in enumerate(candidates):
        if candidate.attribute == place:
            return Decision(candidates, chosen)
    msg = (
        f"force: the attribute {attribute.name!r} cannot split its node: it has one "
        "value there, or its branches would be too small; force another one"
    )
    raise ParameterError(msg)


def _why_none(tables: Mapping[int, CountTable], policy: Policy) -> Reason:
    """Return why no attribute could be split."""
    if not tables:
        return Reason.EXHAUSTED
    different = (
        len(table.values) + (policy.tells and bool(table.missing_rows.any()))
        for table in tables.values()
    )
    return Reason.IDENTICAL if max(different) < 2 else Reason.ROWS_IN_LEAF


def propose(
    table: CountTable,
    attribute: Attribute,
    place: int,
    *,
    recipe: Recipe,
    total: float = 0.0,
    overall: Overall | None = None,
) -> Candidate | None:
    """Return the best split of one attribute, or None if it cannot be split.

    Examples
    --------
    >>> from spinney.recipe import RECIPES
    >>> height = CountTable.of([[0, 1], [1, 0], [0, 1], [1, 0], [1, 0]])
    >>> propose(height, Attribute("height", "ordinal", tuple("abcde")), 0,
    ...         recipe=RECIPES["id3"]).split.threshold
    2.5
    """
    criterion = recipe.measure(numeric=table.is_moments)
    policy = policy_named(recipe.missing)
    least = recipe.least_branch(total)
    overall = overall or overall_of(table, attribute)
    ways = ways_to_branch(
        table,
        attribute,
        grouping=recipe.grouping,
        policy=policy,
        limited=least > 0 or recipe.min_branch_share > 0,
        overall=overall,
    )
    if ways is None:
        return None
    admissible = np.flatnonzero(
        _admissible(ways, least)
        & _balanced(ways, recipe.min_branch_share * table.weight)
    )
    if len(admissible) == 0:
        return None
    gains = criterion.gain(ways.table)[admissible]
    best = first_best(gains, criterion.tolerance)
    split = _split_of(ways, int(admissible[best]), table, attribute, place)
    if split.missing is None and not policy.divides:
        split = replace(split, missing=_default(split, policy, overall))
    counts = _sides(table, split) if attribute.kind == "numeric" else table
    merit = float(criterion.merit(branch_table(counts, split)))
    return Candidate(split, counts, float(gains[best]), merit, ways.exact)


def _default(split: Split, policy: Policy, overall: Overall) -> int:
    """Return the branch of missing values where no training row had one."""
    if policy.overall:
        branch = int(split.branch_of(np.array([overall.typical]))[0])
        if branch >= 0:
            return branch
    return first_best(np.array(split.shares))


def _balanced(ways: Groupings, share: float) -> NDArray[np.bool_]:
    """Return which ways give two branches more weight than this each."""
    more = ways.table.sizes > share * (1 + TOLERANCE)
    return np.asarray((share == 0) | (more.sum(axis=1) >= 2))


def _admissible(ways: Groupings, least: float) -> NDArray[np.bool_]:
    """Return which ways give two branches with enough rows each."""
    enough = ways.table.rows.any(axis=2)
    if least > 0:
        enough &= ways.table.sizes >= least * (1 - TOLERANCE)
    return np.asarray(enough.sum(axis=1) >= 2)


def _split_of(
    ways: Groupings, way: int, table: CountTable, attribute: Attribute, place: int
) -> Split:
    """Return a way as a split, with the shares of its branches."""
    sides = ways.sides(way)
    missing = None if ways.missing_at is None else int(ways.missing_at[way])
    split: Split
    if isinstance(sides, tuple):
        if ways.missing_as is not None:
            missing = next(b for b, side in enumerate(sides) if ways.missing_as in side)
        # The code after the last one stands for missing as a value of its own.
        last = len(attribute.values)
        groups = tuple(tuple(code for code in side if code < last) for side in sides)
        split = Groups(place, groups, (), missing)
    else:
        if ways.missing_as is not None:
            missing = int(ways.missing_as > sides)
        split = Threshold(place, sides, (), missing)
    known = table.merged(split.branch_of(table.values), split.n_branches)
    sizes = known.sizes
    return replace(split, shares=tuple((sizes / sizes.sum()).tolist()))


def _sides(table: CountTable, split: Split) -> CountTable:
    """Return a numeric table by sides, at the values next to the threshold."""
    branches = split.branch_of(table.values)
    last_left = int(np.count_nonzero(branches == 0)) - 1
    edges = table.values[last_left : last_left + 2]
    return replace(table.merged(branches, len(edges)), values=edges)
