"""The best tree of a depth, by trying all of them: the twin of the search."""

from collections.abc import Sequence

import numpy as np

from spinney._support.arrays import Floats, Integers


def least_loss(
    ranks: Integers, losses: Floats, depth: int, price: float = 0.0
) -> float:
    """Return the least loss of any tree of a depth; a loss for each row and label."""
    return _least(ranks, losses, list(range(len(losses))), depth, price)


def _least(
    ranks: Integers, losses: Floats, rows: Sequence[int], depth: int, price: float
) -> float:
    best = min(sum(label[row] for row in rows) for label in losses.T) + price
    if depth == 0:
        return float(best)
    for values in ranks:
        for cut in sorted({int(values[row]) for row in rows})[:-1]:
            left = [row for row in rows if values[row] <= cut]
            right = [row for row in rows if values[row] > cut]
            one = _least(ranks, losses, left, depth - 1, price)
            two = _least(ranks, losses, right, depth - 1, price)
            best = min(best, one + two)
    return float(best)


def least_squares(
    ranks: Integers, numbers: Floats, weights: Floats, depth: int, price: float = 0.0
) -> float:
    """Return the least sum of squares of any tree of a depth."""
    best = price + float(
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
                        ranks[:, side], numbers[side], weights[side], depth - 1, price
                    )
                    for side in (left, ~left)
                ),
            )
    return best
