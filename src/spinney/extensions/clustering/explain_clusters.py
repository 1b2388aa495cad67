"""Explanations of clusters: the rules of a shallow tree, and profiles."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_number, check_whole
from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import percent_text, shown, weight_text
from spinney.data import Column, Table, Value, factorise, is_missing, level_order
from spinney.data.readers import read_table
from spinney.errors import DataError
from spinney.extensions.clustering.cluster_profiles import Mark, cluster_profiles
from spinney.models import FittedTree, grow_model
from spinney.output.leaf_rules import Condition, Rules
from spinney.recipes import Recipe
from spinney.sources.rows import as_target, given_weights, training_set
from spinney.sources.training_data import TrainingData


@dataclass(frozen=True, slots=True)
class ClusterRule:
    """A rule of the tree, with the covered weights of its cluster and of others."""

    leaf: int
    conditions: tuple[Condition, ...]
    covered: float
    others: float

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the conditions of the rule."""
        texts = [condition.text(ascii_only=ascii_only) for condition in self.conditions]
        if len(texts) > 1:
            texts = [f"({t})" if t.endswith(" or missing") else t for t in texts]
        return " and ".join(texts) if texts else "always"


@dataclass(frozen=True, slots=True)
class ExplainedCluster:
    """The rules of a cluster, most rows first, and its profile, most unusual first."""

    cluster: Value
    weight: float
    rules: tuple[ClusterRule, ...]
    marks: tuple[Mark, ...]

    @property
    def covered(self) -> float:
        """The weight of the cluster's rows that its rules cover."""
        return sum(rule.covered for rule in self.rules)

    @property
    def others(self) -> float:
        """The weight of other clusters' rows that the cluster's rules cover."""
        return sum(rule.others for rule in self.rules)

    @property
    def sentence(self) -> str:
        """The rules of the cluster, and how many rows they cover."""
        return self.text()

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the sentence."""
        whole = weight_text(self.weight)
        rows = "1 row" if self.weight == 1 else f"{whole} rows"
        head = f"cluster {shown(self.cluster)} ({rows}): "
        if not self.rules:
            return head + "no leaf of the tree predicts it"
        conditions = [rule.text(ascii_only=ascii_only) for rule in self.rules]
        if len(conditions) > 1:
            conditions = [
                f"({text})" if " and " in text else text for text in conditions
            ]
        word = "other" if self.others == 1 else "others"
        others = f", and {weight_text(self.others)} {word}" if self.others else ""
        covers = f"covers {weight_text(self.covered)} of {whole}{others}"
        return f"{head}{' or '.join(conditions)}; {covers}"


def describe_clusters(
    labels: Sequence[Value],
    rules: Rules,
    leaves: Integers,
    codes: Integers,
    weights: Floats,
    marks: Sequence[tuple[Mark, ...]],
) -> tuple[ExplainedCluster, ...]:
    """Return the clusters in words, given each row's leaf, cluster and weight."""
    sizes = np.bincount(codes, weights=weights, minlength=len(labels))
    labels_in_order = [level_order(label) for label in labels]
    by_cluster: list[list[ClusterRule]] = [[] for _ in labels]
    for rule in rules:
        code = labels_in_order.index(level_order(rule.label))
        inside = leaves == rule.leaf
        covered = float(weights[inside & (codes == code)].sum())
        others = float(weights[inside & (codes != code)].sum())
        by_cluster[code].append(
            ClusterRule(rule.leaf, rule.conditions, covered, others)
        )
    for listed in by_cluster:
        listed.sort(key=lambda rule: -rule.covered)
    return tuple(
        ExplainedCluster(label, float(size), tuple(listed), profile)
        for label, size, listed, profile in zip(
            labels, sizes, by_cluster, marks, strict=True
        )
    )


MARKS_SHOWN = 3
MIN_LEAF_FRACTION = 0.02
NAME = "cluster"
INFINITIES = (float("inf"), -float("inf"))


@dataclass(frozen=True, slots=True, eq=False)
class Explanation(InNotebooks):
    """Explained clusters; ``print`` shows rules and profiles.

    Parameters
    ----------
    clusters : tuple of ExplainedCluster
        The rules and the profile of each cluster.
    accuracy : float
        The proportion of rows, by weight, whose cluster the tree predicts.
    right, weight : float
        The weight of the correctly predicted rows, and of all rows.
    tree : FittedTree
        The tree.
    max_depth, min_samples_leaf
        The limits of the tree.
    """

    clusters: tuple[ExplainedCluster, ...]
    accuracy: float
    right: float
    weight: float
    tree: FittedTree
    max_depth: int
    min_samples_leaf: float

    def __getitem__(self, label: Value) -> ExplainedCluster:
        """Return the cluster of a label."""
        for cluster in self.clusters:
            if cluster.cluster == label:
                return cluster
        labels = ", ".join(shown(cluster.cluster) for cluster in self.clusters[:20])
        msg = f"there is no cluster {label!r}: use one of {labels}"
        raise DataError(msg)

    def text(self, *, marks: int = MARKS_SHOWN, ascii_only: bool = False) -> str:
        """Return each cluster's rules and the first ``marks`` marks of its profile."""
        check_whole("marks", marks, least=0)
        leaves = self.tree.tree.n_leaves
        lines = [
            f"a tree of depth {self.tree.tree.height} with {leaves} "
            f"{'leaf' if leaves == 1 else 'leaves'} (maximum depth {self.max_depth}, "
            f"minimum leaf weight {weight_text(self.min_samples_leaf)}) assigns "
            f"{weight_text(self.right)} of {weight_text(self.weight)} rows correctly "
            f"({percent_text(self.accuracy)})"
        ]
        for cluster in self.clusters:
            lines += ["", cluster.text(ascii_only=ascii_only)]
            lines += [f"  {mark.text()}" for mark in cluster.marks[:marks]]
        return "\n".join(lines)


def explain_clusters(
    data: Any,
    labels: Any,
    *,
    sample_weight: Any = None,
    max_depth: int | None = None,
    min_samples_leaf: float | None = None,
) -> Explanation:
    """Explain clusters of any origin by the rules of a tree, and by profiles.

    A tree of the recipe ``"cart"`` is grown with the clusters as classes. Missing
    values take the best branch, and sibling leaves of one class are merged. The rules
    of a cluster are those of its leaves. Its profile has, for each attribute, the
    difference of a mean or a proportion from that of all rows, in standard deviations.

    Parameters
    ----------
    data : table
        Anything that ``read_table`` takes, with the columns of the clusters or others.
    labels : array
        The cluster of each row: numbers or texts.
    sample_weight : array, optional
        The weight of each row.
    max_depth : int, optional
        The maximum depth of the tree; 1 + ⌈log₂ clusters⌉ by default.
    min_samples_leaf : float, optional
        The minimum weight of a leaf; by default 2 % of all rows, or half of the
        smallest cluster if that is less.

    Returns
    -------
    Explanation
        ``clusters``, ``accuracy`` and ``tree``; ``print`` shows them.

    Examples
    --------
    >>> import spinney
    >>> table = {"size": [1, 2, 1, 9, 8, 9], "hue": ["a", "b", "a", "b", "b", None]}
    >>> print(spinney.explain_clusters(table, [0, 0, 0, 1, 1, 1]))
    a tree of depth 1 with 2 leaves (maximum depth 2, minimum leaf weight 1) assigns
    6 of 6 rows correctly (100 %)
    <BLANKLINE>
    cluster 0 (3 rows): size ≤ 5; covers 3 of 3
      size: mean 1.333 (3 rows) vs. 5 (6 rows), -0.992 sd
      hue = a: 2 of 3 (67 %) vs. 2 of 5 (40 %), +0.544 sd
      hue is missing: 0 of 3 (0 %) vs. 1 of 6 (17 %), -0.447 sd
    <BLANKLINE>
    cluster 1 (3 rows): size > 5; covers 3 of 3
      size: mean 8.667 (3 rows) vs. 5 (6 rows), +0.992 sd
      hue = b: 2 of 2 (100 %) vs. 3 of 5 (60 %), +0.816 sd
      hue is missing: 1 of 3 (33 %) vs. 1 of 6 (17 %), +0.447 sd
    """
    check_whole("max_depth", max_depth, least=1, optional=True)
    check_number("min_samples_leaf", min_samples_leaf, optional=True)
    table = read_table(np.asarray(data) if isinstance(data, list) else data)
    if not table.n_rows:
        msg = "the table has no rows"
        raise DataError(msg, remedy="give at least one")
    weights = None
    if sample_weight is not None:
        weights = given_weights(sample_weight, table.n_rows)
        if not weights.any():
            msg = "sample_weight is 0 for every row"
            raise DataError(msg, remedy="give at least one row a weight above 0")
    codes, labels = _encode_labels(labels, table.n_rows)
    if weights is not None:
        counts = weights > 0
        table, weights = table.take(counts), weights[counts]
        counted = np.asarray(labels, object)[codes[counts]]
        codes, labels = _encode_labels(counted, len(weights))
    if len(labels) < 2:
        msg = f"labels has one cluster only, {labels[0]!r}"
        raise DataError(msg, remedy="give rows of at least two clusters")
    row_weights = np.ones(table.n_rows) if weights is None else weights
    if max_depth is None:
        max_depth = 1 + ceil(log2(len(labels)))
    if min_samples_leaf is None:
        min_samples_leaf = _min_leaf_weight(
            np.asarray(np.bincount(codes, row_weights), dtype=np.float64)
        )
    tree = _grow_tree(table, codes, labels, weights, max_depth, min_samples_leaf)
    leaves = np.asarray(tree.apply(table))
    marks = cluster_profiles(table, codes, row_weights, len(labels))
    clusters = describe_clusters(
        labels, tree.rules(), leaves, codes, row_weights, marks
    )
    right, weight = sum(c.covered for c in clusters), float(row_weights.sum())
    return Explanation(
        clusters, right / weight, right, weight, tree, max_depth, min_samples_leaf
    )


def _min_leaf_weight(sizes: Floats) -> float:
    """Return the minimum weight of a leaf, given the weights of clusters.

    >>> _min_leaf_weight(np.array([50.0, 100.0]))
    3.0
    """
    smallest = float(sizes.min())
    least = min(MIN_LEAF_FRACTION * float(sizes.sum()), smallest / 2)
    return max(1.0, float(int(least))) if smallest >= 1 else least


def _encode_labels(labels: Any, n_rows: int) -> tuple[Integers, tuple[Value, ...]]:
    """Return each row's cluster as a code, and the labels."""
    array = np.asarray(labels)
    if array.ndim != 1 or len(array) != n_rows:
        msg = f"labels has the shape {array.shape} and the table {n_rows} rows"
        raise DataError(msg, remedy="give one label for each row")
    if array.dtype.kind not in "biufOUT":
        msg = f"labels has the type {array.dtype}: give numbers or texts"
        raise DataError(msg)
    if array.dtype.kind in "biu":
        levels, codes = np.unique(array, return_inverse=True)
        return codes.astype(np.int64), tuple(levels.tolist())
    as_list = [x.item() if isinstance(x, np.generic) else x for x in array.tolist()]
    for row, label in enumerate(as_list):
        if is_missing(label) or label == "":
            msg = f"labels is missing in row {row}: every row needs a cluster"
            raise DataError(msg)
        if not isinstance(label, (str, bool, int, float)) or label in INFINITIES:
            msg = f"labels has {label!r} in row {row}: give numbers or texts"
            raise DataError(msg)
    numbers, distinct = factorise(as_list)
    return numbers.astype(np.int64), distinct


def _grow_tree(
    table: Table,
    codes: Integers,
    labels: tuple[Value, ...],
    weights: Floats | None,
    max_depth: int,
    min_samples_leaf: float,
) -> FittedTree:
    """Return the tree that predicts the clusters from all columns."""
    name = NAME
    while name in table.names:
        name += "_"
    target, classes = as_target(Column(name, "nominal", codes, labels))
    rows = training_set(table, target, classes=classes, weights=weights)
    recipe = Recipe.named("cart").changed(
        missing_policy="branch",
        max_depth=max_depth,
        min_samples_leaf=max(1.0, min_samples_leaf),  # below 1 it would be a fraction
    )
    model = grow_model(TrainingData(rows), recipe=recipe)
    return FittedTree(model).prune("simplify")
