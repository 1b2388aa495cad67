"""The finished tree: immutable nodes, walkable and measured.

Nodes are numbered in the order in which they are printed: a parent before its
children, a branch with all below it before the next. So a child's number is
greater than its parent's, and ``tree.nodes`` is a walk.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import Schema, Value
from spinney.trees.costs import expected_costs
from spinney.trees.counts import CountTable
from spinney.trees.linear import LinearModel
from spinney.trees.split import (
    VALUES_SHOWN,
    Groups,
    Route,
    Split,
    Surrogate,
    branch_table,
    counts_by_branch,
    describe,
    possible_codes,
    values_text,
)

if TYPE_CHECKING:
    from spinney.trees.certificate import Certificate
    from spinney.trees.tree_arrays import TreeArrays


class Reason(StrEnum):
    """Why a node is a leaf.

    The ``code`` stands for it in arrays and in files: a code never changes, and a new
    reason takes the next one. An inner node has no reason, and the code ``NO_REASON``.

    >>> Reason.PRUNED.code, Reason.of_code(9), Reason.of_code(NO_REASON)
    (9, <Reason.PRUNED: 'pruned'>, None)
    """

    code: int

    def __new__(cls, text: str, code: int) -> "Reason":
        """Make a reason that is a text and has a code."""
        reason = str.__new__(cls, text)
        reason._value_, reason.code = text, code
        return reason

    PURE = "pure", 0
    EXHAUSTED = "no attribute is left", 1
    IDENTICAL = "no attribute tells its rows apart", 2
    DEPTH = "the depth limit", 3
    LEAVES = "the limit on leaves", 4
    ROWS_TO_SPLIT = "too few rows to split", 5
    ROWS_IN_LEAF = "every split would leave too few rows in a branch", 6
    MIN_GAIN = "no split gains enough", 7
    EMPTY = "no training row came here: the parent's classes", 8
    PRUNED = "pruned", 9
    SIGNIFICANCE = "no split is significant", 10
    DEVIATION = "its numbers differ too little from each other", 11
    BEST = "the best tree of its size ends here", 12
    UNDECIDED = "no question has proven best on the rows so far", 13

    @classmethod
    def of_code(cls, code: int) -> "Reason | None":
        """Return the reason of a code; None for that of inner nodes."""
        return None if code == NO_REASON else _REASONS[code]


NO_REASON = -1
_REASONS = {reason.code: reason for reason in Reason}


def reason_codes(*reasons: Reason | None) -> NDArray[np.int8]:
    """Return the codes of some reasons, by which other numbers are translated."""
    codes = [NO_REASON if reason is None else reason.code for reason in reasons]
    return np.array(codes, np.int8)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """The best split of one attribute at one node, and the counts behind it.

    Parameters
    ----------
    split : Threshold or Groups
        What would be asked.
    table : CountTable
        The counts by value; for a numeric attribute the two sides, at the values
        next to the threshold.
    gain : float
        By which the split was chosen among those of its attribute.
    merit : float
        By which the attribute competes with others.
    exact : bool
        Whether no better split of this form exists (see ``candidates``, and
        ``growth/binned/loops/runners_up.py`` for splits that lost).
    p_value : float, optional
        Where the criterion is a test: its p-value, times the number of ways that
        CHAID's merging could have come out.
    given : bool
        Whether a user has written the question, so that it need not be the best of
        its attribute; that one may be a candidate too.
    bound : float, optional
        Where it is not known to be exact: a gain that no split of the form exceeds.
    """

    split: Split
    table: CountTable
    gain: float
    merit: float
    exact: bool = True
    p_value: float | None = None
    given: bool = False
    bound: float | None = None

    @property
    def attribute(self) -> int:
        """The index of the attribute in the schema."""
        return self.split.attribute

    @property
    def branches(self) -> CountTable:
        """The counts by branch."""
        return branch_table(self.table, self.split)

    def shared_out(self) -> tuple[Floats, Integers]:
        """Return the weights and rows of the children, divided rows by their parts."""
        weights, rows, _ = shared_out([self])
        return weights, rows


def shared_out(
    candidates: Sequence[Candidate],
) -> tuple[Floats, Integers, Integers]:
    """Return weights and rows of the children of all splits, and where each's begin.

    Missing rows are where their split sends them, or divided by their parts.
    """
    splits, tables = [c.split for c in candidates], [c.table for c in candidates]
    weights, rows, first = counts_by_branch(tables, splits)
    lacking = [at for at, table in enumerate(tables) if table.missing_rows.any()]
    for at in lacking:
        split, table = splits[at], tables[at]
        if split.missing is not None:
            weights[first[at] + split.missing] += table.missing
            rows[first[at] + split.missing] += table.missing_rows
            continue
        own, shares = slice(first[at], first[at + 1]), np.array(split.shares)[:, None]
        weights[own] += shares * table.missing
        rows[own] += (shares > 0) * table.missing_rows
    return weights, rows, first


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    """One node; a leaf where ``children`` is empty.

    Of a numeric target ``weights`` are the moments, ``distribution`` holds the one
    number that the node predicts, and ``label`` is 0. Where it has a ``model``, that
    predicts instead, row by row, and the number is the mean; inner nodes have
    models too, for the time when they are cut to leaves. Rows whose value is missing go
    by the first of ``surrogates`` that knows theirs, else ``otherwise``; where that is
    None, the split says what becomes of them.
    """

    number: int
    parent: int | None
    branch: int
    depth: int
    weights: Floats
    n_rows: int
    distribution: Floats
    label: int
    candidates: Sequence[Candidate] = ()
    chosen: int | None = None
    children: tuple[int, ...] = ()
    reason: Reason | None = None
    forced: bool = False
    model: LinearModel | None = None
    surrogates: tuple[Surrogate, ...] = ()
    otherwise: int | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether the node asks nothing."""
        return not self.children

    @property
    def weight(self) -> float:
        """The weight of the training rows that came here."""
        numeric = len(self.weights) != len(self.distribution)
        return float(self.weights[0] if numeric else self.weights.sum())

    @property
    def value(self) -> float:
        """The number that a node of a numeric target predicts."""
        return float(self.distribution[0])

    @property
    def candidate(self) -> Candidate:
        """The winning candidate of an inner node."""
        assert self.chosen is not None
        return self.candidates[self.chosen]

    @property
    def split(self) -> Split | None:
        """What the node asks; None at a leaf."""
        return None if self.chosen is None else self.candidate.split

    @property
    def route(self) -> Route | None:
        """How rows leave the node; None at a leaf."""
        if self.split is None:
            return None
        return Route(self.split, self.surrogates, self.otherwise)

    @property
    def runners_up(self) -> tuple[Candidate, ...]:
        """The candidates that did not win, best first."""
        others = [c for at, c in enumerate(self.candidates) if at != self.chosen]
        return tuple(sorted(others, key=lambda c: -c.merit))


@dataclass(frozen=True)
class Tree:
    """A finished tree.

    Parameters
    ----------
    schema : Schema
        What the numbers of attributes and classes mean.
    nodes : sequence of Node
        In printing order; the first is the root.
    certificate : Certificate, optional
        What is proven of it, where it was sought among all trees of its size.
    """

    schema: Schema
    nodes: Sequence[Node] = field(repr=False)
    certificate: "Certificate | None" = field(default=None, compare=False)

    @property
    def root(self) -> Node:
        """The first node."""
        return self.nodes[0]

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        """Walk the nodes in printing order."""
        return iter(self.nodes)

    @cached_property
    def leaves(self) -> tuple[Node, ...]:
        """The leaves, in printing order."""
        return tuple(node for node in self.nodes if node.is_leaf)

    @property
    def _arrays(self) -> "TreeArrays | None":
        """The tree as arrays, where its nodes are made of such: to make none."""
        return getattr(self.nodes, "arrays", None)

    @cached_property
    def _leaf_depths(self) -> list[int]:
        """The number of questions above each leaf."""
        arrays = self._arrays
        if arrays is None:
            return [leaf.depth for leaf in self.leaves]
        depths: list[int] = arrays.depth[~arrays.inner].tolist()
        return depths

    @cached_property
    def model_names(self) -> dict[int, str]:
        """What the linear models of leaves are called: LM1, LM2 … by leaf."""
        if self._arrays is not None and self._arrays.models is None:
            return {}
        with_models = [leaf.number for leaf in self.leaves if leaf.model is not None]
        return {number: f"LM{order + 1}" for order, number in enumerate(with_models)}

    @property
    def n_leaves(self) -> int:
        """How many leaves, and so rules, there are."""
        return len(self._leaf_depths)

    @property
    def height(self) -> int:
        """The number of questions on the longest path."""
        return max(self._leaf_depths)

    @property
    def external_path_length(self) -> int:
        """The number of questions on all paths to leaves together."""
        return sum(self._leaf_depths)

    @property
    def weighted_external_path_length(self) -> float:
        """The number of questions asked for all training rows together."""
        arrays = self._arrays
        if arrays is None:
            weights = [leaf.weight for leaf in self.leaves]
        else:
            weights = arrays.weight(self.schema.target)[~arrays.inner].tolist()
        depths = zip(self._leaf_depths, weights, strict=True)
        return float(sum(depth * weight for depth, weight in depths))

    @property
    def mean_path_length(self) -> float:
        """The number of questions asked for a training row, on average."""
        arrays = self._arrays
        weight = (
            self.root.weight
            if arrays is None
            else float(arrays.weight(self.schema.target)[0])
        )
        return self.weighted_external_path_length / weight

    @property
    def rule_lengths(self) -> list[int]:
        """The number of conditions in the rule of each leaf, one an attribute."""
        arrays = self._arrays
        if arrays is not None:
            return rule_lengths(arrays.parent.tolist(), arrays.attribute.tolist())
        return rule_lengths(
            [-1 if node.parent is None else node.parent for node in self.nodes],
            [-1 if node.is_leaf else node.candidate.attribute for node in self.nodes],
        )

    @property
    def importances(self) -> Floats:
        """What each attribute gained over all rows, as shares of all that was gained.

        A split counts with its gain times the weight of its node; all are 0 where
        nothing was gained.
        """
        gained = self._gained(surrogates=False)
        total = gained.sum()
        return gained / total if total > 0 else gained

    @property
    def surrogate_importances(self) -> Floats:
        """What each attribute gained over all rows, surrogates given their part.

        As rpart's variable importance: a split counts with its gain times the weight
        of its node for its own attribute, and for that of each surrogate with the
        same times the adjusted agreement. The numbers are not scaled.
        """
        return self._gained(surrogates=True)

    def _gained(self, *, surrogates: bool) -> Floats:
        gained, arrays = np.zeros(len(self.schema.attributes)), self._arrays
        if arrays is not None and not surrogates:
            improvements = arrays.improvements(self.schema.target)[arrays.inner]
            np.add.at(gained, arrays.attribute[arrays.inner], improvements)
            return gained
        for node in self.nodes:
            if not node.is_leaf:
                gain = max(node.candidate.gain, 0.0)  # below 0 only if forced
                gained[node.candidate.attribute] += node.weight * gain
                for each in node.surrogates if surrogates else ():
                    gained[each.attribute] += node.weight * gain * each.adjusted
        return gained

    def label(self, node: Node) -> Value:
        """Return what a node predicts: its class, or its number."""
        target = self.schema.target
        return node.value if target.is_numeric else target.classes[node.label]

    def label_costs(self, node: Node) -> tuple[float, ...]:
        """Return what each label is expected to cost; empty where errors cost alike.

        Over all rows of a node by the shares that it predicts, or for one row where it
        has none. The label of the node is the one of least cost.
        """
        costs = self.schema.target.costs
        if costs is None:
            return ()
        with np.errstate(over="ignore"):
            expected = (node.weight or 1.0) * expected_costs(node.distribution, costs)
        return tuple(np.minimum(expected, np.finfo(np.float64).max).tolist())

    def counted_shares(self, node: Node) -> Floats:
        """Return the class shares of a node's rows, or of the nearest above with any.

        They differ from its distribution where that is smoothed.
        """
        while not node.n_rows and node.parent is not None:
            node = self.nodes[node.parent]
        return np.asarray(node.weights / node.weights.sum())

    def children(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes below a node, in branch order."""
        return tuple(self.nodes[number] for number in node.children)

    def path(self, number: int) -> tuple[Node, ...]:
        """Return the nodes from the root to this one, both included."""
        steps = [self.nodes[number]]
        while (parent := steps[-1].parent) is not None:
            steps.append(self.nodes[parent])
        return tuple(reversed(steps))

    def told_together(self, parent: Node) -> tuple[Node, ...]:
        """Return the leaves below a node that no row came to, where they say the same.

        There are none where fewer than two values have no row at the node. A person
        reads one line of all of them, and a program a leaf for each.
        """
        split = parent.split
        if not isinstance(split, Groups) or split.n_branches == 2:
            return ()
        empty = [
            node
            for node in self.children(parent)
            if node.is_leaf and not node.n_rows and node.model is None
            if split.groups[node.branch] and split.missing != node.branch
        ]
        says = [node.distribution for node in empty]
        alike = all(np.array_equal(each, says[0]) for each in says)
        return tuple(empty) if len(empty) > 1 and alike else ()

    def condition(
        self,
        node: Node,
        *,
        ascii_only: bool = False,
        together: Sequence[Node] = (),
        most: int = VALUES_SHOWN,
    ) -> str:
        """Return how the branch that leads to a node reads; empty for the root.

        If the node is one of several leaves that are told ``together``, how all read.
        Of many values it names no more than ``most``.
        """
        if node.parent is None:
            return ""
        parent = self.nodes[node.parent]
        if node.number in {each.number for each in together}:
            assert parent.split is not None
            attribute = self.schema.attributes[parent.split.attribute]
            values = [attribute.values[code] for code in self.codes_of(together)]
            name = attribute.text(ascii_only=ascii_only)
            return values_text(name, values, ascii_only=ascii_only, most=most)
        return self.branch_text(
            parent, parent.candidate, node.branch, ascii_only=ascii_only, most=most
        )

    def codes_of(self, siblings: Sequence[Node]) -> list[int]:
        """Return the values by which branches of one node read, all together."""
        assert siblings[0].parent is not None
        parent = self.nodes[siblings[0].parent]
        assert parent.route is not None
        split = parent.route.described
        assert isinstance(split, Groups)
        coming = self.codes_at(parent, split) or ()
        codes = (split.read_codes(node.branch, coming)[0] for node in siblings)
        return sorted(code for group in codes for code in group)

    def branch_text(
        self,
        node: Node,
        candidate: Candidate,
        branch: int,
        *,
        ascii_only: bool = False,
        most: int = VALUES_SHOWN,
    ) -> str:
        """Return how a branch of a node's candidate reads, missing values included."""
        split = candidate.split
        if node.route is not None and candidate is node.candidate:
            split = node.route.described
        attribute = self.schema.attributes[split.attribute]
        codes = self.codes_at(node, split)
        text = describe(
            split, attribute, branch, ascii_only=ascii_only, codes=codes, most=most
        )
        absent = bool(candidate.table.missing_rows.any())
        if absent and split.missing == branch and not text.endswith(" is missing"):
            return f"{text} or missing"
        return text

    def codes_at(self, node: Node, split: Split) -> set[int] | None:
        """Return which values of a split's attribute can come to a node, of names."""
        if not isinstance(split, Groups):
            return None
        n_codes = len(self.schema.attributes[split.attribute].values)
        return possible_codes(self._steps_to(node), split.attribute, n_codes)

    def _steps_to(self, node: Node) -> Iterator[tuple[Split, int]]:
        """Give the splits above a node with the branches taken, nearest first."""
        while node.parent is not None:
            parent = self.nodes[node.parent]
            assert parent.route is not None
            yield parent.route.described, node.branch
            node = parent


def rule_lengths(parents: Sequence[int], asked: Sequence[int]) -> list[int]:
    """Return how many attributes are asked about above each leaf.

    Parameters
    ----------
    parents : sequence of int
        The node above each node, in printing order; -1 at the root.
    asked : sequence of int
        The attribute that each node asks about; -1 at a leaf.

    Examples
    --------
    The second question about attribute 3 narrows the condition of the first:

    >>> rule_lengths([-1, 0, 0, 2, 2], [3, -1, 3, -1, -1])
    [1, 1, 1]
    """
    lengths: list[int] = []
    path: list[int] = []
    times: dict[int, int] = {}  # how often each attribute is asked about on the path
    for node, (parent, attribute) in enumerate(zip(parents, asked, strict=True)):
        while path and path[-1] != parent:
            left = asked[path.pop()]
            times[left] -= 1
            if not times[left]:
                del times[left]
        if attribute < 0:
            lengths.append(len(times))
        else:
            path.append(node)
            times[attribute] = times.get(attribute, 0) + 1
    return lengths
