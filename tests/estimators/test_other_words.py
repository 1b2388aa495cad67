"""Words that mean here what they mean in scikit-learn, checked against it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import spinney
from spinney import (
    DataError,
    ForestClassifier,
    ForestRegressor,
    ParameterError,
    TreeClassifier,
    TreeRegressor,
)

IRIS = load_iris(return_X_y=True)
ESTIMATORS = [TreeClassifier, TreeRegressor, ForestClassifier, ForestRegressor]


def few(estimator, **parameters):
    """Return an estimator, a forest of few trees."""
    if issubclass(estimator, (ForestClassifier, ForestRegressor)):
        return estimator(4, random_state=0, **parameters)
    return estimator("cart", **parameters)


# Names


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_max_leaf_nodes_is_max_leaves(estimator):
    model = few(estimator, max_leaf_nodes=3)
    assert model.get_params()["max_leaves"] == 3
    assert clone(model).max_leaves == 3
    assert model.set_params(max_leaf_nodes=2).max_leaves == 2
    with pytest.raises(ParameterError, match="max_leaf_nodes=3 and max_leaves=4 are"):
        few(estimator, max_leaf_nodes=3, max_leaves=4)
    with pytest.raises(ParameterError, match="are the same setting: give one"):
        model.set_params(max_leaf_nodes=3, max_leaves=None)


def test_a_grid_over_max_leaf_nodes():
    grid = {"max_leaf_nodes": [2, 3], "criterion": ["gini", "entropy"]}
    search = GridSearchCV(TreeClassifier("cart"), grid, cv=3, error_score="raise")
    search.fit(*IRIS)
    assert search.best_params_["max_leaf_nodes"] == 3
    assert search.best_estimator_.get_n_leaves() == 3


def test_grow_knows_the_words():
    table = {"x": IRIS[0][:, 2], "y": IRIS[1].astype(str)}
    words = {"recipe": "cart", "criterion": "log_loss", "max_leaf_nodes": 3}
    model = spinney.grow(table, "y", **words)
    ours = spinney.grow(table, "y", recipe="cart", criterion="gain", max_leaves=3)
    assert str(model) == str(ours)
    assert (model.max_leaves, model.criterion) == (3, "log_loss")
    forest = spinney.grow_forest(table, "y", n_estimators=3, max_leaf_nodes=2)
    assert {tree.get_n_leaves() for tree in forest.estimators_} == {2}


@pytest.mark.parametrize("theirs, ours", [("entropy", "gain"), ("log_loss", "gain")])
def test_criteria_of_classes(theirs, ours):
    model = TreeClassifier("cart", criterion=theirs).fit(*IRIS)
    assert str(model) == str(TreeClassifier("cart", criterion=ours).fit(*IRIS))
    assert model.get_params()["criterion"] == theirs


def test_friedman_chooses_as_the_squared_error_does():
    # Scikit-learn maps one to the other, too, since its version 1.9.
    X, y = load_diabetes(return_X_y=True)
    model = TreeRegressor("cart", criterion="friedman_mse", max_depth=3).fit(X, y)
    theirs = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    assert model.predict(X) == pytest.approx(theirs.predict(X))


@pytest.mark.parametrize(
    "estimator, name, way",
    [
        (TreeClassifier, "min_impurity_decrease", "use that, or ccp_alpha to prune"),
        (ForestRegressor, "min_impurity_decrease", "min_gain is the gain at the node"),
        (TreeRegressor, "splitter", "extra_random=True"),
        (TreeClassifier, "max_features", "a forest samples them"),
        (ForestClassifier, "ccp_alpha", "unpruned trees vote best"),
        (ForestClassifier, "monotonic_cst", "remove it"),
    ],
)
def test_what_has_no_equal_is_refused_with_words(estimator, name, way):
    with pytest.raises(ParameterError, match=way):
        estimator(**{name: 0.5})
    with pytest.raises(ParameterError, match=way):
        estimator().set_params(**{name: 0.5})


# Shares


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_a_share_of_the_rows_as_scikit_learn_has_it(share):
    X, y = load_breast_cancer(return_X_y=True)
    for limit in ({"min_samples_leaf": share}, {"min_samples_split": share}):
        model = TreeClassifier("cart", **limit).fit(X, y)
        theirs = DecisionTreeClassifier(**limit, random_state=0).fit(X, y)
        assert model.get_n_leaves() == theirs.get_n_leaves()
        assert model.get_depth() == theirs.get_depth()


def test_a_share_is_one_of_the_weight():
    X, y = IRIS
    weights = np.where(y == 0, 0.1, 2.0)
    least = 0.15 * weights.sum()
    model = TreeClassifier("cart", min_samples_leaf=0.15).fit(X, y, weights)
    assert min(leaf.weight for leaf in model.tree.leaves) >= least
    as_weight = TreeClassifier("cart", min_samples_leaf=least).fit(X, y, weights)
    assert str(model) == str(as_weight)
    assert str(model) != str(TreeClassifier("cart", min_samples_leaf=0.15).fit(X, y))


# Cost complexity


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_path_is_that_of_scikit_learn(criterion):
    X, y = load_breast_cancer(return_X_y=True)
    settings = {"criterion": criterion, "max_depth": 4}
    ours = TreeClassifier("cart", **settings).cost_complexity_pruning_path(X, y)
    other = DecisionTreeClassifier(**settings, random_state=0)
    theirs = other.cost_complexity_pruning_path(X, y)
    assert ours.ccp_alphas == pytest.approx(theirs.ccp_alphas, abs=1e-12)
    assert ours.impurities == pytest.approx(theirs.impurities)


def test_the_path_of_numbers_is_that_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    ours = TreeRegressor("cart", max_depth=4).cost_complexity_pruning_path(X, y)
    other = DecisionTreeRegressor(max_depth=4, random_state=0)
    theirs = other.cost_complexity_pruning_path(X, y)
    assert ours.ccp_alphas == pytest.approx(theirs.ccp_alphas)
    assert ours.impurities == pytest.approx(theirs.impurities)
    for alpha in ours.ccp_alphas[[1, 4, -2, -1]] * 1.0001:
        model = TreeRegressor("cart", max_depth=4, ccp_alpha=alpha).fit(X, y)
        other.set_params(ccp_alpha=alpha).fit(X, y)
        assert model.get_n_leaves() == other.get_n_leaves()
        assert model.predict(X) == pytest.approx(other.predict(X))


def test_a_leaf_that_costs_nothing_leaves_the_tree_whole():
    X, y = load_breast_cancer(return_X_y=True)
    whole = TreeClassifier("cart").fit(X, y)
    assert str(TreeClassifier("cart", ccp_alpha=0).fit(X, y)) == str(whole)
    assert (
        TreeClassifier(ccp_alpha=0.01).fit(X, y).recipe_scores_ == ()
    )  # nothing is chosen
    assert TreeClassifier(ccp_alpha=0.3).fit(X, y).get_n_leaves() == 2
    numbers = TreeRegressor(ccp_alpha=300).fit(*load_diabetes(return_X_y=True))
    assert numbers.get_n_leaves() == 4  # by the recipe's own settings: means


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"pruning": "none"}, "ccp_alpha=0.1 and pruning='none' contradict"),
        ({"recipe": "chaid"}, "ccp_alpha needs an impurity; criterion='chi_square'"),
        ({"ccp_alpha": -1}, "ccp_alpha=-1 must be a number of at least 0"),
        ({"ccp_alpha": "x"}, "ccp_alpha='x' must be a number"),
    ],
)
def test_alphas_that_cannot_be(parameters, message):
    model = TreeClassifier(**{"ccp_alpha": 0.1, **parameters})
    with pytest.raises(ParameterError, match=message):
        model.fit(*IRIS)


def test_linear_leaves_have_no_impurity():
    model = TreeRegressor("m5", ccp_alpha=0.1)
    with pytest.raises(ParameterError, match="leaves='mean'"):
        model.fit(*load_diabetes(return_X_y=True))


# What is offered


def test_logarithms_of_shares():
    model = TreeClassifier("cart", max_depth=1).fit(*IRIS)
    logs = model.predict_log_proba(IRIS[0])
    assert np.exp(logs) == pytest.approx(model.predict_proba(IRIS[0]))
    assert model.n_classes_ == 3
    assert not hasattr(TreeRegressor("cart").fit(*IRIS), "predict_log_proba")


def test_the_arrays_of_scikit_learn_are_not_there():
    with pytest.raises(AttributeError, match=r"use tree, rules\(\), export"):
        TreeClassifier("cart").fit(*IRIS).tree_  # noqa: B018


@pytest.mark.parametrize("estimator", [ForestClassifier, ForestRegressor])
def test_the_trees_of_a_forest_predict(estimator):
    X, y = IRIS
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=names)
    forest = estimator(6, random_state=1, shrinkage=0).fit(frame, y)
    trees = forest.estimators_
    assert len(trees) == 6
    said = [tree.outputs(frame) for tree in trees]
    voted = forest.outputs(frame)
    assert np.mean(said, axis=0) == pytest.approx(voted)
    assert trees[0].feature_importances_.shape == (4,)
    assert list(trees[0].feature_names_in_) == names
    assert set(trees[0].predict(frame)) <= set(y) or estimator is ForestRegressor
    leaves = np.array([tree.apply(frame) for tree in trees]).T
    assert (leaves == forest.apply(frame)).all()


def test_paths_through_a_forest():
    X, y = IRIS
    X = X.copy()
    X[::7, 2] = np.nan
    forest = ForestClassifier(5, missing_policy="fractional", random_state=0).fit(X, y)
    paths, ends = forest.decision_path(X)
    assert paths.shape == (len(X), ends[-1])
    for tree, start, end in zip(forest.estimators_, ends[:-1], ends[1:], strict=True):
        own = paths[:, start:end].toarray()
        assert own == pytest.approx(tree.decision_path(X).toarray())
        assert (own[:, 0] == 1).all()


# Declared columns


TABLE = pd.DataFrame(
    {
        "zip": [1, 2, 3, 1, 2, 3] * 10,
        "size": ["S", "M", "L", "S", "?", "L"] * 10,
        "y": ["a", "b", "a"] * 20,
    }
)


@pytest.mark.parametrize("estimator", [TreeClassifier, ForestClassifier])
def test_columns_are_what_is_declared(estimator):
    model = few(
        estimator,
        nominal=["zip"],
        ordinal={"size": ["S", "M", "L"]},
        missing_values=["?"],
    )
    model = clone(model).fit(TABLE[["zip", "size"]], TABLE["y"])
    kinds = [attribute.kind for attribute in model.schema.attributes]
    assert kinds == ["nominal", "ordinal"]
    assert model.schema.markers == ("?",)
    later = pd.DataFrame({"zip": [2, 3, 1], "size": ["?", "L", "S"]})
    assert model.predict(later).tolist() == ["b", "a", "a"]


@pytest.mark.parametrize("column", ["x1", 1, np.int64(1)])
def test_columns_of_arrays_have_names_and_positions(column, tmp_path):
    cells = np.array([np.zeros(60), TABLE["zip"]]).T
    model = TreeClassifier("id3", nominal=[column]).fit(cells, TABLE["y"])
    assert [a.kind for a in model.schema.attributes] == ["numeric", "nominal"]
    assert (model.predict(cells) == TABLE["y"]).all()
    model.save(tmp_path / "model.spinney")
    loaded = spinney.load(tmp_path / "model.spinney")
    assert (loaded.predict(cells) == TABLE["y"]).all()


def test_numbers_written_as_text_are_declared_numeric():
    cells = [[str(number)] for number in range(20)]
    model = TreeClassifier("cart", numeric=[0]).fit(cells, [0] * 10 + [1] * 10)
    assert str(model).splitlines()[1].startswith("├── x0 ≤ 9.5")
    assert model.predict([["3"], ["12"]]).tolist() == [0, 1]


@pytest.mark.parametrize(
    "declared, error, message",
    [
        ({"nominal": ["zap"]}, DataError, "'zap' is declared but not in the table"),
        ({"nominal": "zip"}, ParameterError, "nominal='zip' must be a list"),
        ({"nominal": [True]}, ParameterError, "nominal: True is no text"),
        ({"nominal": ["zip"], "numeric": ["zip"]}, ParameterError, "declared 2 times"),
        ({"ordinal": {"zip": [1]}}, ParameterError, "give two or more"),
    ],
)
def test_declarations_that_cannot_be(declared, error, message):
    with pytest.raises(error, match=message):
        TreeClassifier("cart", **declared).fit(TABLE[["zip"]], TABLE["y"])


def test_a_table_that_was_read_is_what_it_is():
    table = spinney.read_table(TABLE[["zip"]])
    with pytest.raises(DataError, match="'zip' is declared nominal, but"):
        TreeClassifier("cart", nominal=["zip"]).fit(table, TABLE["y"])
    TreeClassifier("cart", numeric=["zip"]).fit(table, TABLE["y"])


def test_grow_tells_the_estimator_what_was_declared():
    model = spinney.grow(TABLE, "y", nominal=["zip"], missing_values=["?"])
    again = clone(model).fit(TABLE[["zip", "size"]], TABLE["y"])
    assert again.get_params()["nominal"] == ["zip"]
    assert again.schema.attributes[0].kind == "nominal"


# Sparse input


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array]
)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_sparse_numbers_are_numbers(estimator, form):
    X, y = IRIS
    X = np.where(X > 3, X, 0).round(1)
    dense, scarce = few(estimator).fit(X, y), few(estimator).fit(form(X), y)
    assert (scarce.predict(form(X)) == dense.predict(X)).all()
    assert (scarce.predict(X) == dense.predict(form(X))).all()


def test_truths_in_a_sparse_matrix_are_numbers():
    X = sparse.csr_array(IRIS[0] > 3)
    model = TreeClassifier("cart").fit(X, IRIS[1])
    assert {attribute.kind for attribute in model.schema.attributes} == {"numeric"}


def test_a_sparse_matrix_that_would_fill_the_memory_is_refused():
    X = sparse.csr_array((100_000, 50_000))
    with pytest.raises(DataError, match=r"take 37 GB as a dense array"):
        TreeClassifier().fit(X, np.arange(100_000) % 2)


# Code as it is pasted


def test_a_pipeline_with_encoded_columns():
    frame, y = TABLE[["zip", "size"]], TABLE["y"]
    encoded = ColumnTransformer([("one", OneHotEncoder(), ["zip", "size"])])
    model = make_pipeline(encoded, TreeClassifier("cart"))
    scores = cross_val_score(model, frame, y, cv=3)
    assert scores.tolist() == [1.0, 1.0, 1.0]
    grid = {"treeclassifier__max_leaf_nodes": [2, 4]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(frame, y)
    assert search.best_score_ == 1.0
