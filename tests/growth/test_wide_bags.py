"""Out of the bag, columns of many values look better than they are: that is said."""

import numpy as np
import pytest

from spinney import ForestClassifier
from spinney.errors import SpinneyWarning


def test_a_score_by_an_order_of_all_rows_is_doubted():
    random = np.random.default_rng(0)
    code = [f"v{random.integers(200)}" for _ in range(400)]
    label = random.integers(0, 2, 400)
    forest = ForestClassifier(20, oob_score=True, random_state=0)
    with pytest.warns(SpinneyWarning, match="'code' stand in an order made of the"):
        forest.fit({"code": code, "x": random.random(400)}, label)
    assert forest.oob_score_ > 0.6  # of pure noise


def test_few_values_are_not_doubted():
    random = np.random.default_rng(0)
    code = [f"v{random.integers(5)}" for _ in range(200)]
    forest = ForestClassifier(20, oob_score=True, random_state=0)
    forest.fit({"code": code, "x": random.random(200)}, random.integers(0, 2, 200))
