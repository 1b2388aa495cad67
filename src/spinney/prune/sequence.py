"""The table of the sequence: subtrees by α, as rpart's cptable shows them."""

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney._support.arrays import TOLERANCE, Floats, Integers
from spinney._support.checks import check_named
from spinney.errors import ParameterError
from spinney.prune.record import columns_text
from spinney.prune.weakest_links import Bend, Links, weakest_links
from spinney.trees.tree import Tree

__all__ = ["RULES", "Sequence", "Subtree", "sequence_of"]

# How many standard errors from the least risk a smaller subtree may be.
RULES = {"1-se": 1.0, "half-se": 0.5, "minimum": 0.0}


@dataclass(frozen=True, slots=True)
class Subtree:
    """One subtree of the sequence.

    Parameters
    ----------
    alpha : float
        The least α at which it is the cheapest. rpart's CP is α / R(root).
    leaves, splits : int
        Its size.
    risk : float
        Its training risk.
    relative_error : float
        The risk as a share of the root's.
    cut : tuple of int
        The nodes that are leaves here, but not in the subtree before.
    error, deviation : float, optional
        The cross-validated risk as a share of the root's, and its standard error:
        rpart's xerror and xstd.
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
class Sequence:
    """The subtrees by rising α: from the smallest with the least risk to the root.

    ``print`` shows it as rpart's cptable does, the root first. ``chosen`` is the
    place of the subtree that was taken, if one was.
    """

    subtrees: tuple[Subtree, ...]
    root_risk: float
    chosen: int | None = None

    def __len__(self) -> int:
        return len(self.subtrees)

    def __getitem__(self, place: int) -> Subtree:
        return self.subtrees[place]

    @property
    def alphas(self) -> Floats:
        """The alphas, rising; the first is 0."""
        return np.array([subtree.alpha for subtree in self.subtrees])

    @property
    def middles(self) -> Floats:
        """√(α_k α_k+1), the geometric middle of where each is the cheapest; then ∞."""
        alphas = self.alphas
        return np.append(np.sqrt(alphas[:-1]) * np.sqrt(alphas[1:]), np.inf)

    def cuts(self, place: int) -> set[int]:
        """Return the nodes to cut to have a subtree."""
        return {node for row in self.subtrees[: place + 1] for node in row.cut}

    def place(self, alpha: float) -> int:
        """Return which subtree is the cheapest at this α, the smallest of equals."""
        within = self.alphas <= alpha + TOLERANCE * self.root_risk
        return int(np.flatnonzero(within)[-1])

    def judged(self, errors: Floats, deviations: Floats) -> "Sequence":
        """Return the sequence with cross-validated risks."""
        scale = self.root_risk if self.root_risk > 0 else 1.0
        rows = zip(self.subtrees, errors / scale, deviations / scale, strict=True)
        return replace(
            self,
            subtrees=tuple(
                replace(row, error=float(error), deviation=float(deviation))
                for row, error, deviation in rows
            ),
        )

    def best(self, rule: str) -> int:
        """Return the place that a rule chooses.

        Parameters
        ----------
        rule : {"1-se", "half-se", "minimum"}
            ``"minimum"``: of the least cross-validated risk, the smallest subtree of
            equals. ``"1-se"`` and ``"half-se"``: the smallest whose risk is within
            one standard error of that one's, or half of one.
        """
        check_named("rule", rule, RULES)
        if self.subtrees[0].error is None:
            msg = f"rule={rule!r} needs cross-validated risks: give data, or an alpha"
            raise ParameterError(msg)
        errors = np.array([row.error for row in self.subtrees])
        least = float(errors.min())
        margin = TOLERANCE * max(1.0, least)
        place = int(np.flatnonzero(errors <= least + margin)[-1])
        limit = least + RULES[rule] * float(self.subtrees[place].deviation or 0.0)
        return int(np.flatnonzero(errors <= limit + margin)[-1])

    def __str__(self) -> str:
        judged = self.subtrees[0].error is not None
        header = ["alpha", "CP", "splits", "leaves", "rel error"]
        header += ["xerror", "xstd"] if judged else []
        lines = []
        for place, row in reversed(list(enumerate(self.subtrees))):
            line = [
                f"{row.alpha:.6g}",
                f"{row.alpha / self.root_risk if self.root_risk > 0 else 0:.6f}",
                str(row.splits),
                str(row.leaves),
                f"{row.relative_error:.5f}",
            ]
            if judged:
                line += [f"{row.error:.5f}", f"{row.deviation:.5f}"]
            lines.append([*line, "chosen" if place == self.chosen else ""])
        return columns_text([*header, ""], lines)

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the subtrees as plain data, by rising α."""
        return [
            {
                "alpha": row.alpha,
                "leaves": row.leaves,
                "splits": row.splits,
                "risk": row.risk,
                "relative_error": row.relative_error,
                "cut": list(row.cut),
                "error": row.error,
                "deviation": row.deviation,
                "chosen": place == self.chosen,
            }
            for place, row in enumerate(self.subtrees)
        ]


def sequence_of(tree: Tree, risks: Floats) -> Sequence:
    """Return the sequence of a tree; ``risks`` are those of its nodes as leaves."""
    links = weakest_links(tree, risks)
    alphas, of_bend = _grouped(links)
    cut = _cut_nodes(tree, links.bends, of_bend)
    root_risk = float(risks[0])
    risk, leaves, splits = root_risk, 1, 0
    subtrees = []
    # From the root back, where all figures are known, each step restored.
    for place in reversed(range(len(alphas))):
        share = risk / root_risk if root_risk > 0 else 1.0
        found = Subtree(float(alphas[place]), leaves, splits, risk, share, cut[place])
        subtrees.append(found)
        for number in np.flatnonzero(of_bend == place):
            _, _, added, fewer_leaves, fewer_splits = links.bends[number]
            risk -= added
            leaves += fewer_leaves
            splits += fewer_splits
    return Sequence(tuple(reversed(subtrees)), root_risk)


def _grouped(links: Links) -> tuple[Floats, Integers]:
    """Return distinct alphas, from 0 on, and for each bend which it belongs to.

    Links within a margin of the first of a group are cut together.
    """
    alphas = [0.0]
    places = np.zeros(len(links.bends), dtype=np.int64)
    for number, (alpha, *_) in enumerate(links.bends):
        if alpha > alphas[-1] + links.margin:
            alphas.append(alpha)
        places[number] = len(alphas) - 1
    return np.array(alphas), places


def _cut_nodes(
    tree: Tree, bends: SequenceOf[Bend], places: Integers
) -> list[tuple[int, ...]]:
    """Return the nodes that each step cuts, less those below another of the step."""
    step = np.full(len(tree), len(bends) + 1)
    for bend, place in zip(bends, places, strict=True):
        step[bend[1]] = place
    above = np.full(len(tree), len(bends) + 2)
    cut: list[list[int]] = [[] for _ in range(int(places.max(initial=0)) + 1)]
    for node in tree:
        if node.parent is not None:
            above[node.number] = min(above[node.parent], step[node.parent])
        if step[node.number] < min(above[node.number], len(bends) + 1):
            cut[int(step[node.number])].append(node.number)
    return [tuple(nodes) for nodes in cut]
