"""TreeClassifier among scikit-learn's tools, and as a model of its own."""

import copy
import inspect
import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.estimators.frames import N_ROWS, RECIPES, ROWS, pandas_rows
from tests.helpers.models import assert_same_model

import spinney
from spinney import ParameterError, TreeClassifier, TreeRegressor

# Among scikit-learn's tools


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("library", ROWS)
def test_cross_validation_over_frames(library, recipe):
    X, y = ROWS[library]()
    scores = cross_val_score(TreeClassifier(recipe), X, y, cv=3, error_score="raise")
    chance = max(np.mean(np.array(y) == label) for label in ("no", "yes"))
    assert scores.mean() > chance + 0.1


@pytest.mark.parametrize("library", ROWS)
def test_grid_search_over_a_pipeline(library):
    X, y = ROWS[library]()
    pipeline = make_pipeline(FunctionTransformer(), TreeClassifier("cart"))
    search = GridSearchCV(
        pipeline,
        {
            "treeclassifier__max_depth": [0, 3],
            "treeclassifier__missing_policy": ["branch", "fractional"],
        },
        cv=3,
        error_score="raise",
    )
    search.fit(X, y)
    assert search.best_params_["treeclassifier__max_depth"] == 3
    kinds = [a.kind for a in search.best_estimator_[-1].tree.schema.attributes]
    ordinal = "ordinal" if library == "pandas" else "nominal"
    assert kinds == ["nominal", ordinal, "numeric", "nominal"]
    assert search.predict(X).shape == (N_ROWS,)


def test_pandas_and_polars_grow_the_same_tree():
    frame, y = pandas_rows()
    frame["size"] = frame["size"].astype(str)
    one = TreeClassifier("cart").fit(frame, y)
    other = TreeClassifier("cart").fit(pl.from_pandas(frame), y)
    assert_same_model(one.model_, other.model_)


def test_what_scikit_learn_knows_of_it(fitted, rows):
    assert is_classifier(fitted)
    tags = fitted.__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert tags.target_tags.required
    assert fitted.n_features_in_ == 4
    assert fitted.feature_names_in_.tolist() == list(rows[0].columns)
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.score(*rows) == np.mean(fitted.predict(rows[0]) == rows[1])


# Parameters


def test_parameters_go_in_and_come_out(fitted):
    given = {
        "recipe": "id3",
        "max_depth": 3,
        "tie_break_order": ["a"],
        "forced_splits": {(): "a"},
    }
    model = TreeClassifier(**given)
    assert {name: model.get_params()[name] for name in given} == given
    assert model.set_params(max_depth=None, min_gain=0.1) is model
    assert (model.max_depth, model.min_gain) == (None, 0.1)
    assert repr(TreeClassifier("cart", max_depth=3)) == (
        "TreeClassifier(max_depth=3, recipe='cart')"
    )
    assert str(TreeClassifier("cart")) == "TreeClassifier(recipe='cart')"
    twin = clone(fitted)
    assert twin.get_params() == fitted.get_params()
    assert not hasattr(twin, "model_")
    with pytest.raises(NotFittedError):
        twin.predict(pandas_rows()[0])
    with pytest.raises(NotFittedError):
        twin.rules()


@pytest.mark.parametrize("kind", [TreeClassifier, TreeRegressor])
def test_the_docstring_names_every_parameter(kind):
    listed = kind.__doc__.partition("Parameters\n")[2]
    listed = listed.partition("Attributes\n")[0].partition("Examples\n")[0]
    heads = re.findall(r"^    (\S.*) : ", listed, flags=re.MULTILINE)
    named = [name for head in heads for name in re.split(r",\s*", head)]
    assert sorted(named) == sorted(kind().get_params())
    assert len(named) == len(set(named))


def test_settings_about_classes_are_no_parameters_of_a_tree_for_numbers():
    classes, numbers = (
        list(inspect.signature(kind).parameters)
        for kind in (TreeClassifier, TreeRegressor)
    )
    only = {"class_weight", "priors", "cost_matrix", "confidence", "probability"}
    assert set(classes) - set(numbers) == only
    assert set(numbers) - set(classes) == {"leaves"}


@pytest.mark.parametrize(
    "given, message",
    [
        ({"recipe": "c45"}, "recipe='c45' is unknown: did you mean 'c4.5'"),
        ({"criterion": "ginny"}, "criterion='ginny'"),
        ({"grouping": "ternary"}, "grouping='ternary'"),
        (
            {"missing_policy": "brunch"},
            "missing_policy='brunch' is unknown: did you mean 'branch'",
        ),
        ({"max_depth": 1.5}, "max_depth=1.5 must be a whole number"),
        ({"max_leaves": 0}, "max_leaves=0"),
        ({"min_samples_leaf": -1}, "min_samples_leaf=-1"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf=0.6"),
        ({"class_weight": {"maybe": 1}}, "class_weight: no class 'maybe'"),
        ({"class_weight": "even"}, "class_weight='even'"),
        ({"tie_break_order": "size"}, "tie_break_order='size' must be a list"),
        (
            {"tie_break_order": ["sise"]},
            "tie_break_order: there is no attribute 'sise': did you mean 'size'",
        ),
        (
            {"forced_splits": {(): "sise"}},
            "forced_splits: there is no attribute 'sise'",
        ),
        ({"forced_splits": ["size"]}, "forced_splits=.* must map paths to names"),
    ],
)
def test_parameters_that_are_refused(given, message, rows):
    with pytest.raises(ParameterError, match=message):
        TreeClassifier(**given).fit(*rows)
    X, y = rows
    with pytest.raises(ParameterError, match=message):
        spinney.grow(X.assign(ripe=y), "ripe", **given)


def test_an_unknown_parameter_is_named():
    with pytest.raises(ParameterError, match="'max_dept': did you mean 'max_depth'"):
        spinney.grow({"x": [1, 2], "y": ["a", "b"]}, "y", max_dept=3)


# Copies, files, threads


@pytest.mark.parametrize("recipe", RECIPES)
def test_copies_predict_the_same(recipe, rows):
    X, y = rows
    model = TreeClassifier(recipe).fit(X, y)
    expected = model.predict_proba(X)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):  # noqa: S301
        np.testing.assert_array_equal(twin.predict_proba(X), expected)
        assert_same_model(twin.model_, model.model_)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_same_fit_gives_the_same_bytes(recipe, rows, tmp_path):
    for name in ("one", "two"):
        TreeClassifier(recipe).fit(*rows).save(tmp_path / name)
    one, two = ((tmp_path / name).read_bytes() for name in ("one", "two"))
    assert one == two


def test_fitting_again_forgets_the_first_fit(rows):
    model = TreeClassifier("cart").fit(*rows)
    model.fit(np.arange(4.0).reshape(4, 1), [0, 1, 0, 1])
    assert not hasattr(model, "feature_names_in_")
    assert model.tree.schema.names == ("x0",)
    assert model.classes_.tolist() == [0, 1]


def test_threads_may_share_a_model(fitted, rows):
    X, _ = rows
    expected = fitted.predict_proba(X)
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda _: fitted.predict_proba(X), range(20)):
            np.testing.assert_array_equal(found, expected)


def test_pruning_gives_a_new_model(rows):
    X, y = rows
    model = TreeClassifier("cart").fit(X, y)
    before = str(model)
    valid = X.iloc[:30].assign(ripe=y.iloc[:30])
    pruned = model.prune(validation=valid)
    assert str(model) == before
    assert pruned.score(X[:30], y[:30]) >= model.score(X[:30], y[:30])
    assert pruned.get_params() == model.get_params()
    assert len(pruned.pruning_) == len(model.tree) - model.tree.n_leaves


# Measures


def test_measures_in_scikit_learns_words():
    columns = {"a": [1.0, 2.0, 3.0, 4.0], "b": list("pqpq"), "y": list("aabb")}
    model = spinney.grow(columns, "y", recipe="cart")
    assert (model.get_depth(), model.get_n_leaves()) == (1, 2)
    assert model.feature_importances_.tolist() == [1.0, 0.0]


def test_importances_are_shares_of_what_was_gained():
    # Gini by hand: the root falls from 12/25 to 4/15, the node of three from 4/9 to 0.
    columns = {"a": list("xxyyy"), "b": list("ppppq"), "y": list("++--+")}
    model = spinney.grow(columns, "y", recipe="cart", forced_splits={(): "a"})
    root, below = 5 * (12 / 25 - 3 / 5 * 4 / 9), 3 * (4 / 9)
    expected = np.array([root, below]) / (root + below)
    np.testing.assert_allclose(model.feature_importances_, expected)


def test_a_tree_that_gains_nothing_has_no_importances():
    xor = {"a": list("xxyy"), "b": list("pqpq"), "y": list("+--+")}
    model = spinney.grow(xor, "y", recipe="cart", max_depth=1)
    assert model.feature_importances_.tolist() == [0.0, 0.0]


def test_a_table_is_shown_in_one_line():
    table = spinney.read_table({f"c{place}": [1.0] for place in range(10)})
    assert repr(table).startswith("<Table of 1 rows: c0 (numeric), c1 (numeric), ")
    assert repr(table).endswith("c7 (numeric) and 2 more>")
