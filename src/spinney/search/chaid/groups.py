"""The engine of CHAID's merging: groups of portions that merge and split.

Tables merge side by side: each step takes one pair of every table that is not done.
A group is known by its *head*, the smallest portion in it. ``logs[t, i]`` holds log p
of the pairs of table t whose first head is i, −∞ where there is no such pair: by the
other head j > i, or, where only neighbours pair, that of the next group and that of
the missing values alone. After a change only the pairs of the groups that changed are
tested again. :mod:`spinney.search.chaid.merge_values` says what is done and why.
"""

from collections.abc import Callable
from math import log

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import sums_by
from spinney._support.ties import TOLERANCE, equal_to_best
from spinney.search.chaid.categories import Portions
from spinney.search.chaid.group_splits import best_by_score, best_cut, best_of_all
from spinney.search.value_order import ENUMERATED
from spinney.trees.criteria import Significance

CELLS = 1 << 18  # of the tables that are tested at once: a few megabytes

Masks = NDArray[np.bool_]
# Is told what is done with two groups of a table's portions, and their log p.
Tell = Callable[[str, int, Integers, Integers, float], None]

MERGED, APART, SPLIT, JOINED = "merged", "kept apart", "split again", "joined"


class Merger:
    """Groups of the portions of several tables, at first each on its own.

    Parameters
    ----------
    portions : Portions
        What is grouped.
    test : function of a table
        The test of two or more groups.
    tell : function, optional
        Is told of each step.

    Attributes
    ----------
    group : array of shape (tables, portions)
        The head of each portion's group; -1 beyond the portions of a table.
    exact : array of shape (tables,)
        Whether every split was looked at.
    """

    def __init__(
        self, portions: Portions, test: Significance, tell: Tell | None = None
    ) -> None:
        self._portions, self._test, self._tell = portions, test, tell
        n_tables, n_portions, _ = portions.weights.shape
        self._place = np.arange(n_portions)
        inside = self._place < portions.counts[:, None]
        self.group = np.where(inside, self._place, -1)
        self.exact = np.ones(n_tables, dtype=bool)
        self._sums = portions.weights.copy()
        n_partners = 2 if portions.ordered else n_portions
        self._logs = np.full((n_tables, n_portions, n_partners), -np.inf)
        self._made: set[tuple[int, bytes]] = set()

    def merge_alike(self, alpha_merge: float, alpha_split_merged: float) -> None:
        """Merge pairs while p > alpha_merge; split groups where p < the other."""
        least = log(alpha_merge)
        most = log(alpha_split_merged) if alpha_split_merged > 0 else -np.inf
        tables = self._with_more_than(2)
        self._test_all_pairs(tables)
        while len(tables):
            head, other, found = self._most_alike(tables)
            alike = found > least
            last = np.flatnonzero(~alike)
            self._told(APART, tables[last], head[last], other[last], found[last])
            tables, head, other = tables[alike], head[alike], other[alike]
            self._told(MERGED, tables, head, other, found[alike])
            self._join(tables, head, other)
            self._retest(tables, head)
            if most > -np.inf:
                self._split_again(tables, head, most)
            tables = tables[self._n_groups(tables) > 2]

    def go_through_stages(self) -> None:
        """Merge down to two groups; return to the stage with the smallest p."""
        best = np.asarray(self._test(self._sums).log_p)
        stage = self.group.copy()
        tables = self._with_more_than(2)
        self._test_all_pairs(tables)
        while len(tables):
            head, other, alike = self._most_alike(tables)
            self._told(MERGED, tables, head, other, alike)
            self._join(tables, head, other)
            self._retest(tables, head)
            found = np.asarray(self._test(self._sums[tables]).log_p)
            least = best[tables]
            better = found <= least + TOLERANCE * np.maximum(1.0, np.abs(least))
            best[tables] = np.where(better, np.minimum(least, found), least)
            stage[tables[better]] = self.group[tables[better]]
            tables = tables[self._n_groups(tables) > 2]
        self.group = stage
        self._add_up_all()

    def absorb(self, least: Floats) -> None:
        """Let groups that weigh less than ``least`` join the most similar one."""
        tables = self._with_more_than(1)
        while len(tables):
            sums, heads = self._sums[tables], self._heads(tables)
            sizes = sums[..., 0] if self._portions.moments else sums.sum(axis=-1)
            sizes = np.where(heads, sizes, np.inf)
            light = sizes.min(axis=1) < least[tables] * (1 - TOLERANCE)
            tables = tables[light]
            head = np.argmax(equal_to_best(-sizes[light]), axis=1)
            which, partner = np.nonzero(self._partners(tables, head))
            logs = np.full((len(tables), len(self._place)), -np.inf)
            logs[which, partner] = self._log_p(tables[which], head[which], partner)
            other = np.argmax(equal_to_best(logs), axis=1) if len(tables) else head
            self._told(JOINED, tables, head, other, logs.max(axis=1, initial=-np.inf))
            self._join(tables, np.minimum(head, other), np.maximum(head, other))
            tables = tables[self._n_groups(tables) > 1]

    def _told(
        self, what: str, tables: Integers, head: Integers, other: Integers, logs: Floats
    ) -> None:
        """Tell what is done with pairs of groups, if anybody listens."""
        if self._tell is None:
            return
        for table, one, two, log_p in zip(tables, head, other, logs, strict=True):
            group = self.group[table]
            pair = np.flatnonzero(group == one), np.flatnonzero(group == two)
            self._tell(what, int(table), *pair, float(log_p))

    # Groups

    def _heads(self, tables: Integers) -> Masks:
        """Return which portions are heads, by table."""
        return np.asarray(self.group[tables] == self._place)

    def _n_groups(self, tables: Integers) -> Integers:
        return np.asarray(self._heads(tables).sum(axis=1))

    def _with_more_than(self, n_groups: int) -> Integers:
        return np.flatnonzero(self._n_groups(np.arange(len(self.group))) > n_groups)

    def _join(self, tables: Integers, head: Integers, other: Integers) -> None:
        """Put the groups of ``other`` into those of ``head``, which come first."""
        group = self.group[tables]
        self.group[tables] = np.where(group == other[:, None], head[:, None], group)
        self._sums[tables, other] = 0.0
        self._forget(tables, other)
        self._add_up(tables, head)

    def _add_up(self, tables: Integers, head: Integers) -> None:
        inside = self.group[tables] == head[:, None]
        weights = np.where(inside[..., None], self._portions.weights[tables], 0.0)
        self._sums[tables, head] = weights.sum(axis=1)

    def _add_up_all(self) -> None:
        table, portion = np.nonzero(self.group >= 0)
        n_tables, n_portions, n_columns = self._sums.shape
        sums = sums_by(
            table * n_portions + self.group[table, portion],
            self._portions.weights[table, portion],
            n_tables * n_portions,
        )
        self._sums = sums.reshape(n_tables, n_portions, n_columns)

    # Pairs

    def _partners(self, tables: Integers, head: Integers) -> Masks:
        """Return which heads each of these groups may pair with."""
        others = self._heads(tables) & (self._place != head[:, None])
        if not self._portions.ordered:
            return np.asarray(others)
        alone = self._place == self._portions.missing[tables, None]
        line = others & ~alone
        before = np.where(line & (self._place < head[:, None]), self._place, -1)
        near = self._place == before.max(axis=1, keepdims=True)
        near |= self._place == self._next(tables, head)[:, None]
        from_alone = (head == self._portions.missing[tables])[:, None]
        return np.asarray(others & (near | alone | from_alone))

    def _next(self, tables: Integers, head: Integers) -> Integers:
        """Return the next head in the order, missing values aside; -1 if none is."""
        known = self._place != self._portions.missing[tables, None]
        later = self._heads(tables) & known & (self._place > head[:, None])
        return np.where(later.any(axis=1), np.argmax(later, axis=1), -1)

    def _test_all_pairs(self, tables: Integers) -> None:
        which, head = np.nonzero(self._heads(tables))
        table = tables[which]
        which, other = np.nonzero(self._partners(table, head))
        once = head[which] < other
        which, other = which[once], other[once]
        self._test_pairs(table[which], head[which], other)

    def _retest(self, tables: Integers, head: Integers) -> None:
        """Test the pairs of these groups again, after they changed."""
        self._forget(tables, head)
        which, other = np.nonzero(self._partners(tables, head))
        head, table = head[which], tables[which]
        self._test_pairs(table, np.minimum(head, other), np.maximum(head, other))

    def _forget(self, tables: Integers, head: Integers) -> None:
        """Drop the pairs of groups that have gone, or are tested again next."""
        self._logs[tables, head] = -np.inf
        if self._portions.ordered:
            alone = head == self._portions.missing[tables]
            self._logs[tables[alone], :, 1] = -np.inf
        else:
            self._logs[tables, :, head] = -np.inf

    def _test_pairs(self, tables: Integers, head: Integers, other: Integers) -> None:
        position = other
        if self._portions.ordered:
            position = (other == self._portions.missing[tables]).astype(np.int64)
        self._logs[tables, head, position] = self._log_p(tables, head, other)

    def _log_p(self, tables: Integers, head: Integers, other: Integers) -> Floats:
        """Return log p of pairs of groups, given by their heads."""
        step = max(CELLS // (2 * self._sums.shape[2]), 1)
        found = np.empty(len(tables))
        for start in range(0, len(tables), step):
            part = slice(start, start + step)
            pairs = np.stack([head[part], other[part]], axis=1)
            found[part] = self._test(self._sums[tables[part, None], pairs]).log_p
        return found

    def _most_alike(self, tables: Integers) -> tuple[Integers, Integers, Floats]:
        """Return the pairs with the largest p, of equal ones the first; and log p."""
        every = len(tables) == len(self._logs)
        logs = (self._logs if every else self._logs[tables]).reshape(len(tables), -1)
        first = np.argmax(equal_to_best(logs), axis=1)
        head, other = np.divmod(first, self._logs.shape[2])
        if self._portions.ordered:
            missing = self._portions.missing[tables]
            other = np.where(other == 1, missing, self._next(tables, head))
        return head, other, logs[np.arange(len(tables)), first]

    # Splits

    def _split_again(self, tables: Integers, head: Integers, most: float) -> None:
        """Split groups in two where log p < most, and the grouping is a new one."""
        large = (self.group[tables] == head[:, None]).sum(axis=1) >= 3
        tables, head = tables[large], head[large]
        inside, found = self._best_split(tables, head, most)
        apart = np.flatnonzero(found < most)
        tables, head = tables[apart], head[apart]
        outside = (self.group[tables] == head[:, None]) & ~inside[apart]
        new = np.argmax(outside, axis=1)
        after = np.where(outside, new[:, None], self.group[tables])
        keys = [(int(t), line.tobytes()) for t, line in zip(tables, after, strict=True)]
        fresh = np.flatnonzero([key not in self._made for key in keys])
        self._made.update(keys)
        tables, head, new = tables[fresh], head[fresh], new[fresh]
        self.group[tables] = after[fresh]
        self._told(SPLIT, tables, head, new, found[apart][fresh])
        changed, both = np.concatenate([tables, tables]), np.concatenate([head, new])
        self._add_up(changed, both)
        self._retest(changed, both)

    def _best_split(
        self, tables: Integers, head: Integers, most: float
    ) -> tuple[Masks, Floats]:
        """Return the portions on the head's side of the best split, and its log p.

        Where no split has log p < most it is 0.
        """
        members = self.group[tables] == head[:, None]
        missing = self._portions.missing[tables]
        floats = members[np.arange(len(tables)), missing] & (missing >= 0)
        kind = 2 * members.sum(axis=1) + (floats & self._portions.ordered)
        inside, found = np.zeros_like(members), np.empty(len(tables))
        for key in np.unique(kind):
            part = np.flatnonzero(kind == key)
            which, portion = np.nonzero(members[part])
            weights = self._portions.weights[tables[part][which], portion]
            weights = weights.reshape(len(part), key // 2, -1)
            best = self._best_of(tables[part], weights, most, missing=key % 2 == 1)
            sides, found[part] = best
            inside[part[which], portion] = sides.ravel()
        return inside, found

    def _best_of(
        self, tables: Integers, weights: Floats, most: float, *, missing: bool
    ) -> tuple[Masks, Floats]:
        """Return the best splits of groups of one size, as masks of their members."""
        moments, test = self._portions.moments, self._test
        if self._portions.ordered:
            return best_cut(weights, missing=missing, most=most, test=test)
        if weights.shape[1] <= ENUMERATED:
            return best_of_all(weights, most=most, test=test)
        if not moments:
            self.exact[tables[weights.any(axis=1).sum(axis=1) > 2]] = False
        return best_by_score(weights, moments=moments, most=most, test=test)
