"""The state of CHAID's merging: groups of portions that merge and split.

Tables merge in parallel: each step handles one pair of every unfinished table. A group
is identified by its *head*, its smallest portion. ``logs[t, i]`` holds log p of the
pairs of table t whose first head is i, −∞ without a pair. Pairs are indexed by the
other head j > i. If only neighbours pair, they are the pair with the next group and the
pair with the missing values alone. After a change only the pairs of changed groups are
tested again. :mod:`spinney.search.chaid.merge_values` describes and explains the steps.
"""

from collections.abc import Callable
from math import log

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import sums_by
from spinney._support.ties import TOLERANCE, equal_to_best
from spinney.search.chaid.categories import Portions
from spinney.search.chaid.group_splits import best_bipartition, best_by_score, best_cut
from spinney.search.value_order import MAX_ENUMERATED
from spinney.trees.criteria import Significance

CELLS = 1 << 18  # of the tables that are tested at once: a few megabytes

Masks = NDArray[np.bool_]
# Called with an action, its table, the portions of two groups, and their log p.
RecordStep = Callable[[str, int, Integers, Integers, float], None]

MERGED, KEPT_APART, SPLIT, JOINED = "merged", "kept apart", "split again", "joined"


class Merger:
    """Groups of the portions of several tables; at first each portion is a group.

    Parameters
    ----------
    portions : Portions
        The portions to group.
    test : function of a table
        The test of two or more groups.
    record_step : function, optional
        Called with each step.

    Attributes
    ----------
    group : array of shape (tables, portions)
        The head of each portion's group; -1 beyond the portions of a table.
    exact : array of shape (tables,)
        Whether every split was tested.
    """

    def __init__(
        self, portions: Portions, test: Significance, tell: RecordStep | None = None
    ) -> None:
        self._portions, self._test, self._record_step = portions, test, tell
        n_tables, n_portions, _ = portions.weights.shape
        self._positions = np.arange(n_portions)
        inside = self._positions < portions.counts[:, None]
        self.group = np.where(inside, self._positions, -1)
        self.exact = np.ones(n_tables, dtype=bool)
        self._sums = portions.weights.copy()
        n_partners = 2 if portions.ordered else n_portions
        self._logs = np.full((n_tables, n_portions, n_partners), -np.inf)
        self._split_groupings: set[tuple[int, bytes]] = set()

    def merge_similar(self, alpha_merge: float, alpha_split_merged: float) -> None:
        """Merge pairs while p > alpha_merge; split groups if p < alpha_split_merged."""
        min_log_p = log(alpha_merge)
        max_log_p = log(alpha_split_merged) if alpha_split_merged > 0 else -np.inf
        tables = self._with_more_than(2)
        self._test_all_pairs(tables)
        while len(tables):
            head, partner, log_p = self._most_similar(tables)
            similar = log_p > min_log_p
            ended = np.flatnonzero(~similar)
            self._record(
                KEPT_APART, tables[ended], head[ended], partner[ended], log_p[ended]
            )
            tables, head, partner = tables[similar], head[similar], partner[similar]
            self._record(MERGED, tables, head, partner, log_p[similar])
            self._join(tables, head, partner)
            self._retest(tables, head)
            if max_log_p > -np.inf:
                self._split_again(tables, head, max_log_p)
            tables = tables[self._n_groups(tables) > 2]

    def merge_by_stages(self) -> None:
        """Merge down to two groups; return to the stage with the smallest p."""
        best = np.asarray(self._test(self._sums).log_p)
        stage = self.group.copy()
        tables = self._with_more_than(2)
        self._test_all_pairs(tables)
        while len(tables):
            head, partner, pair_log_p = self._most_similar(tables)
            self._record(MERGED, tables, head, partner, pair_log_p)
            self._join(tables, head, partner)
            self._retest(tables, head)
            log_p = np.asarray(self._test(self._sums[tables]).log_p)
            least_log_p = best[tables]
            better = log_p <= least_log_p + TOLERANCE * np.maximum(
                1.0, np.abs(least_log_p)
            )
            best[tables] = np.where(better, np.minimum(least_log_p, log_p), least_log_p)
            stage[tables[better]] = self.group[tables[better]]
            tables = tables[self._n_groups(tables) > 2]
        self.group = stage
        self._add_up_all()

    def absorb_light_groups(self, min_weight: Floats) -> None:
        """Merge groups below ``min_weight`` with the most similar group."""
        tables = self._with_more_than(1)
        while len(tables):
            sums, heads = self._sums[tables], self._heads(tables)
            sizes = sums[..., 0] if self._portions.moments else sums.sum(axis=-1)
            sizes = np.where(heads, sizes, np.inf)
            is_light = sizes.min(axis=1) < min_weight[tables] * (1 - TOLERANCE)
            tables = tables[is_light]
            head = np.argmax(equal_to_best(-sizes[is_light]), axis=1)
            which, partner = np.nonzero(self._partners(tables, head))
            logs = np.full((len(tables), len(self._positions)), -np.inf)
            logs[which, partner] = self._log_p(tables[which], head[which], partner)
            partner = np.argmax(equal_to_best(logs), axis=1) if len(tables) else head
            self._record(
                JOINED, tables, head, partner, logs.max(axis=1, initial=-np.inf)
            )
            self._join(tables, np.minimum(head, partner), np.maximum(head, partner))
            tables = tables[self._n_groups(tables) > 1]

    def _record(
        self,
        action: str,
        tables: Integers,
        head: Integers,
        partner: Integers,
        logs: Floats,
    ) -> None:
        """Record an action on pairs of groups, if there is a callback."""
        if self._record_step is None:
            return
        for table, first, second, log_p in zip(
            tables, head, partner, logs, strict=True
        ):
            group = self.group[table]
            pair = np.flatnonzero(group == first), np.flatnonzero(group == second)
            self._record_step(action, int(table), *pair, float(log_p))

    # Groups

    def _heads(self, tables: Integers) -> Masks:
        """Return a mask of portions that are heads, by table."""
        return np.asarray(self.group[tables] == self._positions)

    def _n_groups(self, tables: Integers) -> Integers:
        return np.asarray(self._heads(tables).sum(axis=1))

    def _with_more_than(self, n_groups: int) -> Integers:
        return np.flatnonzero(self._n_groups(np.arange(len(self.group))) > n_groups)

    def _join(self, tables: Integers, head: Integers, partner: Integers) -> None:
        """Merge the groups of ``partner`` into those of ``head``, which come first."""
        group = self.group[tables]
        self.group[tables] = np.where(group == partner[:, None], head[:, None], group)
        self._sums[tables, partner] = 0.0
        self._drop_pairs(tables, partner)
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
        """Return a mask of the heads with which each of these groups may pair."""
        others = self._heads(tables) & (self._positions != head[:, None])
        if not self._portions.ordered:
            return np.asarray(others)
        alone = self._positions == self._portions.missing[tables, None]
        line = others & ~alone
        before = np.where(line & (self._positions < head[:, None]), self._positions, -1)
        near = self._positions == before.max(axis=1, keepdims=True)
        near |= self._positions == self._next(tables, head)[:, None]
        from_alone = (head == self._portions.missing[tables])[:, None]
        return np.asarray(others & (near | alone | from_alone))

    def _next(self, tables: Integers, head: Integers) -> Integers:
        """Return the next head in order that is not the missing values, or -1."""
        not_missing = self._positions != self._portions.missing[tables, None]
        later = self._heads(tables) & not_missing & (self._positions > head[:, None])
        return np.where(later.any(axis=1), np.argmax(later, axis=1), -1)

    def _test_all_pairs(self, tables: Integers) -> None:
        which, head = np.nonzero(self._heads(tables))
        table = tables[which]
        which, partner = np.nonzero(self._partners(table, head))
        is_first = head[which] < partner
        which, partner = which[is_first], partner[is_first]
        self._test_pairs(table[which], head[which], partner)

    def _retest(self, tables: Integers, head: Integers) -> None:
        """Test the pairs of these groups again, after they changed."""
        self._drop_pairs(tables, head)
        which, partner = np.nonzero(self._partners(tables, head))
        head, table = head[which], tables[which]
        self._test_pairs(table, np.minimum(head, partner), np.maximum(head, partner))

    def _drop_pairs(self, tables: Integers, head: Integers) -> None:
        """Remove the pairs of groups that are gone, or about to be tested again."""
        self._logs[tables, head] = -np.inf
        if self._portions.ordered:
            alone = head == self._portions.missing[tables]
            self._logs[tables[alone], :, 1] = -np.inf
        else:
            self._logs[tables, :, head] = -np.inf

    def _test_pairs(self, tables: Integers, head: Integers, partner: Integers) -> None:
        position = partner
        if self._portions.ordered:
            position = (partner == self._portions.missing[tables]).astype(np.int64)
        self._logs[tables, head, position] = self._log_p(tables, head, partner)

    def _log_p(self, tables: Integers, head: Integers, partner: Integers) -> Floats:
        """Return log p of pairs of groups, given by their heads."""
        step = max(CELLS // (2 * self._sums.shape[2]), 1)
        log_p = np.empty(len(tables))
        for start in range(0, len(tables), step):
            part = slice(start, start + step)
            pairs = np.stack([head[part], partner[part]], axis=1)
            log_p[part] = self._test(self._sums[tables[part, None], pairs]).log_p
        return log_p

    def _most_similar(self, tables: Integers) -> tuple[Integers, Integers, Floats]:
        """Return the pairs with the largest p, the first on ties; and log p."""
        takes_all = len(tables) == len(self._logs)
        logs = (self._logs if takes_all else self._logs[tables]).reshape(
            len(tables), -1
        )
        first = np.argmax(equal_to_best(logs), axis=1)
        head, partner = np.divmod(first, self._logs.shape[2])
        if self._portions.ordered:
            missing = self._portions.missing[tables]
            partner = np.where(partner == 1, missing, self._next(tables, head))
        return head, partner, logs[np.arange(len(tables)), first]

    # Splits

    def _split_again(self, tables: Integers, head: Integers, max_log_p: float) -> None:
        """Split groups in two if log p < ``max_log_p`` and the grouping is new."""
        large = (self.group[tables] == head[:, None]).sum(axis=1) >= 3
        tables, head = tables[large], head[large]
        inside, log_p = self._best_split(tables, head, max_log_p)
        significant = np.flatnonzero(log_p < max_log_p)
        tables, head = tables[significant], head[significant]
        outside = (self.group[tables] == head[:, None]) & ~inside[significant]
        new = np.argmax(outside, axis=1)
        after = np.where(outside, new[:, None], self.group[tables])
        keys = [(int(t), line.tobytes()) for t, line in zip(tables, after, strict=True)]
        fresh = np.flatnonzero([key not in self._split_groupings for key in keys])
        self._split_groupings.update(keys)
        tables, head, new = tables[fresh], head[fresh], new[fresh]
        self.group[tables] = after[fresh]
        self._record(SPLIT, tables, head, new, log_p[significant][fresh])
        changed, both = np.concatenate([tables, tables]), np.concatenate([head, new])
        self._add_up(changed, both)
        self._retest(changed, both)

    def _best_split(
        self, tables: Integers, head: Integers, max_log_p: float
    ) -> tuple[Masks, Floats]:
        """Return the portions on the head's side of the best split, and its log p.

        Log p is 0 if no split has one below ``max_log_p``.
        """
        members = self.group[tables] == head[:, None]
        missing = self._portions.missing[tables]
        floats = members[np.arange(len(tables)), missing] & (missing >= 0)
        kind = 2 * members.sum(axis=1) + (floats & self._portions.ordered)
        inside, log_p = np.zeros_like(members), np.empty(len(tables))
        for key in np.unique(kind):
            part = np.flatnonzero(kind == key)
            which, portion = np.nonzero(members[part])
            weights = self._portions.weights[tables[part][which], portion]
            weights = weights.reshape(len(part), key // 2, -1)
            best = self._best_of(tables[part], weights, max_log_p, missing=key % 2 == 1)
            sides, log_p[part] = best
            inside[part[which], portion] = sides.ravel()
        return inside, log_p

    def _best_of(
        self, tables: Integers, weights: Floats, max_log_p: float, *, missing: bool
    ) -> tuple[Masks, Floats]:
        """Return the best splits of groups of one size, as masks of their members."""
        moments, test = self._portions.moments, self._test
        if self._portions.ordered:
            return best_cut(weights, missing=missing, max_log_p=max_log_p, test=test)
        if weights.shape[1] <= MAX_ENUMERATED:
            return best_bipartition(weights, max_log_p=max_log_p, test=test)
        if not moments:
            self.exact[tables[weights.any(axis=1).sum(axis=1) > 2]] = False
        return best_by_score(weights, moments=moments, max_log_p=max_log_p, test=test)
