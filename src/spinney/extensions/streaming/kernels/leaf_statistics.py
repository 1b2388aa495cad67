"""The statistics of a leaf: class weights by value, or by the leaf's own bins.

A leaf buffers the numbers of its first rows. After its grace period it divides each
attribute into bins of about equal size, between neighbouring numbers, and counts by
bins from then on. So the counts at every edge are exact, and the table is as large
after a million rows as after a thousand.
"""

import numpy as np

from spinney._support.jit.compile import kernel
from spinney.extensions.streaming.kernels import layout


@kernel
def take_slot(stream):
    """Return an empty slot, or -1 if none is free."""
    slots, state = stream.slots, stream.state
    if state[layout.N_FREE] == 0:
        return np.int64(-1)
    state[layout.N_FREE] -= 1
    slot = slots.free[state[layout.N_FREE]]
    slots.n_rows[slot] = 0
    for c in range(slots.counts.shape[2]):
        slots.totals[slot, c] = 0.0
        for number in range(slots.moments.shape[1]):
            for moment in range(slots.moments.shape[3]):
                slots.moments[slot, number, c, moment] = 0.0
    for line in range(slots.rows.shape[1]):
        slots.rows[slot, line] = 0
        for c in range(slots.counts.shape[2]):
            slots.counts[slot, line, c] = 0.0
    return slot


@kernel
def release_slot(stream, slot):
    """Add a slot to the free slots."""
    stream.slots.free[stream.state[layout.N_FREE]] = slot
    stream.state[layout.N_FREE] += 1


@kernel
def find_bin(slots, slot, number, value):
    """Return the bin of a number: how many edges are below it."""
    low, high = np.int64(0), slots.n_edges[slot, number]
    while low < high:
        middle = (low + high) // 2
        if slots.edges[slot, number, middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def count_row(stream, slot, rows, row):
    """Count a row in the table of a leaf; return whether a grace period ends."""
    columns, slots = stream.columns, stream.slots
    grace, n_rows = stream.limits[layout.GRACE_PERIOD], slots.n_rows[slot]
    c, weight = rows.classes[row], rows.weights[row]
    buffers, adapts = n_rows < grace, stream.limits[layout.IS_ADAPTIVE] > 0
    if buffers:
        slots.buffer_class[slot, n_rows], slots.buffer_weight[slot, n_rows] = c, weight
    slots.totals[slot, c] += weight
    for a in range(len(columns.kind)):
        value, line = rows.cells[row, a], columns.first[a]
        if columns.kind[a] == layout.NUMBER and adapts and value == value:
            _add_moment(slots.moments[slot, columns.number[a], c], value, weight)
        if columns.kind[a] == layout.NUMBER and buffers:
            slots.buffer[slot, n_rows, columns.number[a]] = value
            continue
        if value != value:
            line += columns.n_lines[a]
        elif columns.kind[a] == layout.NUMBER:
            line += find_bin(slots, slot, columns.number[a], value)
        else:
            line += np.int64(value)
        slots.counts[slot, line, c] += weight
        slots.rows[slot, line] += 1
    slots.n_rows[slot] = n_rows + 1
    if n_rows + 1 == grace:
        _make_bins(stream, slot)
    return (n_rows + 1) % grace == 0


@kernel
def _add_moment(moments, value, weight):
    """Add a number to a mean and to the squares about it (West 1979)."""
    moments[layout.WEIGHT] += weight
    step = value - moments[layout.MEAN]
    moments[layout.MEAN] += step * weight / moments[layout.WEIGHT]
    moments[layout.SQUARES] += weight * step * (value - moments[layout.MEAN])


@kernel
def _make_bins(stream, slot):
    """Choose the bins of all numbers by the buffered rows, and count these rows."""
    columns, slots, n_rows = stream.columns, stream.slots, stream.slots.n_rows[slot]
    for a in range(len(columns.kind)):
        if columns.kind[a] != layout.NUMBER:
            continue
        number = columns.number[a]
        _choose_edges(slots, slot, number, n_rows, stream.work.sorted)
        for row in range(n_rows):
            value, line = slots.buffer[slot, row, number], columns.first[a]
            if value != value:
                line += columns.n_lines[a]
            else:
                line += find_bin(slots, slot, number, value)
            c = slots.buffer_class[slot, row]
            slots.counts[slot, line, c] += slots.buffer_weight[slot, row]
            slots.rows[slot, line] += 1


@kernel
def _choose_edges(slots, slot, number, n_rows, numbers):
    """Put edges between buffered numbers, with about equally many in each bin."""
    n_present, n_edges = np.int64(0), np.int64(0)
    for row in range(n_rows):
        value = slots.buffer[slot, row, number]
        if value == value:
            numbers[n_present] = value
            n_present += 1
    shell_sort(numbers, n_present)
    last = np.int64(0)
    for i in range(1, layout.N_BINS):
        after = max(i * n_present // layout.N_BINS, np.int64(1))
        while after < n_present and numbers[after] == numbers[after - 1]:
            after += 1
        if after < n_present and after > last:
            slots.edges[slot, number, n_edges] = midpoint(
                numbers[after - 1], numbers[after]
            )
            n_edges += 1
            last = after
    slots.n_edges[slot, number] = n_edges


@kernel
def midpoint(low, high):
    """Return the midpoint of two numbers, or the lower of adjacent floats."""
    middle = low / 2 + high / 2
    if low <= middle and middle < high:
        return middle
    return low


@kernel
def shell_sort(numbers, n):
    """Sort the first n numbers in place (Shell 1959, with halved gaps)."""
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            value, j = numbers[i], i
            while j >= gap and numbers[j - gap] > value:
                numbers[j] = numbers[j - gap]
                j -= gap
            numbers[j] = value
        gap //= 2


@kernel
def cut_after(stream, slot, attribute, line):
    """Return the threshold between a line of an ordered attribute and the next."""
    if stream.columns.kind[attribute] == layout.ORDINAL:
        return line + 0.5
    return stream.slots.edges[slot, stream.columns.number[attribute], line]


@kernel
def n_cuts(stream, slot, attribute):
    """Return the number of thresholds of an ordered attribute at a leaf."""
    columns = stream.columns
    if columns.kind[attribute] == layout.NOMINAL:
        return np.int64(0)
    if columns.kind[attribute] == layout.ORDINAL:
        return columns.n_lines[attribute] - 1
    return stream.slots.n_edges[slot, columns.number[attribute]]
