"""What the compiled loops leave to the plain learner."""

import numpy as np
import pytest

from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.binned.binned_limits import can_grow_binned
from spinney.growth.growth_options import Options
from spinney.recipes import RECIPES
from spinney.sources.rows.training_rows import TrainingSet


@pytest.mark.parametrize(
    ("missing", "expected"), [("branch", True), ("fractional", True), ("mean", False)]
)
def test_where_a_later_missing_value_goes_by_all_rows_loops_do_not_know(
    missing, expected
):
    schema = Schema((Attribute("x", "numeric"),), Target("y", ("a", "b")))
    rows = TrainingSet(schema, (np.arange(4.0),), np.array([0, 0, 1, 1]), None)
    recipe = RECIPES["cart"].changed(missing=missing)
    assert can_grow_binned(rows, recipe, Options()) == expected
