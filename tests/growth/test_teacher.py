"""A forest as the teacher: labels, and a tree that counts true rows."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import spinney
from spinney import ParameterError
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.folds.fold_growth import FoldGrowth, RowCopies
from spinney.growth.folds.teacher import smoothed_labels, smoothed_training
from spinney.growth.forest import forest_growth
from spinney.growth.growth_options import Options
from spinney.recipes import RECIPES
from spinney.sources.rows.training_rows import TrainingSet

TABLES = Path(__file__).parents[1] / "tables"
TAUGHT = RECIPES["cart"].changed(
    missing_policy="branch", forest=0.5, min_samples_leaf=2
)


def training(numeric: bool = False) -> TrainingSet:
    generator = np.random.default_rng(3)
    x = generator.normal(size=60).round(2)
    c = generator.integers(-1, 3, size=60)
    noise = generator.random(60) < 0.15
    classes = ((x > 0.2) ^ noise).astype(np.int64)
    target = Target("y", origin=0.0) if numeric else Target("y", ("a", "b"))
    schema = Schema(
        (Attribute("x", "numeric"), Attribute("c", "nominal", ("p", "q", "r"))), target
    )
    labels = classes + x if numeric else classes
    return TrainingSet(schema, (x, c), labels, None)


def test_labels_are_shares_between_the_row_and_the_forest():
    rows = training()
    labels = smoothed_labels(rows, 0.5, 0)
    assert labels.shape == (60, 2)
    np.testing.assert_allclose(labels.sum(axis=1), 1)
    own = labels[np.arange(60), rows.classes]
    assert own.min() >= 0.5
    assert own.min() < 0.9  # the forest doubts some labels
    np.testing.assert_array_equal(labels, smoothed_labels(rows, 0.5, 0))
    assert (smoothed_labels(rows, 0.0, 0) == np.eye(2)[rows.classes]).all()


def test_a_smoothed_source_has_the_weight_of_its_rows():
    rows = training()
    labels = smoothed_labels(rows, 0.5, 0)
    totals = smoothed_training(rows, labels).source().root()
    assert totals.weight == pytest.approx(60)
    np.testing.assert_allclose(totals.weights, labels.sum(axis=0))


@pytest.mark.parametrize("numeric", [False, True])
def test_the_tree_counts_the_rows_as_they_are(numeric):
    rows = training(numeric)
    tree = FoldGrowth(RowCopies(rows), TAUGHT, Options()).grow()
    assert len(tree) > 3
    np.testing.assert_allclose(tree.root.weights, rows.source().root().weights)
    for node in tree:
        if not node.is_leaf:
            below = sum(child.weights for child in tree.children(node))
            np.testing.assert_allclose(below, node.weights, atol=1e-9)
            merged = node.candidate.branches
            np.testing.assert_allclose(
                merged.weights.sum(axis=0), node.weights, atol=1e-9
            )
        else:
            assert node.reason is not None


def test_pruned_saved_and_loaded(tmp_path):
    path = str(TABLES / "iris.csv")
    model = spinney.grow(
        path,
        "class",
        recipe=TAUGHT.changed(pruning="cost-complexity", rule="half-se", folds=5),
    )
    assert model.tree.n_leaves < 8
    assert model.score(path) > 0.93
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    np.testing.assert_array_equal(loaded.predict_proba(path), model.predict_proba(path))
    assert loaded.tree.root.weights.tolist() == [50, 50, 50]


def test_rows_that_stay_away_are_asked_for():
    with pytest.raises(ParameterError, match=r"forest=0\.5.*needs the rows"):
        spinney.grow(str(TABLES / "iris.csv"), "class", recipe=TAUGHT, engine="duckdb")
    with pytest.raises(ParameterError, match="forest=2 must be"):
        TAUGHT.changed(forest=2)


def test_labels_depend_on_what_is_in_the_rows_and_on_the_seed():
    rows = training()
    labels = smoothed_labels(rows, 0.5, 0)
    assert (labels != smoothed_labels(rows, 0.5, 1)).any()
    order = np.random.default_rng(0).permutation(60)
    again = smoothed_labels(rows.take(order), 0.5, 0)  # of equal rows either
    np.testing.assert_allclose(np.sort(again, axis=0), np.sort(labels, axis=0))
    in_inches = replace(rows, columns=(rows.columns[0] / 2.54, rows.columns[1]))
    assert (smoothed_labels(in_inches, 0.5, 0) == labels).all()


def test_labels_are_like_those_of_scikit_learns_forest():
    rows = training()
    peer = RandomForestClassifier(100, oob_score=True, random_state=0)
    indicators = [rows.columns[1] == code for code in range(3)]
    peer.fit(np.column_stack([rows.columns[0], *indicators]), rows.classes)
    own = np.eye(2)[rows.classes]
    expected = (own + peer.oob_decision_function_) / 2
    labels = smoothed_labels(rows, 0.5, 0)
    assert np.corrcoef(labels.ravel(), expected.ravel())[0, 1] > 0.95


@pytest.mark.parametrize("n_values", [13, 100, 300])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_number_of_values_is_taught_by_compiled_loops(n_values, n_classes):
    cells = np.arange(900) % n_values
    schema = Schema(
        (Attribute("c", "nominal", tuple(range(n_values))),),
        Target("y", tuple("abc"[:n_classes])),
    )
    rows = TrainingSet(schema, (cells,), cells % n_classes, None)
    with patch.object(forest_growth, "grow_tree", side_effect=AssertionError):
        labels = smoothed_labels(rows, 0.5, 0)
    assert labels.shape == (900, n_classes)


def test_a_row_that_every_tree_has_seen_keeps_its_label():
    rows = training()
    heavy = replace(rows, weights=np.where(np.arange(60) == 7, 1e6, 1.0))
    assert (
        smoothed_labels(heavy, 0.5, 0)[7].tolist()
        == np.eye(2)[rows.classes[7]].tolist()
    )
