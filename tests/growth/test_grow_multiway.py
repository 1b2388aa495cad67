"""Trees of several branches by compiled kernels are the plain learner's."""

import copy
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.alike import (
    PLAIN_OPTIONS,
    four_rows,
    same_candidate,
    same_node,
    same_tree,
)
from tests.helpers.fuzz import examples

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth import growers
from spinney.growth.growers import choose_grower
from spinney.growth.growth_options import Options
from spinney.growth.multiway import grow_multiway, multiway_dataset
from spinney.growth.multiway.grow_multiway import (
    grow_and_prune_multiway_tree,
    grow_multiway_tree,
)
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune.prune_methods import pruned_after_growing
from spinney.recipes import RECIPES
from spinney.sources.rows.training_rows import TrainingSet


def column(draw, random, kind, n_rows):
    """Draw an attribute: few or many values, ties, sometimes a constant."""
    n_values = draw(st.integers(1, 6))
    if kind == "numeric":
        cells = random.normal(size=n_rows)
        form = draw(st.sampled_from(["real", "rounded", "close", "constant"]))
        if form == "rounded":
            cells = np.round(cells * n_values)
        elif form == "close":
            cells = np.round(cells, 1) + random.choice([0.0, 4e-6], n_rows)
        elif form == "constant":
            cells = np.full(n_rows, 3.0)
        cells[random.random(n_rows) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = np.nan
        return Attribute("", kind), cells
    codes = random.integers(0, n_values, n_rows).astype(np.int32)
    codes[random.random(n_rows) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = -1
    # Some values occur in no row: they have branches too.
    n_values += draw(st.integers(0, 2))
    return Attribute("", kind, tuple(map(str, range(n_values)))), codes


@st.composite
def training_sets(draw):
    """Draw rows of all kinds: missing cells, weights, classes that follow a column."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_classes = draw(st.integers(2, 200)), draw(st.sampled_from([2, 3, 5]))
    kinds = st.sampled_from(["numeric", "nominal", "nominal", "ordinal"])
    listed = draw(st.lists(kinds, min_size=1, max_size=5))
    drawn = [column(draw, random, kind, n_rows) for kind in listed]
    attributes = tuple(
        Attribute(f"x{place}", each.kind, each.values)
        for place, (each, _) in enumerate(drawn)
    )
    columns = tuple(cells for _, cells in drawn)
    classes = random.integers(0, n_classes, n_rows)
    if draw(st.booleans()):
        known = np.nan_to_num(columns[0].astype(float), nan=0.0)
        likely = np.abs(np.floor(known)).astype(int) % n_classes
        classes = np.where(random.random(n_rows) < 0.8, likely, classes)
    weights = draw(
        st.sampled_from(
            [
                None,
                np.ones(n_rows),
                random.integers(1, 4, n_rows).astype(float),
                random.random(n_rows) + 0.1,
            ]
        )
    )
    target = Target("y", tuple("abcde"[:n_classes]))
    return TrainingSet(Schema(attributes, target), columns, classes, weights)


settings_of_recipes = st.fixed_dictionaries(
    {
        "max_depth": st.sampled_from([None, 0, 1, 3]),
        "min_samples_leaf": st.sampled_from([None, 1, 2, 5.5, 0.09]),
        "min_weight_fraction_leaf": st.sampled_from([None, 0.07]),
        "min_samples_split": st.sampled_from([None, 10.3, 0.33]),
        "min_gain": st.sampled_from([None, 0.0123]),
        "min_branch_share": st.sampled_from([None, 0.21]),
        "min_cut_share": st.sampled_from([None, 0.1, 0.9]),
        "min_step": st.sampled_from([None, 1e-5]),
        "thresholds": st.sampled_from([None, "observed", "midpoint"]),
        "mdl_correction": st.sampled_from([None, True, False]),
        "probability": st.sampled_from([None, "laplace", "m-estimate"]),
    }
)


def recipe_of(name, changes):
    """Return a recipe with these settings; what is corrected must gain something."""
    recipe = RECIPES[name].changed(**changes)
    if recipe.mdl_correction and not recipe.min_gain:
        # 0 and its rounding error are told apart by nothing.
        recipe = recipe.changed(min_gain=1e-6)
    return recipe


def same(one, other, *, competitors):
    """Refuse nodes, or what lost at them, that differ in more than rounding."""
    same_node(one, other)
    if competitors:
        assert one.chosen == other.chosen
        for mine, theirs in zip(one.candidates, other.candidates, strict=True):
            same_candidate(mine, theirs)
            assert mine.exact == theirs.exact


@contextmanager
def kernel_limits(*, together, competitors):
    """Let the kernels take tables of any size, with all threads or one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growers, "MAX_WAIT_MULTIWAY", 0)
        patch.setattr(
            multiway_dataset, "COMPETITOR_ROWS_DIVISOR", 10**9 if competitors else 1
        )
        patch.setattr(grow_multiway, "MIN_PARALLEL_ROWS", 10 if together else 10**9)
        patch.setattr(grow_multiway, "n_threads", lambda: 2)
        yield


def compiled(training, recipe, *, together, competitors):
    """Grow by the kernels, whatever the size of the table."""
    with kernel_limits(together=together, competitors=competitors):
        assert choose_grower(training, recipe, Options()).name == "multiway"
        return grow_multiway_tree(training, recipe)


@pytest.mark.parametrize("name", ["c4.5", "id3"])
@pytest.mark.parametrize("together", [False, True])
@given(
    training=training_sets(),
    changes=settings_of_recipes,
    criterion=st.sampled_from([None, None, "gain", "gain_ratio", "gini"]),
    competitors=st.booleans(),
)
@settings(max_examples=examples(60))
def test_nodes_are_the_plain_learners(
    name, together, training, changes, criterion, competitors
):
    if criterion == "gini" or (name, criterion) == ("c4.5", "gini"):
        changes = {**changes, "mdl_correction": False}
    recipe = recipe_of(name, {**changes, "criterion": criterion})
    plain = grow_tree(training.source(), recipe)
    by_kernels = compiled(training, recipe, together=together, competitors=competitors)
    same_tree(plain, by_kernels, same, competitors=competitors)


@given(
    training=training_sets(),
    changes=settings_of_recipes,
    raising=st.booleans(),
    confidence=st.sampled_from([0.25, 0.05, 0.5]),
    name=st.sampled_from(["c4.5", "id3"]),
    costs=st.none() | st.lists(st.sampled_from([1.0, 2.0, 7.5]), min_size=9),
)
@settings(max_examples=examples(150))
def test_pruned_trees_are_the_plain_learners(
    training, changes, raising, confidence, name, costs
):
    pruning = {"raising": raising, "confidence": confidence, "pruning": "error-based"}
    recipe, options = recipe_of(name, {**changes, **pruning}), Options()
    if costs is not None:
        k = training.schema.n_classes
        matrix = np.resize(costs, (k, k)) * (1 - np.eye(k))
        options = Options(costs=matrix)
    source = training.source()
    tree = grow_tree(source, recipe, options)
    plain = pruned_after_growing(tree, source, recipe=recipe)
    with kernel_limits(together=True, competitors=True):
        by_kernels = grow_and_prune_multiway_tree(training, recipe, options)
    assert by_kernels is not None
    same_tree(plain.tree, by_kernels.tree, same, competitors=True)
    assert len(plain.steps) == len(by_kernels.steps)
    for one, other in zip(plain.steps, by_kernels.steps, strict=True):
        for name in ("node", "condition", "pruned", "action", "measure"):
            assert getattr(one, name) == getattr(other, name)
        for name in ("before", "after", "risk_before", "risk_after"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-9)


@pytest.mark.parametrize("seed", [511, 591, 927, 1394])
def test_of_branches_as_heavy_as_each_other_the_last_is_raised(seed):
    """Halves follow a column each; of these seeds the first half would raise others."""
    random = np.random.default_rng(seed)
    half, others = np.repeat([0, 1], 8), random.integers(0, 2, (3, 16))
    classes = np.where(half == 1, others[0], others[1]) ^ (random.random(16) < 0.1)
    attributes = tuple(Attribute(f"x{k}", "nominal", ("n", "y")) for k in range(4))
    schema = Schema(attributes, Target("y", ("a", "b")))
    training = TrainingSet(schema, (half, *others), classes.astype(np.int64), None)
    recipe = recipe_of("id3", {"pruning": "error-based", "raising": True})
    source = training.source()
    plain = pruned_after_growing(grow_tree(source, recipe), source, recipe=recipe)
    assert "raised" in [step.action for step in plain.steps]
    with kernel_limits(together=False, competitors=True):
        by_kernels = grow_and_prune_multiway_tree(training, recipe)
    assert by_kernels is not None
    same_tree(plain.tree, by_kernels.tree, same, competitors=True)


@pytest.mark.parametrize("n_rows", [300, 3000])
def test_many_values_and_many_branches(n_rows):
    random = np.random.default_rng(n_rows)
    attributes = (
        Attribute("x", "numeric"),
        Attribute("place", "nominal", tuple(map(str, range(230)))),
        Attribute("u", "numeric"),
        Attribute("colour", "nominal", ("red", "blue")),
    )
    place, x = random.integers(0, 230, n_rows), random.normal(size=n_rows)
    columns = (x, place, random.integers(0, 10**6, n_rows) / 8, (x > 1).astype(int))
    columns[0][::7] = np.nan
    classes = ((place % 7 + x) > 3).astype(np.int64)
    schema = Schema(attributes, Target("y", ("no", "yes")))
    training = TrainingSet(schema, columns, classes, None)
    for name in ("c4.5", "id3"):
        plain = grow_tree(training.source(), RECIPES[name])
        by_kernels = compiled(training, RECIPES[name], together=True, competitors=False)
        same_tree(plain, by_kernels, same, competitors=False)


def test_what_the_loops_do_not_know_is_left_to_the_plain_learner(monkeypatch):
    monkeypatch.setattr(growers, "MAX_WAIT_MULTIWAY", 0)
    training = four_rows()
    quinlan = RECIPES["c4.5"]
    assert choose_grower(training, quinlan, Options()).name == "multiway"
    for recipe in (
        RECIPES["chaid"],
        quinlan.changed(missing_policy="most-common"),
        quinlan.changed(linear_terms=2),
        quinlan.changed(construct=1),
        RECIPES["id3"].changed(buckets="equal-width"),
        RECIPES["id3"].changed(criterion="misclassification"),
        RECIPES["id3"].changed(grouping="binary"),
        RECIPES["id3"].changed(criterion=lambda table: 1.0),
    ):
        assert choose_grower(training, recipe, Options()).name == "plain"
    for options in (*PLAIN_OPTIONS, Options(costs=np.array([[0, 1], [0, 0]]))):
        assert choose_grower(training, quinlan, options).name == "plain"
    many = Attribute("c", "nominal", tuple(map(str, range(1001))))
    wide = Schema((many,), Target("y", ("a", "b")))
    rows = TrainingSet(wide, (np.arange(4),), np.array([0, 1, 0, 1]), None)
    assert choose_grower(rows, quinlan, Options()).name == "plain"


def test_a_model_of_many_cells_is_like_any_other(monkeypatch, tmp_path):
    random = np.random.default_rng(3)
    table = {
        "x": random.normal(size=400),
        "colour": random.choice(["red", "green", "blue"], 400),
    }
    likely = (table["x"] > 0) ^ (table["colour"] == "red")
    table["y"] = np.where(likely ^ (random.random(400) < 0.1), "up", "down")
    plain = spinney.grow(table, "y", recipe="c4.5")
    monkeypatch.setattr(growers, "MAX_WAIT_MULTIWAY", 0)
    by_kernels = spinney.grow(table, "y", recipe="c4.5")
    assert str(by_kernels) == str(plain)
    assert str(by_kernels.explain(0)) == str(plain.explain(0))
    assert str(copy.deepcopy(by_kernels.pruning_)) == str(plain.pruning_)
    np.testing.assert_array_equal(by_kernels.predict(table), plain.predict(table))
    by_kernels.save(tmp_path / "swift.spinney")
    assert str(spinney.load(tmp_path / "swift.spinney")) == str(plain)
