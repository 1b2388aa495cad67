"""Finished trees pruned as C4.5 prunes while growing, and the record that stays."""

import numpy as np
import pytest
from tests.helpers.recipes import by_recipe
from tests.helpers.strategies import TABLES

import spinney
from spinney import DataError, ParameterError, Recipe, TreeClassifier

KYPHOSIS = TABLES / "rpart_kyphosis.csv"
LABOR = {"target": "class", "missing_values": ["?"], "recipe": "c4.5"}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"confidence": 0.1, "probability": "laplace"},
        {"class_weight": {"bad": 3, "good": 1}, "probability": "m-estimate"},
        {"cost_matrix": [[0, 1], [4, 0]]},
        {"missing_policy": "surrogate", "grouping": "binary"},
        {"linear_terms": 2},
    ],
)
def test_a_finished_tree_is_pruned_as_one_while_growing(settings, tmp_path):
    """With the training table branches are raised, with the same counts."""
    table = TABLES / "labor.csv"
    expected = spinney.grow(table, **by_recipe(**LABOR, **settings))
    others = {name: x for name, x in settings.items() if name != "confidence"}
    level = {"confidence": settings.get("confidence")}
    whole = spinney.grow(table, **by_recipe(**LABOR, **others, pruning="none"))
    found = whole.prune("error-based", data=table, **level)
    assert str(found) == str(expected)
    assert str(found.pruning_) == str(expected.pruning_)
    for node, other in zip(found.tree, expected.tree, strict=True):
        np.testing.assert_allclose(node.distribution, other.distribution, rtol=1e-12)
    whole.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    assert str(loaded.prune("error-based", data=table, **level)) == str(expected)
    low = spinney.grow(table, **by_recipe(**LABOR, **settings, raising=False))
    assert str(whole.prune("error-based", **level)) == str(low)
    assert str(whole.prune("error-based", raising=False, **level)) == str(low)
    only = spinney.grow(table, **by_recipe(**LABOR, **others, pruning="collapse"))
    assert str(whole.prune("collapse")) == str(only)


def test_raising_was_tried():
    found = spinney.grow(TABLES / "labor.csv", **LABOR)
    assert any(step.action == "raised" for step in found.pruning_)
    told = found.pruning_.as_dicts()
    assert {"raised", "replaced", "kept"} <= {step["action"] for step in told}
    assert all(step["training_risk_after"] is not None for step in told)


def test_weighted_rows_are_raised_by_their_weights():
    said = {"recipe": "c4.5", "weight": "Number"}
    whole = spinney.grow(KYPHOSIS, "Kyphosis", **by_recipe(pruning="none", **said))
    with pytest.raises(
        DataError, match="data has 81 rows of weight 81, but the training"
    ):
        whole.prune("error-based", data=KYPHOSIS)
    expected = spinney.grow(KYPHOSIS, "Kyphosis", **by_recipe(**said))
    found = whole.prune("error-based", data=KYPHOSIS, weight="Number")
    assert str(found) == str(expected)


def test_other_recipes_are_pruned_so_too(model):
    strict = model.prune("error-based", confidence=0.01)
    mild = model.prune("error-based", confidence=0.5)
    assert strict.tree.n_leaves < mild.tree.n_leaves <= model.tree.n_leaves
    numbers = spinney.grow(TABLES / "cpu_prp.csv", "class", recipe="cart")
    for name in ("error-based", "collapse"):
        with pytest.raises(ParameterError, match=f"pruning='{name}' counts errors"):
            numbers.prune(name)
    with pytest.raises(ParameterError, match="'class' is"):
        numbers.prune("error-based", data=TABLES / "cpu_prp.csv")


# The record


def test_a_model_carries_the_record_of_its_pruning(tmp_path):
    choosing = {"folds": 5, "rule": "minimum"}
    recipe = Recipe.named("cart").changed(pruning="cost-complexity", **choosing)
    grown = spinney.grow(KYPHOSIS, "Kyphosis", recipe=recipe)
    whole = spinney.grow(KYPHOSIS, "Kyphosis", recipe="cart")
    later = whole.prune("cost-complexity", data=KYPHOSIS, random_state=0, **choosing)
    assert str(grown.sequence_) == str(later.sequence_)
    assert grown.pruning_ == later.pruning_
    assert (grown.model_.steps, grown.model_.sequence) == (
        grown.pruning_,
        grown.sequence_,
    )
    rows = np.arange(40.0).reshape(20, 2)
    fitted = TreeClassifier("cart", pruning="cost-complexity")
    fitted.fit(rows, np.array(["a"] * 10 + ["b"] * 10))
    assert fitted.sequence_[0].leaves == 2
    assert (whole.sequence_, len(whole.pruning_)) == (None, 0)
    grown.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    assert (loaded.pruning_, loaded.sequence_) == (None, None)
    assert loaded.tree.n_leaves == grown.tree.n_leaves
    assert len(spinney.load(tmp_path / "m.spinney").prune("mdl").pruning_) > 0


def test_model_trees_keep_the_steps_of_their_pruning():
    table = TABLES / "cpu_prp.csv"
    model = spinney.grow(table, "class", recipe="m5")
    whole = spinney.grow(table, "class", recipe="m5", pruning="none")
    assert len(whole.pruning_) == 0
    assert len(model.pruning_) == len(whole.tree) - whole.tree.n_leaves
    cuts = [step.node for step in model.pruning_ if step.pruned]
    assert whole.prune(nodes=cuts).tree.n_leaves == model.tree.n_leaves
    assert str(model.pruning_).startswith("before, after: adjusted error of the node")
    assert "nan" not in str(model.pruning_)


def test_pruning_again_forgets_the_sequence(model):
    once = model.prune("cost-complexity", alpha=0.5)
    assert once.sequence_ is not None
    assert once.prune("simplify").sequence_ is None
