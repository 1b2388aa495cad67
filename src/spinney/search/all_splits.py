"""All candidate splits of one attribute at a node, not only the best of them.

The search computes each split as the only candidate of a copy of its table. So gains,
merits, thresholds and groups equal those of the search in every bit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney.data import Schema
from spinney.search.attribute_split import (
    BestSplits,
    SearchedLevel,
    best_splits,
    candidate_splits,
    choose_forms,
    is_allowed,
    make_level_splits,
    merge_options,
    n_distinct_values,
    record_best,
)
from spinney.search.chaid.merge_values import MergeStep, merge_batch
from spinney.search.groupings import CandidateSplits
from spinney.search.level_splits import Form, LevelSplits
from spinney.search.tree_search import Search
from spinney.search.value_order import MAX_ENUMERATED
from spinney.trees import Candidate, CountTable, Split, TableBatch

MAX_LINES = 1 << 20  # lines of copies that are held at once


@dataclass(frozen=True, slots=True, eq=False)
class AllSplits:
    """All candidate splits of one attribute at a node.

    Parameters
    ----------
    form : Form, optional
        The form of grouping; None if the rows have one value.
    candidates : tuple of Candidate
        The listed splits, in the order of the values.
    allowed : tuple of bool
        Whether a split leaves two branches enough rows.
    best : int, optional
        The index of the split that the search chooses; None if no split is allowed.
    n_splits : int
        The number of counted splits.
    n_subsets : int
        The number of splitting subsets for a binary split; with many values not all are
        counted.
    searched : bool
        Whether branch and bound searched for the best subset.
    steps : tuple of MergeStep
        The steps of CHAID's merging, if it groups the values.
    """

    form: Form | None
    candidates: tuple[Candidate, ...] = ()
    allowed: tuple[bool, ...] = ()
    best: int | None = None
    n_splits: int = 0
    n_subsets: int = 0
    searched: bool = False
    steps: tuple[MergeStep, ...] = ()


def enumerate_splits(
    search: Search, table: CountTable, schema: Schema, index: int, *, max_splits: int
) -> AllSplits:
    """Return the splits on an attribute; of many those ``max_splits`` that gain most.

    The table has the classes' own weights. Of up to ``MAX_ENUMERATED`` values every
    subset is counted, though two classes would let the search do with fewer.

    >>> from spinney.data import Attribute
    >>> from spinney.recipes.named_recipes import RECIPES
    >>> income = CountTable.of([[2, 2], [1, 3], [2, 4]])
    >>> schema = Schema((Attribute("income", "nominal", tuple("hlm")),), None)
    >>> search = Search.of(RECIPES["cart"], numeric=False)
    >>> splits = enumerate_splits(search, income, schema, 0, max_splits=100)
    >>> [candidate.split.groups[0] for candidate in splits.candidates], splits.best
    ([(0,), (0, 1), (0, 2)], 0)
    """
    batch = TableBatch.of([{index: table}])
    search = search.with_root_tables(batch, schema)
    level = SearchedLevel.of(search, batch)
    counted = level.counted.batch
    if n_distinct_values(counted, search)[0] < 2:
        return AllSplits(None)
    form, searched = _listed_form(search, level)
    n_values = int(counted.counts[0])
    form_tables = level.part(search, form, np.arange(1))
    splits = candidate_splits(search, form_tables, all_cuts=True)
    allowed = is_allowed(search, form_tables, splits)
    listed = _listed_positions(search, splits, allowed, max_splits)
    candidates = [
        candidate
        for level_splits in _splits_of_copies(
            search, batch, form, splits, listed, allowed, schema
        )
        for candidate in level_splits.candidates(np.arange(len(level_splits)))
    ]
    best = best_splits(search, batch, schema)
    allowed_listed, position = allowed[listed].tolist(), None
    if len(best):
        winner = best.candidate(0)
        same = [is_same_split(winner.split, c.split) for c in candidates]
        position = same.index(True) if any(same) else len(candidates) - 1
        if searched and not any(same):  # no prefix is as good
            position = len(candidates)
            candidates.append(winner)
            allowed_listed.append(True)
        elif searched or not any(same):  # it knows its bound, or ties with the last
            candidates[position], allowed_listed[position] = winner, True
    is_binary, steps = form in (Form.SUBSET, Form.PREFIX), list[MergeStep]()
    if form == Form.MERGED:
        merge_batch(
            form_tables.batch, **merge_options(search, form_tables), steps=steps
        )
    return AllSplits(
        form,
        tuple(candidates),
        tuple(allowed_listed),
        position,
        max(len(splits), len(candidates)),
        2 ** (n_values - 1) - 1 if is_binary else 0,
        searched,
        tuple(steps),
    )


def _listed_form(search: Search, level: SearchedLevel) -> tuple[Form, bool]:
    """Return the form of grouping, and whether it needs branch and bound.

    Up to ``MAX_ENUMERATED`` values all subsets are listed, beyond that prefixes.
    """
    batch = level.counted.batch
    form = Form(int(choose_forms(search, batch, level.traits)[0][0]))
    if form == Form.SEARCHED:
        return Form.PREFIX, True
    if form == Form.PREFIX and batch.counts[0] <= MAX_ENUMERATED:
        return Form.SUBSET, False
    return form, False


def _listed_positions(
    search: Search, splits: CandidateSplits, allowed: NDArray[np.bool_], max_splits: int
) -> Integers:
    """Return the positions of the listed splits, preferring allowed ones."""
    if len(splits) <= max_splits:
        return np.arange(len(splits))
    gains = np.asarray(search.criterion.gain(splits.table))
    return np.sort(np.lexsort((-gains, ~allowed))[:max_splits])


def _splits_of_copies(
    search: Search,
    batch: TableBatch,
    form: Form,
    splits: CandidateSplits,
    listed: Integers,
    allowed: NDArray[np.bool_],
    schema: Schema,
) -> Iterator[LevelSplits]:
    """Yield the listed splits, each as the best split of a copy of the table."""
    n_cuts = max(1, int(allowed.sum()))
    n_copies = max(1, MAX_LINES // len(batch.values))
    for first in range(0, len(listed), n_copies):
        chosen = listed[first : first + n_copies]
        copies = np.arange(len(chosen))
        level = SearchedLevel.of(search, batch.take(np.zeros(len(chosen), np.int64)))
        form_tables, best = level.part(search, form, copies), BestSplits.none(level)
        record_best(
            search,
            form_tables,
            level,
            best,
            candidates=_one_per_table(splits, chosen),
            first=copies,
            n_cuts=np.full(len(chosen), n_cuts),
        )
        yield make_level_splits(search, level, best, schema)


def _one_per_table(splits: CandidateSplits, chosen: Integers) -> CandidateSplits:
    """Return some splits of one table, each as the only split of a table copy."""
    line_branches, n = splits.line_branches, len(chosen)
    return replace(
        splits.take(chosen),
        owner=np.arange(n),
        line_branches=lambda _: np.concatenate(
            [line_branches(np.array([candidate])) for candidate in chosen]
        ),
        exact=np.repeat(splits.exact, n),
        log_multiplier=np.repeat(splits.log_multiplier, n),
        n_excluded=0,
    )


def is_same_split(first: Split, second: Split) -> bool:
    """Return whether two splits send every value to the same branch."""
    return replace(first, shares=()) == replace(second, shares=())
