"""The nodes and competitors of a tree of compiled kernels, made on demand."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.segments import starts_of
from spinney._support.ties import TOLERANCE
from spinney.data import Schema
from spinney.growth.binned.binned_arrays import (
    Buckets,
    SurrogateTotals,
    branch_counts,
    grown_tree_arrays,
    moments_of,
    routing_fields,
)
from spinney.growth.binned.binned_surrogates import DeferredSurrogates, GrownSurrogates
from spinney.growth.binned.kernels.nodes import (
    CUT_HIGH,
    CUT_LOW,
    CUT_MISSING,
    EXACT,
    FIRST_LINE,
    GAIN,
    N_LINES,
    PARENT_NODE,
    CodeCounts,
    NodeRecords,
    copied_head,
    selected,
)
from spinney.growth.leaf_estimates import outputs_of_tree
from spinney.recipes import Recipe
from spinney.search import count_missing_at, policy_named
from spinney.trees import (
    CandidateArrays,
    CountTable,
    LazyNodes,
    RoutingArrays,
    TreeArrays,
    joined_candidates,
    splits_of_routing,
)
from spinney.trees.criteria import Criterion


class Sides(NamedTuple):
    """Counts on both sides of splits, and beside them: splits × 2 (× classes)."""

    values: Floats
    weights: Floats
    rows: Integers
    missing: Floats
    missing_rows: Integers
    shares: Floats


def competitors_as_arrays(
    records: NodeRecords,
    nodes: NodeRecords,
    code_counts: CodeCounts,
    schema: Schema,
    recipe: Recipe,
    buckets: Buckets,
) -> CandidateArrays:
    """Return competitors in the order of their nodes, without node numbers.

    ``records`` are the competitors' records, and ``nodes`` the tree's. If no training
    value was missing, missing values of later rows take the heavier side.
    """
    numeric = schema.target.is_numeric
    policy = policy_named(recipe.missing_policy)
    sides = _competitor_sides(records, nodes, numeric=numeric)
    missing_branch = records.floats[:, CUT_MISSING].astype(np.int64)
    if not (policy.divides_rows or policy.surrogates):
        shares = sides.shares
        heavier = shares[:, 0] < shares.max(axis=1) - TOLERANCE
        missing_branch = np.where(missing_branch < 0, heavier, missing_branch)
    return counted_candidates(
        RoutingArrays(**routing_fields(records, code_counts, schema, buckets)),
        sides,
        records=records,
        code_counts=code_counts,
        schema=schema,
        missing=missing_branch,
        exact=records.ints[:, EXACT],
        gain=records.floats[:, GAIN],
        criterion=recipe.measure(numeric=numeric),
    )


def _competitor_sides(
    records: NodeRecords, nodes: NodeRecords, *, numeric: bool
) -> Sides:
    """Return the counts on both sides of competitors."""
    owners = records.ints[:, PARENT_NODE]
    left, missing = (
        moments_of(half, numeric=numeric)
        for half in np.split(records.weights, 2, axis=1)
    )
    width = nodes.weights.shape[1] // 2
    total = moments_of(nodes.weights[owners, :width], numeric=numeric)
    n_counts = nodes.counts.shape[1] // 2
    left_rows, missing_rows = np.split(records.counts, 2, axis=1)
    rows = nodes.counts[owners, :n_counts] - left_rows - missing_rows
    right = _amounts(total - left - missing, rows, numeric=numeric)
    left = _amounts(left, left_rows, numeric=numeric)
    missing = _amounts(missing, missing_rows, numeric=numeric)
    weights = np.stack([left, right], axis=1)
    sizes = weights[:, :, 0] if numeric else weights.sum(axis=2)
    low, high = records.floats[:, CUT_LOW], records.floats[:, CUT_HIGH].copy()
    has_one_value = np.isnan(high)
    high[has_one_value] = np.nextafter(low[has_one_value], np.inf)
    return Sides(
        np.stack([low, high], axis=1),
        weights,
        np.stack([left_rows, rows], axis=1),
        missing,
        missing_rows,
        sizes / sizes.sum(axis=1, keepdims=True),
    )


def _amounts(sums: Floats, rows: Integers, *, numeric: bool) -> Floats:
    """Return sums without the rounding of differences: 0 without rows, at least 0.

    The second of the moments of a number, Σwy, may be below 0.
    """
    least = np.array([0.0, -np.inf, 0.0]) if numeric else 0.0
    return np.asarray(np.maximum(np.where(rows > 0, sums, 0.0), least))


def _merits(
    sides: Sides, missing: NDArray[np.integer], gain: Floats, criterion: Criterion
) -> Floats:
    """Return the merits of splits."""
    if criterion.per is None:
        return gain
    tables = CountTable(
        np.arange(2),
        sides.weights.copy(),
        sides.rows.copy(),
        sides.missing.copy(),
        sides.missing_rows.copy(),
    )
    count_missing_at(tables, missing.astype(np.int64))
    return np.asarray(criterion.merit(tables))


def counted_candidates(
    routing: RoutingArrays,
    sides: Sides,
    *,
    records: NodeRecords,
    code_counts: CodeCounts,
    schema: Schema,
    missing: NDArray[np.integer],
    exact: NDArray[np.integer],
    gain: Floats,
    criterion: Criterion,
) -> CandidateArrays:
    """Return binary splits with their counts, without node numbers.

    Numeric attributes have the counts of both sides; others have counts by code, from
    ``code_counts``.
    """
    kinds = np.array([a.kind == "numeric" for a in schema.attributes], np.bool_)
    numeric, n = kinds[routing.attribute], len(routing)
    n_lines = records.ints[:, N_LINES].astype(np.int64)
    n_values = np.where(numeric, 2, n_lines)
    is_side = np.repeat(numeric, n_values)
    coded = np.flatnonzero(~numeric)
    line = np.repeat(records.ints[coded, FIRST_LINE], n_lines[coded]) + ramps(
        n_lines[coded]
    )
    by_line = moments_of(code_counts.weights[line], numeric=schema.target.is_numeric)

    def table(by_side: NDArray[Any], by_code: NDArray[Any]) -> NDArray[Any]:
        """Return the lines of all, in their order."""
        both = by_side[numeric].reshape(-1, *by_side.shape[2:])
        together = np.empty((len(is_side), *both.shape[1:]), both.dtype)
        together[is_side], together[~is_side] = both, by_code
        return together

    empty = np.zeros(0, np.int64)
    return CandidateArrays(
        count=empty,
        chosen=empty,
        splits=splits_of_routing(
            routing,
            n_branches=np.full(n, 2),
            missing=missing,
            shares=sides.shares.ravel(),
        ),
        gain=gain,
        merit=_merits(sides, missing, gain, criterion),
        exact=exact,
        p_value=np.full(n, np.nan),
        n_values=n_values,
        values=table(sides.values, code_counts.codes[line, 0]),
        weights=table(sides.weights, by_line),
        rows=table(sides.rows, code_counts.counts[line]),
        missing_weights=sides.missing,
        missing_rows=sides.missing_rows,
    )


@dataclass(frozen=True, eq=False)
class BinnedNodes(LazyNodes):
    """Nodes in printing order, each made when it is first read.

    ``competitors`` are in the order of their nodes. ``surrogate_totals`` is None if no
    row has a missing value, or surrogates route none.
    """

    records: NodeRecords
    code_counts: CodeCounts
    competitors: NodeRecords
    schema: Schema
    recipe: Recipe
    buckets: Buckets
    surrogates: GrownSurrogates | DeferredSurrogates | None = None
    surrogate_totals: SurrogateTotals | None = None
    class_weights: Floats | None = None

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.records.ints)

    def _arrays(self) -> TreeArrays:
        """Return the tree with predictions and surrogates."""
        target = self.schema.target
        grown = self.records, self.code_counts, self.schema, self.recipe
        arrays = grown_tree_arrays(*grown, self.buckets)
        inner = np.flatnonzero(arrays.inner)
        weights, _, shares = self._branch_counts(inner)
        outputs = outputs_of_tree(arrays, target, self.recipe)
        arrays = replace(arrays, outputs=outputs, shares=shares.ravel())
        if self.surrogates is None:
            return arrays
        default_branch = np.full(len(arrays), -1, np.int32)
        # As ``heaviest``: the first branch where both are equally heavy.
        if self.class_weights is not None:
            weights = weights / self.class_weights
        sizes = weights[:, :, 0] if target.is_numeric else weights.sum(axis=2)
        default_branch[inner] = sizes[:, 0] / sizes.max(axis=1) < 1 - TOLERANCE
        return replace(
            arrays,
            default_branch=default_branch,
            surrogates=self.surrogates.arrays(arrays.inner),
        )

    def recounted(self, training: Any) -> "BinnedNodes | None":
        """Return the nodes counted on the true classes of their rows.

        As in ``prune.mutable_nodes.recounted``, leaves keep their reason, unless they
        are pure now. None if the target is numeric, or if surrogates routed rows.
        """
        target = self.schema.target
        if target.is_numeric or self.surrogate_totals is not None:
            return None
        from spinney.growth.binned.recount_nodes import recount

        weighed = training.weighed(self.class_weights)
        records, code_counts = recount(
            self.records, self.code_counts, weighed, self.recipe, target.costs
        )
        # Competitors were found on other labels.
        none = copied_head(self.competitors, 0)
        return replace(self, records=records, code_counts=code_counts, competitors=none)

    def _branch_counts(self, inner: Integers) -> tuple[Floats, Integers, Floats]:
        """Return weights, rows and proportions of both branches of inner nodes."""
        numeric = self.schema.target.is_numeric
        return branch_counts(
            self.records, inner, self.surrogate_totals, numeric=numeric
        )

    def _missing(self, nodes: Integers) -> tuple[Floats, Integers]:
        """Return the weight and number of rows with a missing value at nodes."""
        width, n_counts = (
            array.shape[1] // 2 for array in (self.records.weights, self.records.counts)
        )
        sums = self.records.weights[nodes, width:]
        weights = moments_of(sums, numeric=self.schema.target.is_numeric)
        return np.array(weights), np.array(self.records.counts[nodes, n_counts:])

    def _candidate_arrays(self) -> CandidateArrays:
        inner = np.flatnonzero(self.arrays.inner)
        owners = self.competitors.ints[:, PARENT_NODE]
        competitors = competitors_as_arrays(
            self.competitors,
            self.records,
            self.code_counts,
            self.schema,
            self.recipe,
            self.buckets,
        )
        candidates = joined_candidates([self._winners(inner), competitors])
        nodes = np.append(inner, owners)
        order = np.lexsort(
            (candidates.splits.attribute, nodes)
        )  # of equals, the winner
        count = np.bincount(nodes, minlength=len(self))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        chosen = np.full(len(self), -1)
        chosen[inner] = place[: len(inner)] - starts_of(count)[inner]
        return candidates.of_lines(order, count, chosen)

    def _winners(self, inner: Integers) -> CandidateArrays:
        """Return the winning splits of inner nodes."""
        arrays = self.arrays
        weights, rows, shares = self._branch_counts(inner)
        missing = self._missing(inner)
        values = self.records.floats[inner][:, [CUT_LOW, CUT_HIGH]]
        return counted_candidates(
            RoutingArrays(**arrays.subset(inner, np.ones(len(inner), np.bool_))),
            Sides(values, weights, rows, *missing, shares),
            records=selected(self.records, inner),
            code_counts=self.code_counts,
            schema=self.schema,
            missing=arrays.missing[inner],
            exact=np.ones(len(inner), np.int64),
            gain=arrays.gain[inner],
            criterion=self.recipe.measure(numeric=self.schema.target.is_numeric),
        )
