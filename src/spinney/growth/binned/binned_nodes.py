"""Nodes and competitors of a tree that compiled kernels grew, made on demand."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import starts_of
from spinney._support.ties import TOLERANCE
from spinney.data import Schema
from spinney.growth.binned.binned_arrays import (
    Buckets,
    SurrogateTotals,
    arrays_of_grown,
    branch_counts,
    moments_of,
)
from spinney.growth.binned.binned_competitors import (
    Sides,
    competitors_as_arrays,
    counted_candidates,
)
from spinney.growth.binned.binned_surrogates import GrownSurrogates, LazySurrogates
from spinney.growth.binned.kernels.nodes import (
    CUT_HIGH,
    CUT_LOW,
    PARENT_NODE,
    CodeCounts,
    NodeRecords,
    copied_head,
    selected,
)
from spinney.growth.leaf_estimates import outputs_of_tree
from spinney.recipes import Recipe
from spinney.trees import (
    CandidateArrays,
    LazyNodes,
    QuestionArrays,
    TreeArrays,
    joined_candidates,
)


@dataclass(frozen=True, eq=False)
class GrownNodes(LazyNodes):
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
    surrogates: GrownSurrogates | LazySurrogates | None = None
    surrogate_totals: SurrogateTotals | None = None
    class_weights: Floats | None = None

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.records.ints)

    def _arrays(self) -> TreeArrays:
        """Return the tree with predictions and surrogates."""
        target = self.schema.target
        grown = self.records, self.code_counts, self.schema, self.recipe
        arrays = arrays_of_grown(*grown, self.buckets)
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
            otherwise=default_branch,
            surrogates=self.surrogates.arrays(arrays.inner),
        )

    def recounted(self, training: Any) -> "GrownNodes | None":
        """Return the nodes counted on the true classes of their rows.

        As in ``prune.mutable_nodes.recounted``: leaves keep their reason, unless they
        are pure now. None if the target is numeric, or surrogates routed rows.
        """
        target = self.schema.target
        if target.is_numeric or self.surrogate_totals is not None:
            return None
        from spinney.growth.binned.recount_nodes import recount

        weighed = training.weighed(self.class_weights)
        records, code_counts = recount(
            self.records, self.code_counts, weighed, self.recipe, target.costs
        )
        # What lost, lost on other labels.
        none = copied_head(self.competitors, 0)
        return replace(self, records=records, code_counts=code_counts, competitors=none)

    def _branch_counts(self, inner: Integers) -> tuple[Floats, Integers, Floats]:
        """Return weights, rows and proportions of both branches of inner nodes."""
        numeric = self.schema.target.is_numeric
        return branch_counts(
            self.records, inner, self.surrogate_totals, numeric=numeric
        )

    def _missing(self, nodes: Integers) -> tuple[Floats, Integers]:
        """Return weights and numbers of the rows with a missing value at nodes."""
        width, n_counts = (
            array.shape[1] // 2 for array in (self.records.weights, self.records.counts)
        )
        own = self.records.weights[nodes, width:]
        weights = moments_of(own, numeric=self.schema.target.is_numeric)
        return np.array(weights), np.array(self.records.counts[nodes, n_counts:])

    def _candidate_arrays(self) -> CandidateArrays:
        inner = np.flatnonzero(self.arrays.inner)
        owners = self.competitors.ints[:, PARENT_NODE]
        lost = competitors_as_arrays(
            self.competitors,
            self.records,
            self.code_counts,
            self.schema,
            self.recipe,
            self.buckets,
        )
        every = joined_candidates([self._winners(inner), lost])
        nodes = np.append(inner, owners)
        order = np.lexsort((every.splits.attribute, nodes))  # of equals, the winner
        count = np.bincount(nodes, minlength=len(self))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        chosen = np.full(len(self), -1)
        chosen[inner] = place[: len(inner)] - starts_of(count)[inner]
        return every.of_lines(order, count, chosen)

    def _winners(self, inner: Integers) -> CandidateArrays:
        """Return the winning splits of inner nodes."""
        arrays = self.arrays
        weights, rows, shares = self._branch_counts(inner)
        missing = self._missing(inner)
        values = self.records.floats[inner][:, [CUT_LOW, CUT_HIGH]]
        return counted_candidates(
            QuestionArrays(**arrays.subset(inner, np.ones(len(inner), np.bool_))),
            Sides(values, weights, rows, *missing, shares),
            records=selected(self.records, inner),
            code_counts=self.code_counts,
            schema=self.schema,
            missing=arrays.missing[inner],
            exact=np.ones(len(inner), np.int64),
            gain=arrays.gain[inner],
            criterion=self.recipe.measure(numeric=self.schema.target.is_numeric),
        )
