"""A slow, obvious twin of a forest: bags, draws, votes and measures in plain loops.

It is written from what the documentation says; its trees are those of
``tests/twins/naive.py``. Of the package it uses the order of copies and NumPy's
generators, which are part of what is documented.
"""

import math
from collections.abc import Sequence

import numpy as np
from tests.twins import naive
from tests.twins.naive_splits import Cell, Look, Rows

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15


def splitmix(word: int) -> int:
    """The finaliser of splitmix64, as Vigna publishes it."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) % WORD
    return word ^ (word >> 31)


def key_at(seed: int, path: Sequence[int]) -> int:
    key = splitmix(seed % WORD)
    for branch in path:
        key = splitmix((key + (branch + 1) * GOLDEN) % WORD)
    return key


def numbers_below(state: int, limits: Sequence[int]) -> list[int]:
    """xorshift64*: the upper half of each output, brought below a limit."""
    found = []
    for limit in limits:
        state ^= state >> 12
        state = (state ^ (state << 25)) % WORD
        state ^= state >> 27
        upper = (state * 0x2545F4914F6CDD1D) % WORD // 2**32
        found.append(upper * limit // 2**32)
    return found


def look_with(seed: int, n_attributes: int, tries: int, *, tells: bool) -> Look:
    """Return which attributes are looked at: shuffled, until so many vary."""

    def look(path: tuple[int, ...], rows: Rows, places: list[int]) -> list[int]:
        limits = list(range(n_attributes, 0, -1))
        steps = numbers_below(key_at(seed, path), limits)
        left, taken, varying = list(range(n_attributes)), [], 0
        while left and varying < tries:
            other = steps[len(taken)]
            left[0], left[other] = left[other], left[0]
            place = left.pop(0)
            taken.append(place)
            values = {cells[place] for cells, _, _ in rows}
            different = len(values if tells else values - {None})
            varying += place in places and different > 1
        return [place for place in taken if place in places]

    return look


def bag(seed: int, places: Sequence[int], size: int, *, replace: bool) -> list[int]:
    """Return the copies that are drawn, as rows."""
    return [places[draw] for draw in draws(seed, len(places), size, replace=replace)]


def draws(seed: int, n_copies: int, size: int, *, replace: bool) -> list[int]:
    """Return the copies that are drawn."""
    random = np.random.Generator(np.random.PCG64(seed))
    if replace:
        return [int(draw) for draw in random.integers(0, n_copies, size)]
    drawn = random.choice(n_copies, size, replace=False, shuffle=False)
    return [int(draw) for draw in drawn]


def log_loss(
    votes: Sequence[Sequence[float]],
    trees: Sequence[int],
    classes: Sequence[int],
    weights: Sequence[float],
) -> float:
    """Return the mean of -log of each row's own share; half a tree votes for all."""
    loss, total = 0.0, 0.0
    for own, n_trees, label, weight in zip(votes, trees, classes, weights, strict=True):
        if n_trees:
            share = (own[label] + 0.5 / len(own)) / (n_trees + 0.5)
            loss -= weight * math.log(share)
            total += weight
    return loss / total if total else 0.0


def shares_of(
    tree: naive.Node,
    cells: Sequence[Cell],
    shrinkage: float = 0.0,
    said: Sequence[float] | None = None,
) -> list[float]:
    """Return the class shares at the leaves that a row comes to, by its parts.

    Every step down adds what the shares change by, over 1 + shrinkage / weight above.
    """
    said = tree.distribution if said is None else said
    if not tree.children:
        return list(said)

    def below(branch: int) -> list[float]:
        child, damping = tree.children[branch], 1 + shrinkage / sum(tree.weights)
        pairs = zip(said, child.distribution, tree.distribution, strict=True)
        own = [s + (after - before) / damping for s, after, before in pairs]
        return shares_of(child, cells, shrinkage, own)

    way = tree.chosen.way
    if not isinstance(way.sides, tuple):  # a threshold has 12 digits
        way = naive.Way(float(f"{way.sides:.12g}"), way.missing)
    branch = way.branch_of(cells[tree.chosen.attribute])
    branch = way.missing if branch is None else branch
    if branch is not None:
        return below(branch)
    total = [0.0] * len(tree.distribution)
    for place, share in enumerate(tree.chosen.shares):
        if share > 0:
            parts = below(place)
            total = [sum_ + share * p for sum_, p in zip(total, parts, strict=True)]
    return total


def gained(tree: naive.Node, n_attributes: int) -> list[float]:
    """Return what each attribute gained: splits by their gains and weights."""
    sums = [0.0] * n_attributes
    todo = [tree]
    while todo:
        node = todo.pop()
        if node.chosen is not None:
            sums[node.chosen.attribute] += sum(node.weights) * max(node.chosen.gain, 0)
        todo += node.children
    return sums


def below(tree: naive.Node, n_attributes: int) -> list[list[int]]:
    """Return how many questions about b have one about a above them."""
    counts = [[0] * n_attributes for _ in range(n_attributes)]
    todo: list[tuple[naive.Node, frozenset[int]]] = [(tree, frozenset())]
    while todo:
        node, above = todo.pop()
        if node.chosen is None:
            continue
        for place in above:
            counts[place][node.chosen.attribute] += 1
        todo += [(child, above | {node.chosen.attribute}) for child in node.children]
    return counts


def proximities(leaves: Sequence[Sequence[int]]) -> list[list[float]]:
    """Return the share of trees in which two rows come to one leaf."""
    return [
        [
            sum(a == b for a, b in zip(one, other, strict=True)) / len(one)
            for other in leaves
        ]
        for one in leaves
    ]
