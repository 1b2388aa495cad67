"""scikit-learn's own checks of its conventions, none of them expected to fail.

Conventions are those of a class, whatever its recipe: every estimator is checked as it
comes, and with other settings among the slow tests.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spinney import (
    ForestClassifier,
    ForestRegressor,
    KMeans,
    KPrototypes,
    MiniBatchKMeans,
    TreeClassifier,
    TreeRegressor,
)

# Some checks draw rows, weights or parameters that deserve one of our warnings.
pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")


@parametrize_with_checks(
    [
        TreeClassifier(),
        TreeRegressor(),
        ForestClassifier(10),
        ForestRegressor(10),
        KMeans(),
        KPrototypes(),
        MiniBatchKMeans(),
    ],
)
def test_conforms(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        *(
            estimator(recipe)
            for estimator in (TreeClassifier, TreeRegressor)
            for recipe in ("id3", "c4.5", "cart")
        ),
        TreeRegressor("m5"),
        ForestClassifier(5, "c4.5", replace=False, voting="majority"),
        ForestClassifier(5, extra_random=True, class_weight="balanced_subsample"),
        ForestRegressor(5, "id3", oob_score=True),
        KMeans(3, init="random", n_init=2, tol=1e-4, n_jobs=1),
        KPrototypes(3, init="cao", n_jobs=1),
        MiniBatchKMeans(3, init="random", batch_size=40, max_iter=3),
    ],
)
def test_conforms_with_other_settings(estimator, check):
    check(estimator)
