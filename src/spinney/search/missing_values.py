"""What a missing value means, at one node of a growing tree.

fractional
    the merit is counted on the rows whose value is known and discounted by their
    share ρ; the others go to every branch with its share of the weight (C4.5).
most-common
    a missing value is the commonest one at the node, the first on a tie.
own-category
    missing is one more value: a branch of its own in a multiway split, a value
    on either side of a subset, either side of a threshold or alone against all
    that is known.
branch
    the missing rows go as a whole to the branch where they gain most.
mean
    a missing number is the mean, a missing category the commonest one, of all
    training rows, at every node (M5P). An ordered category is the one next to the
    mean of the codes.
surrogate
    the merit is that of ``fractional``; the other rows go by the first surrogate
    whose value they have, else to the heaviest branch (CART, for two branches; see
    :mod:`spinney.search.surrogate_search`).

At prediction a category that the node has not seen is treated as missing. Where
no training row was missing at a node, ``most-common``, ``own-category`` and
``branch`` send missing values to the heaviest branch, the first of equals.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from spinney._support.ties import heaviest
from spinney.errors import refuse_unknown
from spinney.search.chaid.merge_values import Merging, merge
from spinney.search.groupings import Groupings, multiway, ordered, subsets, thresholds
from spinney.search.root_statistics import RootStatistics, statistics_of
from spinney.trees import CountTable

if TYPE_CHECKING:
    from spinney.data import Attribute

# With more values at a node than this a branch each would be a tree that nobody can
# read, grown on hardly any rows a branch: such an attribute is split in two subsets.
MOST_BRANCHES = 1000


def policy_named(name: str) -> "Policy":
    """Return the policy of this name."""
    if isinstance(name, str) and name in POLICIES:
        return POLICIES[name]
    refuse_unknown("missing", name, POLICIES)


def ways_to_branch(
    table: CountTable,
    attribute: "Attribute",
    *,
    grouping: str,
    policy: "Policy",
    limited: bool = False,
    merging: Merging | None = None,
    step: float = 0.0,
    at_root: RootStatistics | None = None,
) -> Groupings | None:
    """Return the ways to branch on an attribute, missing rows placed by the policy.

    With the grouping "merge" there is one way, that of CHAID: ``merging`` says how,
    and missing values that are a category of their own merge with any.

    None where there is nothing to choose: fewer than two values. ``limited`` says
    that branches need a least weight, so that not every grouping is allowed, or that
    nothing is known of the criterion, so that the best one need not be a prefix.
    ``step`` is how far apart two numbers must be for a threshold between them, and
    ``at_root`` what all rows say of the attribute, if the table is not the root's.
    """
    at_root = at_root or statistics_of(table, attribute)
    absent = bool(table.missing_rows.any())
    free = not limited and not (absent and policy.moves)

    def known(counts: CountTable) -> Groupings | None:
        if grouping == "merge" and attribute.kind != "numeric":
            return merged_ways(counts, attribute.kind, merging)
        if attribute.kind == "numeric":
            return thresholds(counts, step=step)
        if attribute.kind == "ordinal":
            return thresholds(counts)
        if grouping == "binary":
            return subsets(counts, free=free)
        if grouping == "ordered":
            return ordered(counts, at_root.ranks)
        if len(counts.values) > MOST_BRANCHES:
            return subsets(counts, free=free)
        codes = np.union1d(np.arange(len(attribute.values)), counts.values)
        return multiway(counts, codes)

    if not absent:
        return known(table)
    if policy.by_root:
        nominal = attribute.kind == "nominal"
        return _typical(table, at_root.default_value, known, nominal=nominal)
    if grouping == "merge" and policy.tells and attribute.kind != "numeric":
        return merged_ways(table, attribute.kind, merging, floating=True)
    return policy.place(table, attribute, known)


def merged_ways(
    table: CountTable, kind: str, merging: Merging | None, *, floating: bool = False
) -> Groupings | None:
    """Return the one grouping that CHAID's merging leads to; None if it is all one."""
    if len(table.values) + floating < 2:
        return None
    merged = merge(table, kind=kind, floating=floating, settings=merging)
    n_groups = len(merged.groups)
    if n_groups < 2:
        return None
    grouped = table.merged(merged.branches, n_groups)
    if merged.missing is not None:
        grouped = grouped.with_missing_at(merged.missing)
    stack = replace(grouped, weights=grouped.weights[None], rows=grouped.rows[None])
    codes = tuple(
        tuple(int(table.values[value]) for value in group) for group in merged.groups
    )
    return Groupings(
        stack,
        lambda _: codes,
        None if merged.missing is None else np.array([merged.missing]),
        exact=merged.exact,
        log_multiplier=merged.log_multiplier,
    )


Known = Callable[[CountTable], Groupings | None]
Place = Callable[[CountTable, "Attribute", Known], Groupings | None]


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy as data.

    Parameters
    ----------
    name : str
        What the user types.
    place : function
        Given a table with missing rows, the attribute, and how its known values
        are grouped: the ways to branch, missing rows placed.
    divides : bool
        Whether a row with a missing value goes to every branch.
    moves : bool
        Whether missing rows are placed after the values are grouped.
    tells : bool
        Whether a missing value tells a row from one whose value is known.
    by_root : bool
        Whether a missing value is the typical one of all rows, wherever it is
        missing.
    surrogates : bool
        Whether other attributes say where a row with a missing value goes.
    """

    name: str
    place: Place
    divides: bool = False
    moves: bool = False
    tells: bool = False
    by_root: bool = False
    surrogates: bool = False


def _typical(
    table: CountTable, value: float, known: Known, *, nominal: bool
) -> Groupings | None:
    """Return the ways to branch with the missing rows counted at one value.

    A number beyond those at the node counts as the nearest of them, so that no
    side of a threshold consists of missing rows only.
    """
    values = table.values
    if not len(values):
        return None
    index = int(np.searchsorted(values, value))
    inside = nominal or 0 < index < len(values)
    nearest = min(index, len(values) - 1)
    if values[nearest] == value or not inside:
        filled = table.with_missing_at(nearest)
    else:
        filled = replace(
            table.without_missing(),
            values=np.insert(values, index, value),
            weights=np.insert(table.weights, index, table.missing, axis=0),
            rows=np.insert(table.rows, index, table.missing_rows, axis=0),
        )
    ways = known(filled)
    return ways and replace(ways, missing_as=value)


def _aside(
    table: CountTable, _attribute: "Attribute", known: Known
) -> Groupings | None:
    return known(table)


def _most_common(
    table: CountTable, _attribute: "Attribute", known: Known
) -> Groupings | None:
    if len(table.values) == 0:
        return None
    commonest = heaviest(table.sizes)
    ways = known(table.with_missing_at(commonest))
    return ways and replace(ways, missing_as=float(table.values[commonest]))


def _branch(
    table: CountTable, _attribute: "Attribute", known: Known
) -> Groupings | None:
    ways = known(table)
    if ways is None:
        return None
    ways_of, branches = np.nonzero(ways.table.rows.any(axis=2))
    return ways.with_missing_at(ways_of, branches)


def _own_category(
    table: CountTable, attribute: "Attribute", known: Known
) -> Groupings | None:
    if attribute.kind == "nominal":
        code = len(attribute.values)
        ways = known(table.with_missing_as(code))
        return ways and replace(ways, missing_as=code)
    sides = _branch(table, attribute, known)
    return _known_or_missing(table) if sides is None else _with_alone(sides, table)


def _known_or_missing(table: CountTable) -> Groupings:
    """Return the question whether the value is known: the threshold ∞."""
    stack = replace(
        table.without_missing(),
        values=np.arange(2),
        weights=np.stack([table.total, table.missing])[None],
        rows=np.stack([table.rows.sum(axis=0), table.missing_rows])[None],
    )
    return Groupings(stack, lambda _: np.inf, np.array([1]))


def _with_alone(ways: Groupings, table: CountTable) -> Groupings:
    """Return the ways, and as the last one the missing rows on their own."""
    alone = _known_or_missing(table)
    assert ways.missing_at is not None
    assert alone.missing_at is not None
    stack = replace(
        ways.table,
        weights=np.concatenate([ways.table.weights, alone.table.weights]),
        rows=np.concatenate([ways.table.rows, alone.table.rows]),
    )
    return Groupings(
        stack,
        lambda way: ways.sides(way) if way < len(ways) else np.inf,
        np.concatenate([ways.missing_at, alone.missing_at]),
    )


POLICIES = {
    policy.name: policy
    for policy in (
        Policy("fractional", _aside, divides=True),
        Policy("most-common", _most_common),
        Policy("own-category", _own_category, tells=True),
        Policy("branch", _branch, moves=True),
        Policy("mean", _aside, by_root=True),
        Policy("surrogate", _aside, surrogates=True),
    )
}
