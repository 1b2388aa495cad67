"""The engine of CHAID's merging: groups of portions that merge and split.

A group is known by its *head*, the smallest portion in it. ``logs[i, j]`` with i < j
holds log p of the groups with heads i and j, and −∞ where there is no such pair.
After a change only the pairs of the groups that changed are tested again.
:mod:`spinney.search.chaid.merge_values` says what is done and why.
"""

from bisect import insort
from math import log

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE, equal_to_best
from spinney.search.chaid.categories import Portions, scores_of
from spinney.search.value_order import ENUMERATED
from spinney.trees.criteria import Significance, Test

CELLS = 1 << 18  # of the tables that are tested at once: a few megabytes


Masks = NDArray[np.bool_]


class Merger:
    """Groups of portions, at first each on its own.

    Parameters
    ----------
    portions : Portions
        What is grouped.
    test : function of a table
        The test of two or more groups.
    """

    def __init__(self, portions: Portions, test: Significance) -> None:
        self.exact = True
        self._portions = portions
        self._test = test
        n = len(portions.weights)
        self._sums = portions.weights.copy()
        self._heads = list(range(n))
        self._members = {head: [head] for head in range(n)}
        self._logs = np.full((n, n), -np.inf)

    def groups(self) -> list[list[int]]:
        """Return the portions of each group, in order of heads."""
        return [self._members[head] for head in self._heads]

    def test_of_all(self) -> Test:
        """Return the test of all groups."""
        return self._test(self._sums[self._heads])

    def merge_alike(self, alpha_merge: float, alpha_split_merged: float) -> None:
        """Merge pairs while p > alpha_merge; split groups where p < the other."""
        self._test_all_pairs()
        least = log(alpha_merge)
        most = log(alpha_split_merged) if alpha_split_merged > 0 else -np.inf
        made: set[tuple[tuple[int, ...], ...]] = set()
        while len(self._heads) > 2:
            head, other = self._most_alike()
            if self._logs[head, other] <= least:
                break
            self._join(head, other)
            self._retest(head)
            if most > -np.inf and len(self._members[head]) >= 3:
                self._split_again(head, most, made)

    def go_through_stages(self) -> None:
        """Merge down to two groups; return to the stage with the smallest p."""
        if len(self._heads) < 2:
            return
        self._test_all_pairs()
        best = float(self.test_of_all().log_p)
        stage = dict(self._members)
        while len(self._heads) > 2:
            head, other = self._most_alike()
            self._join(head, other)
            self._retest(head)
            found = float(self.test_of_all().log_p)
            if found <= best + TOLERANCE * max(1.0, abs(best)):
                best, stage = min(best, found), dict(self._members)
        self._members, self._heads = stage, sorted(stage)
        for head in self._heads:
            self._sums[head] = self._portions.weights[stage[head]].sum(axis=0)

    def absorb(self, least: float) -> None:
        """Let groups that weigh less than ``least`` join the most similar one."""
        while len(self._heads) > 1:
            sums = self._sums[self._heads]
            sizes = sums[:, 0] if self._portions.moments else sums.sum(axis=1)
            if sizes.min() >= least * (1 - TOLERANCE):
                break
            light = self._heads[int(np.argmax(equal_to_best(-sizes)))]
            partners = self._partners(light)
            logs = self._log_p(np.full(len(partners), light), np.array(partners))
            other = partners[int(np.argmax(equal_to_best(logs)))]
            self._join(min(light, other), max(light, other))

    # Pairs

    def _alone(self) -> int | None:
        """Return the head of the missing rows if they are a group by themselves."""
        missing = self._portions.missing
        return missing if missing in self._members else None

    def _partners(self, head: int) -> list[int]:
        """Return the heads that this one may pair with, rising."""
        alone = self._alone()
        if not self._portions.ordered or head == alone:
            return [other for other in self._heads if other != head]
        line = self._heads if alone is None else self._heads[:-1]
        place = line.index(head)
        near = [*line[max(place - 1, 0) : place], *line[place + 1 : place + 2]]
        return near if alone is None else [*near, alone]

    def _test_all_pairs(self) -> None:
        n, alone = len(self._heads), self._alone()
        if self._portions.ordered:
            line = np.arange(n if alone is None else n - 1)
            first, second = line[:-1], line[1:]
            if alone is not None:
                first = np.concatenate([first, line])
                second = np.concatenate([second, np.full(len(line), alone)])
        else:
            first, second = np.triu_indices(n, 1)
        self._logs[first, second] = self._log_p(first, second)

    def _retest(self, *heads: int) -> None:
        """Test the pairs of these groups again, after they changed."""
        for head in heads:
            self._logs[head, :] = self._logs[:, head] = -np.inf
        for head in heads:
            partners = np.array(self._partners(head), dtype=np.int64)
            first, second = np.minimum(partners, head), np.maximum(partners, head)
            self._logs[first, second] = self._log_p(first, second)

    def _log_p(self, first: Integers, second: Integers) -> Floats:
        """Return log p of pairs of groups, given by their heads."""
        step = max(CELLS // (2 * self._sums.shape[1]), 1)
        found = np.empty(len(first))
        for start in range(0, len(first), step):
            part = slice(start, start + step)
            pairs = np.stack([first[part], second[part]], axis=1)
            found[part] = self._test(self._sums[pairs]).log_p
        return found

    def _most_alike(self) -> tuple[int, int]:
        """Return the pair with the largest p; of equal ones the first."""
        best = float(self._logs.max())
        equal = self._logs >= best - TOLERANCE * max(1.0, abs(best))
        head, other = divmod(int(np.argmax(equal)), len(self._logs))
        return head, other

    def _join(self, head: int, other: int) -> None:
        """Put the group of ``other`` into the one of ``head``, which comes first."""
        together = sorted(self._members[head] + self._members.pop(other))
        self._heads.remove(other)
        self._logs[other, :] = self._logs[:, other] = -np.inf
        self._put(head, together)

    def _put(self, head: int, portions: list[int]) -> None:
        self._members[head] = portions
        self._sums[head] = self._portions.weights[portions].sum(axis=0)

    # Splits

    def _split_again(
        self, head: int, most: float, made: set[tuple[tuple[int, ...], ...]]
    ) -> None:
        """Split a group in two where log p < most, and the grouping is a new one."""
        inside, found = self._best_split(head)
        if found >= most:
            return
        portions = self._members[head]
        outside = [portion for portion in portions if portion not in inside]
        others = [self._members[other] for other in self._heads if other != head]
        after = tuple(sorted(map(tuple, [*others, sorted(inside), outside])))
        if after in made:
            return
        made.add(after)
        self._put(head, sorted(inside))
        self._put(outside[0], outside)
        insort(self._heads, outside[0])
        self._retest(head, outside[0])

    def _best_split(self, head: int) -> tuple[set[int], float]:
        """Return the side that holds the head in the best split, and its log p."""
        portions = np.array(self._members[head])
        weights = self._portions.weights[portions]
        masks = self._splits(portions, weights)
        logs = self._test(np.stack([masks @ weights, ~masks @ weights], axis=1)).log_p
        equal = np.flatnonzero(equal_to_best(-logs))
        sides = [tuple(portions[masks[way]].tolist()) for way in equal]
        way = min(range(len(equal)), key=sides.__getitem__)
        return set(sides[way]), float(logs[equal[way]])

    def _splits(self, portions: Integers, weights: Floats) -> Masks:
        """Return the splits of a group as masks, one a row; the first is inside."""
        n = len(portions)
        if self._portions.ordered:
            return _cuts(n, missing=portions[-1] == self._portions.missing)
        if n <= ENUMERATED:
            return _every_mask(n)
        moments = self._portions.moments
        order = np.argsort(scores_of(weights, moments=moments), kind="stable")
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(n)
        if not moments and weights.any(axis=0).sum() > 2:
            self.exact = False
        masks = rank[None, :] <= np.arange(n - 1)[:, None]
        return np.where(masks[:, :1], masks, ~masks)


def _cuts(n: int, *, missing: bool) -> Masks:
    """Return the cuts of a line; missing, the last, on either side, or alone."""
    if not missing:
        return np.tri(n - 1, n, dtype=bool)
    known = np.tri(n - 2, n, dtype=bool)
    inside = known.copy()
    inside[:, -1] = True
    alone = np.arange(n)[None, :] < n - 1
    return np.concatenate([known, inside, alone])


def _every_mask(n: int) -> Masks:
    """Return every way to take the first of n, and not all of them."""
    numbers = np.arange(2 ** (n - 1) - 1)
    rest = (numbers[:, None] >> np.arange(n - 1)) & 1
    return np.hstack([np.ones((len(numbers), 1), dtype=bool), rest.astype(bool)])
