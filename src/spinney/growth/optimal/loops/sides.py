"""What all solvers share: rows in one leaf, and the two sides of a cut."""

from spinney._support.jit.compile import kernel
from spinney.growth.optimal.loops.stumps import add_row, leaf_loss

# How much more than needed a subtree may lose, as a share of its rows' loss in a leaf.
SLACK = 0.15


@kernel
def in_a_leaf(problem, totals, order, n_rows):
    """Add up all rows, and return their loss in a leaf."""
    for k in range(len(totals)):
        totals[k] = 0.0
    for i in range(n_rows):
        add_row(problem, order[0, i], totals, 1.0)
    return leaf_loss(problem, totals)


@kernel
def tell_all(told, bound):
    """Put down one bound for the roots of every attribute."""
    for a in range(len(told)):
        told[a] = bound


def both_sides(solve):
    """Return how both sides of a cut are searched, by the solver of their depth."""

    @kernel
    def sides(problem, room, depth, n_left, n_right, low, high, best, told):
        # The side of fewer rows is first: where it loses enough, the other rests.
        orders, lasts = room.order[depth - 1], room.last[depth - 1]
        first = 0 if n_left <= n_right else 1
        known, other = (low, high) if first == 0 else (high, low)
        one, _, _ = solve(
            problem,
            room,
            depth - 1,
            orders[first],
            lasts[first],
            min(n_left, n_right),
            best - other,
            told[first],
        )
        one = max(one, known)
        if one + other < best:
            two, _, _ = solve(
                problem,
                room,
                depth - 1,
                orders[1 - first],
                lasts[1 - first],
                max(n_left, n_right),
                best - one,
                told[1 - first],
            )
            other = max(other, two)
        return (one, other) if first == 0 else (other, one)

    return sides
