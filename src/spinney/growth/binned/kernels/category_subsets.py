"""The best two subsets of the codes of a nominal attribute at a node."""

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.kernels import layout
from spinney.growth.binned.kernels.sort import key_place, order_rounded, sort, sort_key
from spinney.growth.binned.kernels.sorted_cuts import keep_if_better
from spinney.growth.binned.kernels.split_scores import (
    DEVIATION,
    is_numeric,
    side_weight,
)

MAX_ENUMERATED = 12
SUBSET_SUMS = 512  # where lines of sums are free: codes are fewer


@kernel
def best_subset(rules, histograms, a, n_codes, first, last, has_missing, slack, work):
    """Find the best subset; ``masks`` is 1 for a code that goes left, 2 for right.

    As in ``search.groupings``: prefixes in order of the class proportion or the mean,
    if prefixes are exact, else all subsets of a few codes. The first code is on the
    left. The plain learner takes attributes with many codes and more than two classes.
    """
    floats, k = work.floats, ZERO
    for code in range(first, last + 1):
        if floats[layout.SIZES, code + 1] > floats[layout.SIZES, code]:
            work.ints[layout.CODES, k] = code
            k += 1
    present, last_class = 0, 0
    for c in range(rules.width):
        if floats[layout.SUMS + c, n_codes] > 0:
            present += 1
            last_class = c
    has_two_classes = rules.kind < DEVIATION if is_numeric(rules.kind) else present <= 2
    is_unrestricted = work.limits[layout.LEAST] <= 0 and not has_missing
    if k <= MAX_ENUMERATED and not (has_two_classes and is_unrestricted):
        _enumerate(rules, histograms, a, n_codes, k, has_missing, slack, work)
        return
    for i in range(k):
        code = work.ints[layout.CODES, i]
        # Not by differences of running sums: shares that are equal must be so to the
        # bit, or rounding says which of the codes comes first.
        weight = histograms[a, code, last_class]
        if is_numeric(rules.kind):
            weight = histograms[a, code, 1] + histograms[a, code, 2]
        work.values[i] = weight / side_weight(rules.kind, histograms[a], code)
        work.keys[i] = sort_key(work.values[i], i)
    _by_prefix(rules, histograms, a, n_codes, k, has_missing, slack, work)


@kernel
def _by_prefix(rules, histograms, a, n_codes, k, has_missing, slack, work):
    """Try the prefixes of the codes in order of their keys, ties in order of code."""
    keys, codes, vectors, masks = work.keys, work.ints, work.vectors, work.masks
    sort(keys, None, k, work.ints[layout.SORT_STACK])
    order_rounded(keys, k, work.values)
    # Until the first code is met, the prefix is the right side.
    prefix_side, rest_side, chosen = layout.RIGHT, layout.LEFT, -1
    best_side = layout.RIGHT
    for c in range(rules.width):
        vectors[layout.LEFT, c] = work.floats[layout.SUMS + c, n_codes]
        vectors[layout.RIGHT, c] = 0.0
    for i in range(k - 1):
        place = key_place(keys[i])
        if place == 0:
            prefix_side, rest_side = layout.LEFT, layout.RIGHT
            for c in range(rules.width):
                weighted = vectors[layout.LEFT, c]
                vectors[layout.LEFT, c] = vectors[layout.RIGHT, c]
                vectors[layout.RIGHT, c] = weighted
        for c in range(rules.width):
            code_weight = histograms[a, codes[layout.CODES, place], c]
            vectors[prefix_side, c] += code_weight
            vectors[rest_side, c] -= code_weight
        if keep_if_better(rules, has_missing, slack, work, a):
            chosen, best_side = i, prefix_side
    if chosen < 0:
        return
    work.cuts[a, layout.BIN] = 0
    for code in range(n_codes):
        masks[a, code] = 0
    for i in range(k):
        left = (i <= chosen) == (best_side == layout.LEFT)
        masks[a, codes[layout.CODES, key_place(keys[i])]] = 1 if left else 2


@kernel
def _enumerate(rules, histograms, a, n_codes, k, has_missing, slack, work):
    """Try every subset with the first code, in the order of their numbers.

    Entry SPARE + i is the sum of the first code and of the subset's codes from i on.
    The next number changes its low bits, so only two sums per subset are recomputed.
    """
    codes, vectors, masks, chosen = work.ints, work.vectors, work.masks, -1
    sums = work.floats[layout.SUMS :]
    for i in range(1, k + 1):
        for c in range(rules.width):
            sums[c, SUBSET_SUMS + i] = histograms[a, codes[layout.CODES, 0], c]
    for number in range(2 ** (k - 1) - 1):
        i = ZERO
        while number and not (number >> i) & 1:
            i += 1
        for j in range(i + 1, 0, -1):
            for c in range(rules.width):
                subset_sum = sums[c, SUBSET_SUMS + j + 1]
                if (number >> (j - 1)) & 1:
                    subset_sum += histograms[a, codes[layout.CODES, j], c]
                sums[c, SUBSET_SUMS + j] = subset_sum
        for c in range(rules.width):
            left = sums[c, SUBSET_SUMS + 1]
            vectors[layout.LEFT, c] = left
            vectors[layout.RIGHT, c] = sums[c, n_codes] - left
        if keep_if_better(rules, has_missing, slack, work, a):
            chosen = number
    if chosen < 0:
        return
    work.cuts[a, layout.BIN] = 0
    for code in range(n_codes):
        masks[a, code] = 0
    masks[a, codes[layout.CODES, 0]] = 1
    for i in range(1, k):
        masks[a, codes[layout.CODES, i]] = 2 - ((chosen >> (i - 1)) & 1)
