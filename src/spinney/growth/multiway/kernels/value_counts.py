"""Weights by value and class at a node.

Attributes with few values are counted together, a row at a time, into tables with a
line for every code. Those with more codes than the node has rows are sorted. Both give
the occurring codes in rising order, with weights by class and, unless the node is
unweighted, counts. Members are added in their order, as in the plain learner, so sums
round in the same way.
"""

import numpy as np

from spinney._support.jit.compile import kernel
from spinney.growth.binned.kernels.sort import insertion_sort
from spinney.growth.multiway.kernels import layout
from spinney.growth.multiway.kernels.layout import member_range

# A table has at most so many lines for each row, and in all.
SPARSE = 4
MAX_TABLE_CODES = 65_536

# Fewer keys are sorted by insertion.
MAX_INSERTION_KEYS = 40


@kernel
def has_table(facts, a, n_members):
    """Return whether an attribute is counted in a table of all codes."""
    k = facts[a, layout.N_CODES]
    return k <= SPARSE * n_members and k <= MAX_TABLE_CODES


@kernel
def count_tables(growth, top, first, last):
    """Count the attributes from ``first`` to ``last`` that have tables."""
    columns, members, work = growth.columns, growth.members, growth.work
    n_classes = growth.limits.n_classes
    begin, end, unweighted = member_range(members, top)
    codes, facts, table = columns.codes, columns.facts, work.table
    listed, n_listed = work.listed, 0
    width = n_classes if unweighted else 2 * n_classes
    for a in range(first, last):
        if work.results[a, 0] >= 0 and has_table(facts, a, end - begin):
            start = 2 * n_classes * facts[a, layout.TABLE_START]
            listed[n_listed, 0], listed[n_listed, 1] = a, start
            n_listed += 1
            for cell in range(start, start + width * (facts[a, layout.N_CODES] + 1)):
                table[cell] = 0.0
    # Unsigned places cannot be counted from the end, and so need no second look.
    label, rows, fractions = codes.shape[1] - 1, members.rows, members.fractions
    step, count_offset = np.uint64(width), np.uint64(n_classes)
    for i in range(begin, end):
        r = rows[i]
        c = np.uint64(codes[r, label])
        if unweighted:
            for t in range(n_listed):
                table[listed[t, 1] + step * codes[r, listed[t, 0]] + c] += 1.0
        else:
            fraction = fractions[i]
            for t in range(n_listed):
                cell = listed[t, 1] + step * codes[r, listed[t, 0]] + c
                table[cell] += fraction
                table[cell + count_offset] += 1.0


@kernel
def collect_values(growth, top, a):
    """Collect the codes of an attribute with their weights; return the number of codes.

    The weights of the missing rows are set in a vector.
    """
    columns, work, n_classes = growth.columns, growth.work, growth.limits.n_classes
    begin, end, unweighted = member_range(growth.members, top)
    width = n_classes if unweighted else 2 * n_classes
    vectors, missing = work.vectors, layout.MISSING * 2 * n_classes
    for c in range(missing, missing + 2 * n_classes):
        vectors[c] = 0.0
    if has_table(columns.facts, a, end - begin):
        return _values_of_table(growth, width, a)
    n_keys = _sort_keys(growth, top, a)
    return _values_of_keys(growth, top, n_keys, a)


@kernel
def _values_of_table(growth, width, a):
    facts, work, n_classes = growth.columns.facts, growth.work, growth.limits.n_classes
    table, value_weights, codes = work.table, work.value_weights, work.codes
    k = facts[a, layout.N_CODES]
    start, n_values = 2 * n_classes * facts[a, layout.TABLE_START], 0
    counts = start + width - n_classes
    for code in range(k):
        occurs = False
        for c in range(n_classes):
            occurs |= table[counts + width * code + c] > 0.0
        if occurs:
            codes[n_values] = code
            for c in range(width):
                value_weights[width * n_values + c] = table[start + width * code + c]
            n_values += 1
    for c in range(width):
        work.vectors[layout.MISSING * 2 * n_classes + c] = table[start + width * k + c]
    return n_values


@kernel
def _sort_keys(growth, top, a):
    """Sort the members with a known value; return their number.

    A key has the code in its upper half and the member's place in the lower half.
    """
    columns, members, work = growth.columns, growth.members, growth.work
    n_classes = growth.limits.n_classes
    begin, end, unweighted = member_range(members, top)
    codes, k = columns.codes, columns.facts[a, layout.N_CODES]
    rows, vectors, missing = members.rows, work.vectors, layout.MISSING * 2 * n_classes
    keys, n_keys, label = work.keys, 0, columns.codes.shape[1] - 1
    lowest, highest = np.uint64(k), np.uint64(0)
    for i in range(begin, end):
        r = rows[i]
        code = np.uint64(codes[r, a])
        if code == np.uint64(k):
            c = np.int64(codes[r, label])
            vectors[missing + c] += 1.0 if unweighted else members.fractions[i]
            if not unweighted:
                vectors[missing + n_classes + c] += 1.0
            continue
        keys[n_keys] = code << np.uint64(32) | np.uint64(i - begin)
        n_keys += 1
        lowest, highest = min(lowest, code), max(highest, code)
    if n_keys <= MAX_INSERTION_KEYS:
        insertion_sort(keys, None, 0, n_keys - 1)
        return n_keys
    _sort_by_digits(keys, work.key_buffer, work.histogram, n_keys, lowest, highest)
    return n_keys


@kernel
def _sort_by_digits(keys, buffer, histogram, n_keys, lowest, highest):
    """Sort keys by their codes, digit by digit of 8 bits from the lowest."""
    shift = np.uint64(0)
    while (highest - lowest) >> shift > np.uint64(0):
        for digit in range(256):
            histogram[digit] = 0
        for i in range(n_keys):
            digit = ((keys[i] >> np.uint64(32)) - lowest) >> shift & np.uint64(255)
            histogram[digit] += 1
        place = 0
        for digit in range(256):
            count = histogram[digit]
            histogram[digit] = place
            place += count
        for i in range(n_keys):
            digit = ((keys[i] >> np.uint64(32)) - lowest) >> shift & np.uint64(255)
            buffer[histogram[digit]] = keys[i]
            histogram[digit] += 1
        for i in range(n_keys):
            keys[i] = buffer[i]
        shift += np.uint64(8)


@kernel
def _values_of_keys(growth, top, n_keys, a):
    columns, members, work = growth.columns, growth.members, growth.work
    n_classes = growth.limits.n_classes
    begin, _, unweighted = member_range(members, top)
    codes, value_weights = columns.codes, work.value_weights
    label = columns.codes.shape[1] - 1
    width = n_classes if unweighted else 2 * n_classes
    keys, run_codes, rows = work.keys, work.codes, members.rows
    fractions = members.fractions
    n_values, last = 0, np.int64(-1)
    for i in range(n_keys):
        key = keys[i]
        code = np.int64(key >> np.uint64(32))
        if code != last:
            run_codes[n_values] = last = code
            for c in range(width):
                value_weights[width * n_values + c] = 0.0
            n_values += 1
        place = begin + np.int64(key & np.uint64(0xFFFFFFFF))
        cell = width * (n_values - 1) + np.int64(codes[rows[place], label])
        if unweighted:
            value_weights[cell] += 1.0
        else:
            value_weights[cell] += fractions[place]
            value_weights[cell + n_classes] += 1.0
    return n_values
