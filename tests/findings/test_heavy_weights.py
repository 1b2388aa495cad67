"""Weights that compiled kernels would round otherwise than the plain learner does."""

from unittest.mock import patch

import numpy as np
import pytest

import spinney
from spinney.growth import growers, options_of
from spinney.growth.forest.bags import ForestBags
from spinney.growth.kernel_weights import suits_kernels
from spinney.recipes import RECIPES
from spinney.sources.training_data import TableInput, open_source

SUMS_ARE_EXACT = ForestBags.sums_are_exact  # before tests/conftest.py


@pytest.mark.parametrize(
    ("weights", "suit"),
    [
        ([1, 2, 3, 4], True),
        ([1e12] * 4, True),  # equally heavy: nothing is rounded away
        ([1, 1, 1, 1e12], False),
        ([1, 1, 1e20, 1e30], False),
        ([1e30] * 4, False),
        ([1e-150, 1e-150, 1e-150, 1e-150], False),
    ],
)
def test_loops_decline_weights_that_they_would_round(weights, suit):
    data = {"x": [1, 2, 3, 4], "y": [*"abab"], "w": weights}
    opened = open_source(TableInput(data=data, target="y", weight="w"))
    with opened as rows:
        options = options_of(rows, recipe=RECIPES["cart"])
        assert suits_kernels(rows.in_memory_rows, options) == suit


@pytest.mark.parametrize("class_weight", [{"c0": 1, "c1": 1e6, "c2": 3}, {"c1": 3.0}])
def test_a_forest_does_not_depend_on_what_is_loaded(class_weight, monkeypatch):
    monkeypatch.setattr(ForestBags, "sums_are_exact", SUMS_ARE_EXACT)
    random = np.random.default_rng(0)
    table = {f"x{at}": random.normal(size=40) for at in range(3)}
    table["y"] = [f"c{at}" for at in random.integers(0, 3, 40)]
    told = []
    for loaded in (False, True):
        with patch.object(growers, "worth_loading", return_value=loaded):
            forest = spinney.grow_forest(
                table, "y", n_estimators=5, class_weight=class_weight, random_state=1
            )
        told.append([str(member) for member in forest.trees])
    assert told[0] == told[1]


@pytest.mark.parametrize("seed", range(3))
def test_models_of_heavy_rows_and_terms_that_say_the_same(seed):
    random = np.random.default_rng(seed)
    x = np.repeat(np.arange(-150.0, 150), 3)
    table = {
        "a": x,
        "b": -2 * x + 1e-12 * random.normal(size=900),
        "w": np.full(900, 1e6),
        "y": np.repeat(random.normal(size=300) * 10, 3),
    }
    model = spinney.grow(table, "y", recipe="m5", weight="w")
    assert np.isfinite(model.predict(table)).all()
