"""Impurities and merits in plain loops; see :mod:`tests.twins.naive`.

A table is the weight of each class in each branch; ``absent`` is the weight of the
rows whose value is missing.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import erfc, exp, gamma, lgamma, log, log2, sqrt

Table = Sequence[Sequence[float]]

# Impurities


def entropy(weights: Sequence[float]) -> float:
    total = sum(weights)
    return -sum(w / total * log2(w / total) for w in weights if w > 0)


def gini(weights: Sequence[float]) -> float:
    total = sum(weights)
    return 1 - sum((w / total) ** 2 for w in weights) if total else 0.0


def misclassification(weights: Sequence[float]) -> float:
    total = sum(weights)
    return 1 - max(weights) / total if total else 0.0


def description_length(weights: Sequence[float]) -> float:
    """Return log2 of the distributions of n rows over c classes, and of orders."""
    n, c = sum(weights), len(weights)
    distributions = lgamma(n + c) - lgamma(n + 1) - lgamma(c)
    orders = lgamma(n + 1) - sum(lgamma(w + 1) for w in weights)
    return (distributions + orders) / log(2)


def no_impurity(_: Sequence[float]) -> None:
    return None


# Merits


def decrease(impurity: Callable, branches: Table, absent: float = 0.0) -> float:
    """Return ρ · (impurity before − impurity after); ``absent`` weight is unknown."""
    before = [sum(column) for column in zip(*branches, strict=True)]
    known = sum(before)
    after = sum(sum(branch) / known * impurity(branch) for branch in branches)
    return max(0.0, known / (known + absent) * (impurity(before) - after))


def split_information(branches: Table, absent: float = 0.0) -> float:
    return entropy([*(sum(branch) for branch in branches), absent])


def gain_ratio(branches: Table, absent: float = 0.0) -> float:
    information = split_information(branches, absent)
    return decrease(entropy, branches, absent) / information if information else 0.0


def column_sums(branches: Table) -> list[float]:
    return [sum(column) for column in zip(*branches, strict=True)]


def known_share(branches: Table, absent: float) -> float:
    known = sum(map(sum, branches))
    return known / (known + absent)


def expected(branches: Table) -> list[tuple[float, float]]:
    """Return each count with what independence lets expect, where that is not 0."""
    columns, total = column_sums(branches), sum(map(sum, branches))
    cells = []
    for branch in branches:
        for count, column in zip(branch, columns, strict=True):
            if sum(branch) > 0 and column > 0:
                cells.append((count, sum(branch) * column / total))
    return cells


def degrees_of(branches: Table) -> int:
    lines = [branch for branch in branches if sum(branch) > 0]
    columns = [column for column in column_sums(branches) if column > 0]
    return (len(lines) - 1) * (len(columns) - 1)


def tail(statistic: float, degrees: int) -> float:
    """Return P(chi-square >= statistic): the closed forms for whole degrees.

    Abramowitz and Stegun (1964), 26.4.4 and 26.4.5.
    """
    half = statistic / 2
    if degrees % 2 == 0:
        return exp(-half) * sum(half**i / gamma(i + 1) for i in range(degrees // 2))
    steps = range(1, (degrees + 1) // 2)
    return erfc(sqrt(half)) + exp(-half) * sum(
        half ** (i - 0.5) / gamma(i + 0.5) for i in steps
    )


def surprise(statistic: float, branches: Table) -> float:
    """Return -ln p; a statistic that is no more than rounding is 0."""
    degrees, total = degrees_of(branches), sum(map(sum, branches))
    if degrees == 0 or statistic <= 1e-12 * total:
        return 0.0
    return -log(tail(statistic, degrees))


def chi_square_statistic(branches: Table) -> float:
    return sum((n - e) ** 2 / e for n, e in expected(branches))


def g_statistic(branches: Table) -> float:
    return 2 * sum(n * log(n / e) for n, e in expected(branches) if n > 0)


def phi_square(branches: Table, absent: float = 0.0) -> float:
    return chi_square_statistic(branches) / (sum(map(sum, branches)) + absent)


def chi_square(branches: Table, absent: float = 0.0) -> float:
    return surprise(chi_square_statistic(branches), branches)


def g(branches: Table, absent: float = 0.0) -> float:
    return surprise(g_statistic(branches), branches)


def mdl(branches: Table, absent: float = 0.0) -> float:
    before = description_length(column_sums(branches))
    after = sum(description_length(branch) for branch in branches if sum(branch))
    saved = before - after
    if abs(saved) < 1e-12 * max(1.0, before):
        return 0.0
    return saved / (sum(map(sum, branches)) + absent)


def c_sep(branches: Table, absent: float = 0.0) -> float:
    left, right = (branch for branch in branches if sum(branch) > 0)
    product = sum(one * other for one, other in zip(left, right, strict=True))
    lengths = sqrt(sum(x * x for x in left)) * sqrt(sum(x * x for x in right))
    return known_share(branches, absent) * (1 - product / lengths)


def twoing(branches: Table, absent: float = 0.0) -> float:
    left, right = (branch for branch in branches if sum(branch) > 0)
    total = sum(left) + sum(right)
    apart = sum(
        abs(one / sum(left) - other / sum(right))
        for one, other in zip(left, right, strict=True)
    )
    balance = sum(left) / total * sum(right) / total
    return known_share(branches, absent) * balance / 4 * apart**2


def hellinger(branches: Table, absent: float = 0.0) -> float:
    classes = [c for c in zip(*branches, strict=True) if sum(c) > 0]
    distances = []
    for one, other in combinations(classes, 2):
        squares = 0.0
        for a, b in zip(one, other, strict=True):
            squares += (sqrt(a / sum(one)) - sqrt(b / sum(other))) ** 2
        distances.append(sqrt(squares))
    mean = sum(distances) / len(distances) if distances else 0.0
    return known_share(branches, absent) * mean


# By name

IMPURITIES = {
    "gain": entropy,
    "gain_ratio": entropy,
    "gini": gini,
    "misclassification": misclassification,
    "chi_square": no_impurity,
    "g": entropy,
    "mdl": description_length,
    "c_sep": no_impurity,
    "twoing": no_impurity,
    "hellinger": no_impurity,
}


def decrease_of(impurity: Callable) -> Callable:
    def gain(branches: Table, absent: float = 0.0) -> float:
        return decrease(impurity, branches, absent)

    return gain


GAINS = {
    "gain": decrease_of(entropy),
    "gain_ratio": decrease_of(entropy),
    "gini": decrease_of(gini),
    "misclassification": decrease_of(misclassification),
    "chi_square": phi_square,
    "g": decrease_of(entropy),
    "mdl": mdl,
    "c_sep": c_sep,
    "twoing": twoing,
    "hellinger": hellinger,
}

MERITS = {**GAINS, "gain_ratio": gain_ratio, "chi_square": chi_square, "g": g}
