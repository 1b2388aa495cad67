"""Weights that compiled loops would round otherwise than the plain learner does."""

import pytest

from spinney.data import Declarations
from spinney.growth import options_of
from spinney.growth.loop_weights import suit_loops
from spinney.recipes import RECIPES
from spinney.sources.opened import open_source


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
    opened = open_source(data, "y", weight="w", declarations=Declarations())
    with opened as rows:
        options = options_of(rows, recipe=RECIPES["cart"])
        assert suit_loops(rows.at_hand, options) == suit
