"""The search for surrogate splits, which stand in where a node's attribute is missing.

Breiman, Friedman, Olshen and Stone (1984, section 5.3), with the rules of rpart
(Therneau and Atkinson, "An Introduction to Recursive Partitioning"). For each other
attribute, the search finds the split that agrees best with the node's split, over the
rows with a known value of the node's attribute::

                  branch 0   branch 1
    value ≤ t   [    a          b     ]    agree: a + d, or reversed b + c
    value > t   [    c          d     ]
    missing     [    e          f     ]    agree with neither

A threshold may be reversed. Each nominal value takes the branch of most of its weight,
on a tie the heavier branch, then the second. The agreement is a fraction of all six
cells, so that attributes with many missing values rank lower. A surrogate must send at
least two rows to each branch, and agree more often than sending all rows to the heavier
branch. Surrogates are ordered by agreement, then by column.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import (
    counts_by,
    first_best_by,
    heaviest_by,
    running_sums,
    sums_by,
)
from spinney._support.threads import run_streamed
from spinney._support.ties import equal_to_best, last_best
from spinney.data import Schema
from spinney.search.buckets import in_buckets
from spinney.search.cut_points import midpoints
from spinney.search.root_statistics import RootSummary
from spinney.search.tree_search import Search
from spinney.sources import AgreementRequest, Counts, Surrogates
from spinney.trees import (
    CountTable,
    Groups,
    Route,
    Split,
    Surrogate,
    TableBatch,
    Threshold,
    counts_by_branch,
    ratio_of,
    sizes,
)

MIN_ROWS = 2
MIN_ADJUSTED = 1e-10


@dataclass(frozen=True, slots=True)
class NodeToRoute:
    """A node that needs a route: its split, with the counts.

    ``attributes`` are the possible surrogates; the counts have the rows' own weights.
    """

    node: int
    split: Split
    table: CountTable
    attributes: tuple[int, ...]


def find_routes(
    search: Search, source: Counts, to_route: Sequence[NodeToRoute], schema: Schema
) -> list[tuple[Route, CountTable | None]]:
    """Return the route of each node, and its rows by branch if surrogates send some.

    Agreement uses the rows' own weights, without class weights. ``schema`` includes the
    attributes with formulas.
    """
    if not to_route or not search.policy.surrogates:
        return [(Route(node.split), None) for node in to_route]
    assert isinstance(source, Surrogates)
    requests = [
        AgreementRequest(
            node.node,
            node.split,
            tuple(index for index in node.attributes if index != node.split.attribute),
        )
        for node in to_route
    ]
    ranked: list[list[Surrogate]] = [[] for _ in to_route]
    max_surrogates = search.recipe.surrogates
    if max_surrogates and any(request.attributes for request in requests):
        parts = run_streamed(
            lambda batch: SurrogateSplits.of(batch, schema, search.root_summary),
            source.agreements(requests),
        )
        ranked = ranked_surrogates(parts, len(to_route), max_surrogates=max_surrogates)
    routes = [
        Route(node.split, tuple(surrogates), heaviest)
        for node, surrogates, heaviest in zip(
            to_route, ranked, _heaviest_branches(to_route), strict=True
        )
    ]
    with_missing = [
        i for i, node in enumerate(to_route) if node.table.missing_rows.any()
    ]
    requested = [(to_route[index].node, routes[index]) for index in with_missing]
    routed = dict(
        zip(with_missing, source.routed(requested) if requested else (), strict=True)
    )
    return [(route, routed.get(index)) for index, route in enumerate(routes)]


def _heaviest_branches(to_route: Sequence[NodeToRoute]) -> list[int]:
    """Return the heaviest branch of each node."""
    tables, splits = [t.table for t in to_route], [t.split for t in to_route]
    weights, rows, first = counts_by_branch(tables, splits)
    heaviest: list[int] = (
        heaviest_by(sizes(weights, rows), first) - first[:-1]
    ).tolist()
    return heaviest


def ranked_surrogates(
    parts: "Sequence[SurrogateSplits]", n_nodes: int, *, max_surrogates: int
) -> list[list[Surrogate]]:
    """Return the best surrogates of each node, best first."""
    nodes = np.concatenate([part.batch.node for part in parts])
    number = np.concatenate([np.arange(len(part.batch)) for part in parts])
    part_of = np.repeat(np.arange(len(parts)), [len(part.batch) for part in parts])
    attribute = np.concatenate([part.batch.attribute for part in parts])
    agreement = np.concatenate([part.agreement for part in parts])
    adjusted = np.concatenate([part.adjusted for part in parts])
    remaining = np.flatnonzero(adjusted > MIN_ADJUSTED)  # not NaN: it may be asked
    remaining = remaining[np.lexsort((attribute[remaining], nodes[remaining]))]
    rounds = [remaining[:0]]
    while (
        len(remaining) and len(rounds) <= max_surrogates
    ):  # the best of each node that has one left
        start = np.searchsorted(nodes[remaining], np.arange(n_nodes + 1))
        best = first_best_by(agreement[remaining], start)
        rounds.append(remaining[best[best >= 0]])
        remaining = np.delete(remaining, best[best >= 0])
    selected = np.concatenate(rounds)
    surrogate_of_line: dict[int, Surrogate] = {}
    for position, part in enumerate(parts):
        own_lines = selected[part_of[selected] == position]
        surrogate_of_line.update(
            zip(own_lines.tolist(), part.surrogates(number[own_lines]), strict=True)
        )
    ranked: list[list[Surrogate]] = [[] for _ in range(n_nodes)]
    for line, node in zip(selected.tolist(), nodes[selected].tolist(), strict=True):
        ranked[node].append(surrogate_of_line[line])
    return ranked


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateSplits:
    """The split on each attribute that agrees best with its node's split.

    Parameters
    ----------
    batch : TableBatch
        Value × branch, the last column for rows that the split does not send; numbers
        by bucket, if they have any.
    agreement, adjusted : arrays of shape (tables,)
        See ``Surrogate``; NaN if no split is allowed.
    cut : array of shape (tables,)
        The last line on the left of a threshold.
    turned : array of shape (tables,)
        Whether values up to the threshold take the second branch.
    line_branch : array of shape (lines,)
        The branch of each code of a nominal attribute; -1 if no row has it.
    """

    batch: TableBatch
    agreement: Floats
    adjusted: Floats
    cut: Integers
    turned: NDArray[np.bool_]
    line_branch: Integers
    schema: Schema
    root_summary: RootSummary

    @classmethod
    def of(
        cls, batch: TableBatch, schema: Schema, root_summary: RootSummary
    ) -> "SurrogateSplits":
        """Find the best split on each attribute.

        >>> from spinney.data import Attribute
        >>> length = CountTable.of([[3, 0, 0], [2, 1, 0], [0, 4, 0]])
        >>> schema = Schema((Attribute("length", "numeric"),), None)
        >>> batch = TableBatch.of([{0: length}])
        >>> best = SurrogateSplits.of(batch, schema, RootSummary())
        >>> [each.split.threshold for each in best.surrogates(np.array([0]))]
        [1.5]
        """
        batch, _ = in_buckets(batch, root_summary.cuts)
        kinds = [attribute.kind == "nominal" for attribute in schema.attributes]
        nominal = np.array(kinds, dtype=bool)[batch.attribute]
        cut, turned, agreeing = _best_cuts(batch)
        line_branch = np.full(len(batch.values), -1)
        if nominal.any():
            line_branch, by_codes = _best_codes(batch)
            agreeing = np.where(nominal, by_codes, agreeing)
        branches = batch.total[:, :2] + batch.missing[:, :2]
        totals, majority = branches.sum(axis=1), branches.max(axis=1)
        minority = totals - majority
        # A minority too light for a float has no surrogate.
        agreeing = np.where(minority > 0, agreeing, np.nan)
        adjusted = ratio_of(agreeing - majority, minority)
        return cls(
            batch,
            np.minimum(ratio_of(agreeing, totals), 1.0),
            np.where(np.isnan(agreeing), np.nan, np.minimum(adjusted, 1.0)),
            cut,
            turned & ~nominal,
            line_branch,
            schema,
            root_summary,
        )

    def surrogates(self, numbers: Integers) -> list[Surrogate]:
        """Return the surrogates of some of the tables."""
        return [
            Surrogate(self._split(number, threshold), agreement, adjusted, turned)
            for number, threshold, agreement, adjusted, turned in zip(
                numbers.tolist(),
                self._thresholds(numbers),
                self.agreement[numbers].tolist(),
                self.adjusted[numbers].tolist(),
                self.turned[numbers].tolist(),
                strict=True,
            )
        ]

    def _thresholds(self, numbers: Integers) -> list[float]:
        """Return the thresholds, half-way to the next value of any row of a node.

        The entries of nominal attributes are undefined.
        """
        cut, last = self.cut[numbers], len(self.batch.values) - 1
        values = self.batch.values
        thresholds: list[float] = midpoints(
            values[cut], values[np.minimum(cut + 1, last)]
        ).tolist()
        return thresholds

    def _split(self, number: int, threshold: float) -> Split:
        """Return the split on an attribute."""
        batch, index = self.batch, int(self.batch.attribute[number])
        if self.schema.attributes[index].kind == "nominal":
            lines = slice(batch.start[number], batch.start[number + 1])
            codes = batch.values[lines].astype(np.int64)
            line_branch = self.line_branch[lines]
            groups = tuple(
                tuple(codes[line_branch == side].tolist()) for side in (0, 1)
            )
            return Groups(index, groups, ())
        if index in self.root_summary.cuts:
            threshold = float(self.root_summary.cuts[index][int(threshold)])
        return Threshold(index, threshold, ())


def _best_cuts(
    batch: TableBatch,
) -> tuple[Integers, NDArray[np.bool_], Floats]:
    """Return the last line on the left, whether the cut is reversed, and the agreement.

    The agreement is a weight, NaN if no cut leaves enough rows on both sides.
    """
    owner, n_tables = batch.owner, len(batch)
    left = running_sums(batch.weights[:, :2], batch.start)
    rows = batch.rows[:, :2].sum(axis=1, keepdims=True)
    left_rows = running_sums(rows, batch.start)[:, 0]
    right_rows = counts_by(owner, rows, n_tables)[owner, 0] - left_rows
    total = sums_by(owner, batch.weights[:, :2], n_tables)
    straight = left[:, 0] + total[owner, 1] - left[:, 1]
    agreeing = np.maximum(straight, total.sum(axis=1)[owner] - straight)
    allowed = np.flatnonzero((left_rows >= MIN_ROWS) & (right_rows >= MIN_ROWS))
    start = np.searchsorted(owner[allowed], np.arange(n_tables + 1))
    first = heaviest_by(agreeing[allowed], start)
    cut = np.where(first < 0, 0, np.append(allowed, 0)[first])
    best = np.append(agreeing, 0.0)[cut] if len(agreeing) else np.zeros(n_tables)
    turned = np.append(straight, 0.0)[cut] < best
    return cut, turned, np.where(first < 0, np.nan, best)


def _best_codes(batch: TableBatch) -> tuple[Integers, Floats]:
    """Return the branch of each code, and the weight that agrees.

    The weight is NaN if too few rows take one of the branches.
    """
    owner, n_tables = batch.owner, len(batch)
    weights, rows = batch.weights[:, :2], batch.rows[:, :2].sum(axis=1)
    total = sums_by(owner, weights, n_tables)
    shares = ratio_of(weights, np.repeat(total.sum(axis=1)[owner], 2).reshape(-1, 2))
    heavier = last_best(sums_by(owner, shares, n_tables))
    line_branch = np.where(
        equal_to_best(shares).all(axis=1), heavier[owner], shares.argmax(axis=1)
    )
    sides = [
        np.bincount(owner, rows * (line_branch == s), minlength=n_tables)
        for s in (0, 1)
    ]
    agreeing = np.bincount(
        owner, weights[np.arange(len(line_branch)), line_branch], minlength=n_tables
    )
    enough = np.minimum(*sides) >= MIN_ROWS
    return np.where(rows > 0, line_branch, -1), np.where(enough, agreeing, np.nan)
