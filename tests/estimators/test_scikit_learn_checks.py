"""scikit-learn's own checks; one is not to be had where rows are drawn at random."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spinney import TreeClassifier, TreeRegressor
from spinney.recipe import recipe_named

# Some checks draw rows whose weights or columns deserve one of our warnings.
pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")


# A forest draws other rows where one of weight 2 is two rows, and so do the folds;
# scikit-learn expects the same of its own forests.
DRAWN = {
    "check_sample_weight_equivalence_on_dense_data": "rows are drawn by their places"
}


def expected(estimator):
    return DRAWN if recipe_named(estimator.recipe).needs_rows else {}


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
    expected_failed_checks=expected,
)
def test_conforms(estimator, check):
    check(estimator)
