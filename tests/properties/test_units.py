"""A target in another unit has the same tree, however it is grown and pruned."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.recipes import by_recipe
from tests.helpers.strategies import Rows
from tests.properties.test_pruning import grown, numeric_tables

import spinney
from spinney.data.schema import Schema, Target
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune.cost_complexity import cost_complexity
from spinney.growth.prune.cost_complexity_sequence import sequence_of
from spinney.growth.prune.risk import leaf_risks
from spinney.recipes import RECIPES
from spinney.trees.split import Groups

UNITS = (1e-7, 1e7)
CRITERIA = ("squared_error", "variance", "sdr", "variance_root", "f", "poisson")


def table(unit: float, *, n_rows: int = 120, seed: int = 0) -> dict:
    """Return noise, a number and a group that matter, and a target above 0."""
    rng = np.random.default_rng(seed)
    noise, x = rng.normal(size=(2, n_rows))
    group = rng.integers(0, 4, size=n_rows)
    y = 9 + 3 * (x > 0) + np.where(x > 0, group == 1, x) + rng.normal(size=n_rows) / 4
    return {
        "noise": noise,
        "x": x,
        "group": [f"g{code}" for code in group],
        "y": y * unit,
    }


def shape(model) -> list:
    """Return what each node of a tree asks."""
    asked: list = []
    for node in model.tree:
        if node.is_leaf:
            asked.append(None)
            continue
        split = node.candidate.split
        if isinstance(split, Groups):
            asked.append((split.attribute, split.groups))
        else:
            cuts = getattr(split, "cuts", None)
            cuts = (split.threshold,) if cuts is None else tuple(cuts)
            asked.append((split.attribute, cuts))
    return asked


@pytest.mark.parametrize("unit", [1.0, 1e-5, 1e-6, *UNITS])
@pytest.mark.parametrize("recipe", ["auto", "c4.5", "cart", "id3"])
def test_the_signal_is_found_behind_noise(recipe, unit):
    rng = np.random.default_rng(0)
    noise, x = rng.normal(size=(2, 200))
    y = (3 * (x > 0) + 0.1 * rng.normal(size=200)) * unit
    model = spinney.grow(
        {"noise": noise, "x": x, "y": y}, "y", recipe=recipe, max_depth=1
    )
    assert model.tree.root.candidate.attribute == 1
    assert abs(model.tree.root.candidate.split.threshold) < 0.1


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("recipe", ["auto", "c4.5", "cart", "chaid", "id3", "m5"])
def test_every_recipe_grows_the_same_tree(recipe, unit):
    plain = spinney.grow(table(1.0), "y", recipe=recipe)
    other = spinney.grow(table(unit), "y", recipe=recipe)
    assert plain.tree.n_leaves > 1
    assert shape(other) == shape(plain)


@pytest.mark.parametrize("unit", UNITS)
def test_a_forest_and_folds_draw_the_same_rows(unit):
    settings = {"recipe": "cart", "forest": 0.75, "pruning": "cost-complexity"}
    plain = spinney.grow(table(1.0), "y", **by_recipe(**settings))
    assert plain.tree.n_leaves > 1
    assert shape(spinney.grow(table(unit), "y", **by_recipe(**settings))) == shape(
        plain
    )


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("limit", [{}, {"max_leaves": 6}])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_criterion_grows_the_same_tree(criterion, limit, unit):
    settings = {"recipe": "cart", "criterion": criterion, **limit}
    plain = spinney.grow(table(1.0), "y", **by_recipe(**settings))
    assert plain.tree.n_leaves > 1
    assert shape(spinney.grow(table(unit), "y", **by_recipe(**settings))) == shape(
        plain
    )


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("setting", ["linear_terms", "construct"])
def test_made_attributes_are_the_same(setting, unit):
    settings = {"recipe": "cart", setting: 2, "max_depth": 3}
    plain = spinney.grow(table(1.0), "y", **by_recipe(**settings))
    assert shape(spinney.grow(table(unit), "y", **by_recipe(**settings))) == shape(
        plain
    )


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "method", ["reduced-error", "pre-pruning", "cost-complexity", "alpha", "simplify"]
)
def test_every_method_prunes_the_same(method, unit):
    def pruned(factor: float):
        model = spinney.grow(table(factor), "y", recipe="cart")
        if method == "alpha":
            return model.prune("cost-complexity", alpha=0.5 * factor**2)
        if method == "cost-complexity":
            return model.prune(method, data=table(factor), random_state=1)
        if method == "simplify":
            return model.prune(method)
        return model.prune(method, validation=table(factor, seed=1))

    plain = pruned(1.0)
    assert plain.tree.n_leaves > 1
    assert shape(pruned(unit)) == shape(plain)


def test_nothing_is_a_share_of_the_variance_and_other_least_gains_are_not():
    tiny, plain = table(1e-4), table(1.0)
    assert spinney.grow(tiny, "y", recipe="c4.5").tree.n_leaves > 1
    assert spinney.grow(tiny, "y", recipe="c4.5", min_gain=1e-5).tree.n_leaves == 1
    assert spinney.grow(plain, "y", recipe="c4.5", min_gain=1e-5).tree.n_leaves > 1


@pytest.mark.parametrize("unit", UNITS)
def test_the_least_gain_is_told_in_the_unit_of_the_gains(unit):
    model = spinney.grow(table(unit), "y", recipe="c4.5")
    variance = float(np.var(table(unit)["y"]))
    assert model.explain(node=0).min_gain == pytest.approx(1e-6 * variance)


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data())
@settings(max_examples=examples(60))
def test_the_tree_is_the_subtree_that_is_said_to_be_chosen(numeric, data):
    tree = grown(data, numeric=numeric)
    if numeric and data.draw(st.booleans()):
        tree = tiny_tree(data)
    found = sequence_of(tree, leaf_risks(tree))
    alphas = st.sampled_from(found.alphas.tolist())
    alpha = data.draw(alphas) * data.draw(st.sampled_from((1.0, 1 - 1e-13, 1.5)))
    pruned = cost_complexity(tree, alpha=alpha)
    assert pruned.sequence[pruned.sequence.chosen].leaves == n_reached(pruned.tree)
    for place, row in enumerate(found.subtrees):
        result = cost_complexity(tree, alpha=row.alpha)
        assert result.sequence.chosen == place
        assert n_reached(result.tree) == row.leaves


def n_reached(tree):
    """Return how many leaves have rows; a tree of none has one."""
    return max(1, sum(1 for leaf in tree.leaves if leaf.n_rows))


def tiny_tree(data):
    """Return a tree of numbers about 1e-7."""
    drawn = data.draw(numeric_tables())
    target = Target("y", origin=drawn.schema.target.origin * 1e-7)
    rows = [(cells, y * 1e-7, weight) for cells, y, weight in drawn.rows]
    return grow_tree(
        Rows(Schema(drawn.schema.attributes, target), rows).source, RECIPES["id3"]
    )


@given(data=st.data())
@settings(max_examples=examples(40))
def test_the_sequence_has_the_unit_of_the_risks(data):
    tree = grown(data, numeric=True)
    risks = leaf_risks(tree)
    plain, tiny = sequence_of(tree, risks), sequence_of(tree, risks * 2.0**-50)
    assert [row.cut for row in tiny.subtrees] == [row.cut for row in plain.subtrees]
    assert tiny.alphas * 2.0**50 == pytest.approx(plain.alphas, rel=1e-12)


def test_links_that_rounding_parts_are_one():
    cells = {"a": [0.0, 0, 1, 1], "b": [0.0, 1, 0, 1], "y": [0.0, 1.1, 5.2, 6.4]}
    tree = spinney.grow(cells, "y", recipe="cart").tree
    left, right = tree.root.children
    risks = np.zeros(len(tree))
    # 100000.1 − 100000 is 0.1 and 6e-12.
    risks[0], risks[left], risks[right] = 1e6, 0.1, 100000.1
    risks[tree.nodes[right].children[0]] = 100000.0
    found = sequence_of(tree, risks)
    assert [row.leaves for row in found.subtrees] == [4, 2, 1]
    assert found[1].cut == (left, right)
    assert found.place(0.1) == found.place(0.1 - 1e-8) == 1
    assert found.place(0.09) == 0


def test_standard_errors_do_not_depend_on_the_unit_of_small_weights():
    def judged(weight: float):
        data = {**table(1.0), "w": np.full(120, weight)}
        model = spinney.grow(data, "y", recipe="cart", weight="w", max_depth=4)
        pruned = model.prune("cost-complexity", data=data, weight="w", random_state=1)
        return [row.deviation for row in pruned.sequence_.subtrees]

    assert judged(0.25) == pytest.approx(judged(1.0))
    assert judged(2.0**-30) == pytest.approx(judged(1.0))
    # A weight of more than one row stands for more rows, and they tell more.
    assert judged(2.25) == pytest.approx([each / 1.5 for each in judged(1.0)])
