"""A whole subtree in one call: count, search, partition, repeat.

The rows of a node are a stretch of one array of row numbers; a split puts those that go
left before the others, both in their old order. Nodes wait on a stack, the right branch
below the left one, so that they come out in printing order.

Counts of a *large* node are kept by attribute and bin. Its smaller child is counted and
the larger one is what remains, where sums are exact. A *small* node is finished by
sorting its rows, attribute by attribute, inside the cache.
"""

import numpy as np

from spinney.kernels.compiled import entry, kernel
from spinney.kernels.layout import (
    ABSENT,
    BIN,
    BINS,
    HIGH,
    LOW,
    MISSING,
    WORTH,
    ZERO,
    work_for,
)
from spinney.kernels.records import (
    ATTRIBUTE,
    BEGIN,
    CUT_HIGH,
    CUT_LOW,
    CUT_MISSING,
    END,
    GAIN,
    IDENTICAL,
    INNER,
    LEVEL,
    LINES,
    MIN_GAIN,
    REASON,
    ROWS_IN_LEAF,
    SLOT,
    Shape,
    count_sides,
    infer_sides,
    lines_for,
    list_codes,
    longer,
    open_node,
    push,
    reason_to_stop,
    shape_for,
    stack_for,
)
from spinney.kernels.scoring import size_of, worth
from spinney.kernels.searching import count, search_node

__all__ = ["grow_subtree"]

SLOTS = 32  # of kept counts; a node that finds none free is counted when its turn comes


@entry
def partition(cells, rows, start, stop, a, work, spare):
    """Put the rows that go left first, and return where the others begin."""
    founds, codes, column = work.founds, cells.codes, cells.column[a]
    b, low = np.int64(founds[a, BIN]), founds[a, LOW]
    go = np.empty(BINS, np.uint8)
    for code in range(BINS):
        go[code] = work.masks[a, code] == 1 if cells.nominal[a] else code <= b
    go[ABSENT] = founds[a, MISSING] == 0
    at, waiting = start, 0
    inside = not cells.nominal[a] and low == low
    for i in range(start, stop):
        row = rows[i]
        code = codes[row, a]
        left = go[code]
        if inside and code == b:
            left = np.uint8(cells.numbers[row, column] <= low)
        rows[at] = row
        spare[waiting] = row
        at += left
        waiting += 1 - left
    for i in range(waiting):
        rows[at + i] = spare[i]
    return at


@entry
def find_ends(kind, cells, rows, start, middle, stop, a, lines, founds):
    """Find the values next to a cut between bins: greatest left, least right."""
    if cells.nominal[a] or founds[a, LOW] == founds[a, LOW]:
        return
    column, b = cells.column[a], np.int64(founds[a, BIN])
    after = b + 1
    if founds[a, HIGH] == founds[a, HIGH]:
        after = np.int64(founds[a, HIGH])
    else:
        while size_of(kind, lines[a], after) <= 0:
            after += 1
    if column < 0:
        founds[a, LOW], founds[a, HIGH] = cells.values[a, b], cells.values[a, after]
        return
    low, high = -np.inf, np.inf
    for i in range(start, middle):
        row = rows[i]
        if cells.codes[row, a] == b:
            low = max(low, np.float64(cells.numbers[row, column]))
    for i in range(middle, stop):
        row = rows[i]
        if cells.codes[row, a] == after:
            high = min(high, np.float64(cells.numbers[row, column]))
    founds[a, LOW], founds[a, HIGH] = low, high


@entry
def close_node(rules, shape, here, a, work, stack, top):
    """Record the best split of a node; return whether it gains enough."""
    size = size_of(rules.kind, stack.weights, top)
    gain = work.founds[a, WORTH] - worth(rules.kind, stack.weights, top)
    gain = max(gain / size, 0.0)
    if gain < rules.min_gain * (1 - 1e-12):
        shape.whole[here, REASON] = MIN_GAIN
        return False
    shape.real[here, GAIN] = gain
    shape.whole[here, ATTRIBUTE] = a
    return True


@entry
def record_cut(shape, here, a, work, sides):
    """Record the values beside a cut, and the totals of missing rows."""
    shape.real[here, CUT_LOW] = work.founds[a, LOW]
    shape.real[here, CUT_HIGH] = work.founds[a, HIGH]
    shape.real[here, CUT_MISSING] = work.founds[a, MISSING]
    width, n_counts = sides.weights.shape[1], sides.counts.shape[1]
    for c in range(width):
        shape.weights[here, width + c] = sides.weights[2, c]
    for c in range(n_counts):
        shape.counts[here, n_counts + c] = sides.counts[2, c]


@kernel
def split_counts(cells, labels, rules, rows, begin, middle, end, slot, new, pool, work):
    """Count the smaller child; what is left of the node's counts is the larger's."""
    left_is_smaller = middle - begin <= end - middle
    first = begin if left_is_smaller else middle
    last = middle if left_is_smaller else end
    p = len(cells.n_bins)
    count(cells, labels, rules, rows, first, last, ZERO, p, pool[new], work.words)
    for a in range(p):
        for b in range(BINS):
            for c in range(rules.width):
                pool[slot, a, b, c] -= pool[new, a, b, c]
    return left_is_smaller


@entry
def grow_subtree(
    cells, labels, rules, rows, start, stop, depth, weights, counts, known, seed
):
    """Grow the subtree of a stretch of rows.

    ``weights`` and ``counts`` are its totals, one line each, and ``known`` the counts
    of all attributes, or empty.
    """
    p, n, width, n_counts = (
        len(cells.n_bins),
        stop - start,
        weights.shape[1],
        counts.shape[1],
    )
    deepest = min(n, rules.max_depth - depth)
    work = work_for(n, p, width, min(n, rules.small))
    stack = stack_for(deepest, width, n_counts)
    shape = shape_for(min(2 * n, 2 ** min(deepest + 1, 40)), width, n_counts)
    lines_by_code, n_lines = lines_for(2 * BINS, width, n_counts), ZERO
    sides = lines_for(3, width, n_counts)
    state = np.full(1, seed, np.uint64)
    keeping = rules.tries >= p and n > rules.small
    pool = np.empty((SLOTS if keeping else 1, p, BINS, width))
    free, n_free = np.arange(SLOTS), SLOTS if keeping else 0
    spare = np.empty(n, rows.dtype)
    slot = ZERO - 1
    if keeping and len(known):
        n_free -= 1
        slot = free[n_free]
        for a in range(p):
            for b in range(BINS):
                for c in range(width):
                    pool[slot, a, b, c] = known[a, b, c]
    push(stack, ZERO, start, stop, depth, -1, 0, slot, weights, counts, ZERO)
    waiting, number = ZERO + 1, ZERO
    while waiting:
        waiting -= 1
        begin, end = stack.at[waiting, BEGIN], stack.at[waiting, END]
        level, slot = stack.at[waiting, LEVEL], stack.at[waiting, SLOT]
        here, chosen = number, ZERO - 1
        number += 1
        open_node(shape, here, stack, waiting, n_lines)
        reason = reason_to_stop(rules, stack, waiting)
        shape.whole[here, REASON] = reason
        lines = work.lines
        if reason == INNER:
            if slot < 0 and n_free and end - begin > rules.small:
                n_free -= 1
                slot = free[n_free]
                count(
                    cells,
                    labels,
                    rules,
                    rows,
                    begin,
                    end,
                    ZERO,
                    p,
                    pool[slot],
                    work.words,
                )
            if slot >= 0:
                lines = pool[slot]
            chosen, varying = search_node(
                cells,
                labels,
                rules,
                rows,
                begin,
                end,
                lines,
                slot >= 0,
                stack.weights,
                waiting,
                state,
                work,
            )
            if chosen < 0:
                shape.whole[here, REASON] = ROWS_IN_LEAF if varying else IDENTICAL
            elif not close_node(rules, shape, here, chosen, work, stack, waiting):
                chosen = ZERO - 1
        if chosen < 0:
            if slot >= 0:
                free[n_free] = slot
                n_free += 1
            continue
        middle = partition(cells, rows, begin, end, chosen, work, spare)
        find_ends(
            rules.kind, cells, rows, begin, middle, end, chosen, lines, work.founds
        )
        if slot < 0 or rules.tally:
            count_sides(
                rules.kind, cells, labels, rows, begin, middle, end, chosen, sides
            )
        else:
            infer_sides(lines, chosen, work, stack, waiting, sides)
        record_cut(shape, here, chosen, work, sides)
        if cells.listed[chosen]:
            if n_lines + BINS > len(lines_by_code.codes):
                lines_by_code = longer(lines_by_code)
            shape.whole[here, LINES] = list_codes(
                rules.kind,
                cells,
                labels,
                rows,
                begin,
                end,
                chosen,
                work.masks,
                lines_by_code,
                n_lines,
            )
            n_lines += shape.whole[here, LINES]
        left_slot, right_slot = ZERO - 1, ZERO - 1
        larger = max(middle - begin, end - middle)
        if slot >= 0:
            wanted = level + 1 < rules.max_depth and larger > rules.small
            if rules.subtract and wanted and n_free:
                new = free[n_free - 1]
                left_is_smaller = split_counts(
                    cells,
                    labels,
                    rules,
                    rows,
                    begin,
                    middle,
                    end,
                    slot,
                    new,
                    pool,
                    work,
                )
                if end - begin - larger > rules.small:
                    n_free -= 1
                else:
                    new = ZERO - 1
                left_slot = new if left_is_smaller else slot
                right_slot = slot if left_is_smaller else new
            else:
                free[n_free] = slot
                n_free += 1
        push(
            stack,
            waiting,
            middle,
            end,
            level + 1,
            here,
            1,
            right_slot,
            sides.weights,
            sides.counts,
            ZERO + 1,
        )
        push(
            stack,
            waiting + 1,
            begin,
            middle,
            level + 1,
            here,
            0,
            left_slot,
            sides.weights,
            sides.counts,
            ZERO,
        )
        waiting += 2
    return (
        Shape(
            shape.whole[:number].copy(),
            shape.real[:number].copy(),
            shape.weights[:number].copy(),
            shape.counts[:number].copy(),
        ),
        lines_by_code.codes[:n_lines],
        lines_by_code.weights[:n_lines],
        lines_by_code.counts[:n_lines],
    )
