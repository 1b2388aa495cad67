"""Trees as tables of edges, for programs that compute with arrays.

Each node except the root has one edge, from its parent. The edge takes 1, 0 or, if the
row is divided, a fraction of the row. A node's fraction of the row is the product of
the edges above it, computed by doubling::

    part  = own edge                                one edge
    part *= part[parent]                            two
    part *= part[parent of parent]                  four, and so on

Codes of texts are 1, 2, …, and 0 if missing or unknown. ``members`` has for each split
and code: 0 unknown to the split, 1 takes another branch, 2 takes this branch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.extensions.exports.portable import (
    FormNode,
    FormSplit,
    Portable,
)

UNKNOWN, ELSEWHERE, THIS_BRANCH = range(3)


@dataclass(frozen=True, slots=True)
class EdgeTables:
    """The trees of a model as tables of edges, for programs that compute with arrays.

    All tables are padded to the size of the largest tree.

    Parameters
    ----------
    by_tree : mapping of array, trees × …
        ``cell``, ``low``, ``high``, ``first``, ``is_number``, ``is_text``: nodes ×
        splits of the parent. ``otherwise``: the fraction of a row that an edge takes if
        no split sends it. ``says``: nodes × outputs. ``label``: nodes. ``up0``,
        ``up1``, …: the ancestor 1, 2, 4, … edges up. Of linear models, terms:
        ``term_cell``, ``lack``, ``term_first``, ``term_is_text``; ``factors``, terms ×
        nodes; ``plus``.
    members : array of int
        The direction of each code, for all splits; a split starts at ``first``.
    values : array
        The number of each code, for all text terms; a term starts at ``term_first``.
    n_questions, n_steps : int
        The maximum number of splits of a node, and the number of doublings of ``up``.
    has_lines : bool
        Whether leaves have linear models.
    """

    by_tree: Mapping[str, NDArray[Any]]
    members: NDArray[np.int64]
    values: NDArray[np.float64]
    n_splits: int
    n_steps: int
    has_lines: bool


def edge_tables(form: Portable) -> EdgeTables:
    """Return the edge tables of a model with nodes."""
    return _EdgeWriter(form).filled()


class _EdgeWriter:
    """Fills the edge tables of a model."""

    def __init__(self, form: Portable) -> None:
        self.form = form
        self.parents, self.trees, self.numbers = _node_places(form)
        n_trees = len(form.roots)
        nodes = max(np.bincount(self.trees, minlength=n_trees))
        splits = max([1, *(len(node.splits) for node in form.nodes)])
        terms = np.zeros(n_trees, np.int64)
        for tree, node in zip(self.trees, form.nodes, strict=True):
            terms[tree] += 0 if node.line is None else len(node.line.terms)
        edges, lines = (n_trees, nodes, splits), (n_trees, int(terms.max()))
        self.tables: dict[str, NDArray[Any]] = {
            "cell": np.zeros(edges, np.int64),
            "low": np.full(edges, -inf),
            "high": np.full(edges, inf),
            "first": np.zeros(edges, np.int64),
            "is_number": np.zeros(edges, bool),
            "is_text": np.zeros(edges, bool),
            "otherwise": np.zeros((n_trees, nodes)),
            "says": np.zeros((n_trees, nodes, form.target.n_outputs)),
            "label": np.zeros((n_trees, nodes)),
            "term_cell": np.zeros(lines, np.int64),
            "lack": np.zeros(lines),
            "term_first": np.zeros(lines, np.int64),
            "term_is_text": np.zeros(lines, bool),
            "factors": np.zeros((*lines, nodes)),
            "plus": np.zeros((n_trees, nodes)),
        }
        self.members, self.values = [UNKNOWN], [0.0]
        self.n_terms = [0] * n_trees

    def filled(self) -> EdgeTables:
        """Return the tables, filled for all nodes."""
        for number, node in enumerate(self.form.nodes):
            self._leaf(number, node)
            if self.parents[number] == number:
                self._at("otherwise", number)[...] = 1.0
            else:
                self._edge(number, self.form.nodes[self.parents[number]])
        steps = self._ancestors()
        return EdgeTables(
            self.tables,
            np.array(self.members, np.int64),
            np.array(self.values, np.float64),
            self.tables["cell"].shape[2],
            steps,
            any(node.line is not None for node in self.form.nodes),
        )

    def _at(self, name: str, number: int) -> NDArray[Any]:
        """Return the entries of a node in a table."""
        tree, place = self.trees[number], self.numbers[number]
        return self.tables[name][tree, place : place + 1]

    def _edge(self, number: int, parent: FormNode) -> None:
        """Fill in the fraction of a row that the edge to a node takes."""
        share = float(parent.default_branch == number)
        if parent.default_branch is None:
            share = dict(parent.parts).get(number, 0.0)
        self._at("otherwise", number)[...] = share
        for at, split in enumerate(parent.splits):
            self._at("cell", number)[0, at] = split.cell
            if split.texts is not None:
                self._at("is_text", number)[0, at] = True
                self._at("first", number)[0, at] = len(self.members)
                self.members += self._codes(split, number)
                continue
            self._at("is_number", number)[0, at] = True
            low, high = _bounds(split, number)
            self._at("low", number)[0, at] = low
            self._at("high", number)[0, at] = high

    def _codes(self, split: FormSplit, number: int) -> list[int]:
        """Return the direction of each code of a cell; the missing code is first."""
        nodes = split.texts or {}
        members = [UNKNOWN]
        for text in self.form.texts(split.cell):
            sent = THIS_BRANCH if nodes.get(text) == number else ELSEWHERE
            members.append(sent if text in nodes else UNKNOWN)
        return members

    def _leaf(self, number: int, node: FormNode) -> None:
        """Fill in the outputs of a leaf."""
        if node.line is None:
            if not node.splits:
                self._at("says", number)[...] = node.outputs
                self._at("label", number)[...] = node.label or 0
            return
        tree = self.trees[number]
        self._at("plus", number)[...] = node.line.intercept
        for term in node.line.terms:
            at = self.n_terms[tree]
            self.n_terms[tree] += 1
            self.tables["factors"][tree, at, self.numbers[number]] = term.factor
            filled: dict[str, Any] = {"term_cell": term.cell, "lack": term.missing}
            if term.texts is not None:
                filled |= {"term_first": len(self.values), "term_is_text": True}
                texts = self.form.texts(term.cell)
                numbers = [term.texts.get(text, term.missing) for text in texts]
                self.values += [term.missing, *numbers]
            for name, value in filled.items():
                self.tables[name][tree, at] = value

    def _ancestors(self) -> int:
        """Add the ancestors 1, 2, 4, … edges up, until all of them are roots."""
        shape = self.tables["otherwise"].shape
        up = np.zeros(shape, np.int64)
        for number, parent in enumerate(self.parents):
            up[self.trees[number], self.numbers[number]] = self.numbers[parent]
        steps = 0
        while up.any():
            self.tables[f"up{steps}"] = up
            up = np.take_along_axis(up, up, axis=1)
            steps += 1
        return steps


def _node_places(form: Portable) -> tuple[list[int], list[int], list[int]]:
    """Return parent, tree and number within the tree of each node."""
    parents, trees = [*range(len(form.nodes))], [0] * len(form.nodes)
    for tree, root in enumerate(form.roots):
        trees[root] = tree
    counts, numbers = [0] * len(form.roots), list[int]()
    for number, node in enumerate(form.nodes):
        for child in node.children:
            parents[child], trees[child] = number, trees[number]
        numbers.append(counts[trees[number]])
        counts[trees[number]] += 1
    return parents, trees, numbers


def _bounds(split: FormSplit, number: int) -> Sequence[float]:
    """Return the bounds of the numbers that a split sends to a node; [] for none."""
    if number not in split.nodes:
        return inf, inf
    at = split.nodes.index(number)
    edges = (-inf, *split.cuts, inf)
    return edges[at : at + 2]
