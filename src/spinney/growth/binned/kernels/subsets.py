"""The best two subsets of the codes of a nominal attribute at a node."""

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.kernels import layout
from spinney.growth.binned.kernels.score import DEVIATION, of_numbers, size_of
from spinney.growth.binned.kernels.sort import key_of, place_of, settle, sort
from spinney.growth.binned.kernels.sorted_cuts import improve

ENUMERATED = 12
SPARE = 512  # where lines of sums are free: codes are fewer


@kernel
def best_subset(rules, lines, a, n_codes, first, last, absent, slack, work):
    """Find the best subset; ``masks`` has 1 for a code that goes left, 2 for right.

    As in ``search.groupings``: prefixes in order of the class share or the mean,
    where that is exact; else every subset of a few codes, the first of them left.
    Many codes of more than two classes are no business of this kernel.
    """
    floats, k = work.floats, ZERO
    for code in range(first, last + 1):
        if floats[layout.SIZES, code + 1] > floats[layout.SIZES, code]:
            work.wholes[layout.CODES, k] = code
            k += 1
    present, last_class = 0, 0
    for c in range(rules.width):
        if floats[layout.SUMS + c, n_codes] > 0:
            present += 1
            last_class = c
    two = rules.kind < DEVIATION if of_numbers(rules.kind) else present <= 2
    free = work.limits[layout.LEAST] <= 0 and not absent
    if k <= ENUMERATED and not (two and free):
        _enumerate(rules, lines, a, n_codes, k, absent, slack, work)
        return
    for i in range(k):
        code = work.wholes[layout.CODES, i]
        # Not by differences of running sums: shares that are equal must be so to the
        # bit, or rounding says which of the codes comes first.
        above = lines[a, code, last_class]
        if of_numbers(rules.kind):
            above = lines[a, code, 1] + lines[a, code, 2]
        work.values[i] = above / size_of(rules.kind, lines[a], code)
        work.keys[i] = key_of(work.values[i], i)
    _by_prefix(rules, lines, a, n_codes, k, absent, slack, work)


@kernel
def _by_prefix(rules, lines, a, n_codes, k, absent, slack, work):
    """Try the prefixes of the codes in order of their keys, ties in order of code."""
    keys, codes, vectors, masks = work.keys, work.wholes, work.vectors, work.masks
    sort(keys, None, k, work.wholes[layout.WAITING])
    settle(keys, k, work.values)
    # Until the first code is met, the prefix is the right side.
    one, other, chosen, best_one = layout.RIGHT, layout.LEFT, -1, layout.RIGHT
    for c in range(rules.width):
        vectors[layout.LEFT, c] = work.floats[layout.SUMS + c, n_codes]
        vectors[layout.RIGHT, c] = 0.0
    for i in range(k - 1):
        place = place_of(keys[i])
        if place == 0:
            one, other = layout.LEFT, layout.RIGHT
            for c in range(rules.width):
                moved = vectors[layout.LEFT, c]
                vectors[layout.LEFT, c] = vectors[layout.RIGHT, c]
                vectors[layout.RIGHT, c] = moved
        for c in range(rules.width):
            here = lines[a, codes[layout.CODES, place], c]
            vectors[one, c] += here
            vectors[other, c] -= here
        if improve(rules, absent, slack, work, a):
            chosen, best_one = i, one
    if chosen < 0:
        return
    work.cuts[a, layout.BIN] = 0
    for code in range(n_codes):
        masks[a, code] = 0
    for i in range(k):
        left = (i <= chosen) == (best_one == layout.LEFT)
        masks[a, codes[layout.CODES, place_of(keys[i])]] = 1 if left else 2


@kernel
def _enumerate(rules, lines, a, n_codes, k, absent, slack, work):
    """Try every subset that holds the first code, in the order of their numbers.

    At SPARE + i is the sum of the first code and of those from i on in the subset.
    The next number changes its low bits, so that two sums a subset are made anew.
    """
    codes, vectors, masks, chosen = work.wholes, work.vectors, work.masks, -1
    sums = work.floats[layout.SUMS :]
    for i in range(1, k + 1):
        for c in range(rules.width):
            sums[c, SPARE + i] = lines[a, codes[layout.CODES, 0], c]
    for number in range(2 ** (k - 1) - 1):
        i = ZERO
        while number and not (number >> i) & 1:
            i += 1
        for j in range(i + 1, 0, -1):
            for c in range(rules.width):
                held = sums[c, SPARE + j + 1]
                if (number >> (j - 1)) & 1:
                    held += lines[a, codes[layout.CODES, j], c]
                sums[c, SPARE + j] = held
        for c in range(rules.width):
            left = sums[c, SPARE + 1]
            vectors[layout.LEFT, c] = left
            vectors[layout.RIGHT, c] = sums[c, n_codes] - left
        if improve(rules, absent, slack, work, a):
            chosen = number
    if chosen < 0:
        return
    work.cuts[a, layout.BIN] = 0
    for code in range(n_codes):
        masks[a, code] = 0
    masks[a, codes[layout.CODES, 0]] = 1
    for i in range(1, k):
        masks[a, codes[layout.CODES, i]] = 2 - ((chosen >> (i - 1)) & 1)
