"""scikit-learn's own checks, all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spinney import TreeClassifier, TreeRegressor

# Some checks draw rows whose weights or columns deserve one of our warnings.
pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")


@parametrize_with_checks(
    [
        *(
            estimator(recipe)
            for estimator in (TreeClassifier, TreeRegressor)
            for recipe in ("id3", "c4.5", "cart")
        ),
        TreeRegressor("m5"),
        # By the default recipe, auto.
        TreeClassifier(),
        TreeRegressor(),
    ],
)
def test_conforms(estimator, check):
    check(estimator)
