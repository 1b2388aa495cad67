"""The score of a cut, and what no cut inside a bin can exceed.

A side of a cut is a vector v: the weight of each class, or for a numeric target
(Σw, Σwy⁺, Σwy⁻, Σwy²), y⁺ and y⁻ being the parts of y above and below its origin.
Its score φ(v) is

    GINI       Σ v_c² / |v|
    ENTROPY    Σ v_c log₂ v_c − |v| log₂ |v|
    ERRORS     max v_c
    SQUARES    (Σwy)² / Σw
    DEVIATION  −Σw √s²            with s² = Σwy² / Σw − (Σwy / Σw)²
    ROOT       −Σw (s²)^⅕
    POISSON    2 Σwy ln (Σwy / Σw)

and a cut of a node T into L and R gains (φ(L) + φ(R) − φ(T)) / |T|: the decrease of
Gini's index, of the entropy, the error rate, the mean squared error, the standard
deviation, the fifth root of the variance, Poisson's deviance. Of TWOING only the score
of a whole cut is defined, |L| |R| / 4|T| · (Σ |L_c / |L| − R_c / |R||)²; φ(T) is 0.

Every φ is convex and φ(av) = a φ(v), so φ(u + v) ≤ φ(u) + φ(v): φ(v) is −|v| times a
concave impurity of v / |v|, s² being concave in the mean of y and of y², and so its
roots. Twoing is half the greatest decrease of Gini's index over all ways to put the
classes into two groups (Breiman et al. 1984), and convex as each of these. This gives
bounds on a cut inside a bin b between L, all that lies left of the bin, and R, all
right of it. Let s be the part of the bin that goes left.

1. Each part of the bin scores at most its weight (GINI and ERRORS, since v_c ≤ |v|),
   nothing (ENTROPY and roots), or Σwy² (SQUARES, by Cauchy and Schwarz):
       φ(L + s) + φ(R + b − s) ≤ φ(L) + φ(R) + that of the whole bin.
2. g(s) = φ(L + s) + φ(R + b − s) is convex, so its greatest value in the box
   0 ≤ s ≤ b is at a corner: some classes of the bin go left as a whole, the others
   right. Two corners, none and all of them, are the bin's own edges. These were
   tried before, unless a branch were too light; so they count only then. A
   cut inside that scores as much as an edge, and no other corner, lies between two
   equal edges, and the first of equals wins; but not where the left one of these is no
   cut, since nothing is left of it, and scores are level there as those of ERRORS are.
   For numbers s is in the box of Σw and Σwy, the latter from Σwy⁻ to Σwy⁺: four corners
   again. Roots have Σwy² besides, so eight; and as s² < 0 has none, they are bounded so
   only where every corner has. What rounding leaves of an s² of 0 is 0 (``spread_of``),
   which is no bound near it: neither L nor R may be so.
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
from spinney._support.ties import TOLERANCE
from spinney.growth.binned.kernels import layout

# Those of classes, and then those of numbers.
GINI, ENTROPY, ERRORS, TWOING = range(4)
SQUARES, POISSON, DEVIATION, ROOT = range(4, 8)
ROOT_TOLERANCE = 1e-9

MAX_CORNER_CLASSES = 8  # of a bin whose corners are tried


@kernel
def is_numeric(kind):
    """Return whether a side is the moments of a number."""
    return kind >= SQUARES


@kernel
def tie_tolerance(kind, totals, line):
    """Return the largest difference of scores that counts as a tie.

    For classes, whose gains have no unit, it is a fraction of the weight. For numbers
    it has the unit of the gain (``Criterion.unit``).
    """
    size = side_weight(kind, totals, line)
    if not is_numeric(kind):
        return TOLERANCE * size
    if kind == SQUARES:
        return TOLERANCE * totals[line, 3]
    if kind == POISSON:
        return TOLERANCE * (totals[line, 1] + totals[line, 2])
    return ROOT_TOLERANCE * size * _root(kind, totals[line, 3] / size)


@kernel
def _root(kind, square):
    """Return the square root, or the fifth root."""
    return np.sqrt(square) if kind == DEVIATION else square**0.2


@kernel
def side_weight(kind, vectors, line):
    """Return the weight of a side, or of any line of class weights or moments."""
    if is_numeric(kind):
        return vectors[line, 0]
    total = 0.0
    for c in range(vectors.shape[1]):
        total += vectors[line, c]
    return total


@kernel
def limit_weight(rules, vectors, line):
    """Return the weight of a side for limits, without the factors of costs."""
    if is_numeric(rules.kind):
        return vectors[line, 0]
    total = 0.0
    for c in range(vectors.shape[1]):
        total += vectors[line, c] * rules.limit_scale[c]
    return total


@kernel
def side_score(kind, vectors, line):
    """Return φ of a side, 0 for an empty side."""
    if is_numeric(kind):
        total = vectors[line, 1] + vectors[line, 2]
        return _moment_score(kind, vectors[line, 0], total, vectors[line, 3])
    size, total = 0.0, 0.0
    for c in range(vectors.shape[1]):
        weight = vectors[line, c]
        size += weight
        if kind == GINI:
            total += weight * weight
        elif kind == ERRORS:
            total = max(total, weight)
        elif kind == ENTROPY and weight > 0:
            total += weight * np.log2(weight)
    if size <= 0 or kind in (ERRORS, TWOING):
        return total
    return total / size if kind == GINI else total - size * np.log2(size)


@kernel
def _moment_score(kind, weight, total, squares):
    """Return φ of a side of numbers."""
    if weight <= 0:
        return 0.0
    if kind == SQUARES:
        return total * total / weight
    if kind == POISSON:
        return 2 * total * np.log(total / weight) if total > 0 else 0.0
    spread = squares - total * total / weight
    if spread <= TOLERANCE * squares:
        return 0.0
    return -weight * _root(kind, spread / weight)


@kernel
def split_score(kind, vectors, left, right):
    """Return the score of a cut between two sides."""
    if kind == TWOING:
        return _twoing(vectors, left, right)
    return side_score(kind, vectors, left) + side_score(kind, vectors, right)


@kernel
def _twoing(vectors, left, right):
    """Return the twoing score of a cut."""
    size_l = side_weight(TWOING, vectors, left)
    size_r = side_weight(TWOING, vectors, right)
    if size_l <= 0 or size_r <= 0:
        return 0.0
    d = 0.0
    for c in range(vectors.shape[1]):
        d += abs(vectors[left, c] / size_l - vectors[right, c] / size_r)
    return size_l * size_r / (size_l + size_r) / 4 * d * d


@kernel
def add_missing(vectors, side):
    """Add the weights of the missing rows to a side."""
    for c in range(vectors.shape[1]):
        vectors[side, c] += vectors[layout.MISSING, c]


@kernel
def score_bound(kind, vectors, floor, edges_tried):
    """Return a bound on cuts inside a bin: INSIDE, between LEFT and RIGHT.

    It is as tight as needed for a comparison with the floor. With ``edges_tried`` the
    cuts at the bin's own edges were scored, whatever the weights of their sides.
    """
    if kind >= DEVIATION and not (
        _has_spread(vectors, layout.LEFT) and _has_spread(vectors, layout.RIGHT)
    ):
        return np.inf
    bin_score = 0.0
    if kind in (GINI, ERRORS):
        bin_score = side_weight(kind, vectors, layout.INSIDE)
    elif kind == SQUARES:
        bin_score = vectors[layout.INSIDE, 3]
    elif kind in (TWOING, POISSON):
        bin_score = np.inf
    bound = split_score(kind, vectors, layout.LEFT, layout.RIGHT) + bin_score
    if bound < floor:
        return bound
    if is_numeric(kind):
        return min(bound, _numeric_corner_bound(kind, vectors))
    n_classes = 0
    for c in range(vectors.shape[1]):
        n_classes += vectors[layout.INSIDE, c] > 0
    if n_classes > 2 and kind <= ENTROPY:
        bound = min(bound, _slope_bound(kind, vectors))
    if bound < floor or n_classes > MAX_CORNER_CLASSES:
        return bound
    # Where nothing is on the left, the lower edge is no cut: equals inside come first.
    edges_tried = (
        edges_tried and kind != ERRORS and side_weight(kind, vectors, layout.LEFT) > 0
    )
    return min(bound, _corner_bound(kind, n_classes, vectors, floor, edges_tried))


@kernel
def _has_spread(vectors, line):
    """Return whether the numbers of a side vary, with and without the bin."""
    total, squares = vectors[line, 1] + vectors[line, 2], vectors[line, 3]
    spread = squares - total * total / vectors[line, 0]
    # Twice: what sums round by must not matter.
    return spread > 2 * TOLERANCE * (squares + vectors[layout.INSIDE, 3])


@kernel
def _corner_bound(kind, n_classes, vectors, floor, edges_tried):
    """Return the score of a corner that reaches the floor, else the largest score."""
    greatest = -np.inf
    # Bit by bit, which of the bin's classes go left.
    first, last = (1, (1 << n_classes) - 1) if edges_tried else (0, 1 << n_classes)
    for corner in range(first, last):
        bits = corner
        for c in range(vectors.shape[1]):
            inside = vectors[layout.INSIDE, c]
            to_left, to_right = vectors[layout.LEFT, c], vectors[layout.RIGHT, c]
            if inside > 0:
                to_left += inside if bits & 1 else 0.0
                to_right += 0.0 if bits & 1 else inside
                bits >>= 1
            vectors[layout.TRIAL_LEFT, c] = to_left
            vectors[layout.TRIAL_RIGHT, c] = to_right
        cut_score = split_score(kind, vectors, layout.TRIAL_LEFT, layout.TRIAL_RIGHT)
        greatest = max(greatest, cut_score)
        if greatest >= floor:
            break
    return greatest


@kernel
def _numeric_corner_bound(kind, vectors):
    """Return the largest score at the corners of the box of Σw, Σwy and Σwy²."""
    low, high = vectors[layout.INSIDE, 2], vectors[layout.INSIDE, 1]
    sum_l = vectors[layout.LEFT, 1] + vectors[layout.LEFT, 2]
    sum_r = vectors[layout.RIGHT, 1] + vectors[layout.RIGHT, 2] + low + high
    squares, roots = vectors[layout.INSIDE, 3], kind >= DEVIATION
    greatest = -np.inf
    for corner in range(8 if roots else 4):
        weight = vectors[layout.INSIDE, 0] if corner & 1 else 0.0
        weighted = high if corner & 2 else low
        square = squares if corner & 4 else 0.0
        left = vectors[layout.LEFT, 0] + weight
        right = vectors[layout.RIGHT, 0] + vectors[layout.INSIDE, 0] - weight
        if left <= 0 or right <= 0:
            return np.inf
        total_l, total_r = sum_l + weighted, sum_r - weighted
        squares_l = vectors[layout.LEFT, 3] + square
        squares_r = vectors[layout.RIGHT, 3] + squares - square
        if (
            roots
            and min(
                squares_l - total_l * total_l / left,
                squares_r - total_r * total_r / right,
            )
            <= 0
        ):
            return np.inf
        cut_score = _moment_score(kind, left, total_l, squares_l)
        greatest = max(
            greatest, cut_score + _moment_score(kind, right, total_r, squares_r)
        )
    return greatest


@kernel
def _slope_bound(kind, vectors):
    """Return the bound by the slope of g from the bin's lower edge."""
    size_l = side_weight(kind, vectors, layout.LEFT)
    size_b = side_weight(kind, vectors, layout.INSIDE)
    size_r = side_weight(kind, vectors, layout.RIGHT)
    if size_l <= 0 or size_r <= 0:
        return np.inf
    sum_v, sum_u = 0.0, 0.0
    for c in range(vectors.shape[1]):
        inside = vectors[layout.INSIDE, c]
        vectors[layout.TRIAL_RIGHT, c] = vectors[layout.RIGHT, c] + inside
        u_min = vectors[layout.LEFT, c] / (size_l + size_b - inside)
        v_max = vectors[layout.TRIAL_RIGHT, c] / (size_r + inside)
        sum_u += u_min * u_min
        sum_v += v_max * v_max
    bound = split_score(kind, vectors, layout.LEFT, layout.TRIAL_RIGHT)
    for c in range(vectors.shape[1]):
        inside = vectors[layout.INSIDE, c]
        if inside <= 0:
            continue
        u_max = (vectors[layout.LEFT, c] + inside) / (size_l + inside)
        v_min = vectors[layout.RIGHT, c] / (size_r + size_b - inside)
        if kind == GINI:
            slope = 2 * u_max - sum_u - 2 * v_min + sum_v
        elif v_min <= 0:
            return np.inf
        else:
            slope = np.log2(u_max) - np.log2(v_min)
        bound += inside * max(0.0, slope)
    return bound
