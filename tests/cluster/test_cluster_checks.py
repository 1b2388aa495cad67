"""scikit-learn's own checks of its conventions, none of them expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spinney import KMeans, KPrototypes, MiniBatchKMeans

# Some checks draw rows or parameters that deserve one of our warnings.
pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")


@parametrize_with_checks(
    [
        KMeans(),
        KMeans(3, init="random", n_init=2, tol=1e-4, n_jobs=1),
        KPrototypes(),
        KPrototypes(3, init="cao", n_jobs=1),
        MiniBatchKMeans(),
        MiniBatchKMeans(3, init="random", batch_size=40, max_iter=3),
    ],
)
def test_conforms(estimator, check):
    check(estimator)
