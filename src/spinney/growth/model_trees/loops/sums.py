"""How terms vary together at each node, from the leaves up.

What all terms do at a leaf is counted row by row; at any other node it is the sum of
its children. Spreads about the means of both are added up, and those of the means:
nothing is subtracted, so that they keep their digits.
"""

from spinney._support.jit.compile import kernel


@kernel
def clear(sums, at):
    """Forget what a line has; the rest of it is written over."""
    sums.weights[at] = 0.0


@kernel
def copy_line(sums, at, other, to):
    """Copy a line."""
    width = sums.means.shape[1]
    other.weights[to] = sums.weights[at]
    for i in range(width):
        other.means[to, i] = sums.means[at, i]
        for j in range(i + 1):
            other.spreads[to, i, j] = sums.spreads[at, i, j]


@kernel
def add(sums, at, other, to):
    """Add the rows of a line to those of another one."""
    if sums.weights[at] == 0.0:
        return
    if other.weights[to] == 0.0:
        copy_line(sums, at, other, to)
        return
    width, whole = sums.means.shape[1], other.weights[to] + sums.weights[at]
    share = sums.weights[at] / whole
    scale = other.weights[to] * share
    other.weights[to] = whole
    for i in range(width):
        apart = sums.means[at, i] - other.means[to, i]
        scaled = scale * apart
        for j in range(i):
            between = scaled * (sums.means[at, j] - other.means[to, j])
            other.spreads[to, i, j] += sums.spreads[at, i, j] + between
        other.spreads[to, i, i] += sums.spreads[at, i, i] + scaled * apart
    for i in range(width):
        other.means[to, i] += share * (sums.means[at, i] - other.means[to, i])


@kernel
def count(rows, leaf, sums, at, line):
    """Write how all terms and the target vary at a leaf."""
    n_terms = len(rows.centres)
    begin, end = rows.start[leaf], rows.start[leaf + 1]
    clear(sums, at)
    for i in range(n_terms + 1):
        sums.means[at, i] = 0.0
        for j in range(i + 1):
            sums.spreads[at, i, j] = 0.0
    if begin == end:
        return
    for place in range(begin, end):
        row = rows.order[place]
        weight = rows.weights[row]
        sums.weights[at] += weight
        for i in range(n_terms):
            sums.means[at, i] += weight * (rows.cells[row, i] - rows.centres[i])
        sums.means[at, n_terms] += weight * rows.target[row]
    for i in range(n_terms + 1):
        sums.means[at, i] /= sums.weights[at]
    if end == begin + 1:
        return
    for place in range(begin, end):
        row = rows.order[place]
        weight = rows.weights[row]
        for i in range(n_terms):
            line[i] = rows.cells[row, i] - rows.centres[i] - sums.means[at, i]
        line[n_terms] = rows.target[row] - sums.means[at, n_terms]
        for i in range(n_terms + 1):
            scaled = weight * line[i]
            for j in range(i + 1):
                sums.spreads[at, i, j] += scaled * line[j]
