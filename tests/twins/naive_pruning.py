"""A slow, obvious twin of error-based pruning: recursion over plain rows.

Nothing is kept but the questions of a tree; every count is taken from rows again.
"""

from dataclasses import dataclass, field
from math import erf, sqrt
from typing import Any

from tests.twins.naive import way_of
from tests.twins.naive_splits import Row, Way, class_weights_of, divide, weight_of

from spinney.trees import Tree


@dataclass
class Twin:
    """A node: what it asks, or nothing at a leaf."""

    attribute: int = -1
    way: Way | None = None
    children: list["Twin"] = field(default_factory=list)

    def become(self, other: "Twin") -> None:
        self.attribute, self.way = other.attribute, other.way
        self.children = other.children


def twin_of(tree: Tree, number: int = 0) -> Twin:
    node = tree.nodes[number]
    if not node.children:
        return Twin()
    below = [twin_of(tree, child) for child in node.children]
    return Twin(node.split.attribute, way_of(node.split), below)


def parts_of(twin: Twin, rows: list[Row]) -> list[list[Row]]:
    """Return the rows of each child; those that belong to none in parts."""
    branches, rest = divide(rows, twin.attribute, twin.way)
    known = [
        row for row in rows if twin.way.branch_of(row[0][twin.attribute]) is not None
    ]
    sizes = [weight_of(part) for part in divide(known, twin.attribute, twin.way)[0]]
    total = sum(sizes)
    shares = [size / total if total else 1 / len(sizes) for size in sizes]
    return [
        branch
        + [(cells, label, weight * share) for cells, label, weight in rest if share]
        for branch, share in zip(branches, shares, strict=True)
    ]


# Errors


def quantile(level: float) -> float:
    """Return the quantile of the normal distribution by halving an interval."""
    low, high = -10.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        if (1 + erf(middle / sqrt(2))) / 2 < level:
            low = middle
        else:
            high = middle
    return low


def added(n: float, e: float, confidence: float) -> float:
    if e == 0:
        return n * (1 - confidence ** (1 / n))
    if e < 1:
        none = added(n, 0, confidence)
        return none + e * (added(n, 1, confidence) - none)
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    z, f = quantile(1 - confidence), (e + 0.5) / n
    root = sqrt(f / n - f**2 / n + z**2 / (4 * n**2))
    return n * (f + z**2 / (2 * n) + z * root) / (1 + z**2 / n) - e


@dataclass
class Task:
    n_classes: int
    confidence: float
    raising: bool = True


def wrong(rows: list[Row], n_classes: int) -> float:
    return weight_of(rows) - max(class_weights_of(rows, n_classes)) if rows else 0.0


def leaf_estimate(rows: list[Row], task: Task) -> float:
    n = weight_of(rows)
    e = wrong(rows, task.n_classes)
    e = 0.0 if e < 1e-12 else e
    return e + added(n, e, task.confidence) if n > 1e-6 else 0.0


def estimate(twin: Twin, rows: list[Row], task: Task) -> float:
    if not twin.children:
        return leaf_estimate(rows, task)
    pairs = zip(twin.children, parts_of(twin, rows), strict=True)
    return sum(estimate(child, part, task) for child, part in pairs)


def training_errors(twin: Twin, rows: list[Row], task: Task) -> float:
    if not twin.children:
        return wrong(rows, task.n_classes)
    pairs = zip(twin.children, parts_of(twin, rows), strict=True)
    return sum(training_errors(child, part, task) for child, part in pairs)


# Pruning


def collapse(twin: Twin, rows: list[Row], task: Task) -> None:
    if not twin.children:
        return
    as_leaf = wrong(rows, task.n_classes)
    if training_errors(twin, rows, task) >= as_leaf - 1e-3:
        twin.become(Twin())
        return
    for child, part in zip(twin.children, parts_of(twin, rows), strict=True):
        collapse(child, part, task)


def prune(twin: Twin, rows: list[Row], task: Task) -> None:
    if not twin.children:
        return
    parts = parts_of(twin, rows)
    for child, part in zip(twin.children, parts, strict=True):
        prune(child, part, task)
    sizes = [weight_of(part) for part in parts]
    largest = [place for place, s in enumerate(sizes) if s >= max(sizes) - 1e-9][-1]
    branch = twin.children[largest]
    as_leaf, as_tree = leaf_estimate(rows, task), estimate(twin, rows, task)
    as_branch = estimate(branch, rows, task) if task.raising else float("inf")
    if as_leaf <= as_tree + 0.1 and as_leaf <= as_branch + 0.1:
        twin.become(Twin())
    elif as_branch <= as_tree + 0.1:
        twin.become(branch)
        prune(twin, rows, task)


def shape(twin: Twin, rows: list[Row], task: Task, path: tuple = ()) -> list[Any]:
    """Return path, question and class weights of every node, in printing order."""
    weights = class_weights_of(rows, task.n_classes)
    found = [(path, twin.attribute, twin.way and twin.way.sides, weights)]
    if twin.children:
        pairs = zip(twin.children, parts_of(twin, rows), strict=True)
        for branch, (child, part) in enumerate(pairs):
            found += shape(child, part, task, (*path, branch))
    return found
