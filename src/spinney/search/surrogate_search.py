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

from spinney._support.arrays import Floats
from spinney._support.ties import equal_to_best, first_best, heaviest, last_best
from spinney.data import Attribute, Schema
from spinney.search.buckets import bucketed
from spinney.search.groupings import midpoint
from spinney.search.tree_search import Search
from spinney.sources import Agreement, Counts, Request, Surrogates
from spinney.trees import CountTable, Groups, Route, Split, Surrogate, Threshold

LEAST_ROWS = 2
LEAST_ADJUSTED = 1e-10


@dataclass(frozen=True, slots=True)
class NodeToRoute:
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
    search: Search, source: Counts, to_route: Sequence[NodeToRoute], schema: Schema
) -> list[tuple[Route, CountTable | None]]:
    """Return the route of each node, and its rows by branch where surrogates send some.

    All nodes are asked about at once. Agreement is counted by the rows' own
    weights; weights of classes do not enter. ``schema`` has the attributes with
    formulas too.
    """
    if not to_route or not search.policy.surrogates:
        return [(Route(each.split), None) for each in to_route]
    assert isinstance(source, Surrogates)
    to_route = _with_own(source, to_route)
    requests = [
        Agreement(
            each.node,
            each.split,
            tuple(index for index in each.tables if index != each.split.attribute),
        )
        for each in to_route
    ]
    most = search.recipe.surrogates
    tables = source.agreements(requests) if most else [{} for _ in to_route]
    routes = [
        Route(
            each.split,
            surrogates_of(agreements, each.tables, schema, most=most, cuts=search.cuts),
            each.heaviest,
        )
        for each, agreements in zip(to_route, tables, strict=True)
    ]
    lacking = [
        index for index, each in enumerate(to_route) if each.own.missing_rows.any()
    ]
    asked = [(to_route[index].node, routes[index]) for index in lacking]
    routed = dict(zip(lacking, source.routed(asked) if asked else (), strict=True))
    return [(route, routed.get(index)) for index, route in enumerate(routes)]


def _with_own(source: Counts, to_route: Sequence[NodeToRoute]) -> list[NodeToRoute]:
    """Return the nodes, each with the table of its own attribute.

    That of a combination which was made for the node is not among those it was
    searched with.
    """
    lacking = [each for each in to_route if each.split.attribute not in each.tables]
    requests = [Request(each.node, (each.split.attribute,)) for each in lacking]
    answers = source.tables(requests) if requests else []
    own = {each.node: tables for each, tables in zip(lacking, answers, strict=True)}
    return [
        replace(each, tables={**each.tables, **own.get(each.node, {})})
        for each in to_route
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
    surrogates: list[Surrogate] = []
    for index in sorted(agreements):
        attribute, own = schema.attributes[index], tables[index]
        if index in cuts:
            surrogate = _best_by_bucket(agreements[index], own, cuts[index], index)
        else:
            surrogate = _best(agreements[index], own.values, attribute, index)
        if surrogate is not None and surrogate.adjusted > LEAST_ADJUSTED:
            surrogates.append(surrogate)
    ranked: list[Surrogate] = []
    while surrogates and len(ranked) < most:
        best = first_best(np.array([surrogate.agreement for surrogate in surrogates]))
        ranked.append(surrogates.pop(best))
    return tuple(ranked)


def _best_by_bucket(
    table: CountTable, own: CountTable, cuts: Floats, index: int
) -> Surrogate | None:
    """Return the best question about a number whose threshold is one of the cuts."""
    by_bucket, at_node = (bucketed(each, cuts).occurring() for each in (table, own))
    codes = Attribute("bucket", "ordinal", tuple(range(len(cuts) + 1)))
    surrogate = _best(by_bucket, at_node.values, codes, index)
    if surrogate is None or not isinstance(surrogate.split, Threshold):
        return None
    threshold = float(cuts[int(surrogate.split.threshold)])
    return replace(surrogate, split=replace(surrogate.split, threshold=threshold))


def _best(
    table: CountTable, values: NDArray[Any], attribute: Attribute, index: int
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
        split: Split = Groups(index, groups, ())
        goes = split.branch_of(table.values)
        agreeing = float(table.weights[np.arange(len(goes)), goes].sum())
        swapped = False
    else:
        cut = _cut(table)
        if cut is None:
            return None
        low, agreeing, swapped = cut
        above = values[np.searchsorted(values, table.values[low], side="right")]
        split = Threshold(index, midpoint(float(table.values[low]), float(above)), ())
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
