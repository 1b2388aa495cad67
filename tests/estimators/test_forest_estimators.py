"""Forests as estimators: seeds, threads, bags, options and refusals."""

import csv
from functools import partial, partialmethod
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.ensemble import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence
from sklearn.model_selection import cross_val_score

import spinney
from spinney import ForestClassifier, ForestRegressor
from spinney.errors import DataError, ParameterError, SpinneyWarning
from spinney.growth.forest import forest_growth as growing
from spinney.growth.forest.bags import ForestBags, tree_seeds
from spinney.recipes import RECIPES

TABLES = Path(__file__).parents[1] / "tables"


def same_forest(one, other):
    assert len(one.forest_) == len(other.forest_)
    for left, right in zip(one.forest_.members, other.forest_.members, strict=True):
        for name in type(left).__dataclass_fields__:
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def melons():
    frame = pd.read_csv(TABLES / "watermelon_3.0.csv").drop(columns="id")
    return frame.drop(columns="ripe"), frame["ripe"]


def test_the_same_seed_gives_the_same_forest_whatever_the_threads(iris):
    X, y = iris
    one = ForestClassifier(12, random_state=5, n_jobs=1).fit(X, y)
    same_forest(one, ForestClassifier(12, random_state=5, n_jobs=4).fit(X, y))
    other = ForestClassifier(12, random_state=6).fit(X, y)
    assert any(
        len(a) != len(b) or (a.cut != b.cut).any()
        for a, b in zip(one.forest_.members, other.forest_.members, strict=True)
    )


def test_the_order_of_rows_and_weights_in_place_of_copies_change_nothing(melons):
    X, y = melons
    one = ForestClassifier(8, random_state=1).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = ForestClassifier(8, random_state=1).fit(X.iloc[order], y.iloc[order])
    same_forest(one, shuffled)
    twice = ForestClassifier(8, random_state=1).fit(
        pd.concat([X, X]), pd.concat([y, y])
    )
    weighted = ForestClassifier(8, random_state=1).fit(
        X, y, sample_weight=np.full(len(y), 2.0)
    )
    np.testing.assert_allclose(twice.predict_proba(X), weighted.predict_proba(X))


def test_a_tree_depends_on_its_own_seed_only(iris):
    X, y = iris
    few = ForestClassifier(3, random_state=2).fit(X, y)
    many = ForestClassifier(6, random_state=2).fit(X, y)
    for left, right in zip(few.forest_.members, many.forest_.members[:3], strict=True):
        np.testing.assert_array_equal(left.cut, right.cut)
    assert tree_seeds(2, 0) != tree_seeds(2, 1)


def test_bags(iris):
    X, y = iris
    model = ForestClassifier(4, random_state=0, max_samples=30).fit(X, y)
    bags = model._fitted()._bags(X, y, None)
    for number in range(4):
        counts = bags.counts(number)
        assert counts.sum() == 30
        assert (bags.out_of_bag(number) == (counts == 0)).all()
        assert model.trees[number].tree.root.weight == 30
    once = ForestClassifier(4, random_state=0, replace=False).fit(X, y)
    bags = once._fitted()._bags(X, y, None)
    assert bags.counts(0).max() == 1
    assert bags.counts(0).sum() == round(0.632 * 150)
    whole = ForestClassifier(4, random_state=0, bootstrap=False).fit(X, y)
    assert (
        ForestBags(bags.training, whole.forest_.settings).counts(0).tolist()
        == [1] * 150
    )


@pytest.mark.parametrize(
    ("scale", "weights"),
    [
        (None, [50, 50]),
        ("balanced", [50, 50]),
        ({"a": 2.0, "b": 0.5}, [100, 25]),
    ],
)
def test_class_weights(scale, weights):
    X = np.arange(100.0)[:, None]
    y = np.array(["a"] * 50 + ["b"] * 50)
    model = ForestClassifier(
        2, bootstrap=False, class_weight=scale, random_state=0
    ).fit(X, y)
    assert model.trees[0].tree.root.weights.tolist() == weights


def test_balanced_subsample_makes_the_classes_of_a_bag_equal():
    X = np.arange(100.0)[:, None]
    y = np.array(["a"] * 90 + ["b"] * 10)
    model = ForestClassifier(3, class_weight="balanced_subsample", random_state=0)
    for tree in model.fit(X, y).trees:
        left, right = tree.tree.root.weights
        assert left == pytest.approx(right)
    model = ForestClassifier(3, class_weight="balanced", random_state=0).fit(X, y)
    assert model.trees[0].tree.root.weights[0] != model.trees[0].tree.root.weights[1]


@pytest.mark.parametrize("weight", [1.0, 0.3, 7.0, 1e10])
def test_trees_in_one_go_are_those_one_by_one(iris, weight):
    X, y = iris
    weights = np.linspace(1, 3, 150).round() * weight
    arguments = {"random_state": 0, "class_weight": {0: 2.0, 1: 1.0}}
    one = ForestClassifier(20, **arguments).fit(X, y, weights)
    with patch.object(growing.KernelGrower, "_can_share_weights", lambda *_: False):
        other = ForestClassifier(20, **arguments).fit(X, y, weights)
    same_forest(one, other)


def test_out_of_bag(iris):
    X, y = iris
    model = ForestClassifier(60, oob_score=True, random_state=0).fit(X, y)
    assert 0.9 < model.oob_score_ < 1
    assert model.oob_decision_function_.shape == (150, 3)
    np.testing.assert_allclose(model.oob_decision_function_.sum(axis=1), 1)
    told = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    assert (told == y).mean() == pytest.approx(model.oob_score_, abs=0.03)
    with pytest.warns(SpinneyWarning, match="in the bag of every tree"):
        few = ForestClassifier(1, oob_score=True, random_state=0).fit(X, y)
    assert np.isnan(few.oob_decision_function_).any()
    weights = np.where(np.arange(150) % 3 == 0, 0.0, 1.0)
    part = ForestClassifier(60, oob_score=True, random_state=0).fit(X, y, weights)
    unseen = np.isnan(part.oob_decision_function_).any(axis=1)
    assert unseen.tolist() == (weights == 0).tolist()
    numbers = ForestRegressor(60, oob_score=True, random_state=0).fit(X, X[:, 2] * 2)
    assert 0.9 < numbers.oob_score_ < 1
    assert numbers.oob_prediction_.shape == (150,)


def test_a_warm_start_adds_the_trees_that_a_cold_one_grows(iris):
    X, y = iris
    model = ForestClassifier(4, warm_start=True, random_state=3).fit(X, y)
    runs, grown = growing._runs, []

    def noted(growers, numbers, threads):
        grown.extend(numbers)
        return runs(growers, numbers, threads)

    with patch.object(growing, "_runs", noted):
        model.set_params(n_estimators=9).fit(X, y)
    assert sorted(grown) == [4, 5, 6, 7, 8]
    same_forest(model, ForestClassifier(9, random_state=3).fit(X, y))
    for change, words in (
        ({"n_estimators": 2}, "less than the 9 trees"),
        ({"n_estimators": 10, "max_depth": 1}, "parameters have changed"),
    ):
        with pytest.raises(ParameterError, match=words):
            model.set_params(**change).fit(X, y)
        model.set_params(n_estimators=9, max_depth=None)
    with pytest.raises(ParameterError, match="these are others"):
        model.fit(X[:100], y[:100])
    assert len(model.forest_) == 9
    drawn = ForestClassifier(2, warm_start=True).fit(X, y)
    seed = drawn.forest_.settings.seed
    assert drawn.set_params(n_estimators=4).fit(X, y).forest_.settings.seed == seed


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_leaves_nothing_half_made(iris, n_jobs):
    X, y = iris
    begun = []

    def interrupted(grow, grower, numbers):
        begun.extend(numbers)
        if 3 in numbers:
            raise KeyboardInterrupt
        return grow(grower, numbers)

    growers = growing.TreeGrower, growing.KernelGrower
    first, second = (
        patch.object(each, "grow", partialmethod(partial(interrupted, each.grow)))
        for each in growers
    )
    old = ForestClassifier(2, random_state=0).fit(X, y)
    trees = old.forest_
    new = ForestClassifier(500, random_state=0, n_jobs=n_jobs)
    few = patch.object(growing, "MIN_ROWS_PER_RUN", 0)  # so that there are many runs
    with few, first, second:
        with pytest.raises(KeyboardInterrupt):
            old.set_params(n_estimators=500, n_jobs=n_jobs).fit(X, y)
        with pytest.raises(KeyboardInterrupt):
            new.fit(X, y)
    assert len(begun) < 400
    assert old.forest_ is trees
    with pytest.raises(NotFittedError):
        new.predict(X)


def test_progress(iris, capsys):
    ForestClassifier(20, random_state=0, verbose=1).fit(*iris)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("of 20")
    assert lines[-1] == "tree 20 of 20"


def test_missing_and_nominal_values_as_they_are(melons):
    X, y = melons
    X = X.copy()
    X.loc[3, "texture"] = None
    X.loc[5, "density"] = np.nan
    for recipe in ("cart", "id3", "c4.5", "chaid"):
        model = ForestClassifier(10, recipe, random_state=0).fit(X, y)
        assert recipe == "chaid" or model.score(X, y) > 0.6
        assert model.predict(X.iloc[:2].assign(texture="never seen")).shape == (2,)


def test_trees_are_readable(melons):
    X, y = melons
    model = ForestClassifier(5, random_state=0).fit(X, y)
    assert len(model.trees) == 5
    assert len(model.trees[1:3]) == 2
    tree = model.trees[-1].tree
    assert tree.n_leaves == model.forest_.members[-1].n_leaves
    assert tree.height == model.forest_.members[-1].depth.max()
    assert "2 classes, predicted by 5 trees" in str(model)
    assert sum(len(one.tree) for one in model.trees) == model.forest_.n_nodes
    shares = [node.distribution for node in tree.leaves]
    assert all(share.sum() == pytest.approx(1) for share in shares)


def test_importances_with_their_spread(iris):
    X, y = iris
    model = ForestClassifier(100, random_state=0).fit(X, y)
    found = model.importances()
    np.testing.assert_allclose(found.mean, model.feature_importances_)
    assert found.mean.sum() == pytest.approx(1)
    assert (found.spread > 0).all()
    assert [name for name, *_ in found.ranked()][:2] in (["x2", "x3"], ["x3", "x2"])
    permuted = model.permutation_importances(X, y)
    assert set(np.argsort(permuted.mean)[-2:]) == {2, 3}
    assert "x2" in str(permuted)
    with pytest.raises(DataError, match="not the training rows"):
        model.permutation_importances(X[::-1], y[::-1])


def test_interactions_find_what_acts_together():
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (400, 5)).astype(float)
    y = X[:, 1].astype(int) ^ X[:, 3].astype(int)
    model = ForestClassifier(40, max_features=2, max_depth=3, random_state=0).fit(X, y)
    found = model.interactions()
    best = {frozenset(pair[:2]) for pair in found.pairs(2)}
    assert best == {frozenset(("x1", "x3"))}
    assert (found.counts >= 0).all()
    assert (found.shares <= 1).all()


def test_partial_dependence_by_scikit_learn(iris):
    X, y = iris
    model = ForestClassifier(10, random_state=0).fit(X, y)
    found = partial_dependence(model, X, [2], grid_resolution=5)
    assert found["average"].shape == (3, 5)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_iris])
def test_as_accurate_as_scikit_learn(load):
    X, y = load(return_X_y=True)
    own, theirs = (
        cross_val_score(forest(60, random_state=0), X, y, cv=5).mean()
        for forest in (ForestClassifier, RandomForestClassifier)
    )
    # Five folds of these tables have a standard error of about a point.
    assert own > theirs - 0.02


def test_as_accurate_on_numbers_as_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    theirs = RandomForestRegressor(
        60, max_features=1 / 3, min_samples_leaf=5, random_state=0
    )
    own = cross_val_score(ForestRegressor(60, random_state=0), X, y, cv=5).mean()
    assert own > cross_val_score(theirs, X, y, cv=5).mean() - 0.03


def test_importances_order_attributes_as_scikit_learn_does():
    X, y = load_breast_cancer(return_X_y=True)
    own = ForestClassifier(100, random_state=0).fit(X, y).feature_importances_
    theirs = RandomForestClassifier(100, random_state=0).fit(X, y).feature_importances_
    assert np.corrcoef(own, theirs)[0, 1] > 0.9


@pytest.mark.slow
def test_extra_random_trees_are_as_accurate_as_scikit_learn():
    X, y = load_wine(return_X_y=True)
    own = cross_val_score(
        ForestClassifier(40, extra_random=True, random_state=0), X, y, cv=5
    ).mean()
    theirs = ExtraTreesClassifier(40, bootstrap=True, random_state=0)
    assert own > cross_val_score(theirs, X, y, cv=5).mean() - 0.03


REFUSALS = [
    ({"recipe": "auto"}, "cannot be used in a forest"),
    ({"recipe": RECIPES["cart"].changed(pruning="cost-complexity")}, "in folds"),
    ({"recipe": RECIPES["cart"].changed(linear_terms=2)}, "constructs no attributes"),
    ({"missing_policy": "surrogate"}, "stores no surrogates"),
    ({"recipe": "chaid", "extra_random": True}, "draws one random cut"),
    ({"max_features": 0}, "max_features=0"),
    ({"max_features": 1.5}, "max_features=1.5"),
    ({"max_features": "half"}, "max_features='half'"),
    ({"max_samples": 0.0}, "max_samples=0.0"),
    ({"max_samples": 500, "replace": False}, "more than the 150 rows"),
    ({"max_samples": 5, "bootstrap": False}, "needs bootstrap=True"),
    ({"replace": False, "bootstrap": False}, "needs bootstrap=True"),
    ({"oob_score": True, "bootstrap": False}, "needs bootstrap=True"),
    ({"n_estimators": 0}, "n_estimators=0"),
    ({"voting": "loud"}, "voting"),
    ({"class_weight": "even"}, "class_weight"),
    ({"class_weight": {7: 2.0}}, "no class"),
    ({"class_weight": {1: -2.0}}, "above 0"),
    ({"class_weight": 3}, "must be a dict"),
    ({"n_jobs": 0}, "n_jobs=0"),
    ({"verbose": "loud"}, "verbose='loud'"),
    ({"random_state": "now"}, "random_state"),
    ({"criterion": "squared_error"}, "does not suit"),
    ({"min_samples_leaf": -1}, "min_samples_leaf=-1"),
]


@pytest.mark.parametrize(("settings", "words"), REFUSALS)
def test_refusals(iris, settings, words):
    with pytest.raises(ParameterError, match=words):
        ForestClassifier(**{"n_estimators": 2, **settings}).fit(*iris)


def test_m5_goes_into_a_forest_without_its_models(iris):
    X, _ = iris
    with pytest.raises(ParameterError, match="leaves='linear'"):
        ForestRegressor(2, "m5").fit(X, X[:, 0])
    plain = RECIPES["m5"].changed(leaves="mean", smoothing=0.0, pruning="none")
    ForestRegressor(2, plain).fit(X, X[:, 0])


def test_no_row_is_out_of_the_bag_without_bags(iris):
    X, y = iris
    model = ForestClassifier(2, bootstrap=False).fit(X, y)
    with pytest.raises(DataError, match="bootstrap=False"):
        model.permutation_importances(X, y)


def test_tables_by_name_after_loading(melons, tmp_path):
    X, y = melons
    model = ForestClassifier(5, random_state=0).fit(X, y)
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    assert isinstance(loaded, ForestClassifier)
    same_forest(model, loaded)
    turned = X[X.columns[::-1]].assign(ripe=y)
    np.testing.assert_array_equal(loaded.predict_proba(turned), model.predict_proba(X))
    assert loaded.score(turned) == model.score(X, y)
    with (TABLES / "watermelon_3.0.csv").open(encoding="utf-8") as file:
        header = next(csv.reader(file))
    assert loaded.score(TABLES / "watermelon_3.0.csv") == model.score(X, y)
    assert "ripe" in header
