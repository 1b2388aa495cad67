"""The importance of columns to a tree: gains by weight, per column of the table."""

import numpy as np
import pytest
from tests.helpers.strategies import TABLES

import spinney

IRIS = str(TABLES / "iris.csv")


def naive_gains(tree):
    """Add up what each split takes off the criterion of its node, by hand."""
    gains = dict.fromkeys(tree.schema.names, 0.0)
    for node in tree.nodes:
        if node.children:
            name = tree.schema.names[node.candidate.attribute]
            gains[name] += node.candidate.gain * node.weight / tree.root.weight
    return gains


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart", "chaid", "auto"])
def test_gains_add_up_over_the_splits(recipe):
    model = spinney.grow(IRIS, "class", recipe=recipe)
    importances, expected = model.importances(), naive_gains(model.tree)
    assert importances.names == tuple(expected)
    np.testing.assert_allclose(importances.gains, list(expected.values()))
    assert importances.values.sum() == pytest.approx(1)
    np.testing.assert_array_equal(importances.values, model.feature_importances_)


def test_gains_of_a_whole_gini_tree_are_the_impurity_of_the_root():
    model = spinney.grow(IRIS, "class", recipe="cart")
    impurity = 2 / 3  # of three equal classes
    leaves = sum(
        leaf.weight / 150 * (1 - (leaf.distribution**2).sum())
        for leaf in model.tree.leaves
    )
    assert model.importances().gains.sum() == pytest.approx(impurity - leaves)


def test_a_constructed_attribute_is_shared_by_its_columns():
    numbers = {"a": [*range(24)], "b": [5, 1] * 12, "c": [0, 1, 2] * 8}
    labels = [a > b for a, b in zip(numbers["a"], numbers["b"], strict=True)]
    recipe = spinney.Recipe.named("id3").changed(construct=3)
    model = spinney.grow(numbers | {"y": labels}, "y", recipe=recipe)
    importances = model.importances()
    assert importances.names == ("a", "b", "c")
    total = sum(naive_gains(model.tree).values())
    assert importances.gains.sum() == pytest.approx(total)


def test_a_leaf_has_none():
    importances = spinney.grow(IRIS, "class", max_depth=0, recipe="id3").importances()
    assert importances.gains.tolist() == [0, 0, 0, 0]
    assert (importances.summary(), str(importances)) == ("", "no splits")


def test_a_line_names_five_columns():
    rows = np.random.default_rng(0).integers(0, 9, (90, 8))
    labels = np.array(["a", "b", "c"])[rows.sum(axis=1) % 3]
    table = {f"x{i}": rows[:, i] for i in range(8)} | {"y": labels}
    summary = spinney.grow(table, "y", recipe="id3").importances().summary()
    assert summary.count("%") == 5
    assert summary.endswith(" more")


def test_a_file_keeps_them(tmp_path):
    model = spinney.grow(IRIS, "class", recipe="c4.5")
    model.save(tmp_path / "iris.spinney")
    loaded = spinney.load(tmp_path / "iris.spinney")
    assert str(loaded.importances()) == str(model.importances())
