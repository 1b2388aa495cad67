"""The best cut among sorted keys."""

from spinney._support.jit.compile import kernel
from spinney.growth.binned.kernels import layout, split_scores
from spinney.growth.binned.kernels.packed_rows import class_of, row_of, weight_of
from spinney.growth.binned.kernels.sort import key_place
from spinney.growth.binned.kernels.split_scores import (
    add_missing,
    is_numeric,
    limit_weight,
    side_weight,
    split_score,
)

MAX_EXACT = 2.0**53


@kernel
def keep_if_better(rules, has_missing, slack, work, line):
    """Store the cut between LEFT and RIGHT if it is better than the best so far."""
    kind, better, least = rules.kind, False, work.limits[layout.LEAST]
    cuts, vectors = work.cuts, work.vectors
    for trial in range(2 if has_missing else 1):
        for c in range(vectors.shape[1]):
            vectors[layout.TRIAL_LEFT, c] = vectors[layout.LEFT, c]
            vectors[layout.TRIAL_RIGHT, c] = vectors[layout.RIGHT, c]
        if has_missing:
            add_missing(vectors, layout.TRIAL_LEFT + trial)
        if least > 0:
            left_weight = limit_weight(rules, vectors, layout.TRIAL_LEFT)
            if (
                min(left_weight, limit_weight(rules, vectors, layout.TRIAL_RIGHT))
                < least
            ):
                continue
        cut_score = split_score(kind, vectors, layout.TRIAL_LEFT, layout.TRIAL_RIGHT)
        if cut_score > cuts[line, layout.SCORE] + slack:
            cuts[line, layout.SCORE] = cut_score
            cuts[line, layout.MISSING_SIDE] = trial if has_missing else -1
            for c in range(vectors.shape[1]):
                vectors[layout.BEST, c] = vectors[layout.LEFT, c]
            better = True
    return better


@kernel
def scan_sorted(rules, begin, end, labels, has_missing, slack, work, line, b):
    """Find the best cut between unequal neighbours of the sorted keys begin … end.

    ``values`` and ``members`` are by the place in a key. LEFT and RIGHT are the sides
    before the first key: nothing and all for a whole node, and the other bins for the
    rows of one bin.
    """
    kind, least = rules.kind, work.limits[layout.LEAST]
    keys, values, cuts, vectors = work.keys, work.values, work.cuts, work.vectors
    left_size = side_weight(kind, vectors, layout.LEFT)
    right_size = side_weight(kind, vectors, layout.RIGHT)
    # Squares that are carried along must add up exactly: what a sum over a heavy side
    # rounds by, the quotient of a light one multiplies.
    quick = kind == split_scores.GINI and not has_missing and rules.subtract
    quick = quick and (left_size + right_size) ** 2 <= MAX_EXACT
    left_squares, right_squares = 0.0, 0.0
    if quick:
        for c in range(vectors.shape[1]):
            left_squares += vectors[layout.LEFT, c] * vectors[layout.LEFT, c]
            right_squares += vectors[layout.RIGHT, c] * vectors[layout.RIGHT, c]
    best = cuts[line, layout.SCORE] + slack
    next_place = key_place(keys[begin])
    for i in range(begin, end - 1):
        place, next_place = next_place, key_place(keys[i + 1])
        word = work.members[place]
        weight = weight_of(labels, word)
        if is_numeric(kind):
            number = labels.numbers[row_of(word)]
            weighted, side = weight * number, 1 if number > 0 else 2
            vectors[layout.LEFT, 0] += weight
            vectors[layout.LEFT, side] += weighted
            vectors[layout.LEFT, 3] += weighted * number
            vectors[layout.RIGHT, 0] -= weight
            vectors[layout.RIGHT, side] -= weighted
            vectors[layout.RIGHT, 3] -= weighted * number
        else:
            c = class_of(word)
            if quick:
                left_squares += weight * (2 * vectors[layout.LEFT, c] + weight)
                right_squares += weight * (weight - 2 * vectors[layout.RIGHT, c])
                left_size += weight
                right_size -= weight
            vectors[layout.LEFT, c] += weight
            vectors[layout.RIGHT, c] -= weight
        if values[place] == values[next_place]:
            continue
        if quick:
            cut_score = left_squares / left_size + right_squares / right_size
            if cut_score <= best or left_size < least or right_size < least:
                continue
            cuts[line, layout.SCORE], cuts[line, layout.MISSING_SIDE] = cut_score, -1
            best = cut_score + slack
            for c in range(vectors.shape[1]):
                vectors[layout.BEST, c] = vectors[layout.LEFT, c]
        elif not keep_if_better(rules, has_missing, slack, work, line):
            continue
        cuts[line, layout.BIN] = b
        cuts[line, layout.LOW] = values[place]
        cuts[line, layout.HIGH] = values[next_place]
