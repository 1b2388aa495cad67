"""What the compiled loops leave to the plain learner."""

import numpy as np
import pytest

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth import engine
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


@pytest.mark.parametrize("seed", [5, 10])
def test_splits_that_lost_in_loops_leave_no_rest_of_rounding(
    seed, monkeypatch, tmp_path
):
    monkeypatch.setattr(engine, "PATIENCE", -1.0)  # the loops, however few the rows
    draw = np.random.default_rng(seed)
    x = draw.normal(size=1200).round(1)
    y = (x + draw.normal(size=1200)).round(1) * 1e5
    x = np.where(draw.random(1200) < 0.3, np.nan, x)
    z = np.where(draw.random(1200) < 0.3, np.nan, draw.normal(size=1200).round(1))
    rows = {"x": x, "z": z, "y": y}
    model = spinney.grow(rows, "y", recipe="cart", missing="branch", numeric=["y"])
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
