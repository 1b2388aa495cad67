"""Associations in plain loops: Pearson, Spearman, Cramér's V, correlation ratio."""

from math import nan, sqrt


def association(kinds, rows):
    """Return the association of two columns; rows of two cells, None is missing."""
    known = [row for row in rows if None not in row]
    first, second = [row[0] for row in known], [row[1] for row in known]
    if len(set(first)) < 2 or len(set(second)) < 2:
        return nan
    if kinds == ("numeric", "numeric"):
        return pearson(first, second)
    if "nominal" not in kinds:
        return pearson(ranks(first), ranks(second))
    if kinds == ("nominal", "nominal"):
        return cramer(first, second)
    if kinds[0] == "nominal":
        groups, numbers, kind = first, second, kinds[1]
    else:
        groups, numbers, kind = second, first, kinds[0]
    return ratio(groups, ranks(numbers) if kind == "ordinal" else numbers)


def pearson(first, second):
    n = len(first)
    a, b = sum(first) / n, sum(second) / n
    together = sum((x - a) * (y - b) for x, y in zip(first, second, strict=True))
    return together / sqrt(
        sum((x - a) ** 2 for x in first) * sum((y - b) ** 2 for y in second)
    )


def ranks(cells):
    return [
        sum(other < cell for other in cells) + (cells.count(cell) + 1) / 2
        for cell in cells
    ]


def ratio(groups, numbers):
    mean = sum(numbers) / len(numbers)
    between = 0.0
    for group in set(groups):
        own = [x for g, x in zip(groups, numbers, strict=True) if g == group]
        between += len(own) * (sum(own) / len(own) - mean) ** 2
    return sqrt(between / sum((x - mean) ** 2 for x in numbers))


def cramer(first, second):
    n, chi_square = len(first), 0.0
    pairs = list(zip(first, second, strict=True))
    for one in set(first):
        for other in set(second):
            expected = first.count(one) * second.count(other) / n
            chi_square += (pairs.count((one, other)) - expected) ** 2 / expected
    return sqrt(chi_square / (n * (min(len(set(first)), len(set(second))) - 1)))
