"""The best tree of a depth, by trying all of them: the twin of the search."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from spinney._support.arrays import Floats, Integers


def least_loss(
    ranks: Integers, losses: Floats, depth: int, leaf_cost: float = 0.0
) -> float:
    """Return the least loss of any tree of a depth; a loss for each row and label."""
    return _least(ranks, losses, list(range(len(losses))), depth, leaf_cost)


def _least(
    ranks: Integers, losses: Floats, rows: Sequence[int], depth: int, leaf_cost: float
) -> float:
    best = min(sum(label[row] for row in rows) for label in losses.T) + leaf_cost
    if depth == 0:
        return float(best)
    for values in ranks:
        for cut in sorted({int(values[row]) for row in rows})[:-1]:
            left = [row for row in rows if values[row] <= cut]
            right = [row for row in rows if values[row] > cut]
            one = _least(ranks, losses, left, depth - 1, leaf_cost)
            two = _least(ranks, losses, right, depth - 1, leaf_cost)
            best = min(best, one + two)
    return float(best)


def least_squares(
    ranks: Integers,
    numbers: Floats,
    weights: Floats,
    depth: int,
    leaf_cost: float = 0.0,
) -> float:
    """Return the least sum of squares of any tree of a depth."""
    best = leaf_cost + float(
        np.sum(weights * (numbers - np.average(numbers, weights=weights)) ** 2)
    )
    if depth == 0:
        return best
    for values in ranks:
        for cut in np.unique(values)[:-1]:
            left = values <= cut
            best = min(
                best,
                sum(
                    least_squares(
                        ranks[:, side],
                        numbers[side],
                        weights[side],
                        depth - 1,
                        leaf_cost,
                    )
                    for side in (left, ~left)
                ),
            )
    return best


def least_by_leaves(
    ranks: Integers,
    losses: Floats,
    rows: Sequence[int],
    depth: int,
    most_leaves: int,
    *,
    leaf_cost: float = 0.0,
    path_cost: Floats | None = None,
) -> list[float]:
    """Return the least loss of trees of at most 1, 2, … leaves.

    A split costs ``leaf_cost``, and the path cost of each of its rows.
    """

    @cache
    def least(rows: tuple[int, ...], depth: int, most_leaves: int) -> list[float]:
        leaf = min(sum(label[row] for row in rows) for label in losses.T)
        best = [float(leaf)] * most_leaves
        if depth == 0 or most_leaves == 1:
            return best
        cost = leaf_cost + (
            0.0 if path_cost is None else sum(path_cost[row] for row in rows)
        )
        for values in ranks:
            for cut in sorted({int(values[row]) for row in rows})[:-1]:
                one, two = (
                    least(
                        tuple(row for row in rows if (values[row] <= cut) == side),
                        depth - 1,
                        most_leaves - 1,
                    )
                    for side in (True, False)
                )
                for i, left in enumerate(one):
                    for j, right in enumerate(two[: most_leaves - 1 - i]):
                        best[i + j + 1] = min(best[i + j + 1], left + right + cost)
        return [min(best[: k + 1]) for k in range(most_leaves)]

    return least(tuple(rows), depth, most_leaves)


def least_without_error(
    ranks: Integers, labels: Sequence[str], rows: Sequence[int], depth: int
) -> tuple[float, float]:
    """Return the fewest leaves, and the fewest questions, that part all labels."""
    alike = {tuple(values[row] for values in ranks): labels[row] for row in rows}
    if len({labels[row] for row in rows}) == 1 or len(alike) == 1:
        return 1.0, 0.0
    leaves = questions = float("inf")
    for values in ranks if depth else []:
        for cut in sorted({int(values[row]) for row in rows})[:-1]:
            sides = [
                least_without_error(
                    ranks,
                    labels,
                    [row for row in rows if (values[row] <= cut) == side],
                    depth - 1,
                )
                for side in (True, False)
            ]
            leaves = min(leaves, sides[0][0] + sides[1][0])
            questions = min(questions, len(rows) + sides[0][1] + sides[1][1])
    return leaves, questions
