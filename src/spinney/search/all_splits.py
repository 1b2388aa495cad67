"""Every way to split on one attribute at a node, and not the best of them alone.

A way is made a split as the search makes one: each stands as the only way of a copy of
its table, so that gains, merits, thresholds and groups come from the same code, to the
bit.
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
    candidates_of_part,
    forms_of,
    is_allowed,
    level_splits_of,
    merging_arguments,
    n_different,
    record_best,
)
from spinney.search.chaid.merge_values import MergeStep, merge_batch
from spinney.search.groupings import CandidateSplits
from spinney.search.level_splits import Form, LevelSplits
from spinney.search.tree_search import Search
from spinney.search.value_order import ENUMERATED
from spinney.trees import Candidate, CountTable, Groups, Split, TableBatch, Threshold

AT_ONCE = 1 << 20  # lines of copies that are held at once


@dataclass(frozen=True, slots=True, eq=False)
class AllSplits:
    """All ways to split on one attribute at a node, as candidates.

    Each is computed as the only way of a copy of the node's table.

    Parameters
    ----------
    form : Form, optional
        How values are grouped; None where the rows have one value.
    candidates : tuple of Candidate
        The ways that are listed, in the order of the values.
    allowed : tuple of bool
        Which of them leave two branches enough rows.
    best : int, optional
        Which of them the search takes; None where none is allowed.
    n_splits : int
        How many were counted.
    n_subsets : int
        How many ways there are to divide the values in two, where that is asked: with
        many values not all are counted.
    searched : bool
        Whether branch and bound looked for the best of these subsets.
    steps : tuple of MergeStep
        What CHAID's merging did, where it groups the values.
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
    search: Search, table: CountTable, schema: Schema, index: int, *, most: int
) -> AllSplits:
    """Return the ways to split on an attribute, of many the ``most`` that gain most.

    The table has the classes' own weights. Of up to ``ENUMERATED`` values every subset
    is counted, though two classes would let the search do with fewer.

    Examples
    --------
    >>> from spinney.data import Attribute
    >>> from spinney.recipes.named_recipes import RECIPES
    >>> income = CountTable.of([[2, 2], [1, 3], [2, 4]])
    >>> schema = Schema((Attribute("income", "nominal", tuple("hlm")),), None)
    >>> search = Search.of(RECIPES["cart"], numeric=False)
    >>> found = enumerate_splits(search, income, schema, 0, most=100)
    >>> [each.split.groups[0] for each in found.candidates], found.best
    ([(0,), (0, 1), (0, 2)], 0)
    """
    batch = TableBatch.of([{index: table}])
    search = search.with_root_tables(batch, schema)
    level = SearchedLevel.of(search, batch)
    counted = level.counted.batch
    if n_different(counted, search)[0] < 2:
        return AllSplits(None)
    form, searched = _listed_form(search, level)
    n_values = int(counted.counts[0])
    part = level.part(search, form, np.arange(1))
    candidate_splits = candidates_of_part(search, part, every=True)
    allowed = is_allowed(search, part, candidate_splits)
    listed = _listed(search, candidate_splits, allowed, most)
    candidates = [
        candidate
        for copies in _copies(
            search, batch, form, candidate_splits, listed, allowed, schema
        )
        for candidate in copies.candidates(np.arange(len(copies)))
    ]
    best = best_splits(search, batch, schema)
    winner = best.candidate(0) if len(best) else None
    is_allowed_split = allowed[listed].tolist()
    position = _index_of(winner, candidates)
    if (
        winner is not None and position is not None and searched
    ):  # it knows what was proved
        candidates[position] = winner
    elif winner is not None and position is None and searched:  # no prefix is as good
        position = len(candidates)
        candidates.append(winner)
        is_allowed_split.append(True)
    elif (
        winner is not None and position is None
    ):  # one of many that tie with it is listed
        position = len(candidates) - 1
        candidates[position], is_allowed_split[position] = winner, True
    two, steps = form in (Form.SUBSET, Form.PREFIX), list[MergeStep]()
    if form == Form.MERGED:
        merge_batch(part.batch, **merging_arguments(search, part), steps=steps)
    return AllSplits(
        form,
        tuple(candidates),
        tuple(is_allowed_split),
        position,
        max(len(candidate_splits), len(candidates)),
        2 ** (n_values - 1) - 1 if two else 0,
        searched,
        tuple(steps),
    )


def _listed_form(search: Search, level: SearchedLevel) -> tuple[Form, bool]:
    """Return how values are grouped, in all subsets where there are not too many.

    And whether the best subset is searched for: prefixes are listed beside it.
    """
    batch = level.counted.batch
    form = Form(int(forms_of(search, batch, level.traits)[0][0]))
    few = batch.counts[0] <= ENUMERATED
    if form == Form.SEARCHED:
        return Form.PREFIX, True
    return Form.SUBSET if form == Form.PREFIX and few else form, False


def _listed(
    search: Search,
    candidate_splits: CandidateSplits,
    allowed: NDArray[np.bool_],
    most: int,
) -> Integers:
    """Return which ways are listed, in their order: first those that are allowed."""
    if len(candidate_splits) <= most:
        return np.arange(len(candidate_splits))
    gains = np.asarray(search.criterion.gain(candidate_splits.table))
    return np.sort(np.lexsort((-gains, ~allowed))[:most])


def _copies(
    search: Search,
    batch: TableBatch,
    form: Form,
    candidate_splits: CandidateSplits,
    listed: Integers,
    allowed: NDArray[np.bool_],
    schema: Schema,
) -> Iterator[LevelSplits]:
    """Give the listed ways as splits, each of a copy of the table."""
    n_cuts = max(1, int(allowed.sum()))
    at_once = max(1, AT_ONCE // len(batch.values))
    for first in range(0, len(listed), at_once):
        chosen = listed[first : first + at_once]
        every = np.arange(len(chosen))
        level = SearchedLevel.of(search, batch.take(np.zeros(len(chosen), np.int64)))
        part, best = level.part(search, form, every), BestSplits.none(level)
        record_best(
            search,
            part,
            level,
            best,
            candidates=_one_each(candidate_splits, chosen),
            first=every,
            n_cuts=np.full(len(chosen), n_cuts),
        )
        yield level_splits_of(search, level, best, schema)


def _one_each(candidate_splits: CandidateSplits, chosen: Integers) -> CandidateSplits:
    """Return some ways of one table, each as the only one of a copy of it."""
    line_branches, n = candidate_splits.line_branches, len(chosen)
    return replace(
        candidate_splits.take(chosen),
        owner=np.arange(n),
        line_branches=lambda _: np.concatenate(
            [line_branches(np.array([candidate])) for candidate in chosen]
        ),
        exact=np.repeat(candidate_splits.exact, n),
        log_multiplier=np.repeat(candidate_splits.log_multiplier, n),
        left_out=0,
    )


def _index_of(winner: Candidate | None, candidates: list[Candidate]) -> int | None:
    """Return which of some candidates asks what the winner asks."""
    if winner is None:
        return None
    same = (same_split(winner.split, each.split) for each in candidates)
    return next((position for position, is_it in enumerate(same) if is_it), None)


def same_split(one: Split, other: Split) -> bool:
    """Return whether two splits send every value to the same branch."""
    return _split_key(one) == _split_key(other)


def _split_key(split: Split) -> tuple[object, ...]:
    if isinstance(split, Threshold):
        key: object = split.threshold
    else:
        key = split.groups if isinstance(split, Groups) else split.cuts
    return type(split), split.attribute, key, split.missing
