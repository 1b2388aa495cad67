"""A sentence for each cluster, from the rules of a tree that tells them apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.text import shown, weight_text
from spinney.data import Value, level_order
from spinney.extensions.clustering.explained.profiles import Mark
from spinney.output.leaf_rules import Condition, Rules


@dataclass(frozen=True, slots=True)
class ClusterRule:
    """One rule of the tree: what it asks, and the rows that it holds of.

    Parameters
    ----------
    leaf : int
        The number of the tree's leaf.
    conditions : tuple of Condition
        All of them must hold.
    covered : float
        What the cluster's rows in the leaf weigh.
    others : float
        What rows of other clusters in it weigh.
    """

    leaf: int
    conditions: tuple[Condition, ...]
    covered: float
    others: float

    def text(self, *, ascii_only: bool = False) -> str:
        """Return what the rule asks."""
        asked = [one.text(ascii_only=ascii_only) for one in self.conditions]
        if len(asked) > 1:
            asked = [
                f"({one})" if one.endswith(" or missing") else one for one in asked
            ]
        return " and ".join(asked) if asked else "always"


@dataclass(frozen=True, slots=True)
class ExplainedCluster:
    """A cluster in words.

    Parameters
    ----------
    cluster : int, str, ...
        Its label.
    weight : float
        What its rows weigh: how many there are, where none has a weight.
    rules : tuple of ClusterRule
        The leaves of the tree that say this cluster, those with most of its rows
        first.
    marks : tuple of Mark
        What is unusual about it, the most unusual first.
    """

    cluster: Value
    weight: float
    rules: tuple[ClusterRule, ...]
    marks: tuple[Mark, ...]

    @property
    def covered(self) -> float:
        """What its rows weigh that come to its own leaves."""
        return sum(rule.covered for rule in self.rules)

    @property
    def others(self) -> float:
        """What rows of other clusters weigh that come to its leaves."""
        return sum(rule.others for rule in self.rules)

    @property
    def sentence(self) -> str:
        """What the tree says of the cluster, and how far it is right."""
        return self.text()

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the sentence."""
        whole = weight_text(self.weight)
        rows = "1 row" if self.weight == 1 else f"{whole} rows"
        head = f"cluster {shown(self.cluster)} ({rows}): "
        if not self.rules:
            return head + "no leaf of the tree is mostly of it"
        asked = [rule.text(ascii_only=ascii_only) for rule in self.rules]
        if len(asked) > 1:
            asked = [f"({one})" if " and " in one else one for one in asked]
        word = "other" if self.others == 1 else "others"
        others = f", and {weight_text(self.others)} {word}" if self.others else ""
        covers = f"covers {weight_text(self.covered)} of {whole}{others}"
        return f"{head}{' or '.join(asked)}; {covers}"


def explained(
    labels: Sequence[Value],
    rules: Rules,
    leaves: Integers,
    codes: Integers,
    weights: Floats,
    marks: Sequence[tuple[Mark, ...]],
) -> tuple[ExplainedCluster, ...]:
    """Return the clusters in words.

    Parameters
    ----------
    labels : sequence
        Those of the clusters.
    rules : Rules
        Of the tree whose classes are the labels.
    leaves, codes, weights : array
        The leaf, the cluster and the weight of each row.
    marks : sequence
        Those of each cluster.
    """
    sizes = np.bincount(codes, weights=weights, minlength=len(labels))
    code_of = {level_order(label): code for code, label in enumerate(labels)}
    rules_of: list[list[ClusterRule]] = [[] for _ in labels]
    for rule in rules:
        code = code_of[level_order(rule.label)]
        inside = leaves == rule.leaf
        covered = float(weights[inside & (codes == code)].sum())
        others = float(weights[inside & (codes != code)].sum())
        rules_of[code].append(ClusterRule(rule.leaf, rule.conditions, covered, others))
    return tuple(
        ExplainedCluster(
            label,
            float(sizes[code]),
            tuple(sorted(rules_of[code], key=lambda rule: -rule.covered)),
            marks[code],
        )
        for code, label in enumerate(labels)
    )
