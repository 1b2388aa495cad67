"""Folds for cross-validation: seeded, and stratified where there are classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney._support.text import counted_text, shown
from spinney.data import Target
from spinney.errors import Setting, refusal, warn


def folds_of(
    targets: NDArray[Any],
    target: Target,
    *,
    n_folds: int,
    seed: int,
    is_set: bool = True,
) -> Integers:
    """Return the fold of each row.

    If a user set the number of folds (``is_set``), warn if a class has fewer rows than
    folds.

    Parameters
    ----------
    targets : array
        The class codes, to be stratified; or the numbers.
    target : Target
        The target column.
    n_folds : int
        The number of folds, from 2 to the number of rows.
    seed : int
        The same seed gives the same folds.
    is_set : bool
        Whether a user set the number of folds.
    """
    if not 2 <= n_folds <= len(targets):
        raise refusal(
            Setting("folds", n_folds),
            f"must be a whole number from 2 to the number of rows, {len(targets)}",
        )
    stratified = False
    if not target.is_numeric and n_folds < len(targets):
        counts = np.bincount(targets, minlength=len(target.classes))
        stratified = bool(counts.max() >= n_folds)
        if is_set:
            _warn_of_few(counts, target, n_folds)
    random = np.random.RandomState(seed)
    if stratified:
        return _stratified(targets, n_folds, random)
    rows = np.arange(len(targets))
    random.shuffle(rows)
    folds = np.empty(len(targets), dtype=np.int64)
    sizes = np.full(n_folds, len(targets) // n_folds)
    sizes[: len(targets) % n_folds] += 1
    folds[rows] = np.arange(n_folds).repeat(sizes)
    return folds


def _stratified(
    codes: Integers, n_folds: int, random: np.random.RandomState
) -> Integers:
    """Return stratified folds, with nearly equal class proportions.

    The rows, sorted by class, are dealt to the folds one by one, with classes in the
    order of first occurrence. The order within a class is random.
    """
    _, first, classes = np.unique(codes, return_index=True, return_inverse=True)
    classes = np.argsort(np.argsort(first))[classes]
    by_class = np.sort(classes)
    folds = np.empty(len(codes), dtype=np.int64)
    for code in range(len(first)):
        sizes = [np.sum(by_class[fold::n_folds] == code) for fold in range(n_folds)]
        numbers = np.arange(n_folds).repeat(sizes)
        random.shuffle(numbers)
        folds[classes == code] = numbers
    return folds


def _warn_of_few(counts: Integers, target: Target, n_folds: int) -> None:
    """Warn if folds can be stratified in part only, or not at all."""
    if counts.max() < n_folds:
        warn(
            Setting("folds", int(n_folds)),
            f" is more than the rows of any class of {shown(target.name)!r}, at most "
            f"{counts.max()}",
            remedy="the folds that choose the alpha are made without regard to classes",
        )
        return
    rare = np.flatnonzero((counts > 0) & (counts < n_folds)).tolist()
    if rare:
        classes = counted_text((target.classes[code], counts[code]) for code in rare)
        warn(
            Setting("folds", int(n_folds)),
            f" is more than the rows of some classes of {shown(target.name)!r}",
            remedy=f"{classes}; some of the folds that choose the alpha hold none of "
            "these",
        )
