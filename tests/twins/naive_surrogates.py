"""Surrogates in plain loops: written from what ``docs/cart.md`` says.

A row is ``(cells, class, weight)`` as in ``tests.twins.naive``; weights here are the
rows' own, whatever their classes weigh.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

TOLERANCE = 1e-12


@dataclass
class Surrogate:
    attribute: int
    way: Any
    reversed: bool
    agreement: float = 0.0
    adjusted: float = 0.0

    def branch_of(self, cells: Sequence[Any]) -> int | None:
        branch = self.way.branch_of(cells[self.attribute])
        return 1 - branch if self.reversed and branch is not None else branch


def equal(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE * max(1.0, abs(one), abs(other))


def first_of_best(merits: Sequence[float]) -> int:
    best = max(merits)
    return next(p for p, merit in enumerate(merits) if equal(merit, best))


def all_questions(rows: Sequence, known: Sequence, place: int, kind: str, way: Any):
    """Return the questions about an attribute, each with whether it is reversed.

    ``known`` are pairs of a row and the branch that the split sends it to.
    """
    if kind != "nominal":
        values = sorted({row[0][place] for row in rows} - {None})
        cuts = [(low + high) / 2 for low, high in pairwise(values)]
        return [(way(cut), swapped) for cut in cuts for swapped in (False, True)]
    weights: dict[int, list[float]] = {}
    total = [0.0, 0.0]
    for (cells, _, weight), branch in known:
        if cells[place] is not None:
            weights.setdefault(cells[place], [0.0, 0.0])[branch] += weight
            total[branch] += weight
    heavier = 0 if total[0] > total[1] and not equal(*total) else 1
    groups: tuple[list[int], list[int]] = ([], [])
    for code in sorted(weights):
        left, right = weights[code]
        side = heavier if equal(left, right) else int(right > left)
        groups[side].append(code)
    return [(way(tuple(map(tuple, groups))), False)]


def find(
    rows: Sequence, chosen: Any, places: Sequence[int], kinds: Sequence[str], most: int
) -> list[Surrogate]:
    """Return the surrogates of a split, best first."""
    pairs = [(row, chosen.way.branch_of(row[0][chosen.attribute])) for row in rows]
    known = [(row, branch) for row, branch in pairs if branch is not None]
    sizes = [sum(row[2] for row, b in known if b == branch) for branch in (0, 1)]
    majority = max(sizes) / sum(sizes)
    found = []
    for place in places:
        if place == chosen.attribute:
            continue
        tried = []
        way = type(chosen.way)
        for asked, swapped in all_questions(rows, known, place, kinds[place], way):
            surrogate = Surrogate(place, asked, swapped)
            sent = [surrogate.branch_of(row[0]) for row, _ in known]
            agreeing = sum(
                row[2]
                for (row, b), s in zip(known, sent, strict=True)
                if s is not None and s == b
            )
            if min(sent.count(0), sent.count(1)) >= 2:
                surrogate.agreement = agreeing / sum(sizes)
                surrogate.adjusted = (surrogate.agreement - majority) / (1 - majority)
                tried.append(surrogate)
        if tried:
            best = tried[first_of_best([each.agreement for each in tried])]
            if best.adjusted > 1e-10:
                found.append(best)
    ranked = []
    while found and len(ranked) < most:
        ranked.append(found.pop(first_of_best([each.agreement for each in found])))
    return ranked


def heaviest(rows: Sequence, chosen: Any) -> int:
    """Return the branch of the greatest weight, the first of equals."""
    sizes = [0.0, 0.0]
    for cells, _, weight in rows:
        branch = chosen.way.branch_of(cells[chosen.attribute])
        if branch is not None:
            sizes[branch] += weight
    return first_of_best(sizes)


def branch_of(
    cells: Sequence[Any], chosen: Any, surrogates: Sequence[Surrogate], default: int
) -> int:
    """Return where a row goes."""
    branch = chosen.way.branch_of(cells[chosen.attribute])
    for surrogate in surrogates:
        if branch is None:
            branch = surrogate.branch_of(cells)
    return default if branch is None else branch


def divide(node: Any, task: Any) -> tuple[list[list[Any]], list[Any]]:
    """Give a node its surrogates, and return its rows by branch; none is left over."""
    own = [(cells, c, weight / task.scale[c]) for cells, c, weight in node.rows]
    kinds = [attribute.kind for attribute in task.schema.attributes]
    most = task.recipe.surrogates
    node.surrogates = find(own, node.chosen, node.attributes, kinds, most)
    node.default_branch = heaviest(own, node.chosen)
    branches: list[list[Any]] = [[], []]
    for row in node.rows:
        sent = branch_of(row[0], node.chosen, node.surrogates, node.default_branch)
        branches[sent].append(row)
    return branches, []
