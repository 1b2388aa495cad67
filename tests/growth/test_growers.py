"""Who grows a tree: by price, and the same nodes for the same rows."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import spinney
from spinney._support.jit import loading_time
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth import growers, prediction_only
from spinney.growth.binned.binned_limits import can_grow_binned
from spinney.growth.growers import choose_grower, plain_seconds
from spinney.growth.growth_options import Options
from spinney.growth.user_options import options_of
from spinney.recipes import RECIPES
from spinney.sources.rows.training_rows import TrainingSet
from spinney.sources.training_data import TrainingData

GROWERS_AGREE = growers.growers_agree  # as it is before tests turn it off
BRANCH = RECIPES["cart"].changed(missing_policy="branch")


def rows(n_rows: int) -> TrainingSet:
    """Return rows of two numbers and two classes."""
    random = np.random.default_rng(n_rows)
    attributes = (Attribute("a", "numeric"), Attribute("b", "numeric"))
    schema = Schema(attributes, Target("c", ("no", "yes")))
    columns = (random.random(n_rows), random.random(n_rows))
    return TrainingSet(schema, columns, random.integers(0, 2, n_rows), None)


@pytest.fixture(params=[False, True], ids=["not loaded", "loaded"])
def loaded(request, monkeypatch):
    """Let compiled kernels be loaded, or not."""
    for module, name in (growers.BINNED_KERNELS, growers.MULTIWAY_KERNELS):
        entry = SimpleNamespace(is_loaded=request.param)
        monkeypatch.setitem(sys.modules, module, SimpleNamespace(**{name: entry}))
    return request.param


@pytest.fixture
def replays(monkeypatch):
    """Let the plain learner find what lost where loops grew a small tree."""
    monkeypatch.setattr(growers, "growers_agree", GROWERS_AGREE)


@pytest.mark.parametrize("recipe", [BRANCH, RECIPES["c4.5"]], ids=lambda r: r.name)
@pytest.mark.usefixtures("replays")
def test_loops_that_are_loaded_leave_rivals_to_the_plain_learner(recipe, loaded):
    chosen = choose_grower(rows(300), recipe, Options())
    assert (chosen.name != "plain") is chosen.replays is loaded


@pytest.mark.usefixtures("replays")
@pytest.mark.parametrize("kind", ["weights", "both", "numbers"])
def test_sums_in_another_order_are_not_replayed(kind, loaded):
    training, options = rows(300), Options()
    if kind == "weights":  # of which the lightest would lose their digits
        training = replace(training, weights=np.geomspace(1e-6, 1, 300))
    elif kind == "both":
        training = replace(training, weights=np.full(300, 0.1))
        options = Options(class_weights=np.array([0.1, 0.3]))
    else:
        schema = replace(training.schema, target=Target("c", (), 0.0))
        training = replace(training, schema=schema, classes=np.arange(300.0) / 10)
    assert choose_grower(training, BRANCH, options).name == "plain"


@pytest.mark.usefixtures("replays")
@pytest.mark.parametrize("class_weight", [{"no": 0.1}, "balanced"])
def test_weights_of_rows_and_classes_are_rounded_to_add_up(class_weight, loaded):
    training = replace(rows(300), weights=np.full(300, 0.1))
    chosen = choose_grower(training, BRANCH, Options())
    assert (chosen.name == "binned") is chosen.replays is loaded
    opened = TrainingData(rows(300))
    options = options_of(opened, recipe=BRANCH, class_weight=class_weight)
    chosen = choose_grower(opened.in_memory_rows, BRANCH, options)
    assert (chosen.name == "binned") is chosen.replays is loaded


@pytest.mark.usefixtures("replays")
def test_whole_numbers_add_up_in_any_order(loaded):
    training = rows(100)
    schema = replace(training.schema, target=Target("c", (), 7.0))
    for largest, expected in ((300.0, True), (2.0**30, False)):
        numbers = np.append(np.arange(99.0), largest)
        whole = replace(training, schema=schema, classes=numbers)
        chosen = choose_grower(whole, BRANCH, Options())
        assert (chosen.name == "binned") is chosen.replays is (loaded and expected)


@pytest.mark.usefixtures("replays")
@pytest.mark.parametrize("compiled", [False, True])
def test_many_small_trees_load_the_loops_of_this_machine(compiled, monkeypatch):
    for module, _ in (growers.BINNED_KERNELS, growers.MULTIWAY_KERNELS):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(loading_time, "_is_compiled", lambda *loops: compiled)
    monkeypatch.setattr(loading_time, "LOADING_SECONDS", 1e-9)
    monkeypatch.setattr(growers, "plain_seconds", lambda training, recipe: 0.0)
    training, options = rows(300), Options()
    first = choose_grower(training, BRANCH, options)
    assert first.name == "plain"
    first.grow(TrainingData(training), BRANCH, options)
    monkeypatch.setattr(growers, "plain_seconds", lambda training, recipe: 1e-10)
    chosen = choose_grower(training, BRANCH, options).name
    assert chosen == ("binned" if compiled else "plain")


@pytest.mark.usefixtures("replays")
def test_whole_weights_add_up_in_any_order(loaded):
    training = replace(rows(300), weights=np.tile([1.0, 3.0], 150))
    for classes, expected in (((1.0, 5.0), True), ((1.0, 0.3), False)):
        options = Options(class_weights=np.array(classes))
        chosen = choose_grower(training, BRANCH, options)
        assert (chosen.name == "binned") is chosen.replays is (loaded and expected)


@pytest.mark.usefixtures("replays")
def test_the_second_small_tree_loads_the_loops_of_this_machine(monkeypatch):
    for module, _ in (growers.BINNED_KERNELS, growers.MULTIWAY_KERNELS):
        monkeypatch.delitem(sys.modules, module, raising=False)
    training, options = rows(20), Options()
    for expected in ("plain", "binned"):
        chosen = choose_grower(training, BRANCH, options)
        assert chosen.name == expected
        chosen.grow(TrainingData(training), BRANCH, options)


@pytest.mark.parametrize("recipe", [BRANCH, RECIPES["c4.5"]], ids=lambda r: r.name)
def test_loops_that_are_loaded_grow_what_nobody_looks_at(recipe, loaded):
    chosen = choose_grower(rows(300), recipe, Options(), competitors=False).name
    assert (chosen != "plain") is loaded


def test_loops_are_loaded_once_for_many_trees(loaded):
    training = rows(300)
    each = plain_seconds(training, BRANCH)
    few = int(loading_time.LOADING_SECONDS / each)
    many = few + 2
    with prediction_only(few):
        chosen = choose_grower(training, BRANCH, Options()).name
        assert chosen == ("binned" if loaded else "plain")
    with prediction_only(many):
        assert choose_grower(training, BRANCH, Options()).name == "binned"
    assert choose_grower(training, BRANCH, Options()).name == "plain"


def test_nobody_waits_for_a_compiler_longer_than_for_trees(monkeypatch):
    """Folds of a small table are grown at once on a machine that never compiled."""
    monkeypatch.delitem(sys.modules, growers.BINNED_KERNELS[0], raising=False)
    training = rows(300)
    many = int(2 * loading_time.LOADING_SECONDS / plain_seconds(training, BRANCH))
    with prediction_only(many):
        assert choose_grower(training, BRANCH, Options()).name == "binned"
        monkeypatch.setattr(loading_time, "_is_compiled", lambda *loops: False)
        assert choose_grower(training, BRANCH, Options()).name == "plain"


def test_rows_that_stay_away_are_for_the_plain_learner():
    assert choose_grower(None, BRANCH, Options()).name == "plain"


@pytest.mark.parametrize(
    ("missing", "kind", "expected"),
    [
        ("branch", "nominal", True),
        ("fractional", "nominal", True),
        ("mean", "numeric", True),
        ("mean", "nominal", False),
    ],
)
def test_where_a_later_missing_code_goes_by_all_rows_loops_do_not_know(
    missing, kind, expected
):
    values = ("p", "q") if kind == "nominal" else ()
    schema = Schema((Attribute("x", kind, values),), Target("y", ("a", "b")))
    cells = np.array([0, 0, 1, 1], np.int32 if values else np.float64)
    rows = TrainingSet(schema, (cells,), np.array([0, 0, 1, 1]), None)
    recipe = RECIPES["cart"].changed(missing_policy=missing)
    assert can_grow_binned(rows, recipe, Options()) == expected


@pytest.mark.parametrize("seed", [5, 10])
def test_splits_that_lost_in_loops_leave_no_rest_of_rounding(
    seed, monkeypatch, tmp_path
):
    monkeypatch.setattr(growers, "MAX_WAIT", -1.0)  # the kernels, however few the rows
    draw = np.random.default_rng(seed)
    x = draw.normal(size=1200).round(1)
    y = (x + draw.normal(size=1200)).round(1) * 1e5
    x = np.where(draw.random(1200) < 0.3, np.nan, x)
    z = np.where(draw.random(1200) < 0.3, np.nan, draw.normal(size=1200).round(1))
    rows = {"x": x, "z": z, "y": y}
    model = spinney.grow(
        rows, "y", recipe="cart", missing_policy="branch", numeric=["y"]
    )
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
