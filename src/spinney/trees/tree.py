"""The finished tree: immutable nodes, walkable and measured.

Nodes are numbered in the order in which they are printed: a parent before its children,
and a whole branch before the next. So a child's number is greater than its parent's,
and iterating over ``tree.nodes`` visits parents first.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Schema, Value
from spinney.trees.costs import expected_costs
from spinney.trees.lazy_nodes import ExplicitNodes, LazyNodes, RenumberedNodes
from spinney.trees.node import Candidate, Node, Reason
from spinney.trees.split import (
    VALUES_SHOWN,
    Groups,
    Split,
    describe,
    possible_codes,
    values_text,
)
from spinney.trees.tree_arrays import TreeArrays

if TYPE_CHECKING:
    from spinney.trees.certificate import Certificate


@dataclass(frozen=True)
class Tree:
    """A finished tree.

    Parameters
    ----------
    schema : Schema
        The attributes and the target.
    nodes : sequence of Node
        In printing order; the first is the root.
    certificate : Certificate, optional
        The proof of an optimal tree.
    """

    schema: Schema
    nodes: LazyNodes = field(repr=False)
    certificate: "Certificate | None" = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Wrap nodes that were made one by one."""
        if not isinstance(self.nodes, LazyNodes):
            nodes = ExplicitNodes(self.schema, tuple(self.nodes))
            object.__setattr__(self, "nodes", nodes)

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
    def arrays(self) -> TreeArrays:
        """The tree as arrays; no node is made for them."""
        return self.nodes.arrays

    @cached_property
    def _leaf_depths(self) -> list[int]:
        """The number of splits above each leaf."""
        depths: list[int] = self.nodes.links.depth[~self.arrays.inner].tolist()
        return depths

    @cached_property
    def model_names(self) -> dict[int, str]:
        """The names of the linear models, LM1, LM2 …, by leaf."""
        if self.arrays.models is None:
            return {}
        with_models = np.flatnonzero(self.arrays.models.has & ~self.arrays.inner)
        return {
            leaf: f"LM{position + 1}"
            for position, leaf in enumerate(with_models.tolist())
        }

    @property
    def n_leaves(self) -> int:
        """The number of leaves, and so of rules."""
        return len(self._leaf_depths)

    @property
    def height(self) -> int:
        """The number of splits on the longest path."""
        return max(self._leaf_depths)

    @property
    def external_path_length(self) -> int:
        """The sum of the path lengths (numbers of splits) of all leaves."""
        return sum(self._leaf_depths)

    @property
    def weighted_external_path_length(self) -> float:
        """The sum of the path lengths of all training rows, by weight."""
        weights = self.arrays.weight(self.schema.target)[~self.arrays.inner].tolist()
        depths = zip(self._leaf_depths, weights, strict=True)
        return float(sum(depth * weight for depth, weight in depths))

    @property
    def mean_path_length(self) -> float:
        """The mean path length of the training rows."""
        weight = float(self.arrays.weight(self.schema.target)[0])
        return self.weighted_external_path_length / weight

    @property
    def rule_lengths(self) -> list[int]:
        """The number of conditions in the rule of each leaf, one per attribute."""
        return rule_lengths(self.arrays.parent.tolist(), self.arrays.attribute.tolist())

    @property
    def importances(self) -> Floats:
        """The importances of the attributes as fractions of the total gain.

        A split counts with its gain times the weight of its node. All importances are 0
        if no split gained anything.
        """
        gained = self.gains
        total = gained.sum()
        return gained / total if total > 0 else gained

    @property
    def gains(self) -> Floats:
        """The sum of the gains of the splits on each attribute, by weight."""
        return self._gained(surrogates=False)

    @property
    def surrogate_importances(self) -> Floats:
        """The importances of the attributes with surrogates, as in rpart.

        A split adds its gain times the weight of its node to its own attribute, and the
        same times the adjusted agreement to the attribute of each surrogate. The
        numbers are not scaled.
        """
        return self._gained(surrogates=True)

    def _gained(self, *, surrogates: bool) -> Floats:
        gained, arrays = np.zeros(len(self.schema.attributes)), self.arrays
        improvements = arrays.improvements(self.schema.target)
        nodes, attribute = np.flatnonzero(arrays.inner), arrays.attribute[arrays.inner]
        parts = improvements[nodes]
        if surrogates and (surrogate_arrays := arrays.surrogates) is not None:
            owner = np.repeat(np.arange(len(self)), surrogate_arrays.count)
            order = np.argsort(np.append(nodes, owner), kind="stable")
            attribute = np.append(attribute, surrogate_arrays.attribute)[order]
            parts = np.append(parts, improvements[owner] * surrogate_arrays.adjusted)[
                order
            ]
        np.add.at(gained, attribute, parts)
        return gained

    def label(self, node: Node) -> Value:
        """Return the predicted class of a node, or its predicted number."""
        target = self.schema.target
        return node.value if target.is_numeric else target.classes[node.label]

    def label_costs(self, node: Node) -> tuple[float, ...]:
        """Return the expected cost of each label; empty if all errors cost the same.

        It is the cost for all rows of a node by its probabilities, or for one row if it
        has none. The label of the node has the least cost.
        """
        costs = self.schema.target.costs
        if costs is None:
            return ()
        with np.errstate(over="ignore"):
            expected = (node.weight or 1.0) * expected_costs(node.distribution, costs)
        return tuple(np.minimum(expected, np.finfo(np.float64).max).tolist())

    def counted_shares(self, node: Node) -> Floats:
        """Return the class proportions of a node, or of its nearest non-empty ancestor.

        They differ from the node's distribution if that is smoothed.
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

    def empty_sibling_leaves(self, parent: Node) -> tuple[Node, ...]:
        """Return the child leaves without rows, if their predictions are equal.

        There are none if fewer than two values have no row at the node. Texts show all
        of them in one line.
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
        predictions = [node.distribution for node in empty]
        is_same = all(
            np.array_equal(prediction, predictions[0]) for prediction in predictions
        )
        return tuple(empty) if len(empty) > 1 and is_same else ()

    def condition(
        self,
        node: Node,
        *,
        ascii_only: bool = False,
        together: Sequence[Node] = (),
        most: int = VALUES_SHOWN,
        digits: Mapping[int, int] | None = None,
    ) -> str:
        """Return the text of the branch that leads to a node; empty for the root.

        If the node is one of several leaves that are shown ``together``, it is that of
        all of them. It names no more values than ``most``; ``digits`` are those of
        the numbers of an attribute.
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
            parent,
            parent.candidate,
            node.branch,
            ascii_only=ascii_only,
            most=most,
            digits=(digits or {}).get(parent.candidate.attribute),
        )

    def codes_of(self, siblings: Sequence[Node]) -> list[int]:
        """Return the codes in the texts of some branches of one node."""
        assert siblings[0].parent is not None
        parent = self.nodes[siblings[0].parent]
        assert parent.route is not None
        split = parent.route.described
        assert isinstance(split, Groups)
        reachable = self.codes_at(parent, split) or ()
        codes = (split.read_codes(node.branch, reachable)[0] for node in siblings)
        return sorted(code for group in codes for code in group)

    def branch_text(
        self,
        node: Node,
        candidate: Candidate,
        branch: int,
        *,
        ascii_only: bool = False,
        most: int = VALUES_SHOWN,
        digits: int | None = None,
    ) -> str:
        """Return the text of a branch of a node's candidate, with missing values."""
        split = candidate.split
        if node.route is not None and candidate is node.candidate:
            split = node.route.described
        attribute = self.schema.attributes[split.attribute]
        codes = self.codes_at(node, split)
        text = describe(
            split,
            attribute,
            branch,
            ascii_only=ascii_only,
            codes=codes,
            most=most,
            digits=digits,
        )
        has_missing = bool(candidate.table.missing_rows.any())
        if has_missing and split.missing == branch and not text.endswith(" is missing"):
            return f"{text} or missing"
        return text

    def codes_at(self, node: Node, split: Split) -> set[int] | None:
        """Return the codes of a nominal split's attribute that can reach a node."""
        if not isinstance(split, Groups):
            return None
        n_codes = len(self.schema.attributes[split.attribute].values)
        return possible_codes(self._steps_to(node), split.attribute, n_codes)

    def _steps_to(self, node: Node) -> Iterator[tuple[Split, int]]:
        """Yield the splits above a node with the branches taken, nearest first."""
        while node.parent is not None:
            parent = self.nodes[node.parent]
            assert parent.route is not None
            yield parent.route.described, node.branch
            node = parent


def rule_lengths(parents: Sequence[int], asked: Sequence[int]) -> list[int]:
    """Return how many attributes have a split above each leaf.

    Parameters
    ----------
    parents : sequence of int
        The node above each node, in printing order; -1 at the root.
    asked : sequence of int
        The attribute that each node splits on; -1 at a leaf.

    Examples
    --------
    The second split on attribute 3 narrows the condition of the first:

    >>> rule_lengths([-1, 0, 0, 2, 2], [3, -1, 3, -1, -1])
    [1, 1, 1]
    """
    lengths: list[int] = []
    path: list[int] = []
    counts: dict[int, int] = {}  # how many splits of the path are on each
    for node, (parent, attribute) in enumerate(zip(parents, asked, strict=True)):
        while path and path[-1] != parent:
            last = asked[path.pop()]
            counts[last] -= 1
            if not counts[last]:
                del counts[last]
        if attribute < 0:
            lengths.append(len(counts))
        else:
            path.append(node)
            counts[attribute] = counts.get(attribute, 0) + 1
    return lengths


def cut(tree: Tree, numbers: Collection[int], reason: Reason = Reason.PRUNED) -> Tree:
    """Return the tree with these nodes as leaves, without their descendants.

    Such a node keeps its counts and candidates, and gets the ``reason``.
    """
    smaller, kept = tree.arrays.cut_back(numbers, reason)
    return Tree(tree.schema, RenumberedNodes(smaller, tree.schema, tree.nodes, kept))
