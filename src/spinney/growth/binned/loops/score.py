"""The score of a cut, and what no cut inside a bin can exceed.

A side of a cut is a vector v: the weight of each class, or for a numeric target
(Σw, Σwy⁺, Σwy⁻, Σwy²), y⁺ and y⁻ being the parts of y above and below its origin.
Its score φ(v) is

    GINI      Σ v_c² / |v|
    ENTROPY   Σ v_c log₂ v_c − |v| log₂ |v|
    SQUARES   (Σwy)² / Σw

and a cut of a node T into L and R gains (φ(L) + φ(R) − φ(T)) / |T|: the decrease of
Gini's index, the information gained, the decrease of the mean squared error.

Every φ is convex and φ(av) = a φ(v), so φ(u + v) ≤ φ(u) + φ(v). This gives bounds
on a cut inside a bin b between L, all that lies left of the bin, and R, all right of
it. Let s be the part of the bin that goes left.

1. Each part of the bin scores at most its weight (GINI, since v_c ≤ |v|), nothing
   (ENTROPY), or Σwy² (SQUARES, by Cauchy and Schwarz):
       φ(L + s) + φ(R + b − s) ≤ φ(L) + φ(R) + that of the whole bin.
2. g(s) = φ(L + s) + φ(R + b − s) is convex, so its greatest value in the box
   0 ≤ s ≤ b is at a corner: some classes of the bin go left as a whole, the others
   right. Two corners, none and all of them, are the bin's own edges. These were
   tried before, unless a branch were too light; so they count only then. A
   cut inside that scores as much as an edge, and no other corner, lies between two
   equal edges, and the first of equals wins. For numbers s is in the box of Σw and Σwy,
   the latter from Σwy⁻ to Σwy⁺: four corners again.
3. A bin of many classes has too many corners, and the slope of g is bounded instead:
   g(s) ≤ g(0) + ∇g(s)·s ≤ g(0) + Σ_c b_c max(0, D_c) with D_c the greatest slope in
   the box. For GINI, with u_c = (L + s)_c / |L + s| and v_c likewise on the right,
       D_c = 2 max u_c − Σ (min u)² − 2 min v_c + Σ (max v)²,
   for ENTROPY D_c = log₂ max u_c − log₂ min v_c, where in the box
       L_c / (|L| + |b| − b_c) ≤ u_c ≤ (L_c + b_c) / (|L| + b_c)
   and v_c is bounded in the same way, from R + b on down.
"""

import numpy as np

from spinney._support.jit.compile import kernel
from spinney.growth.binned.loops import layout

GINI, ENTROPY, SQUARES = 0, 1, 2

MOST_CLASSES = 8  # of a bin whose corners are tried


@kernel
def size_of(kind, vectors, at):
    """Return the weight of a side, or of any line of class weights or moments."""
    if kind == SQUARES:
        return vectors[at, 0]
    total = 0.0
    for c in range(vectors.shape[1]):
        total += vectors[at, c]
    return total


@kernel
def own_size(rules, vectors, at):
    """Return the weight of a side as limits count it, not altered by costs."""
    if rules.kind == SQUARES:
        return vectors[at, 0]
    total = 0.0
    for c in range(vectors.shape[1]):
        total += vectors[at, c] * rules.own[c]
    return total


@kernel
def score_of(kind, vectors, at):
    """Return φ of a side; that of nothing is 0."""
    if kind == SQUARES:
        total = vectors[at, 1] + vectors[at, 2]
        return total * total / vectors[at, 0] if vectors[at, 0] > 0 else 0.0
    size, total = 0.0, 0.0
    for c in range(vectors.shape[1]):
        weight = vectors[at, c]
        size += weight
        if kind == GINI:
            total += weight * weight
        elif weight > 0:
            total += weight * np.log2(weight)
    if size <= 0:
        return 0.0
    return total / size if kind == GINI else total - size * np.log2(size)


@kernel
def score_of_cut(kind, vectors, left, right):
    """Return the score of a cut between two sides."""
    return score_of(kind, vectors, left) + score_of(kind, vectors, right)


@kernel
def add_missing(vectors, side):
    """Add what the missing rows weigh to a side."""
    for c in range(vectors.shape[1]):
        vectors[side, c] += vectors[layout.AWAY, c]


@kernel
def bound_inside(kind, vectors, floor, tried):
    """Return what no cut inside a bin can exceed: INSIDE, between LEFT and RIGHT.

    No closer than it takes to tell that it is below the floor. ``tried`` says that
    cuts at the bin's own edges were tried, whatever they leave on a side.
    """
    whole = 0.0
    if kind == GINI:
        whole = size_of(kind, vectors, layout.INSIDE)
    elif kind == SQUARES:
        whole = vectors[layout.INSIDE, 3]
    bound = score_of_cut(kind, vectors, layout.LEFT, layout.RIGHT) + whole
    if bound < floor:
        return bound
    if kind == SQUARES:
        return min(bound, _corners_of_numbers(vectors))
    n_classes = 0
    for c in range(vectors.shape[1]):
        n_classes += vectors[layout.INSIDE, c] > 0
    if n_classes > 2:
        bound = min(bound, _slope(kind, vectors))
    if bound < floor or n_classes > MOST_CLASSES:
        return bound
    return min(bound, _corners(kind, n_classes, vectors, floor, tried))


@kernel
def _corners(kind, n_classes, vectors, floor, tried):
    """Return the score of a corner that reaches the floor, else the greatest."""
    greatest = -np.inf
    # Bit by bit, which of the bin's classes go left.
    first, last = (1, (1 << n_classes) - 1) if tried else (0, 1 << n_classes)
    for corner in range(first, last):
        goes = corner
        for c in range(vectors.shape[1]):
            inside = vectors[layout.INSIDE, c]
            one, other = vectors[layout.LEFT, c], vectors[layout.RIGHT, c]
            if inside > 0:
                one += inside if goes & 1 else 0.0
                other += 0.0 if goes & 1 else inside
                goes >>= 1
            vectors[layout.ONE, c], vectors[layout.OTHER, c] = one, other
        reached = score_of_cut(kind, vectors, layout.ONE, layout.OTHER)
        greatest = max(greatest, reached)
        if greatest >= floor:
            break
    return greatest


@kernel
def _corners_of_numbers(vectors):
    """Return the greatest score at the corners of the box of Σw and Σwy."""
    low, high = vectors[layout.INSIDE, 2], vectors[layout.INSIDE, 1]
    known = vectors[layout.LEFT, 1] + vectors[layout.LEFT, 2]
    rest = vectors[layout.RIGHT, 1] + vectors[layout.RIGHT, 2] + low + high
    greatest = -np.inf
    for corner in range(4):
        weight = vectors[layout.INSIDE, 0] if corner & 1 else 0.0
        moved = high if corner & 2 else low
        left = vectors[layout.LEFT, 0] + weight
        right = vectors[layout.RIGHT, 0] + vectors[layout.INSIDE, 0] - weight
        if left <= 0 or right <= 0:
            return np.inf
        here, there = known + moved, rest - moved
        greatest = max(greatest, here * here / left + there * there / right)
    return greatest


@kernel
def _slope(kind, vectors):
    """Return the bound by the slope of g from the bin's lower edge."""
    size = size_of(kind, vectors, layout.LEFT)
    width = size_of(kind, vectors, layout.INSIDE)
    rest = size_of(kind, vectors, layout.RIGHT)
    if size <= 0 or rest <= 0:
        return np.inf
    purest, mixed = 0.0, 0.0
    for c in range(vectors.shape[1]):
        inside = vectors[layout.INSIDE, c]
        vectors[layout.OTHER, c] = vectors[layout.RIGHT, c] + inside
        least = vectors[layout.LEFT, c] / (size + width - inside)
        most = vectors[layout.OTHER, c] / (rest + inside)
        mixed += least * least
        purest += most * most
    bound = score_of_cut(kind, vectors, layout.LEFT, layout.OTHER)
    for c in range(vectors.shape[1]):
        inside = vectors[layout.INSIDE, c]
        if inside <= 0:
            continue
        most = (vectors[layout.LEFT, c] + inside) / (size + inside)
        least = vectors[layout.RIGHT, c] / (rest + width - inside)
        if kind == GINI:
            slope = 2 * most - mixed - 2 * least + purest
        elif least <= 0:
            return np.inf
        else:
            slope = np.log2(most) - np.log2(least)
        bound += inside * max(0.0, slope)
    return bound
