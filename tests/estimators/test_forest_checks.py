"""scikit-learn's own checks of forests, all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spinney import ForestClassifier, ForestRegressor

# Some checks draw rows whose weights or columns deserve one of our warnings.
pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")


@parametrize_with_checks(
    [
        ForestClassifier(10),
        ForestClassifier(5, "c4.5", replace=False, voting="majority"),
        ForestClassifier(5, extra_random=True, class_weight="balanced_subsample"),
        ForestRegressor(10),
        ForestRegressor(5, "id3", oob_score=True),
    ],
)
def test_conforms(estimator, check):
    check(estimator)
