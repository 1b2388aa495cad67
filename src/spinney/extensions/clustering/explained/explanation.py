"""Clusters explained: a shallow tree over them, and their profiles."""

from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_number, check_whole
from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import percent_text, shown, weight_text
from spinney.data import Column, Table, Value, factorise, is_missing
from spinney.data.readers import read_table
from spinney.errors import DataError
from spinney.extensions.clustering.explained.profiles import profiles_of
from spinney.extensions.clustering.explained.sentences import (
    ExplainedCluster,
    explained,
)
from spinney.models import FittedTree, grow_model
from spinney.recipes import Recipe
from spinney.sources.rows import as_target, given_weights, training_set
from spinney.sources.training_data import TrainingData

MARKS_SHOWN = 3
LEAST_SHARE = 0.02
NAME = "cluster"
ENDLESS = (float("inf"), -float("inf"))


@dataclass(frozen=True, slots=True, eq=False)
class Explanation(InNotebooks):
    """What tells clusters apart, in words; ``print`` shows it.

    Parameters
    ----------
    clusters : tuple of ExplainedCluster
        A sentence and a profile of each.
    accuracy : float
        The share of rows, by weight, whose leaf says their cluster.
    right, weight : float
        What those rows weigh, and what all do.
    tree : FittedTree
        The tree; it can be read and questioned as any other.
    max_depth : int
        How deep it was allowed to be.
    min_leaf : float
        How many rows, by weight, each leaf must have.
    """

    clusters: tuple[ExplainedCluster, ...]
    accuracy: float
    right: float
    weight: float
    tree: FittedTree
    max_depth: int
    min_leaf: float

    def __getitem__(self, label: Value) -> ExplainedCluster:
        """Return the cluster of a label."""
        for cluster in self.clusters:
            if cluster.cluster == label:
                return cluster
        known = ", ".join(shown(cluster.cluster) for cluster in self.clusters[:20])
        msg = f"there is no cluster {label!r}: known are {known}"
        raise DataError(msg)

    def text(self, *, marks: int = MARKS_SHOWN, ascii_only: bool = False) -> str:
        """Return the sentences and, below each, what is most unusual.

        Parameters
        ----------
        marks : int
            How many marks of each cluster to show.
        ascii_only : bool
        """
        check_whole("marks", marks, least=0)
        leaves = self.tree.tree.n_leaves
        lines = [
            f"a tree of depth {self.tree.tree.height} with {leaves} "
            f"{'leaf' if leaves == 1 else 'leaves'} (depth at most {self.max_depth}, "
            f"leaves of at least {weight_text(self.min_leaf)}) tells the cluster of "
            f"{weight_text(self.right)} of {weight_text(self.weight)} rows "
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
    min_leaf: float | None = None,
) -> Explanation:
    """Explain clusters, whatever made them: by rules, and by what is unusual.

    A tree of the recipe ``"cart"`` is grown with the clusters as classes, in which
    missing values take the branch that suits them, and sibling leaves that say the same
    are joined. Each cluster gets a sentence from the leaves
    that say it. The profile of a cluster tells for each attribute how far its mean, or
    the share of one of its values, or of missing cells, is from that of all rows, in
    standard deviations.

    Parameters
    ----------
    data : table
        Anything that ``read_table`` takes: numbers, nominal and ordinal values, missing
        ones too. Those columns need not be the ones that the clusters were found by.
    labels : array
        The cluster of each row: numbers, texts.
    sample_weight : array, optional
        The weight of each row.
    max_depth : int, optional
        How many questions deep the tree may be; if not given one more than it takes to
        tell so many clusters apart: 1 + ⌈log₂ clusters⌉.
    min_leaf : float, optional
        How much the rows of a leaf must weigh; if not given a fiftieth of all, or half
        of the smallest cluster if that is less.

    Returns
    -------
    Explanation
        Its ``clusters``, ``accuracy`` and ``tree``; ``print`` shows the sentences.

    Examples
    --------
    >>> import spinney
    >>> table = {"size": [1, 2, 1, 9, 8, 9], "hue": ["a", "b", "a", "b", "b", None]}
    >>> print(spinney.explain_clusters(table, [0, 0, 0, 1, 1, 1]))
    a tree of depth 1 with 2 leaves (depth at most 2, leaves of at least 1) tells the
    cluster of 6 of 6 rows (100 %)
    <BLANKLINE>
    cluster 0 (3 rows): size ≤ 5; covers 3 of 3
      size: mean 1.333 (3 rows) beside 5 (6 rows), -0.992 sd
      hue = a: 2 of 3 (67 %) beside 2 of 5 (40 %), +0.544 sd
      hue is missing: 0 of 3 (0 %) beside 1 of 6 (17 %), -0.447 sd
    <BLANKLINE>
    cluster 1 (3 rows): size > 5; covers 3 of 3
      size: mean 8.667 (3 rows) beside 5 (6 rows), +0.992 sd
      hue = b: 2 of 2 (100 %) beside 3 of 5 (60 %), +0.816 sd
      hue is missing: 1 of 3 (33 %) beside 1 of 6 (17 %), +0.447 sd
    """
    check_whole("max_depth", max_depth, least=1, optional=True)
    check_number("min_leaf", min_leaf, optional=True)
    table = read_table(np.asarray(data) if isinstance(data, list) else data)
    if not table.n_rows:
        msg = "the table has no rows: give it at least one"
        raise DataError(msg)
    weights = None
    if sample_weight is not None:
        weights = given_weights(sample_weight, table.n_rows)
        if not weights.any():
            msg = "sample_weight is 0 for every row: at least one must weigh more"
            raise DataError(msg)
    codes, labels = _codes(labels, table.n_rows)
    if weights is not None:
        weighty = weights > 0
        table, weights = table.take(weighty), weights[weighty]
        codes, labels = _codes(np.asarray(labels, object)[codes[weighty]], len(weights))
    if len(labels) < 2:
        msg = (
            f"labels has one cluster only, {labels[0]!r}: there is nothing to tell "
            "apart; give rows of at least two clusters"
        )
        raise DataError(msg)
    own = np.ones(table.n_rows) if weights is None else weights
    if max_depth is None:
        max_depth = 1 + ceil(log2(len(labels)))
    if min_leaf is None:
        min_leaf = _least(np.asarray(np.bincount(codes, own), dtype=np.float64))
    tree = _grown(table, codes, labels, weights, max_depth, min_leaf)
    leaves = np.asarray(tree.apply(table))
    marks = profiles_of(table, codes, own, len(labels))
    clusters = explained(labels, tree.rules(), leaves, codes, own, marks)
    right, weight = sum(one.covered for one in clusters), float(own.sum())
    return Explanation(
        clusters, right / weight, right, weight, tree, max_depth, min_leaf
    )


def _least(sizes: Floats) -> float:
    """Return how much a leaf must weigh, by what clusters weigh.

    >>> _least(np.array([50.0, 100.0])), _least(np.array([3.0, 900.0]))
    (3.0, 1.0)
    """
    smallest = float(sizes.min())
    least = min(LEAST_SHARE * float(sizes.sum()), smallest / 2)
    return max(1.0, float(int(least))) if smallest >= 1 else least


def _codes(labels: Any, n_rows: int) -> tuple[Integers, tuple[Value, ...]]:
    """Return the cluster of each row as a code, and the labels of clusters."""
    given = np.asarray(labels)
    if given.ndim != 1 or len(given) != n_rows:
        msg = (
            f"labels has the shape {given.shape} and the table {n_rows} rows: give one "
            "cluster for each row"
        )
        raise DataError(msg)
    if given.dtype.kind not in "biufOUT":
        msg = f"labels holds {given.dtype}: a cluster is a number or a text"
        raise DataError(msg)
    if given.dtype.kind in "biu":
        levels, codes = np.unique(given, return_inverse=True)
        return codes.astype(np.int64), tuple(levels.tolist())
    as_list = [
        one.item() if isinstance(one, np.generic) else one for one in given.tolist()
    ]
    for row, label in enumerate(as_list):
        if is_missing(label) or label == "":
            msg = f"labels has none in row {row}: every row needs a cluster"
            raise DataError(msg)
        if not isinstance(label, (str, bool, int, float)) or label in ENDLESS:
            msg = f"labels has {label!r} in row {row}: a cluster is a number or a text"
            raise DataError(msg)
    numbers, distinct = factorise(as_list)
    return numbers.astype(np.int64), distinct


def _grown(
    table: Table,
    codes: Integers,
    labels: tuple[Value, ...],
    weights: Floats | None,
    max_depth: int,
    min_leaf: float,
) -> FittedTree:
    """Return the tree that tells clusters apart, by all columns that there are."""
    target, classes = as_target(Column(_free(NAME, table), "nominal", codes, labels))
    rows = training_set(table, target, classes=classes, weights=weights)
    recipe = Recipe.named("cart").changed(
        missing="branch",
        max_depth=max_depth,
        min_samples_leaf=max(1.0, min_leaf),  # below 1 it would be a share
    )
    model = grow_model(TrainingData(rows), recipe=recipe)
    return FittedTree(model).prune("simplify")


def _free(name: str, table: Table) -> str:
    """Return a name that no column has."""
    while name in table.names:
        name += "_"
    return name
