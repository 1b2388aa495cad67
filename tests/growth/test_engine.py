"""Who grows a tree: by price, the same for the same rows where rivals are kept."""

import sys

import numpy as np
import pytest

from spinney.data.schema import Attribute, Schema, Target
from spinney.growth import engine, only_to_predict
from spinney.growth.engine import choose_engine, plain_seconds
from spinney.growth.growth_options import Options
from spinney.recipes import RECIPES
from spinney.sources.rows.training_rows import TrainingSet

BRANCH = RECIPES["cart"].changed(missing="branch")


def rows(n_rows: int) -> TrainingSet:
    """Return rows of two numbers and two classes."""
    random = np.random.default_rng(n_rows)
    attributes = (Attribute("a", "numeric"), Attribute("b", "numeric"))
    schema = Schema(attributes, Target("c", ("no", "yes")))
    columns = (random.random(n_rows), random.random(n_rows))
    return TrainingSet(schema, columns, random.integers(0, 2, n_rows), None)


@pytest.fixture(params=[False, True], ids=["not loaded", "loaded"])
def loaded(request, monkeypatch):
    """Let compiled loops be loaded, or not."""
    for name in ("binned", "ranked"):
        module = f"spinney.growth.{name}.loops.grow"
        if request.param:
            monkeypatch.setitem(sys.modules, module, engine)
        else:
            monkeypatch.delitem(sys.modules, module, raising=False)
    return request.param


@pytest.mark.parametrize("recipe", [BRANCH, RECIPES["c4.5"]], ids=lambda r: r.name)
def test_what_is_loaded_has_no_say_where_rivals_are_kept(recipe, loaded):
    assert choose_engine(rows(300), recipe, Options()).name == "plain"


@pytest.mark.parametrize("recipe", [BRANCH, RECIPES["c4.5"]], ids=lambda r: r.name)
def test_loops_that_are_loaded_grow_what_nobody_looks_at(recipe, loaded):
    chosen = choose_engine(rows(300), recipe, Options(), rivals=False).name
    assert (chosen != "plain") is loaded


def test_loops_are_loaded_once_for_many_trees(loaded):
    training = rows(300)
    each = plain_seconds(300, 2, BRANCH)
    few, many = int(engine.LOADING / each), int(engine.LOADING / each) + 2
    with only_to_predict(few):
        chosen = choose_engine(training, BRANCH, Options()).name
        assert chosen == ("binned" if loaded else "plain")
    with only_to_predict(many):
        assert choose_engine(training, BRANCH, Options()).name == "binned"
    assert choose_engine(training, BRANCH, Options()).name == "plain"


def test_rows_that_stay_away_are_for_the_plain_learner():
    assert choose_engine(None, BRANCH, Options()).name == "plain"
