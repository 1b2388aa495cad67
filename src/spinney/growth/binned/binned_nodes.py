"""The nodes of a tree that kernels grew, made when somebody looks at them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from spinney._support.arrays import TOLERANCE, Floats, Integers, first_best, heaviest
from spinney.data import Schema
from spinney.growth.binned.binned_arrays import arrays_of_grown, moments_of
from spinney.growth.binned.binned_surrogates import GrownSurrogates
from spinney.growth.binned.loops.nodes import (
    ABOVE,
    ATTRIBUTE,
    CHILD,
    HEIGHT,
    REASON,
    SIDE,
    Lines,
    Shape,
)
from spinney.growth.binned.runners_up import GrownRivals, by_code
from spinney.growth.leaf_estimates import outputs_of
from spinney.recipes import Recipe
from spinney.search import midpoint, policy_named
from spinney.trees import (
    Candidate,
    CountTable,
    Groups,
    LazyNodes,
    Node,
    Reason,
    Split,
    Surrogate,
    Threshold,
    labels_of,
    reason_codes,
)
from spinney.trees.predict import FlatTree

# By the loops' numbers of reasons; the last of them is that of ``recount``.
REASONS = reason_codes(
    None,
    Reason.PURE,
    Reason.DEPTH,
    Reason.ROWS_TO_SPLIT,
    Reason.IDENTICAL,
    Reason.ROWS_IN_LEAF,
    Reason.MIN_GAIN,
    Reason.PRUNED,
)


@dataclass(frozen=True, eq=False)
class GrownNodes(LazyNodes):
    """Nodes in printing order, each made when it is first asked for.

    ``rivals`` are the splits that lost, in the order of their nodes.
    """

    shape: Shape
    lines: Lines
    rivals: Shape
    schema: Schema
    recipe: Recipe
    surrogates: GrownSurrogates | None = None
    _made: dict[int, Node] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.shape.whole)

    def _node(self, place: int) -> Node:
        """Make a node."""
        whole, target = self.shape.whole[place], self.schema.target
        weights = self.weights(place)
        outputs = outputs_of(
            weights, target, recipe=self.recipe, everything=self.weights(0)
        )
        inner = whole[ATTRIBUTE] >= 0
        children = tuple(map(int, whole[CHILD : CHILD + 2])) if inner else ()
        candidates, chosen = self._candidates(place, children)
        return Node(
            place,
            None if whole[ABOVE] < 0 else int(whole[ABOVE]),
            int(whole[SIDE]),
            int(whole[HEIGHT]),
            weights,
            int(self.counts(place).sum()),
            outputs,
            int(labels_of(outputs, target.costs)),
            candidates,
            chosen,
            children,
            Reason.of_code(int(REASONS[whole[REASON]])),
            surrogates=self._surrogates(place) if inner else (),
            otherwise=self._otherwise(children) if inner else None,
        )

    def arrays(self) -> FlatTree:
        """Return the tree as arrays to predict from."""
        arrays = arrays_of_grown(self.shape, self.lines, self.schema, self.recipe)
        if self.surrogates is None:
            return arrays
        asked, number = self.surrogates.questions()
        inner = arrays.attribute >= 0
        first, count, last = np.zeros((3, len(arrays.attribute)), np.int64)
        first[inner], count[inner] = number.cumsum() - number, number
        # As ``heaviest``: the first branch where both are equally heavy.
        shares = arrays.shares.reshape(-1, 2)
        last[inner] = shares[:, 0] / shares.max(axis=1) < 1 - TOLERANCE
        last[~inner] = -1
        return replace(
            arrays,
            surrogates=asked,
            missing=last,
            first_surrogate=first,
            surrogate_count=count,
        )

    def _surrogates(self, place: int) -> tuple[Surrogate, ...]:
        """Return the surrogates of an inner node."""
        return () if self.surrogates is None else self.surrogates.of(place)

    def _otherwise(self, children: Sequence[int]) -> int | None:
        """Return where rows go that no surrogate sends: to the heavier branch."""
        if self.surrogates is None:
            return None
        first = slice(1) if self.schema.target.is_numeric else slice(None)
        sizes = [self.weights(child)[first].sum() for child in children]
        return heaviest(np.array(sizes))

    def weights(self, place: int, *, absent: bool = False) -> Floats:
        """Return the weights of a node, or of its rows whose value is missing."""
        width = self.shape.weights.shape[1] // 2
        own = self.shape.weights[place, width * absent : width * (1 + absent)]
        return np.array(moments_of(own, numeric=self.schema.target.is_numeric))

    def counts(self, place: int, *, absent: bool = False) -> Integers:
        """Return the numbers of rows of a node, or of those whose value is missing."""
        width = self.shape.counts.shape[1] // 2
        return np.array(self.shape.counts[place, width * absent : width * (1 + absent)])

    def _candidates(
        self, place: int, children: Sequence[int]
    ) -> tuple[tuple[Candidate, ...], int | None]:
        """Return the splits of a node that are kept, by attribute, and which won."""
        rivals = self._rivals.of(place)
        if not children:
            return rivals, None
        winner = self._winner(place, children)
        chosen = sum(rival.attribute < winner.attribute for rival in rivals)
        return (*rivals[:chosen], winner, *rivals[chosen:]), chosen

    @cached_property
    def _rivals(self) -> GrownRivals:
        return GrownRivals(
            self.rivals, self.shape, self.lines, self.schema, self.recipe
        )

    def _winner(self, place: int, children: Sequence[int]) -> Candidate:
        """Return the winning split and the counts of both sides."""
        attribute = int(self.shape.whole[place, ATTRIBUTE])
        low, high, missing, gain = self.shape.real[place]
        away = self.weights(place, absent=True), self.counts(place, absent=True)
        weights = np.stack([self.weights(child) for child in children])
        rows = np.stack([self.counts(child) for child in children])
        if missing >= 0:
            weights[int(missing)] -= away[0]
            rows[int(missing)] -= away[1]
        weights = np.where(rows.any(axis=1, keepdims=True), weights, 0.0)
        numeric = self.schema.target.is_numeric
        sizes = weights[:, 0] if numeric else weights.sum(axis=1)
        shares = tuple((sizes / sizes.sum()).tolist())
        into = None if missing < 0 else int(missing)
        policy = policy_named(self.recipe.missing)
        if into is None and not (policy.divides or policy.surrogates):
            into = first_best(np.array(shares))
        split: Split
        kind = self.schema.attributes[attribute].kind
        counted = CountTable(np.array([low, high]), weights, rows, *away)
        if kind != "numeric":
            facts = self.shape.whole[place]
            groups, counted = by_code(self.lines, facts, away, numeric=numeric)
        if kind == "nominal":
            split = Groups(attribute, groups, shares, into)
        else:
            cut = midpoint(float(low), float(high))
            split = Threshold(attribute, cut, shares, into)
        return Candidate(split, counted, float(gain), float(gain))
