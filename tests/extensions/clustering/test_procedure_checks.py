"""scikit-learn's own checks of k-means that chooses its number of clusters."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spinney import KMeans

# Some checks draw rows or parameters that deserve one of our warnings.
pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")


@parametrize_with_checks([KMeans("auto", n_init=1, max_iter=20)])
def test_conforms(estimator, check):
    check(estimator)
