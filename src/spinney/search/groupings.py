"""Ways to group the values of one attribute into branches.

Each function takes the attribute's count table at a node and returns
:class:`Groupings`: a stack of tables by branches, one for each way considered.

thresholds
    numbers and ordered codes: one cut between every two neighbouring values.
multiway
    one branch for every value of the attribute, those absent at the node too.
subsets
    two branches. With two classes at the node, ordering the values by the share
    of one class makes the best subset a prefix (Breiman et al. 1984, theorem
    4.5), and so does ordering them by the mean of a numeric target (section 8.8),
    so k − 1 cuts are exact, as long as every subset is allowed. The proof needs no
    impurity: the class weights of all subsets lie in a zonotope whose corners are
    the prefixes, so a gain whose sets of low values are convex is greatest at a
    prefix. χ² (Gini's decrease over Gini's index), twoing and Hellinger's distance
    are convex; C-SEP grows with the turn from the weights of one branch to those of
    the other, points of equal turn lie on an arc over the diagonal (inscribed
    angles), and those of less turn fill a convex lens. Where the trivial split is
    not the worst one, as with description lengths, or the criterion is a user's,
    ``Criterion.ordered`` is False. With more classes, or where a limit on branches
    or rows placed later could favour another subset, all 2^(k−1) − 1 are tried up
    to ``ENUMERATED`` values. Beyond that the values are ordered, by the share or,
    with more classes, along the first principal component of their class shares
    (Coppersmith, Hong and Hosking 1999); that is good but not exact, and the
    candidate says so.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.trees import CountTable

ENUMERATED = 12
LISTED = 256

Sides = float | tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Groupings:
    """A stack of tables by branches, and what each of them means.

    Parameters
    ----------
    table : CountTable
        ``weights`` and ``rows`` of shape (ways, branches, classes).
    sides : function of int
        The threshold or the groups of codes of a way.
    missing_at : array of shape (ways,), optional
        The branch whose counts include the missing rows.
    missing_as : number, optional
        The value at which the missing rows were counted before grouping.
    exact : bool
        Whether no better grouping of this form exists.
    log_multiplier : float
        The logarithm of what p is multiplied by, as there was a choice of groupings.
    """

    table: CountTable
    sides: Callable[[int], Sides]
    missing_at: Integers | None = None
    missing_as: float | None = None
    exact: bool = True
    log_multiplier: float = 0.0

    def __len__(self) -> int:
        """Return how many ways there are."""
        return len(self.table.weights)

    def with_missing_at(self, ways: Integers, branches: Integers) -> "Groupings":
        """Return these ways, their missing rows counted in the given branches."""
        weights, rows = self.table.weights[ways], self.table.rows[ways]
        weights[np.arange(len(ways)), branches] += self.table.missing
        rows[np.arange(len(ways)), branches] += self.table.missing_rows
        stack = replace(self.table.without_missing(), weights=weights, rows=rows)
        return replace(
            self,
            table=stack,
            sides=lambda way: self.sides(int(ways[way])),
            missing_at=branches,
        )


def midpoint(low: float, high: float) -> float:
    """Return a threshold t between two neighbouring values, low ≤ t < high.

    It is the midpoint to 12 digits. Between neighbouring floats, where no number
    lies between, or the rounded one is outside, it falls back to ``low``: a value
    equal to the threshold goes left.

    >>> midpoint(0.36, 0.403), midpoint(-1.7e308, 1.7e308), midpoint(0.0, 5e-324)
    (0.3815, 0.0, 0.0)
    """
    with np.errstate(over="ignore"):
        middle = float(np.float64(low) + np.float64(high)) / 2
    if not np.isfinite(middle):
        middle = low / 2 + high / 2
    for threshold in (float(f"{middle:.12g}"), middle):
        if low <= threshold < high:
            return threshold
    return float(low)


def midpoints(low: Floats, high: Floats) -> Floats:
    """Return the midpoint of each pair, as :func:`midpoint` has it.

    Rounded to a whole number of twelve digits and scaled back by a power of ten that a
    float holds exactly, a number is what its decimal digits say. Where the product is
    too close to a half to tell, or such a power does not do, the digits are written.

    >>> midpoints(np.array([0.36, 0.0]), np.array([0.403, 5e-324]))
    array([0.3815, 0.    ])
    """
    with np.errstate(all="ignore"):
        middle = (low + high) / 2
        indices = 11 - np.floor(np.log10(np.abs(middle)))
        power = 10.0 ** np.clip(np.abs(indices), 0, 22)
        scaled = np.where(indices >= 0, middle * power, middle / power)
        digits = np.rint(scaled)
        found = np.where(indices >= 0, digits / power, digits * power)
        # The product is below 2⁴⁰ and so right to 2⁻¹².
        told = np.abs(np.abs(scaled - np.floor(scaled)) - 0.5) > 1e-3
        told &= (np.abs(digits) >= 1e11) & (np.abs(digits) < 1e12)
        told &= (np.abs(indices) <= 22) & (low <= found) & (found < high)
    for index in np.flatnonzero(~told):
        found[index] = midpoint(float(low[index]), float(high[index]))
    return np.asarray(found)


def _two_sides(table: CountTable, left: Floats, left_rows: Integers) -> CountTable:
    """Stack left sides with what remains on the right."""
    right_rows = table.rows.sum(axis=0) - left_rows
    right = np.where(right_rows > 0, table.total - left, 0.0)
    return replace(
        table,
        values=np.arange(2),
        weights=np.stack([left, right], axis=1),
        rows=np.stack([left_rows, right_rows], axis=1),
    )


def thresholds(table: CountTable, *, step: float = 0.0) -> Groupings | None:
    """Return the cuts between neighbours more than ``step`` apart; None without any."""
    values = table.values
    cuts = np.flatnonzero(values[:-1] + step < values[1:])
    if len(cuts) == 0:
        return None
    left = table.weights.cumsum(axis=0)[cuts]
    left_rows = table.rows.cumsum(axis=0)[cuts]

    def sides(way: int) -> float:
        low, high = values[cuts[way]], values[cuts[way] + 1]
        return midpoint(float(low), float(high))

    return Groupings(_two_sides(table, left, left_rows), sides)


def multiway(table: CountTable, codes: Integers) -> Groupings | None:
    """Return the one grouping that gives each code its own branch."""
    if len(table.values) < 2:
        return None
    merged = table.merged(np.searchsorted(codes, table.values), len(codes))
    stack = replace(merged, weights=merged.weights[None], rows=merged.rows[None])
    groups = tuple((int(code),) for code in codes)
    return Groupings(stack, lambda _: groups)


def subsets(table: CountTable, *, free: bool = True) -> Groupings | None:
    """Return two-sided groupings of the codes that occur; the first code is left.

    ``free`` says that every subset is allowed and counted as it is.
    """
    k = len(table.values)
    if k < 2:
        return None
    present = table.rows.any(axis=0)
    two_classes = present.sum() <= 2  # a numeric target, too, has one order
    if k <= ENUMERATED and not (two_classes and free):
        return _every_subset(table)
    if table.is_moments:
        return _prefixes(table, _mean(table.weights), exact=free)
    if two_classes:
        return _prefixes(table, class_share(table.weights[:, present]), exact=free)
    return _prefixes(table, principal_score(table.weights), exact=False)


def ordered(table: CountTable, ranks: Integers) -> Groupings | None:
    """Return the cuts of an order of all codes; the earlier codes are left.

    ``ranks`` says where each code stands. Of cuts that no code at the node tells
    apart the first one stands for all. With more than ``LISTED`` codes, only those
    at the node are named, so that a tree's size does not grow with them all.

    >>> table = CountTable.of_moments([[1, 5, 25], [1, 1, 1]])      # codes 0 and 1
    >>> ordered(table, np.array([3, 1, 0, 2])).sides(0)
    ((1, 2), (0, 3))
    """
    if len(table.values) < 2:
        return None
    here = np.argsort(ranks[table.values])
    left = table.weights[here].cumsum(axis=0)[:-1]
    left_rows = table.rows[here].cumsum(axis=0)[:-1]

    def sides(way: int) -> Sides:
        last = ranks[table.values[here[way]]]
        codes = np.arange(len(ranks)) if len(ranks) <= LISTED else table.values
        low = ranks[codes] <= last
        return tuple(codes[low].tolist()), tuple(codes[~low].tolist())

    return Groupings(_two_sides(table, left, left_rows), sides)


def _prefixes(table: CountTable, scores: Floats, *, exact: bool) -> Groupings:
    """Return the prefixes of the values in order of score, as left or right sides."""
    order = np.argsort(scores, kind="stable")
    left = table.weights[order].cumsum(axis=0)[:-1]
    left_rows = table.rows[order].cumsum(axis=0)[:-1]
    stack = _two_sides(table, left, left_rows)
    swapped = np.arange(len(left)) < int(np.flatnonzero(order == 0)[0])
    stack.weights[swapped] = stack.weights[swapped, ::-1]
    stack.rows[swapped] = stack.rows[swapped, ::-1]

    def sides(way: int) -> Sides:
        parts = order[: way + 1], order[way + 1 :]
        left, right = reversed(parts) if swapped[way] else parts
        return _codes(table, left), _codes(table, right)

    return Groupings(stack, sides, exact=exact)


def _every_subset(table: CountTable) -> Groupings:
    """Return every subset that holds the first value, but not all of them."""
    k = len(table.values)
    numbers = np.arange(2 ** (k - 1) - 1)
    rest = (numbers[:, None] >> np.arange(k - 1)) & 1
    masks = np.hstack([np.ones((len(numbers), 1), dtype=bool), rest.astype(bool)])
    stack = _two_sides(table, masks @ table.weights, masks @ table.rows)

    def sides(way: int) -> Sides:
        left, right = np.flatnonzero(masks[way]), np.flatnonzero(~masks[way])
        return _codes(table, left), _codes(table, right)

    return Groupings(stack, sides)


def _codes(table: CountTable, indices: Integers) -> tuple[int, ...]:
    return tuple(sorted(map(int, table.values[indices])))


def class_share(weights: Floats) -> Floats:
    """Return the share of the last class at each value."""
    totals = weights.sum(axis=1)
    shares: Floats = np.divide(
        weights[:, -1], totals, out=np.zeros_like(totals), where=totals > 0
    )
    return shares


def _mean(moments: Floats) -> Floats:
    """Return the mean of the target at each value."""
    means: Floats = np.divide(
        moments[:, 1],
        moments[:, 0],
        out=np.zeros(len(moments)),
        where=moments[:, 0] > 0,
    )
    return means


def principal_score(weights: Floats) -> Floats:
    """Return each value's place along the main direction of the class shares."""
    totals = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    mean = weights.sum(axis=0) / weights.sum()
    centred = (shares - mean) * np.sqrt(totals)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    main = directions[0]
    main = main * np.sign(main[np.argmax(np.abs(main))])
    return np.asarray((shares - mean) @ main)
