"""The best two subsets of the codes of a nominal attribute at a node."""

from spinney.kernels.compiled import kernel
from spinney.kernels.cuts import improve
from spinney.kernels.layout import BIN, LEFT, RIGHT, SIZES, ZERO
from spinney.kernels.scoring import SQUARES
from spinney.kernels.sorting import sort_pairs

__all__ = ["ENUMERATED", "best_subset"]

ENUMERATED = 12


@kernel
def best_subset(rules, lines, a, n_codes, absent, slack, work):
    """Find the best subset; ``masks`` has 1 for a code that goes left, 2 for right.

    As in ``candidates.subsets``: prefixes in order of the class share or the mean,
    where that is exact; else every subset of a few codes, the first of them left.
    Many codes of more than two classes are no business of this kernel.
    """
    kind, vectors, sums = rules.kind, work.vectors, work.sums
    k = ZERO
    for code in range(n_codes):
        if work.floats[SIZES, code + 1] > work.floats[SIZES, code]:
            work.places[k] = code
            k += 1
    present, last_class = 0, 0
    for c in range(vectors.shape[1]):
        if sums[c, n_codes] > 0:
            present += 1
            last_class = c
    two = kind == SQUARES or present <= 2
    free = rules.least_branch <= 0 and not absent
    if k <= ENUMERATED and not (two and free):
        _enumerate(
            rules,
            lines,
            a,
            n_codes,
            k,
            absent,
            slack,
            sums,
            vectors,
            work.founds,
            work.masks,
            work.places,
        )
        return
    for i in range(k):
        code = work.places[i]
        above = lines[a, code, last_class]
        if kind == SQUARES:
            above = lines[a, code, 1] + lines[a, code, 2]
        size = work.floats[SIZES, code + 1] - work.floats[SIZES, code]
        work.keys[i] = above / size
    _by_prefix(
        rules,
        lines,
        a,
        n_codes,
        k,
        absent,
        slack,
        sums,
        vectors,
        work.founds,
        work.masks,
        work.places,
        work.keys,
    )


@kernel
def _by_prefix(
    rules,
    lines,
    a,
    n_codes,
    k,
    absent,
    slack,
    sums,
    vectors,
    founds,
    masks,
    places,
    keys,
):
    """Try the prefixes of the codes in order of their keys, ties in order of code."""
    first = places[0]
    sort_pairs(keys, places, k)
    for start in range(k):  # a run of equal keys is put in order of code
        at = start
        while at > 0 and keys[at - 1] == keys[at] and places[at - 1] > places[at]:
            places[at - 1], places[at] = places[at], places[at - 1]
            at -= 1
    for c in range(vectors.shape[1]):
        vectors[LEFT, c] = 0.0
        vectors[RIGHT, c] = sums[c, n_codes]
    # Until the first code is met, the prefix is the right side.
    one, other, chosen, best_one = RIGHT, LEFT, -1, RIGHT
    for c in range(vectors.shape[1]):
        vectors[LEFT, c], vectors[RIGHT, c] = vectors[RIGHT, c], vectors[LEFT, c]
    for i in range(k - 1):
        if places[i] == first:
            one, other = LEFT, RIGHT
            for c in range(vectors.shape[1]):
                vectors[LEFT, c], vectors[RIGHT, c] = (
                    vectors[RIGHT, c],
                    vectors[LEFT, c],
                )
        for c in range(vectors.shape[1]):
            vectors[one, c] += lines[a, places[i], c]
            vectors[other, c] -= lines[a, places[i], c]
        if improve(rules, absent, slack, founds, a, vectors):
            chosen, best_one = i, one
    if chosen < 0:
        return
    founds[a, BIN] = 0
    for code in range(n_codes):
        masks[a, code] = 0
    for i in range(k):
        masks[a, places[i]] = 1 if (i <= chosen) == (best_one == LEFT) else 2


@kernel
def _enumerate(
    rules, lines, a, n_codes, k, absent, slack, sums, vectors, founds, masks, places
):
    """Try every subset that holds the first code, in the order of their numbers."""
    chosen = -1
    for number in range(2 ** (k - 1) - 1):
        for c in range(vectors.shape[1]):
            left = lines[a, places[0], c]
            for i in range(1, k):
                if (number >> (i - 1)) & 1:
                    left += lines[a, places[i], c]
            vectors[LEFT, c] = left
            vectors[RIGHT, c] = sums[c, n_codes] - left
        if improve(rules, absent, slack, founds, a, vectors):
            chosen = number
    if chosen < 0:
        return
    founds[a, BIN] = 0
    for code in range(n_codes):
        masks[a, code] = 0
    masks[a, places[0]] = 1
    for i in range(1, k):
        masks[a, places[i]] = 2 - ((chosen >> (i - 1)) & 1)
