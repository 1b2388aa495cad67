"""Folds for cross-validation: seeded, and stratified where there are classes."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.counts import Integers
from spinney.errors import ParameterError

__all__ = ["folds_of"]


def folds_of(
    targets: NDArray[Any], *, n_folds: int, seed: int, numeric: bool
) -> Integers:
    """Return the number of each row's fold.

    Parameters
    ----------
    targets : array
        Class codes, whose shares are the same in all folds as far as can be; or
        numbers.
    n_folds : int
        From 2 to the number of rows.
    seed : int
        The same seed gives the same folds.
    numeric : bool
        Whether the targets are numbers.
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    if not 2 <= n_folds <= len(targets):
        msg = (
            f"folds={n_folds!r} must be a whole number from 2 to the number of rows, "
            f"{len(targets)}"
        )
        raise ParameterError(msg)
    most = len(targets) if numeric else int(np.bincount(targets).max())
    # With fewer rows of every class than folds there is nothing to stratify.
    kind = KFold if numeric or n_folds > most else StratifiedKFold
    splitter = kind(n_folds, shuffle=True, random_state=seed)
    folds = np.zeros(len(targets), dtype=np.int64)
    with warnings.catch_warnings():
        # A class of fewer rows than folds is in some folds only, as it must be.
        warnings.simplefilter("ignore", UserWarning)
        rows = np.zeros((len(targets), 1))
        for number, (_, held) in enumerate(splitter.split(rows, targets)):
            folds[held] = number
    return folds
