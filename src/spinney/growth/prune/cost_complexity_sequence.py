"""Weakest links, and the table of subtrees by α, in the form of rpart's cptable.

Only leaves with rows count. A leaf for a declared value without rows adds nothing to
the complexity, so declared values do not affect pruning.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_named
from spinney._support.in_notebooks import InNotebooks
from spinney._support.text_table import aligned
from spinney._support.ties import TOLERANCE
from spinney.errors import Setting, refusal
from spinney.trees import Tree

# -α (heaps have the least on top), the node, the risk that its collapse adds, and the
# leaves and splits that it removes.
Collapse = tuple[float, int, float, int, int]


@dataclass(frozen=True, slots=True)
class WeakestLinks:
    """The order in which the nodes of a tree collapse.

    Parameters
    ----------
    alpha : array, one number per node
        The α at which a node becomes a leaf, unless an ancestor collapses first. −∞ for
        a leaf, and 0 for a node that is no better than a leaf.
    collapses : tuple
        (α, node, added risk, removed leaves, removed splits) of each collapse up to the
        root, by rising α.
    margin : float
        The largest difference of links that count as equal: risks are exact to a
        fraction of the root's risk.
    """

    alpha: Floats
    collapses: tuple[Collapse, ...]
    margin: float

    def stays(self, tree: Tree, alphas: Floats) -> tuple[Integers, Integers]:
        """Return for each node the range of rising alphas at which it is a leaf.

        From the last index on an ancestor is a leaf. If the first is not below the
        last, the node is never a leaf.
        """
        ancestor_alpha = min_above(tree, self.alpha)
        limits = alphas + self.margin
        last = np.searchsorted(limits, ancestor_alpha)
        last[np.isinf(ancestor_alpha)] = len(alphas)
        return np.searchsorted(limits, self.alpha), last


def weakest_links(tree: Tree, risks: Floats) -> WeakestLinks:
    """Return the collapse of each node; ``risks`` are the risks of nodes as leaves."""
    reached = (tree.arrays.rows > 0).tolist()
    margin = TOLERANCE * max(float(risks[0]), 0.0)
    alpha = np.full(len(tree), -np.inf)
    children, node_risks = tree.nodes.children, risks.tolist()
    chains: dict[int, list[Collapse]] = {}  # of inner nodes; a leaf has none
    for node in reversed(range(len(tree))):
        if not children[node]:
            continue
        chain = _merged([chains.pop(c) for c in children[node] if c in chains])
        with_rows = [child for child in children[node] if reached[child]]
        collapse = _collapse(node, with_rows, chain, node_risks)
        alpha[node] = 0.0 if -collapse[0] <= margin else -collapse[0]
        heappush(chain, (-float(alpha[node]), *collapse[1:]))
        chains[node] = chain
    collapses = sorted((-collapse[0], *collapse[1:]) for collapse in chains.get(0, ()))
    return WeakestLinks(alpha, tuple(collapses), margin)


def _merged(chains: list[list[Collapse]]) -> list[Collapse]:
    """Return all collapses as one heap, the small ones put into the largest."""
    if not chains:
        return []
    chains.sort(key=len)
    largest = chains.pop()
    for chain in chains:
        for collapse in chain:
            heappush(largest, collapse)
    return largest


def _collapse(
    node: int, children: Sequence[int], chain: list[Collapse], risks: list[float]
) -> Collapse:
    """Return the collapse of a node; remove later collapses from the chain.

    After a branch was raised, all rows of a node may be at one of its children.
    """
    risk = sum(risks[child] for child in children)
    leaves, splits, node_risk = max(len(children), 2), 1, risks[node]
    while True:
        alpha = (node_risk - risk) / (leaves - 1)
        if not chain or -chain[0][0] <= alpha:
            return -alpha, node, node_risk - risk, leaves - 1, splits
        _, _, added, fewer_leaves, fewer_splits = heappop(chain)
        risk -= added
        leaves += fewer_leaves
        splits += fewer_splits


# Headers of the errors of subtrees, by the rows that give them.
HEADERS = {
    None: ("rel error",),
    "folds": ("rel error", "xerror", "xstd"),
    "validation": ("training error", "validation error", "std error"),
}
# Standard errors that a smaller subtree may be above the least risk.
RULES = {"1-se": 1.0, "half-se": 0.5, "minimum": 0.0}


@dataclass(frozen=True, slots=True)
class Subtree:
    """One subtree of the sequence.

    Parameters
    ----------
    alpha : float
        The least α at which the subtree is the cheapest. rpart's CP is α / R(root).
    leaves, splits : int
        The size of the subtree; leaves without rows do not count.
    risk : float
        The training risk of the subtree.
    relative_error : float
        The risk as a fraction of the root's risk.
    cut : tuple of int
        The nodes that are leaves here, but not in the subtree before.
    error, deviation : float, optional
        By folds, the cross-validated risk as a fraction of the root's, and its standard
        error: rpart's xerror and xstd. By validation rows, their mean loss (the error
        rate, the mean cost or the mean squared error), and its standard error.
    """

    alpha: float
    leaves: int
    splits: int
    risk: float
    relative_error: float
    cut: tuple[int, ...]
    error: float | None = None
    deviation: float | None = None


@dataclass(frozen=True, slots=True)
class FoldLosses:
    """The losses of each fold's rows: sums by weight, and of their squares.

    Parameters
    ----------
    losses, squares : arrays, folds × subtrees
        The sums, of losses divided by ``unit``.
    weights : array
        The weight of the rows of each fold.
    unit : float
        What losses are divided by, so that squares of squares stay within floats.
    """

    losses: Floats
    squares: Floats
    weights: Floats
    unit: float

    def means(self, folds: Integers) -> tuple[Floats, Floats]:
        """Return the mean loss of the rows of some folds, and its standard error."""
        weight = self.weights[folds].sum()
        losses, squares = self.losses[folds].sum(0), self.squares[folds].sum(0)
        spread = np.maximum(squares - losses**2 / weight, 0.0)
        return losses * (self.unit / weight), np.sqrt(spread) * (self.unit / weight)


@dataclass(frozen=True, slots=True)
class PruningSequence(InNotebooks):
    """The subtrees by rising α: from the smallest with the least risk to the root.

    ``print`` shows the sequence like rpart's cptable, the root first, with the mean
    errors of training and validation rows after validation. ``weight`` is the weight of
    the training rows, ``chosen`` the index of the chosen subtree, if any, and
    ``judged_by`` the origin of errors: "folds", "validation" or None. After
    cross-validation ``fold_losses`` has the losses of each fold.
    """

    subtrees: tuple[Subtree, ...]
    root_risk: float
    weight: float = 1.0
    chosen: int | None = None
    judged_by: str | None = None
    fold_losses: FoldLosses | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.subtrees)

    def __getitem__(self, index: int) -> Subtree:
        return self.subtrees[index]

    @property
    def alphas(self) -> Floats:
        """The alphas, rising; the first is 0."""
        return np.array([subtree.alpha for subtree in self.subtrees])

    @property
    def middles(self) -> Floats:
        """√(α_k α_k+1), the geometric means of the intervals of α; the last is ∞."""
        alphas = self.alphas
        return np.append(np.sqrt(alphas[:-1]) * np.sqrt(alphas[1:]), np.inf)

    def cuts(self, index: int) -> set[int]:
        """Return the nodes that are leaves, or below leaves, in a subtree."""
        return {node for row in self.subtrees[: index + 1] for node in row.cut}

    def place(self, alpha: float) -> int:
        """Return the index of the cheapest subtree at an α; ties go to the smallest."""
        reached = self.alphas <= alpha + TOLERANCE * self.root_risk
        return int(np.flatnonzero(reached)[-1])

    def with_errors(
        self, errors: Floats, deviations: Floats, *, by: str
    ) -> "PruningSequence":
        """Return the sequence with errors by folds, or of validation rows."""
        rows = zip(self.subtrees, errors.tolist(), deviations.tolist(), strict=True)
        subtrees = (replace(row, error=e, deviation=d) for row, e, d in rows)
        return replace(self, subtrees=tuple(subtrees), judged_by=by)

    def mean_errors(self) -> tuple[Floats, Floats]:
        """Return the mean error of each subtree and its standard error.

        The error is the error rate, the mean cost or the mean squared error.
        """
        if self.judged_by is None:
            msg = "no rows have judged these subtrees: see judged_by"
            raise ValueError(msg)
        # By folds they are fractions of the root's risk.
        unit = self.root_risk / (self.weight or 1.0) if self.judged_by == "folds" else 1
        pairs = [(row.error, row.deviation) for row in self.subtrees]
        errors, deviations = np.array(pairs, dtype=np.float64).T * unit
        return errors, deviations

    def best(self, rule: str) -> int:
        """Return the index of the subtree that a rule chooses.

        Parameters
        ----------
        rule : {"1-se", "half-se", "minimum"}
            ``"minimum"``: the smallest subtree of least error. ``"1-se"`` and
            ``"half-se"``: the smallest subtree whose error is within one standard
            error, or half a standard error, of the least.
        """
        check_named("rule", rule, RULES)
        if self.judged_by is None:
            raise refusal(
                Setting("rule", rule),
                "needs errors on rows that were held out",
                "give data, validation, or an alpha",
            )
        errors = np.array([row.error for row in self.subtrees])
        deviations = np.array([row.deviation or 0.0 for row in self.subtrees])
        # By folds they are fractions of the root's risk.
        unit = 1.0 if self.judged_by == "folds" else self.root_risk / self.weight
        return best_subtree(errors, deviations, rule, unit=unit)

    def text(self) -> str:
        """Return the subtrees as a table."""
        header = ["alpha", "CP", "splits", "leaves", *HEADERS[self.judged_by]]
        lines = []
        for index, row in reversed(list(enumerate(self.subtrees))):
            line = [
                f"{row.alpha:.6g}",
                f"{row.alpha / self.root_risk if self.root_risk > 0 else 0:.6f}",
                str(row.splits),
                str(row.leaves),
                *self._errors(row),
            ]
            lines.append([*line, "chosen" if index == self.chosen else ""])
        return "\n".join(aligned([[*header, ""], *lines]))

    def _errors(self, row: Subtree) -> list[str]:
        if self.judged_by == "validation":
            errors = row.risk / self.weight, row.error, row.deviation
            return [f"{error:.5g}" for error in errors]
        columns = [] if self.judged_by is None else [row.error, row.deviation]
        return [f"{error:.5f}" for error in (row.relative_error, *columns)]

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the subtrees as plain data, by rising α."""
        return [
            {
                **asdict(row),
                "cut": list(row.cut),
                "training_error": row.risk / self.weight,
                "judged_by": self.judged_by,
                "chosen": index == self.chosen,
            }
            for index, row in enumerate(self.subtrees)
        ]


def best_subtree(errors: Floats, deviations: Floats, rule: str, *, unit: float) -> int:
    """Return the index of the subtree that a rule chooses; the smallest comes last.

    ``unit`` is the error of the root, to tell what is equal but for rounding.
    """
    least = float(errors.min())
    margin = TOLERANCE * max(unit, least)
    index = int(np.flatnonzero(errors <= least + margin)[-1])
    limit = least + RULES[rule] * float(deviations[index])
    return int(np.flatnonzero(errors <= limit + margin)[-1])


def sequence_of(tree: Tree, risks: Floats) -> PruningSequence:
    """Return the sequence of a tree; ``risks`` are the risks of nodes as leaves."""
    links = weakest_links(tree, risks)
    alphas, group_of = _grouped(links)
    cut = _cut_nodes(tree, links.collapses, group_of)
    starts = np.searchsorted(group_of, np.arange(len(alphas) + 1))  # by rising α
    root_risk = float(risks[0])
    risk, leaves, splits = root_risk, 1, 0
    subtrees = []
    # From the root back, where all figures are known, each step restored.
    for index in reversed(range(len(alphas))):
        relative_error = risk / root_risk if root_risk > 0 else 1.0
        subtree = Subtree(
            float(alphas[index]), leaves, splits, risk, relative_error, cut[index]
        )
        subtrees.append(subtree)
        for collapse in links.collapses[starts[index] : starts[index + 1]]:
            _, _, added, fewer_leaves, fewer_splits = collapse
            risk -= added
            leaves += fewer_leaves
            splits += fewer_splits
    weight = float(tree.arrays.weight(tree.schema.target)[0])
    return PruningSequence(tuple(reversed(subtrees)), root_risk, weight)


def _grouped(links: WeakestLinks) -> tuple[Floats, Integers]:
    """Return distinct alphas, from 0 on, and for each collapse the index of its alpha.

    Links within a margin of the first of a group are cut together.
    """
    alphas = [0.0]
    indices = np.zeros(len(links.collapses), dtype=np.int64)
    for number, (alpha, *_) in enumerate(links.collapses):
        if alpha > alphas[-1] + links.margin:
            alphas.append(alpha)
        indices[number] = len(alphas) - 1
    return np.array(alphas), indices


def _cut_nodes(
    tree: Tree, collapses: Sequence[Collapse], indices: Integers
) -> list[tuple[int, ...]]:
    """Return the nodes that each step cuts, without descendants of other cut nodes."""
    step = np.full(len(tree), np.inf)
    for collapse, index in zip(collapses, indices, strict=True):
        step[collapse[1]] = index
    cut: list[list[int]] = [[] for _ in range(int(indices.max(initial=0)) + 1)]
    for node in np.flatnonzero(step < min_above(tree, step)).tolist():
        cut[int(step[node])].append(node)
    return [tuple(nodes) for nodes in cut]


def min_above(tree: Tree, values: Floats) -> Floats:
    """Return the least value of the nodes above each node; ∞ at the root."""
    node_values, least = values.tolist(), [np.inf] * len(tree)
    for node, parent in enumerate(tree.arrays.parent.tolist()):
        if parent >= 0:
            least[node] = min(least[parent], node_values[parent])
    return np.array(least)
