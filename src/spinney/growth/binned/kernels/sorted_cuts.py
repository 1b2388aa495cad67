"""The best cut among sorted keys."""

from spinney._support.jit.compile import kernel
from spinney.growth.binned.kernels import layout, score
from spinney.growth.binned.kernels.row_words import class_of, number_of, weight_of
from spinney.growth.binned.kernels.score import (
    add_missing,
    of_numbers,
    own_size,
    score_of_cut,
    size_of,
)
from spinney.growth.binned.kernels.sort import place_of

MOST_EXACT = 2.0**53


@kernel
def improve(rules, absent, slack, work, at):
    """Note the cut between LEFT and RIGHT if it is better than what was found."""
    kind, better, least = rules.kind, False, work.limits[layout.LEAST]
    cuts, vectors = work.cuts, work.vectors
    for trial in range(2 if absent else 1):
        for c in range(vectors.shape[1]):
            vectors[layout.ONE, c] = vectors[layout.LEFT, c]
            vectors[layout.OTHER, c] = vectors[layout.RIGHT, c]
        if absent:
            add_missing(vectors, layout.ONE + trial)
        if least > 0:
            one = own_size(rules, vectors, layout.ONE)
            if min(one, own_size(rules, vectors, layout.OTHER)) < least:
                continue
        reached = score_of_cut(kind, vectors, layout.ONE, layout.OTHER)
        if reached > cuts[at, layout.SCORE] + slack:
            cuts[at, layout.SCORE] = reached
            cuts[at, layout.MISSING] = trial if absent else -1
            for c in range(vectors.shape[1]):
                vectors[layout.BEST, c] = vectors[layout.LEFT, c]
            better = True
    return better


@kernel
def scan_sorted(rules, begin, end, labels, absent, slack, work, at, at_bin):
    """Find the best cut between unequal neighbours of the sorted keys begin … end.

    ``values`` and ``members`` are by the place that a key ends with.

    LEFT and RIGHT are what lies beside the first key to begin with: nothing and all
    for a whole node, and what the other bins have for the rows of one bin.
    """
    kind, least = rules.kind, work.limits[layout.LEAST]
    keys, values, cuts, vectors = work.keys, work.values, work.cuts, work.vectors
    left_size = size_of(kind, vectors, layout.LEFT)
    right_size = size_of(kind, vectors, layout.RIGHT)
    # Squares that are carried along must add up exactly: what a sum over a heavy side
    # rounds by, the quotient of a light one multiplies.
    quick = kind == score.GINI and not absent and rules.subtract
    quick = quick and (left_size + right_size) ** 2 <= MOST_EXACT
    left_squares, right_squares = 0.0, 0.0
    if quick:
        for c in range(vectors.shape[1]):
            left_squares += vectors[layout.LEFT, c] * vectors[layout.LEFT, c]
            right_squares += vectors[layout.RIGHT, c] * vectors[layout.RIGHT, c]
    best = cuts[at, layout.SCORE] + slack
    after = place_of(keys[begin])
    for i in range(begin, end - 1):
        here, after = after, place_of(keys[i + 1])
        word = work.members[here]
        weight = weight_of(labels, word)
        if of_numbers(kind):
            number = labels.numbers[number_of(word)]
            moved, side = weight * number, 1 if number > 0 else 2
            vectors[layout.LEFT, 0] += weight
            vectors[layout.LEFT, side] += moved
            vectors[layout.LEFT, 3] += moved * number
            vectors[layout.RIGHT, 0] -= weight
            vectors[layout.RIGHT, side] -= moved
            vectors[layout.RIGHT, 3] -= moved * number
        else:
            c = class_of(word)
            if quick:
                left_squares += weight * (2 * vectors[layout.LEFT, c] + weight)
                right_squares += weight * (weight - 2 * vectors[layout.RIGHT, c])
                left_size += weight
                right_size -= weight
            vectors[layout.LEFT, c] += weight
            vectors[layout.RIGHT, c] -= weight
        if values[here] == values[after]:
            continue
        if quick:
            reached = left_squares / left_size + right_squares / right_size
            if reached <= best or left_size < least or right_size < least:
                continue
            cuts[at, layout.SCORE], cuts[at, layout.MISSING] = reached, -1
            best = reached + slack
            for c in range(vectors.shape[1]):
                vectors[layout.BEST, c] = vectors[layout.LEFT, c]
        elif not improve(rules, absent, slack, work, at):
            continue
        cuts[at, layout.BIN] = at_bin
        cuts[at, layout.LOW], cuts[at, layout.HIGH] = values[here], values[after]
