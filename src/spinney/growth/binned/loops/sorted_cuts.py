"""The best cut among sorted keys."""

from spinney._support.jit.compile import kernel
from spinney.growth.binned.loops.layout import (
    AWAY,
    BEST,
    BIN,
    HIGH,
    LEFT,
    LOW,
    MISSING,
    ONE,
    OTHER,
    RIGHT,
    WORTH,
)
from spinney.growth.binned.loops.row_words import class_of, number_of, weight_of
from spinney.growth.binned.loops.score import GINI, SQUARES, size_of, worth
from spinney.growth.binned.loops.sort import place_of

EXACT = 2.0**53


@kernel
def improve(rules, absent, slack, founds, at, vectors):
    """Note the cut between LEFT and RIGHT if it is better than what was found."""
    kind, better = rules.kind, False
    for trial in range(2 if absent else 1):
        for c in range(vectors.shape[1]):
            vectors[ONE, c], vectors[OTHER, c] = vectors[LEFT, c], vectors[RIGHT, c]
            if absent:
                vectors[ONE if trial == 0 else OTHER, c] += vectors[AWAY, c]
        enough = min(size_of(kind, vectors, ONE), size_of(kind, vectors, OTHER))
        if rules.least_branch > 0 and enough < rules.least_branch:
            continue
        score = worth(kind, vectors, ONE) + worth(kind, vectors, OTHER)
        if score > founds[at, WORTH] + slack:
            founds[at, WORTH] = score
            founds[at, MISSING] = trial if absent else -1
            for c in range(vectors.shape[1]):
                vectors[BEST, c] = vectors[LEFT, c]
            better = True
    return better


@kernel
def scan_sorted(rules, begin, end, labels, absent, slack, work, at, at_bin):
    """Find the best cut between unequal neighbours of the sorted keys begin … end.

    ``values`` and ``members`` are by the place that a key ends with.

    LEFT and RIGHT are what lies beside the first key to begin with: nothing and all
    for a whole node, and what the other bins have for the rows of one bin.
    """
    kind, least = rules.kind, rules.least_branch
    keys, values, founds, vectors = work.keys, work.values, work.founds, work.vectors
    left_size, right_size = size_of(kind, vectors, LEFT), size_of(kind, vectors, RIGHT)
    # Squares that are carried along must add up exactly: what a sum over a heavy side
    # rounds by, the quotient of a light one multiplies.
    quick = kind == GINI and not absent and rules.subtract
    quick = quick and (left_size + right_size) ** 2 <= EXACT
    left_squares, right_squares = 0.0, 0.0
    if quick:
        for c in range(vectors.shape[1]):
            left_squares += vectors[LEFT, c] * vectors[LEFT, c]
            right_squares += vectors[RIGHT, c] * vectors[RIGHT, c]
    best = founds[at, WORTH] + slack
    after = place_of(keys[begin])
    for i in range(begin, end - 1):
        here, after = after, place_of(keys[i + 1])
        word = work.members[here]
        weight = weight_of(labels, word)
        if kind == SQUARES:
            number = labels.numbers[number_of(word)]
            moved, side = weight * number, 1 if number > 0 else 2
            vectors[LEFT, 0] += weight
            vectors[LEFT, side] += moved
            vectors[LEFT, 3] += moved * number
            vectors[RIGHT, 0] -= weight
            vectors[RIGHT, side] -= moved
        else:
            c = class_of(word)
            if quick:
                left_squares += weight * (2 * vectors[LEFT, c] + weight)
                right_squares += weight * (weight - 2 * vectors[RIGHT, c])
                left_size += weight
                right_size -= weight
            vectors[LEFT, c] += weight
            vectors[RIGHT, c] -= weight
        if values[here] == values[after]:
            continue
        if quick:
            score = left_squares / left_size + right_squares / right_size
            if score <= best or left_size < least or right_size < least:
                continue
            founds[at, WORTH], founds[at, MISSING] = score, -1
            best = score + slack
            for c in range(vectors.shape[1]):
                vectors[BEST, c] = vectors[LEFT, c]
        elif not improve(rules, absent, slack, founds, at, vectors):
            continue
        founds[at, BIN] = at_bin
        founds[at, LOW], founds[at, HIGH] = values[here], values[after]
