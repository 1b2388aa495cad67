"""The nodes of a tree that compiled kernels grew, made when somebody looks at them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import starts_of
from spinney._support.ties import TOLERANCE
from spinney.data import Schema
from spinney.growth.binned.binned_arrays import (
    Buckets,
    SentRows,
    arrays_of_grown,
    moments_of,
    sides_of,
)
from spinney.growth.binned.binned_surrogates import GrownSurrogates, UnfoundSurrogates
from spinney.growth.binned.kernels.nodes import (
    ABOVE,
    CUT_HIGH,
    CUT_LOW,
    Lines,
    Shape,
    cut,
    taken,
)
from spinney.growth.binned.runners_up import (
    Sides,
    competitors_as_arrays,
    counted_candidates,
)
from spinney.growth.leaf_estimates import outputs_of_tree
from spinney.recipes import Recipe
from spinney.trees import (
    CandidateArrays,
    LazyNodes,
    RoutingArrays,
    TreeArrays,
    joined_candidates,
)


@dataclass(frozen=True, eq=False)
class GrownNodes(LazyNodes):
    """Nodes in printing order, each made when it is first asked for.

    ``competitors`` are the splits that lost, in the order of their nodes. ``sent`` is
    none where no row lacks a value, or no surrogate sends it.
    """

    shape: Shape
    lines: Lines
    competitors: Shape
    schema: Schema
    recipe: Recipe
    buckets: Buckets
    surrogates: GrownSurrogates | UnfoundSurrogates | None = None
    sent: SentRows | None = None
    class_weights: Floats | None = None

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.shape.whole)

    def _arrays(self) -> TreeArrays:
        """Return the tree with what its nodes predict, and with its surrogates."""
        target = self.schema.target
        grown = self.shape, self.lines, self.schema, self.recipe
        arrays = arrays_of_grown(*grown, self.buckets)
        inner = np.flatnonzero(arrays.inner)
        weights, _, shares = self._sides(inner)
        outputs = outputs_of_tree(arrays, target, self.recipe)
        arrays = replace(arrays, outputs=outputs, shares=shares.ravel())
        if self.surrogates is None:
            return arrays
        otherwise = np.full(len(arrays), -1, np.int32)
        # As ``heaviest``: the first branch where both are equally heavy.
        if self.class_weights is not None:
            weights = weights / self.class_weights
        sizes = weights[:, :, 0] if target.is_numeric else weights.sum(axis=2)
        otherwise[inner] = sizes[:, 0] / sizes.max(axis=1) < 1 - TOLERANCE
        return replace(
            arrays,
            default_branch=otherwise,
            surrogates=self.surrogates.arrays(arrays.inner),
        )

    def recounted(self, training: Any) -> "GrownNodes | None":
        """Return the nodes counted on the true classes of their rows.

        As ``prune.mutable_nodes.recounted`` has it: leaves keep the reason that they
        had, unless they are pure now. None where the target is a number, or where
        surrogates sent rows.
        """
        target = self.schema.target
        if target.is_numeric or self.sent is not None:
            return None
        from spinney.growth.binned.recount import recount

        weighed = training.weighed(self.class_weights)
        shape, lines = recount(
            self.shape, self.lines, weighed, self.recipe, target.costs
        )
        # What lost, lost on other labels.
        none = cut(self.competitors, 0)
        return replace(self, shape=shape, lines=lines, competitors=none)

    def _sides(self, inner: Integers) -> tuple[Floats, Integers, Floats]:
        """Return weights, rows and shares of both branches of some inner nodes."""
        numeric = self.schema.target.is_numeric
        return sides_of(self.shape, inner, self.sent, numeric=numeric)

    def _absent(self, nodes: Integers) -> tuple[Floats, Integers]:
        """Return weights and numbers of the rows whose value is missing at nodes."""
        width, n_counts = (
            array.shape[1] // 2 for array in (self.shape.weights, self.shape.counts)
        )
        own = self.shape.weights[nodes, width:]
        weights = moments_of(own, numeric=self.schema.target.is_numeric)
        return np.array(weights), np.array(self.shape.counts[nodes, n_counts:])

    def _candidate_arrays(self) -> CandidateArrays:
        inner, owners = (
            np.flatnonzero(self.arrays.inner),
            self.competitors.whole[:, ABOVE],
        )
        lost = competitors_as_arrays(
            self.competitors,
            self.shape,
            self.lines,
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
        weights, rows, shares = self._sides(inner)
        away = self._absent(inner)
        values = self.shape.real[inner][:, [CUT_LOW, CUT_HIGH]]
        return counted_candidates(
            RoutingArrays(**arrays.subset(inner, np.ones(len(inner), np.bool_))),
            Sides(values, weights, rows, *away, shares),
            records=taken(self.shape, inner),
            lines=self.lines,
            schema=self.schema,
            missing=arrays.missing[inner],
            exact=np.ones(len(inner), np.int64),
            gain=arrays.gain[inner],
            criterion=self.recipe.measure(numeric=self.schema.target.is_numeric),
        )
