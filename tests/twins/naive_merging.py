"""A slow, obvious twin of CHAID's merging: plain loops over exact fractions.

It shares no arithmetic with the package but the tails of SciPy's distributions,
and tests every pair again at every step. A category is a list of rows (target,
weight), and is known by its position; the missing one has the last position.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, inf, log

from scipy import special

TOLERANCE = 1e-12
CERTAIN = -1e300

Rows = list[tuple[int, Fraction]]
Group = tuple[int, ...]
Test = Callable[[Sequence[Rows]], tuple[float, float]]  # statistic, log p


def _counted(groups: Sequence[Rows]) -> list[dict[int, Fraction]]:
    tables = []
    for rows in groups:
        table: dict[int, Fraction] = {}
        for target, weight in rows:
            table[target] = table.get(target, Fraction(0)) + weight
        if sum(table.values()) > 0:
            tables.append(table)
    return tables


def _cells(groups: Sequence[Rows]) -> tuple[list[tuple[Fraction, Fraction]], int]:
    """Return the observed and expected weight of each cell, and the degrees."""
    tables = _counted(groups)
    classes = sorted({label for table in tables for label in table if table[label] > 0})
    total = sum((sum(table.values()) for table in tables), Fraction(0))
    cells = []
    for table in tables:
        for label in classes:
            column = sum(other.get(label, Fraction(0)) for other in tables)
            expected = sum(table.values()) * column / total
            cells.append((table.get(label, Fraction(0)), expected))
    return cells, max((len(tables) - 1) * (len(classes) - 1), 0)


def pearson(groups: Sequence[Rows]) -> tuple[float, float]:
    cells, degrees = _cells(groups)
    if degrees == 0:
        return 0.0, 0.0
    statistic = float(sum((o - e) ** 2 / e for o, e in cells))
    return statistic, log(special.chdtrc(degrees, statistic))


def likelihood_ratio(groups: Sequence[Rows]) -> tuple[float, float]:
    cells, degrees = _cells(groups)
    if degrees == 0:
        return 0.0, 0.0
    if all(o == e for o, e in cells):
        return 0.0, 0.0
    statistic = 2 * sum(float(o) * log(o / e) for o, e in cells if o > 0)
    return statistic, log(special.chdtrc(degrees, statistic))


def f(groups: Sequence[Rows]) -> tuple[float, float]:
    kept = [rows for rows in groups if sum(weight for _, weight in rows) > 0]
    total = sum((weight for rows in kept for _, weight in rows), Fraction(0))
    degrees, rest = len(kept) - 1, total - len(kept)
    if degrees < 1 or rest <= 0:
        return 0.0, 0.0
    centre = sum(y * w for rows in kept for y, w in rows) / total
    between = within = Fraction(0)
    for rows in kept:
        size = sum(w for _, w in rows)
        mean = sum(y * w for y, w in rows) / size
        between += size * (mean - centre) ** 2
        within += sum(w * (y - mean) ** 2 for y, w in rows)
    if between == 0:
        return 0.0, 0.0
    if within == 0:
        return inf, CERTAIN
    statistic = float(between / degrees / (within / rest))
    return statistic, log(special.fdtrc(degrees, float(rest), statistic))


TESTS: dict[str, Test] = {
    "pearson": pearson,
    "likelihood-ratio": likelihood_ratio,
    "f": f,
}


def equal(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE * max(1.0, abs(one), abs(other))


class Twin:
    """The merging of one attribute, ``rows[position]`` being a category's rows."""

    def __init__(
        self, rows: list[Rows], *, ordered: bool, missing: int | None, test: Test
    ) -> None:
        self.rows, self.ordered, self.missing = rows, ordered, missing
        self.test = test
        self.groups: list[Group] = [
            (place,)
            for place, category in enumerate(rows)
            if sum(weight for _, weight in category) > 0
        ]
        self.n_categories = len(self.groups)
        self.made: list[list[Group]] = []

    def log_p(self, *groups: Group) -> float:
        return self.test([self.rows_of(group) for group in groups])[1]

    def rows_of(self, group: Group) -> Rows:
        return [row for place in group for row in self.rows[place]]

    def pairs(self) -> Iterator[tuple[Group, Group]]:
        """Yield the pairs that may merge, those that begin first being first."""
        alone = (self.missing,)
        line = [group for group in sorted(self.groups) if group != alone]
        for one, other in combinations(sorted(self.groups), 2):
            near = other != alone and line.index(other) == line.index(one) + 1
            if not self.ordered or other == alone or near:
                yield one, other

    def most_alike(self) -> tuple[tuple[Group, Group], float]:
        found = [(pair, self.log_p(*pair)) for pair in self.pairs()]
        best = max(value for _, value in found)
        return next(entry for entry in found if equal(entry[1], best))

    def join(self, one: Group, other: Group) -> Group:
        merged = tuple(sorted(one + other))
        rest = [group for group in self.groups if group not in (one, other)]
        self.groups = sorted([*rest, merged])
        return merged

    def chaid(self, alpha_merge: float, alpha_split: float) -> None:
        while len(self.groups) > 2:
            pair, value = self.most_alike()
            if value <= log(alpha_merge):
                break
            merged = self.join(*pair)
            if len(merged) < 3 or alpha_split == 0:
                continue
            (inside, outside), value = self.best_split(merged)
            rest = [group for group in self.groups if group != merged]
            after = sorted([*rest, inside, outside])
            if value < log(alpha_split) and after not in self.made:
                self.made.append(after)
                self.groups = after

    def best_split(self, group: Group) -> tuple[tuple[Group, Group], float]:
        found = [(sides, self.log_p(*sides)) for sides in self.splits(group)]
        best = min(value for _, value in found)
        return min(entry for entry in found if equal(entry[1], best))

    def splits(self, group: Group) -> Iterator[tuple[Group, Group]]:
        for size in range(1, len(group)):
            for inside in combinations(group, size):
                outside = tuple(place for place in group if place not in inside)
                if group[0] in inside and self.in_order(inside, outside):
                    yield inside, outside

    def in_order(self, *sides: Group) -> bool:
        """Return whether the known values of one side all come before the other's."""
        if not self.ordered:
            return True
        one, other = ([p for p in side if p != self.missing] for side in sides)
        return not one or not other or max(one) < min(other) or max(other) < min(one)

    def exhaustive(self) -> None:
        if len(self.groups) < 2:
            return
        stages = [(self.log_p(*self.groups), self.groups)]
        while len(self.groups) > 2:
            self.join(*self.most_alike()[0])
            stages.append((self.log_p(*self.groups), self.groups))
        best = min(value for value, _ in stages)
        self.groups = [groups for value, groups in stages if equal(value, best)][-1]

    def absorb(self, least: float) -> None:
        while len(self.groups) > 1:
            sizes = {g: sum(w for p in g for _, w in self.rows[p]) for g in self.groups}
            light = min(sorted(sizes), key=sizes.__getitem__)
            if sizes[light] >= least:
                break
            pairs = [pair for pair in self.pairs() if light in pair]
            best = max(self.log_p(*pair) for pair in pairs)
            self.join(*next(pair for pair in pairs if equal(self.log_p(*pair), best)))

    def multiplier(self, *, exhaustive: bool) -> int:
        c, r = self.n_categories, len(self.groups)
        if r < 2:
            return 1
        if exhaustive:
            return c * (c - 1) // 2 if self.ordered else c * (c * c - 1) // 6
        if not self.ordered:
            return stirling(c, r)
        if self.missing is None:
            return comb(c - 1, r - 1)
        return comb(c - 2, r - 2) + r * comb(c - 2, r - 1)

    def placed(self) -> tuple[tuple[Group, ...], int | None]:
        """Return the groups of values with those without weight, and the missing's."""
        known = len(self.rows) - (self.missing is not None)
        heavy = [place for group in self.groups for place in group if place < known]
        groups = {group: [p for p in group if p < known] for group in self.groups}
        for place in set(range(known)) - set(heavy):
            before = [other for other in heavy if other < place]
            owner = max(before) if before else min(heavy)
            next(ps for group, ps in groups.items() if owner in group).append(place)
        ordered = sorted(groups, key=lambda group: min(groups[group], default=inf))
        holders = [b for b, group in enumerate(ordered) if self.missing in group]
        named = tuple(tuple(sorted(groups[group])) for group in ordered)
        return named, holders[0] if holders and self.missing is not None else None


def stirling(n: int, k: int) -> int:
    if n == k:
        return 1
    if k == 0 or k > n:
        return 0
    return k * stirling(n - 1, k) + stirling(n - 1, k - 1)
