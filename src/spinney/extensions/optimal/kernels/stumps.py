"""Optimal trees of depth one: of some rows, and on both sides of eight cuts at once.

Both sides of a cut of attribute a need their best stump. Rows are read once in the
order of each attribute b. A row counts on the left if its rank by a is at most the rank
of the cut; the rest of the cumulative sum is on the right. So one pass serves both
sides and eight cuts in parallel, because only the rank differs::

    lanes   ranks of the cuts | sums on the left | least | greatest | …    8 each

With two labels, the loss of a split is the loss of all rows under the second label plus
the sum of differences over one side. So the least and the greatest sum suffice.
"""

from spinney._support.jit.compile import kernel
from spinney.extensions.optimal.kernels.layout import LANES, Family
from spinney.extensions.optimal.kernels.losses_by_size import MAX_LOSS


@kernel
def leaf_loss(problem, totals):
    """Return the loss of a leaf with these totals; further totals are ignored."""
    family = problem.family[0]
    if family == Family.PAIR:
        return max(0.0, min(totals[0], totals[1]))
    if family == Family.LABELS:
        least = totals[0]
        for label in range(1, problem.sums.shape[1]):
            least = min(least, totals[label])
        return max(0.0, least)
    squares = explained(totals[0], totals[1], problem.leaf_cost[1])
    return max(0.0, totals[2] - squares)


@kernel
def explained(weight, first, least):
    """Return the squares that a mean explains; 0 for a weight below ``least``."""
    return first * first / weight if weight > least else 0.0


@kernel
def add_row(problem, row, totals, sign):
    """Add the numbers of a row to totals, or subtract them."""
    if problem.family[0] == Family.PAIR:
        number = problem.sums[row, 0]
        if number > 0:
            totals[0] += sign * number
        else:
            totals[1] -= sign * number
    else:
        for k in range(problem.sums.shape[1]):
            totals[k] += sign * problem.sums[row, k]


@kernel
def best_stump(problem, order, is_last, n_rows, totals, left):
    """Return the least loss of two leaves, and the attribute and position of the split.

    ``left`` is a workspace for the sums of one side.
    """
    best, attribute, position = MAX_LOSS, -1, -1
    for a in range(order.shape[0]):
        for k in range(len(left)):
            left[k] = 0.0
        for i in range(n_rows - 1):
            add_row(problem, order[a, i], left, 1.0)
            if is_last[a, i]:
                loss = _two_leaf_loss(problem, totals, left)
                if loss < best:
                    best, attribute, position = loss, a, i
    return best, attribute, position


@kernel
def _two_leaf_loss(problem, totals, left):
    """Return the loss of two leaves, from the totals and the sums on the left."""
    family = problem.family[0]
    if family == Family.PAIR:
        right = min(totals[0] - left[0], totals[1] - left[1])
        return max(0.0, min(left[0], left[1])) + max(0.0, right)
    if family == Family.LABELS:
        first, second = left[0], totals[0] - left[0]
        for label in range(1, problem.sums.shape[1]):
            first = min(first, left[label])
            second = min(second, totals[label] - left[label])
        return max(0.0, first) + max(0.0, second)
    least = problem.leaf_cost[1]
    squares = explained(left[0], left[1], least)
    squares += explained(totals[0] - left[0], totals[1] - left[1], least)
    return max(0.0, totals[2] - squares)


@kernel
def stumps_by_side(problem, order, is_last, n_rows, ranks, lanes):
    """Find the least losses of stumps on both sides of eight cuts.

    ``lanes`` begins with the ranks of the cuts, then the totals on the left of each
    cut, number by number, then the totals on the right. The losses follow.
    """
    family, n_lanes = problem.family[0], problem.family[1]
    n = problem.sums.shape[1] + (1 if family == Family.PAIR else 0)
    losses = (1 + 2 * n) * LANES
    for j in range(2 * LANES):
        lanes[losses + j] = MAX_LOSS
    if family == Family.PAIR:
        _two_label_losses(problem, order, is_last, n_rows, ranks, lanes, n_lanes)
    elif family == Family.LABELS:
        _many_label_losses(problem, order, is_last, n_rows, ranks, lanes, n_lanes)
    else:
        _explained_squares(problem, order, is_last, n_rows, ranks, lanes, n_lanes)


# The places of the lanes of two labels: cuts, totals of two labels on both sides,
# losses, then the sums, the least and the greatest of them, left and right.
_CUT, _LOSS, _SUM = 0, 5 * LANES, 7 * LANES
_LOW, _HIGH, _RIGHT_LOW, _RIGHT_HIGH = 8 * LANES, 9 * LANES, 10 * LANES, 11 * LANES
_SECOND = 5 * LANES  # the shift to the sums of the second attribute


@kernel
def _two_label_losses(problem, order, is_last, n_rows, ranks, lanes, n_lanes):
    """Find the losses of two labels, for two attributes at a time.

    While the processor waits for the rows of one attribute, it adds rows of the other.
    """
    sums, n_attributes = problem.sums, order.shape[0]
    for b in range(0, n_attributes, 2):
        c = min(b + 1, n_attributes - 1)
        for j in range(2 * _SECOND):
            lanes[_SUM + j] = 0.0
        total_b, total_c = 0.0, 0.0
        for i in range(n_rows):
            row = order[b, i]
            number, rank = sums[row, 0], ranks[row]
            total_b += number
            _add_to_lanes(lanes, 0, number, rank, total_b, is_last[b, i], n_lanes)
            row = order[c, i]
            number, rank = sums[row, 0], ranks[row]
            total_c += number
            _add_to_lanes(lanes, _SECOND, number, rank, total_c, is_last[c, i], n_lanes)
        _keep_least_losses(lanes, 0, n_lanes)
        _keep_least_losses(lanes, _SECOND, n_lanes)


@kernel
def _add_to_lanes(lanes, shift, number, rank, total, is_last, n_lanes):
    """Add a row to the sums on the left; at a cut, keep the least and the greatest."""
    if is_last:
        for j in range(n_lanes):
            left = lanes[shift + _SUM + j] + (
                number if rank <= lanes[_CUT + j] else 0.0
            )
            right = total - left
            lanes[shift + _SUM + j] = left
            lanes[shift + _LOW + j] = min(lanes[shift + _LOW + j], left)
            lanes[shift + _HIGH + j] = max(lanes[shift + _HIGH + j], left)
            lanes[shift + _RIGHT_LOW + j] = min(lanes[shift + _RIGHT_LOW + j], right)
            lanes[shift + _RIGHT_HIGH + j] = max(lanes[shift + _RIGHT_HIGH + j], right)
    else:
        for j in range(n_lanes):
            lanes[shift + _SUM + j] += number if rank <= lanes[_CUT + j] else 0.0


@kernel
def _keep_least_losses(lanes, shift, n_lanes):
    """Lower the losses of both sides to the losses by an attribute, after all rows."""
    for side in range(2):
        for j in range(n_lanes):
            first = lanes[(1 + 2 * side) * LANES + j]
            second = lanes[(2 + 2 * side) * LANES + j]
            low = lanes[shift + _LOW + 2 * side * LANES + j]
            high = lanes[shift + _HIGH + 2 * side * LANES + j]
            loss = max(0.0, min(second + low, first - high))
            lane = _LOSS + side * LANES + j
            lanes[lane] = min(lanes[lane], loss)


@kernel
def _many_label_losses(problem, order, is_last, n_rows, ranks, lanes, n_lanes):
    """Find the losses of several labels from the cumulative sums of each."""
    sums, n = problem.sums, problem.sums.shape[1]
    loss = (1 + 2 * n) * LANES
    on_left, cumulative = loss + 2 * LANES, loss + (2 + n) * LANES
    best = cumulative + n
    for b in range(order.shape[0]):
        for j in range(n * LANES):
            lanes[on_left + j] = 0.0
        for k in range(n):
            lanes[cumulative + k] = 0.0
        for i in range(n_rows):
            row = order[b, i]
            rank = ranks[row]
            for k in range(n):
                number = sums[row, k]
                lanes[cumulative + k] += number
                lane = on_left + k * LANES
                for j in range(n_lanes):
                    lanes[lane + j] += number if rank <= lanes[j] else 0.0
            if is_last[b, i]:
                for j in range(4 * LANES):
                    lanes[best + j] = MAX_LOSS
                for k in range(n):
                    total = lanes[cumulative + k]
                    left_total, right_total = (1 + k) * LANES, (1 + n + k) * LANES
                    lane = on_left + k * LANES
                    for j in range(n_lanes):
                        left = lanes[lane + j]
                        right = total - left
                        b0, b1 = best + j, best + LANES + j
                        b2, b3 = best + 2 * LANES + j, best + 3 * LANES + j
                        lanes[b0] = min(lanes[b0], left)
                        lanes[b1] = min(lanes[b1], lanes[left_total + j] - left)
                        lanes[b2] = min(lanes[b2], right)
                        lanes[b3] = min(lanes[b3], lanes[right_total + j] - right)
                for j in range(n_lanes):
                    left = lanes[best + j] + lanes[best + LANES + j]
                    right = lanes[best + 2 * LANES + j] + lanes[best + 3 * LANES + j]
                    lanes[loss + j] = min(lanes[loss + j], max(0.0, left))
                    lane = loss + LANES + j
                    lanes[lane] = min(lanes[lane], max(0.0, right))


@kernel
def _explained_squares(problem, order, is_last, n_rows, ranks, lanes, n_lanes):
    """Find the squares that the means of two leaves explain, from w and wy."""
    sums, least = problem.sums, problem.leaf_cost[1]
    loss, on_left = 7 * LANES, 9 * LANES
    for b in range(order.shape[0]):
        for j in range(2 * LANES):
            lanes[on_left + j] = 0.0
        weight, first = 0.0, 0.0
        for i in range(n_rows):
            row = order[b, i]
            rank, w, wy = ranks[row], sums[row, 0], sums[row, 1]
            weight += w
            first += wy
            for j in range(n_lanes):
                lanes[on_left + j] += w if rank <= lanes[j] else 0.0
                lanes[on_left + LANES + j] += wy if rank <= lanes[j] else 0.0
            if is_last[b, i]:
                for j in range(n_lanes):
                    w1, y1 = lanes[on_left + j], lanes[on_left + LANES + j]
                    w2, y2 = lanes[LANES + j] - w1, lanes[2 * LANES + j] - y1
                    squares = explained(w1, y1, least) + explained(w2, y2, least)
                    left = max(0.0, lanes[3 * LANES + j] - squares)
                    w3, y3 = weight - w1, first - y1
                    w4, y4 = lanes[4 * LANES + j] - w3, lanes[5 * LANES + j] - y3
                    squares = explained(w3, y3, least) + explained(w4, y4, least)
                    right = max(0.0, lanes[6 * LANES + j] - squares)
                    lanes[loss + j] = min(lanes[loss + j], left)
                    lane = loss + LANES + j
                    lanes[lane] = min(lanes[lane], right)
