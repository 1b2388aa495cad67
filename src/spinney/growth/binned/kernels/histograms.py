"""Histograms of attributes: weights by bin and class or moment."""

import numpy as np

from spinney._support.jit.compile import kernel, prefetch
from spinney.growth.binned.kernels import layout
from spinney.growth.binned.kernels.packed_rows import (
    class_of,
    packed_count_of,
    row_of,
    weight_of,
)
from spinney.growth.binned.kernels.split_scores import is_numeric

AHEAD = 16  # rows that are asked for before they are read
CACHE_LINE = 64  # bytes that the memory gives at once
LOWER = np.uint64(0xFFFFFFFF)
HALF, BYTE = np.uint64(32), np.uint64(255)
ONE, AHEAD_WORD = np.uint64(1), np.uint64(AHEAD)
ALL_ROWS_BIN = (
    254  # a bin that no attribute of the tail has: all rows are counted there
)


@kernel
def count(search, start, stop, first, last, histograms):
    """Count the attributes from ``first`` to ``last`` over a range of rows."""
    n_bins, rules = search.cells.n_bins, search.rules
    packed_counts = search.work.packed_counts
    two_classes = search.labels.packs_classes
    for a in range(first, last):
        clear(n_bins[a], a, two_classes, rules.width, histograms, packed_counts)
    if is_numeric(rules.kind):
        count_moments(search, start, stop, first, last, histograms)
    elif two_classes:
        count_halves(search, start, stop, first, last)
        for a in range(first, last):
            unpack(n_bins[a], a, histograms, packed_counts)
    else:
        count_classes(search, start, stop, first, last, histograms)


@kernel
def prefetch_codes(codes, rows, i, stop, first, last):
    """Prefetch the codes of a row that will be read soon."""
    soon = np.int64(row_of(rows[min(i + AHEAD, stop - 1)]))
    for a in range(first, last, CACHE_LINE):
        prefetch(codes, soon, a)


@kernel
def count_halves(search, start, stop, first, last):
    """Count two classes, one in each half of a word."""
    codes, labels, rows = search.cells.codes, search.labels, search.rows
    packed_counts, begin = search.work.packed_counts, np.uint64(first)
    end = np.uint64(last)
    for i in range(start, stop):
        prefetch_codes(codes, rows, i, stop, first, last)
        row, half = row_of(rows[i]), packed_count_of(labels, rows[i])
        for a in range(begin, end):
            packed_counts[a, codes[row, a]] += half


@kernel
def count_moments(search, start, stop, first, last, histograms):
    """Add up the moments of numbers."""
    codes, labels, rows = search.cells.codes, search.labels, search.rows
    begin, end = np.uint64(first), np.uint64(last)
    for i in range(start, stop):
        prefetch_codes(codes, rows, i, stop, first, last)
        row, weight = row_of(rows[i]), weight_of(labels, rows[i])
        number = labels.numbers[row]
        weighted = weight * number
        side = 1 if number > 0 else 2
        for a in range(begin, end):
            b = codes[row, a]
            histograms[a, b, 0] += weight
            histograms[a, b, side] += weighted
            histograms[a, b, 3] += weighted * number


@kernel
def count_classes(search, start, stop, first, last, histograms):
    """Count the classes by attribute and bin.

    Code 0 of sparse attributes is inferred from the totals if sums are exact. The range
    of attributes then ends with a word of eight codes, or its padding.
    """
    cells, labels, rules, rows = search.cells, search.labels, search.rules, search.rows
    tail = min(last, max(cells.tail, (first + 7) // 8 * 8))
    if not rules.subtract or (last % 8 and last < len(cells.n_bins)):
        tail = last
    if tail < last:
        for c in range(rules.width):
            histograms[tail, ALL_ROWS_BIN, c] = 0.0
    codes, begin, end = cells.codes, np.uint64(first), np.uint64(tail)
    for i in range(start, stop):
        prefetch_codes(codes, rows, i, stop, first, last)
        word = rows[i]
        row, c, weight = row_of(word), class_of(word), weight_of(labels, word)
        for a in range(begin, end):
            histograms[a, codes[row, a], c] += weight
        if tail < last:
            histograms[end, ALL_ROWS_BIN, c] += weight
            count_tail(cells.code_words[row], tail, last, c, weight, histograms)
    for a in range(tail, last):
        for c in range(rules.width):
            rest = (
                histograms[tail, ALL_ROWS_BIN, c]
                - histograms[a, layout.MISSING_CODE, c]
            )
            for b in range(1, cells.n_bins[a]):
                rest -= histograms[a, b, c]
            histograms[a, 0, c] = rest


@kernel
def count_tail(code_words, tail, last, c, weight, histograms):
    """Count the non-zero codes of a row, of the sparse attributes."""
    for index in range(tail >> 3, (last + 7) >> 3):
        codes = code_words[np.uint64(index)]
        if codes == 0:
            continue
        for j in range(8):
            code = (codes >> np.uint64(8 * j)) & BYTE
            if code:
                histograms[np.uint64(8 * index + j), code, c] += weight


@kernel
def count_drawn(search, start, stop, first, n, histograms):
    """Count ``n`` drawn attributes; store their codes in row order if space allows."""
    cells, labels, rules, rows = search.cells, search.labels, search.rules, search.rows
    work = search.work
    codes, two_classes, width = cells.codes, labels.packs_classes, rules.width
    packed_counts = work.packed_counts
    drawn, drawn_codes = work.order[layout.ATTRIBUTE, first:], work.drawn_codes[first:]
    stores_codes = n <= len(drawn_codes)
    for j in range(n):
        work.order[layout.CODES_LINE, drawn[j]] = first + j if stores_codes else -1
        clear(
            cells.n_bins[drawn[j]],
            drawn[j],
            two_classes,
            width,
            histograms,
            packed_counts,
        )
    if two_classes:
        count_drawn_halves(search, start, stop, drawn[:n], drawn_codes, stores_codes)
        for j in range(n):
            unpack(cells.n_bins[drawn[j]], drawn[j], histograms, packed_counts)
        return
    for i in range(start, stop):
        soon = np.int64(row_of(rows[min(i + AHEAD, stop - 1)]))
        prefetch(codes, soon, drawn[0])
        word = rows[i]
        row = row_of(word)
        weight = weight_of(labels, word)
        if is_numeric(rules.kind):
            number = labels.numbers[row]
            weighted = weight * number
            side = 1 if number > 0 else 2
            for j in range(n):
                a = np.uint64(drawn[np.uint64(j)])
                b = codes[row, a]
                if stores_codes:
                    drawn_codes[np.uint64(j), np.uint64(i - start)] = b
                histograms[a, b, 0] += weight
                histograms[a, b, side] += weighted
                histograms[a, b, 3] += weighted * number
        else:
            c = class_of(word)
            for j in range(n):
                a = np.uint64(drawn[np.uint64(j)])
                b = codes[row, a]
                histograms[a, b, c] += weight
                if stores_codes:
                    drawn_codes[np.uint64(j), np.uint64(i - start)] = b


@kernel
def count_drawn_halves(search, start, stop, drawn, drawn_codes, stores_codes):
    """Count two classes of drawn attributes, one in each half of a word.

    A separate loop has few variables, which stay in registers.
    """
    codes, labels, rows = search.cells.codes, search.labels, search.rows[start:stop]
    packed_counts, last = search.work.packed_counts, np.uint64(stop - start - 1)
    for i in range(np.uint64(0), last + ONE):
        prefetch(codes, np.int64(row_of(rows[min(i + AHEAD_WORD, last)])), drawn[0])
        row, half = row_of(rows[i]), packed_count_of(labels, rows[i])
        for j in range(np.uint64(0), np.uint64(len(drawn))):
            a = np.uint64(drawn[j])
            b = codes[row, a]
            packed_counts[a, b] += half
            if stores_codes:
                drawn_codes[j, i] = b


@kernel
def clear(n_bins, a, two_classes, width, histograms, packed_counts):
    """Clear the histogram of an attribute."""
    if two_classes:
        for b in range(n_bins):
            packed_counts[a, b] = 0
        packed_counts[a, layout.MISSING_CODE] = 0
        return
    for b in range(n_bins):
        for c in range(width):
            histograms[a, b, c] = 0.0
    for c in range(width):
        histograms[a, layout.MISSING_CODE, c] = 0.0


@kernel
def unpack(n_bins, a, histograms, packed_counts):
    """Set the counts of two classes from the halves of words."""
    for b in range(n_bins):
        histograms[a, b, 0] = np.float64(packed_counts[a, b] & LOWER)
        histograms[a, b, 1] = np.float64(packed_counts[a, b] >> HALF)
    histograms[a, layout.MISSING_CODE, 0] = np.float64(
        packed_counts[a, layout.MISSING_CODE] & LOWER
    )
    histograms[a, layout.MISSING_CODE, 1] = np.float64(
        packed_counts[a, layout.MISSING_CODE] >> HALF
    )
