"""The calculations behind criteria as text: from the counts of a split to its merit.

Every function takes a table by branches, the names of the branches and of the classes,
and returns lines of text.
"""

from collections.abc import Sequence
from itertools import combinations
from math import log

import numpy as np

from spinney._support.text import weight_text
from spinney.trees.counts import CountTable, ratio_of
from spinney.trees.criteria.gains import gain, squared_error_gain
from spinney.trees.criteria.impurity import description_length, squared_error
from spinney.trees.criteria.separation import c_sep, hellinger, pairs_of_classes, twoing
from spinney.trees.criteria.significance import Test, chi_square_test, f_test, g_test
from spinney.trees.criteria.significance_criteria import mdl, phi_square

SHOWN_PAIRS = 10

Names = Sequence[str]


def chi_square_working(table: CountTable, branches: Names, _: Names) -> list[str]:
    """Return expected counts, the terms of χ² by branch, χ², φ² and p as text."""
    weights, sizes = table.weights, table.sizes
    known = sizes.sum()
    expected = sizes[:, None] * (table.total / known)
    parts = ratio_of((weights - expected) ** 2, expected).sum(axis=1)
    test = chi_square_test(table)
    lines = [
        f"{name}: expected {_numbers(line)}; "
        f"sum of (count − expected)² / expected = {part:.3f}"
        for name, line, part, size in zip(branches, expected, parts, sizes, strict=True)
        if size
    ]
    sums = " + ".join(f"{part:.3f}" for part in parts[sizes > 0])
    statistic = float(test.statistic)
    return [
        *lines,
        f"chi-square = {sums} = {statistic:.3f}",
        f"gain = phi-square = {statistic:.3f} / {weight_text(table.weight)} = "
        f"{float(phi_square(table)):.3f}",
        f"{_degrees(float(test.degrees))}: {_p_value(test)}",
    ]


def g_working(table: CountTable, _branches: Names, _classes: Names) -> list[str]:
    """Return G, computed from the gain, and p as text."""
    test = g_test(table)
    return [
        f"G = 2 × ln 2 × {weight_text(table.weight)} × {float(gain(table)):.3f} = "
        f"{float(test.statistic):.3f}",
        f"{_degrees(float(test.degrees))}: {_p_value(test)}",
    ]


def f_working(table: CountTable, _branches: Names, _classes: Names) -> list[str]:
    """Return the sums of squares between and within branches, F and p as text."""
    test = f_test(table)
    between = table.weight * float(squared_error_gain(table))
    within = float((table.sizes * squared_error(table.weights)).sum())
    degrees = float(test.degrees), float(np.asarray(test.within))
    return [
        f"between branches {between:.4g} with {_degrees(degrees[0])}, "
        f"within them {within:.4g} with {weight_text(degrees[1])}",
        f"F = ({between:.4g} / {weight_text(degrees[0])}) / "
        f"({within:.4g} / {weight_text(degrees[1])}) = {float(test.statistic):.4g}",
        _p_value(test),
    ]


def mdl_working(table: CountTable, _branches: Names, _classes: Names) -> list[str]:
    """Return the bits per row of all rows, minus the bits of the branches, as text."""
    parts = " + ".join(
        f"{float(description_length(line)):.3f}"
        for line, size in zip(table.weights, table.sizes, strict=True)
        if size
    )
    before = float(description_length(table.total))
    return [
        f"bits saved per row = ({before:.3f} − ({parts})) / "
        f"{weight_text(table.weight)} = {float(mdl(table)):.3f}"
    ]


def twoing_working(table: CountTable, _branches: Names, classes: Names) -> list[str]:
    """Return the difference of class probabilities and the branch sizes as text."""
    branches = np.flatnonzero(table.sizes > 0)
    sizes = table.sizes[branches]
    (left, right), known = branches, sizes.sum()
    terms = [
        f"|{_share(table.weights[left, label], sizes[0])} − "
        f"{_share(table.weights[right, label], sizes[1])}|"
        for label in range(len(classes))
    ]
    shares = table.weights[branches] / sizes[:, None]
    difference = float(np.abs(shares[0] - shares[1]).sum())
    balance = f"{_share(sizes[0], known)} × {_share(sizes[1], known)}"
    formula = f"{balance} / 4 × {difference:.3f}²"
    return [
        f"shares differ by {' + '.join(terms)} = {difference:.3f}",
        f"twoing = {_known(table, formula)} = {float(twoing(table)):.3f}",
    ]


def c_sep_working(table: CountTable, _branches: Names, _classes: Names) -> list[str]:
    """Return the cosine of the angle between class weights of branches as text."""
    left, right = table.weights[table.sizes > 0]
    products = " + ".join(
        f"{weight_text(first)} × {weight_text(second)}"
        for first, second in zip(left, right, strict=True)
    )
    lengths = float(np.linalg.norm(left)), float(np.linalg.norm(right))
    cosine = float(left @ right) / (lengths[0] * lengths[1])
    return [
        f"cos = ({products}) / ({lengths[0]:.3f} × {lengths[1]:.3f}) = {cosine:.3f}",
        f"c_sep = {_known(table, f'1 − {cosine:.3f}')} = {float(c_sep(table)):.3f}",
    ]


def hellinger_working(table: CountTable, _branches: Names, classes: Names) -> list[str]:
    """Return the distance of each pair of classes, and their mean, as text."""
    distances, occur = pairs_of_classes(table)
    pairs = [
        (pair, float(distance))
        for pair, distance, both in zip(
            combinations(range(len(classes)), 2), distances, occur, strict=True
        )
        if both
    ]
    lines = [
        f"distance of {classes[first]} and {classes[second]} = "
        f"√({_spread(table, first, second)}) = {distance:.3f}"
        for (first, second), distance in pairs[:SHOWN_PAIRS]
    ]
    if len(pairs) > SHOWN_PAIRS:
        lines.append(f"and {len(pairs) - SHOWN_PAIRS} more pairs of classes")
    sums = " + ".join(f"{distance:.3f}" for _, distance in pairs[:SHOWN_PAIRS])
    more = " + …" if len(pairs) > SHOWN_PAIRS else ""
    mean = f"({sums}{more}) / {len(pairs)}" if len(pairs) > 1 else sums
    if len(pairs) > 1 or table.known_share < 1:
        merit = float(hellinger(table))
        lines.append(f"Hellinger distance = {_known(table, mean)} = {merit:.3f}")
    return lines


def _spread(table: CountTable, first: int, second: int) -> str:
    """Return the terms of the distance of two classes."""
    totals = table.total
    return " + ".join(
        f"(√({_share(line[first], totals[first])}) − "
        f"√({_share(line[second], totals[second])}))²"
        for line, size in zip(table.weights, table.sizes, strict=True)
        if size
    )


def _share(part: float, whole: float) -> str:
    return f"{weight_text(float(part))}/{weight_text(float(whole))}"


def _known(table: CountTable, inner: str) -> str:
    """Return a figure of the known rows, discounted by their share."""
    share = table.known_share
    return inner if share == 1 else f"{share:.3f} × ({inner})"


def _numbers(line: Sequence[float]) -> str:
    return ", ".join(f"{number:.3f}" for number in line)


def _degrees(degrees: float) -> str:
    return f"{weight_text(degrees)} degree{'' if degrees == 1 else 's'} of freedom"


def _p_value(test: Test) -> str:
    """Return p and −ln p as text; a p below the range of floats as a power of ten."""
    p, log_p = float(test.p), float(test.log_p)
    shown = f"{p:.3g}" if p > 1e-300 else f"10^{log_p / log(10):.0f}"
    return f"p = {shown}, −ln p = {0 - log_p:.3f}"
