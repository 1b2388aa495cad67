"""A tree of a forest is a model as any other tree is."""

import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.growth.test_forest_growth import training_of
from tests.helpers.fuzz import examples
from tests.helpers.models import GOLDEN
from tests.helpers.strategies import recipes, tables

import spinney
from spinney import TreeClassifier
from spinney.errors import ParameterError, SpinneyWarning
from spinney.growth.forest import ForestSettings, grow_forest
from spinney.models import FittedForest, FittedTree
from spinney.output.file import load_model, save_model

TABLE = {
    "size": [1.0, 2.5, 3.0, 4.0, 5.0, 6.0, None, 8.0] * 5,
    "shade": ["a", "b", "c", None, "d"] * 8,
    "sold": (["no"] * 3 + ["yes"] * 3 + ["never"] * 2) * 5,
}
MINDS = ["id3", "c4.5", "cart", "chaid"]


@pytest.fixture(scope="module")
def forest():
    return spinney.grow_forest(TABLE, "sold", n_estimators=8, recipe=MINDS)


@pytest.mark.parametrize("number", range(4))
def test_a_member_does_what_a_tree_does(forest, number, tmp_path):
    tree = forest.trees[number]
    assert isinstance(tree, TreeClassifier)
    assert str(tree).startswith("sold")
    assert len(tree.rules()) == tree.tree.n_leaves
    assert set(tree.predict(TABLE)) <= {"no", "yes", "never"}
    for node in tree.tree:
        explained = tree.explain(node=node.number)
        assert explained.member.number == number
        assert len(explained.candidates) == (0 if node.is_leaf else 1)
        assert node.is_leaf or "competitors are not stored" in str(explained)
    assert str(tree.explain(row={name: cells[:1] for name, cells in TABLE.items()}))
    assert json.loads(tree.export("json"))["optional.member"] == {
        "number": number,
        "of": 8,
    }
    assert "<svg" in tree.plot().svg
    assert tree.export("dot").startswith("digraph")
    path = tmp_path / "tree.spinney"
    tree.save(path)
    loaded = spinney.load(path)
    assert str(loaded) == str(tree)
    assert str(loaded.explain(node=0)) == str(tree.explain(node=0))
    np.testing.assert_array_equal(
        loaded.predict_proba(TABLE), tree.predict_proba(TABLE)
    )
    assert loaded.facts()["member"] == {"number": number, "of": 8}
    assert loaded.facts()["grown_on"]["rows"] == tree.tree.root.n_rows < 40
    np.testing.assert_array_equal(
        forest.estimators_[number].predict(TABLE), tree.predict(TABLE)
    )


def test_counts_behind_every_gain(forest):
    """The gain that is written out follows from the counts beside it."""
    for tree in forest.trees[:3]:
        for node in tree.tree:
            for line in tree.explain(node=node.number).candidates:
                known = sum(branch.weight for branch in line.branches)
                below = sum(b.weight / known * b.impurity for b in line.branches)
                assert line.known_impurity - below == pytest.approx(line.gain)
                assert known == pytest.approx(node.weight)


def test_rows_without_a_value_are_counted_where_they_went(forest):
    texts = [
        str(tree.explain(node=node.number))
        for tree in forest.trees[:3]
        for node in tree.tree
    ]
    assert any("missing values are counted in their branch" in t for t in texts)
    assert not any("missing: to" in text for text in texts)


def test_trees_are_a_sequence(forest):
    assert len(forest.trees) == 8
    assert repr(forest.trees) == "<8 trees: [0] to [7]>"
    assert [str(tree) for tree in forest.trees[-2:]] == [
        str(forest.trees[6]),
        str(forest.trees[7]),
    ]
    with pytest.raises(IndexError, match="no tree 8: its trees are 0 to 7"):
        forest.trees[8]


def test_without_scikit_learn(forest, tmp_path):
    forest.save(tmp_path / "f")
    model = FittedForest(load_model(tmp_path / "f", kinds=["forest"]))
    assert type(model.trees[3]) is FittedTree
    assert str(model.trees[3]) == str(forest.trees[3])


def test_the_rules_of_a_member_over_the_whole_table_come_with_a_warning(forest):
    with pytest.warns(SpinneyWarning, match="not the one that the tree was grown on"):
        assert len(forest.trees[2].ruleset(TABLE)) > 0


def test_a_member_of_an_old_file():
    model = spinney.load(GOLDEN / "forest.v1.spinney")
    assert model.forest_.typical is None
    for tree in model.trees:
        assert tree.explain(node=0).member.of == 4
        assert json.loads(tree.export("json"))["nodes"]


@given(tables(), recipes(), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_any_member_can_be_saved(tmp_path_factory, table, recipe, bootstrap):
    training = training_of(table)
    forest_settings = ForestSettings(bootstrap=bootstrap, shrinkage=0)
    try:
        forest = grow_forest(training, recipe, forest_settings, n_trees=1)
    except ParameterError:
        assume(False)
    path = tmp_path_factory.getbasetemp() / "member.spinney"
    model = forest.trees[0]
    save_model(model, path)
    assert str(FittedTree(load_model(path))) == str(FittedTree(model))
    for node in model.tree:
        str(FittedTree(model).explain(node=node.number))


def test_importances_of_attributes_that_go_together():
    random = np.random.default_rng(0)
    length = random.normal(size=80)
    table = {
        "length": length,
        "width": length + 0.05 * random.normal(size=80),
        "shade": random.choice(["a", "b"], size=80),
        "sold": np.where(length > 0, "yes", "no"),
    }
    model = spinney.grow_forest(table, "sold", n_estimators=10)
    grouped = model.grouped_importances(table)
    assert set(grouped.groups) == {("length", "width"), ("shade",)}
    own = model.importances()
    together = grouped.groups.index(("length", "width"))
    np.testing.assert_allclose(
        grouped.by_tree[:, together], own.by_tree[:, 0] + own.by_tree[:, 1]
    )
    assert grouped.least[together] > 0.99
    assert grouped.least[1 - together] is None
    assert str(grouped).startswith("length + width")
    apart = model.grouped_importances(table, threshold=1.0)
    assert apart.names == ("length", "width", "shade")
    permuted = model.permutation_importances(table)
    other = model.grouped_importances(table, importances=permuted)
    assert other.mean.sum() == pytest.approx(permuted.mean.sum())
    with pytest.raises(ParameterError, match="threshold=2"):
        model.grouped_importances(table, threshold=2)


def test_a_member_of_numbers_can_be_saved(tmp_path):
    table = {**TABLE, "sold": [float(n % 7) for n in range(40)]}
    model = spinney.grow_forest(
        table, "sold", n_estimators=2, recipe=["cart", "id3"], numeric=["sold"]
    )
    for number, tree in enumerate(model.trees):
        tree.save(tmp_path / "t")
        loaded = spinney.load(tmp_path / "t")
        assert str(loaded) == str(tree)
        assert f"{loaded.explain(node=0)}" == f"{model.trees[number].explain(node=0)}"
