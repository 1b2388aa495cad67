"""Folds: those that scikit-learn makes of the same seed."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

from spinney.data.schema import Target
from spinney.errors import ParameterError
from spinney.growth.prune.prune_folds import folds_of

CLASSES = Target("y", ("a", "b", "c", "d"))
NUMBERS = Target("y", origin=0.0)


def folds_by_scikit_learn(splitter, targets):
    folds = np.zeros(len(targets), dtype=np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of rare classes
        parts = splitter.split(np.zeros((len(targets), 1)), targets)
        for number, (_, held) in enumerate(parts):
            folds[held] = number
    return folds


@pytest.mark.parametrize("seed", [0, 1, 12345])
@pytest.mark.parametrize("n_rows, n_folds", [(5, 2), (37, 3), (150, 10), (1003, 10)])
def test_folds_are_those_of_scikit_learn(n_rows, n_folds, seed):
    codes = np.random.default_rng(seed).choice(4, n_rows, p=[0.1, 0.6, 0.27, 0.03])
    found = folds_of(codes, CLASSES, n_folds=n_folds, seed=seed, is_set=False)
    peer = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    np.testing.assert_array_equal(found, folds_by_scikit_learn(peer, codes))
    numbers = codes + 0.5
    found = folds_of(numbers, NUMBERS, n_folds=n_folds, seed=seed)
    peer = KFold(n_folds, shuffle=True, random_state=seed)
    np.testing.assert_array_equal(found, folds_by_scikit_learn(peer, numbers))


def test_more_folds_than_rows_of_any_class_are_made_without_classes():
    codes = np.array([0, 1, 2, 3, 0])
    found = folds_of(codes, CLASSES, n_folds=4, seed=7, is_set=False)
    peer = KFold(4, shuffle=True, random_state=7)
    np.testing.assert_array_equal(found, folds_by_scikit_learn(peer, codes))
    with pytest.raises(ParameterError, match="folds=6 must be"):
        folds_of(codes, CLASSES, n_folds=6, seed=0)
