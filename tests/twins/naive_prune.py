"""Pruning in plain recursion: slow, obvious, and independent of the package's code.

A tree is a nested tuple (number, risk, children), made from the package's nodes once;
nothing else of the package is used. A pruned tree is the set of nodes that are cut.
"""

from dataclasses import dataclass
from itertools import product
from math import gamma, log2, pi, sqrt

CLOSE = 1e-9


@dataclass(frozen=True)
class Branch:
    """A node with its risk as a leaf, and the nodes below it."""

    number: int
    risk: float
    weight: float
    children: tuple["Branch", ...]
    rows: int = 1


def risk_of(node, target, costs=None) -> float:
    """Return the training risk of a node as a leaf."""
    if target.is_numeric:
        total, first, second = node.weights
        value = node.value - target.origin
        return max(second - 2 * value * first + value * value * total, 0.0)
    risk = 0.0
    for true, weight in enumerate(node.weights):
        if costs is None:
            risk += weight if true != node.label else 0.0
        else:
            risk += weight * costs[node.label][true]
    return float(risk)


def branch_of(tree, number: int = 0, costs=None) -> Branch:
    """Return a node of a tree with all below it."""
    node = tree.nodes[number]
    children = tuple(branch_of(tree, child, costs) for child in node.children)
    risk = risk_of(node, tree.schema.target, costs)
    return Branch(number, risk, node.weight, children, node.n_rows)


def leaves(branch: Branch, cut=frozenset()) -> list[Branch]:
    """Return the leaves of a tree in which nodes are cut."""
    if not branch.children or branch.number in cut:
        return [branch]
    return [leaf for child in branch.children for leaf in leaves(child, cut)]


def size(branch: Branch, cut=frozenset()) -> int:
    """Return how many leaves there are that rows came to."""
    return sum(leaf.rows > 0 for leaf in leaves(branch, cut))


def inner(branch: Branch, cut=frozenset()) -> list[Branch]:
    """Return the nodes of a tree that are still split, parents first."""
    if not branch.children or branch.number in cut:
        return []
    below = [node for child in branch.children for node in inner(child, cut)]
    return [branch, *below]


def risk(branch: Branch, cut=frozenset()) -> float:
    return sum(leaf.risk for leaf in leaves(branch, cut))


def visible(branch: Branch, cut) -> frozenset[int]:
    """Return the nodes that are cut and not below another."""
    return frozenset(leaf.number for leaf in leaves(branch, cut) if leaf.children)


def weakest_links(branch: Branch) -> list[tuple[float, frozenset[int]]]:
    """Return (α, nodes cut) of Breiman's sequence, by his algorithm step by step."""
    margin = CLOSE * max(branch.risk, 1e-300)

    def link(node: Branch, cut: frozenset[int]) -> float:
        subtree = leaves(node, cut)
        return (node.risk - sum(x.risk for x in subtree)) / (size(node, cut) - 1)

    cut: frozenset[int] = frozenset()
    while any(link(node, cut) <= margin for node in inner(branch, cut)):
        gone = {x.number for x in inner(branch, cut) if link(x, cut) <= margin}
        # Only the deepest first: a cut below changes the links above.
        least = min(inner(branch, cut), key=lambda node: link(node, cut))
        cut |= {least.number} if least.number in gone else gone
    found = [(0.0, visible(branch, cut))]
    while inner(branch, cut):
        links = {node.number: link(node, cut) for node in inner(branch, cut)}
        alpha = min(links.values())
        cut |= {number for number, g in links.items() if g <= alpha + margin}
        if alpha <= found[-1][0] + margin:
            found[-1] = (found[-1][0], visible(branch, cut))
        else:
            found.append((alpha, visible(branch, cut)))
    return found


def all_prunings(branch: Branch) -> list[frozenset[int]]:
    """Return every pruned form of a tree, as the nodes that are cut."""
    if not branch.children:
        return [frozenset()]
    below = product(*(all_prunings(child) for child in branch.children))
    return [frozenset({branch.number}), *(frozenset().union(*cuts) for cuts in below)]


def pessimistic(branch: Branch) -> frozenset[int]:
    """Return the nodes that Quinlan's rule of 1987 cuts, top-down."""
    if not branch.children:
        return frozenset()
    subtree = leaves(branch)
    errors = sum(leaf.risk for leaf in subtree) + size(branch) / 2
    spread = max(errors * (branch.weight - errors), 0.0)
    limit = errors + (sqrt(spread / branch.weight) if branch.weight > 0 else 0.0)
    if not limit < branch.risk + 0.5 - 1e-10:
        return frozenset({branch.number})
    return frozenset().union(*(pessimistic(child) for child in branch.children))


def class_bits(weights) -> float:
    """Return Rissanen's stochastic complexity of a leaf, in bits, at least 0."""
    n, k = sum(weights), len(weights)
    if n == 0:
        return 0.0
    bits = sum(w * log2(n / w) for w in weights if w > 0)
    bits += (k - 1) / 2 * log2(n / 2) + log2(pi ** (k / 2) / gamma(k / 2))
    return max(bits, 0.0)


def tree_bits(tree, cut) -> float:
    """Return the bits of a tree in which nodes are cut."""
    bits = 0.0
    branch = branch_of(tree)
    for leaf in leaves(branch, cut):
        if leaf.rows:
            bits += 1 + class_bits(tree.nodes[leaf.number].weights)
    for place in inner(branch, cut):
        node = tree.nodes[place.number]
        attribute = tree.schema.attributes[node.split.attribute]
        n_values = len(node.candidate.table.values)
        ways = 1
        if attribute.kind == "numeric":
            ways = max(node.n_rows - 1, 1)
        elif len(node.children) == 2 and n_values > 2:
            ordered = attribute.kind == "ordinal"
            ways = n_values - 1 if ordered else 2 ** (n_values - 1) - 1
        bits += 1 + log2(len(tree.schema.attributes)) + log2(ways)
    return bits


def simplified(tree, number: int = 0) -> frozenset[int]:
    """Return the nodes whose leaves all say the same, the uppermost ones."""
    node = tree.nodes[number]
    if node.is_leaf:
        return frozenset()
    below = frozenset().union(*(simplified(tree, child) for child in node.children))
    if all(tree.nodes[c].is_leaf or c in below for c in node.children):
        said = [says(tree, child) for child in (*node.children, number)]
        if all(same(said[0], other) for other in said):
            return frozenset({number})
    return below


def says(tree, number: int) -> float:
    node = tree.nodes[number]
    return node.value if tree.schema.target.is_numeric else node.label


def same(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-12 * max(abs(one), abs(other))
