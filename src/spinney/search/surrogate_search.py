"""Surrogate splits: other attributes that stand in where a node's own is missing.

Breiman, Friedman, Olshen and Stone (1984, section 5.3), with the rules of rpart
(Therneau and Atkinson, "An Introduction to Recursive Partitioning"). The question
about each other attribute is found that agrees best with the branches of the split,
over the rows whose value of the split's attribute is known::

                  branch 0   branch 1
    value ≤ t   [    a          b     ]    agree: a + d, or reversed b + c
    value > t   [    c          d     ]
    missing     [    e          f     ]    agree with neither

A threshold may be reversed; each nominal value takes the branch where more of its
weight goes, on a tie the heavier one, of equals the second. The agreement is a share
of all six cells, so that an attribute with many missing values stands back. A
question is kept if it sends at least two rows each way and agrees more often than
sending all to the heavier branch does; the greatest agreement comes first, on a tie
the first column.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import (
    Floats,
    equal_to_best,
    first_best,
    heaviest,
    last_best,
)
from spinney.data import Attribute, Schema
from spinney.search.buckets import bucketed
from spinney.search.groupings import midpoint
from spinney.search.tree_search import Search
from spinney.sources import Agreement, Counts, Request, Surrogates
from spinney.trees import CountTable, Groups, Route, Split, Surrogate, Threshold

LEAST_ROWS = 2
LEAST_ADJUSTED = 1e-10


@dataclass(frozen=True, slots=True)
class Leaving:
    """A node whose rows are about to leave it, with the tables that it has."""

    node: int
    split: Split
    tables: Mapping[int, CountTable]

    @property
    def own(self) -> CountTable:
        """The table of the attribute that the node asks about."""
        return self.tables[self.split.attribute]

    @property
    def heaviest(self) -> int:
        """The branch of the greatest weight, by the rows' own weights."""
        goes = self.split.branch_of(self.own.values)
        return heaviest(self.own.merged(goes, self.split.n_branches).sizes)


def routes_of(
    search: Search, source: Counts, leaving: Sequence[Leaving], schema: Schema
) -> list[tuple[Route, CountTable | None]]:
    """Return the route of each node, and its rows by branch where surrogates send some.

    All nodes are asked about at once. Agreement is counted by the rows' own
    weights; weights of classes do not enter. ``schema`` has the attributes with
    formulas too.
    """
    if not leaving or not search.policy.surrogates:
        return [(Route(each.split), None) for each in leaving]
    assert isinstance(source, Surrogates)
    leaving = _with_own(source, leaving)
    requests = [
        Agreement(
            each.node,
            each.split,
            tuple(place for place in each.tables if place != each.split.attribute),
        )
        for each in leaving
    ]
    most = search.recipe.surrogates
    tables = source.agreements(requests) if most else [{} for _ in leaving]
    routes = [
        Route(
            each.split,
            surrogates_of(found, each.tables, schema, most=most, cuts=search.cuts),
            each.heaviest,
        )
        for each, found in zip(leaving, tables, strict=True)
    ]
    lacking = [
        place for place, each in enumerate(leaving) if each.own.missing_rows.any()
    ]
    asked = [(leaving[place].node, routes[place]) for place in lacking]
    sent = dict(zip(lacking, source.routed(asked) if asked else (), strict=True))
    return [(route, sent.get(place)) for place, route in enumerate(routes)]


def _with_own(source: Counts, leaving: Sequence[Leaving]) -> list[Leaving]:
    """Return the nodes, each with the table of its own attribute.

    That of a combination which was made for the node is not among those it was
    searched with.
    """
    lacking = [each for each in leaving if each.split.attribute not in each.tables]
    requests = [Request(each.node, (each.split.attribute,)) for each in lacking]
    found = source.tables(requests) if requests else []
    own = {each.node: tables for each, tables in zip(lacking, found, strict=True)}
    return [
        replace(each, tables={**each.tables, **own.get(each.node, {})})
        for each in leaving
    ]


def surrogates_of(
    agreements: Mapping[int, CountTable],
    tables: Mapping[int, CountTable],
    schema: Schema,
    *,
    most: int,
    cuts: Mapping[int, Floats] = MappingProxyType({}),
) -> tuple[Surrogate, ...]:
    """Return the best surrogates, best first, from tables of value × branch.

    ``tables`` are those of the node itself: a threshold lies half-way to the next
    value that any row of the node has, or at the next of ``cuts``.

    Examples
    --------
    >>> length = CountTable.of([[3, 0], [2, 1], [0, 4]])
    >>> schema = Schema((Attribute("length", "numeric"),), None)
    >>> surrogates_of({0: length}, {0: length}, schema, most=5)[0].split.threshold
    1.5
    """
    found: list[Surrogate] = []
    for place in sorted(agreements):
        attribute, own = schema.attributes[place], tables[place]
        if place in cuts:
            surrogate = _best_by_bucket(agreements[place], own, cuts[place], place)
        else:
            surrogate = _best(agreements[place], own.values, attribute, place)
        if surrogate is not None and surrogate.adjusted > LEAST_ADJUSTED:
            found.append(surrogate)
    ranked: list[Surrogate] = []
    while found and len(ranked) < most:
        best = first_best(np.array([surrogate.agreement for surrogate in found]))
        ranked.append(found.pop(best))
    return tuple(ranked)


def _best_by_bucket(
    table: CountTable, own: CountTable, cuts: Floats, place: int
) -> Surrogate | None:
    """Return the best question about a number whose threshold is one of the cuts."""
    by_bucket, at_node = (bucketed(each, cuts).occurring() for each in (table, own))
    codes = Attribute("bucket", "ordinal", tuple(range(len(cuts) + 1)))
    found = _best(by_bucket, at_node.values, codes, place)
    if found is None or not isinstance(found.split, Threshold):
        return None
    threshold = float(cuts[int(found.split.threshold)])
    return replace(found, split=replace(found.split, threshold=threshold))


def _best(
    table: CountTable, values: NDArray[Any], attribute: Attribute, place: int
) -> Surrogate | None:
    """Return the question about one attribute that agrees best, if it may be asked."""
    branches = table.total + table.missing
    everything, majority = float(branches.sum()), float(branches.max())
    lesser = everything - majority
    if lesser <= 0:  # so light that no float tells it from nothing
        return None
    if attribute.kind == "nominal":
        groups = _groups(table)
        if groups is None:
            return None
        split: Split = Groups(place, groups, ())
        goes = split.branch_of(table.values)
        agreeing = float(table.weights[np.arange(len(goes)), goes].sum())
        swapped = False
    else:
        cut = _cut(table)
        if cut is None:
            return None
        low, agreeing, swapped = cut
        above = values[np.searchsorted(values, table.values[low], side="right")]
        split = Threshold(place, midpoint(float(table.values[low]), float(above)), ())
    adjusted = (agreeing - majority) / lesser
    return Surrogate(
        split, min(agreeing / everything, 1.0), min(adjusted, 1.0), swapped
    )


def _groups(table: CountTable) -> tuple[tuple[int, ...], ...] | None:
    """Return the values that take each branch; None if too few rows take one."""
    shares = table.weights / table.total.sum()
    equal = equal_to_best(shares).all(axis=1)
    goes = np.where(equal, last_best(shares.sum(axis=0)), shares.argmax(axis=1))
    rows = np.bincount(goes, table.rows.sum(axis=1), minlength=2)
    if rows.min(initial=LEAST_ROWS) < LEAST_ROWS:
        return None
    return tuple(tuple(map(int, table.values[goes == side])) for side in (0, 1))


def _cut(table: CountTable) -> tuple[int, float, bool] | None:
    """Return the place of the last value on the left, what agrees, and the way round.

    None where no cut leaves enough rows on both sides.
    """
    left = table.weights.cumsum(axis=0)[:-1]
    left_rows = table.rows.sum(axis=1).cumsum()[:-1]
    right_rows = table.rows.sum() - left_rows
    allowed = np.flatnonzero((left_rows >= LEAST_ROWS) & (right_rows >= LEAST_ROWS))
    if len(allowed) == 0:
        return None
    straight = _agreeing(left, table.total)[allowed]
    agreeing = np.stack([straight, table.total.sum() - straight], axis=1)
    best = heaviest(agreeing.max(axis=1))
    swapped = bool(agreeing[best, 1] > agreeing[best, 0])
    return int(allowed[best]), float(agreeing[best].max()), swapped


def _agreeing(left: Floats, total: Floats) -> Floats:
    """Return the weight on the left of branch 0, and on the right of branch 1."""
    return np.asarray(left[:, 0] + total[1] - left[:, 1])
