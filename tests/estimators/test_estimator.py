"""TreeClassifier among scikit-learn's tools, and as a model of its own."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.models import assert_same_model
from tests.strategies import TABLES

import spinney
from spinney import ParameterError, SpinneyWarning, TreeClassifier

N_ROWS = 90
RECIPES = ("id3", "c4.5", "cart")


def pandas_rows() -> tuple[pd.DataFrame, pd.Series]:
    """Return rows of every kind, with missing cells, and classes that follow them."""
    random = np.random.default_rng(4)
    colour = random.choice(["red", "green", "blue"], N_ROWS).astype(object)
    size = random.choice(["small", "medium", "large"], N_ROWS)
    width = random.normal(size=N_ROWS)
    ripe = np.where((colour == "red") ^ (width > 0) | (size == "large"), "yes", "no")
    frame = pd.DataFrame(
        {
            "colour": pd.Series(np.where(random.random(N_ROWS) < 0.1, None, colour)),
            "size": pd.Categorical(
                size, categories=["small", "medium", "large"], ordered=True
            ),
            "width": np.where(random.random(N_ROWS) < 0.1, np.nan, width),
            "fits": random.integers(0, 2, N_ROWS).astype(bool),
        }
    )
    return frame, pd.Series(ripe, name="ripe")


def polars_rows() -> tuple[pl.DataFrame, pl.Series]:
    frame, ripe = pandas_rows()
    return pl.from_pandas(frame), pl.Series("ripe", ripe.tolist())


ROWS = {"pandas": pandas_rows, "polars": polars_rows}


@pytest.fixture
def rows() -> tuple[pd.DataFrame, pd.Series]:
    return pandas_rows()


@pytest.fixture
def fitted(rows) -> TreeClassifier:
    return TreeClassifier("cart", max_depth=4).fit(*rows)


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
            "treeclassifier__missing": ["branch", "fractional"],
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
    given = {"recipe": "id3", "max_depth": 3, "ties": ["a"], "force": {(): "a"}}
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


@pytest.mark.parametrize(
    "given, message",
    [
        ({"recipe": "c45"}, "recipe='c45' is unknown: did you mean 'c4.5'"),
        ({"criterion": "ginny"}, "criterion='ginny'"),
        ({"grouping": "ternary"}, "grouping='ternary'"),
        ({"missing": "brunch"}, "missing='brunch' is unknown: did you mean 'branch'"),
        ({"max_depth": 1.5}, "max_depth=1.5 must be a whole number"),
        ({"max_leaves": 0}, "max_leaves=0"),
        ({"min_samples_leaf": -1}, "min_samples_leaf=-1"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf=0.6"),
        ({"class_weight": {"maybe": 1}}, "class_weight: no class 'maybe'"),
        ({"class_weight": "even"}, "class_weight='even'"),
        ({"ties": "size"}, "ties='size' must be a list"),
        ({"ties": ["sise"]}, "ties: there is no attribute 'sise': did you mean 'size'"),
        ({"force": {(): "sise"}}, "force: there is no attribute 'sise'"),
        ({"force": ["size"]}, "force=.* must map paths to names"),
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


# Weights


@pytest.mark.parametrize("recipe", RECIPES)
def test_rows_of_no_weight_leave_no_trace(recipe, rows):
    X, y = rows
    X = X.astype({"colour": object})
    odd = X.iloc[:5].assign(colour="ultraviolet", width=1e9)
    both = pd.concat([X, odd], ignore_index=True)
    labels = pd.concat([y, pd.Series(["no"] * 5, name="ripe")], ignore_index=True)
    weights = np.repeat([1.0, 0.0], [N_ROWS, 5])
    with_them = TreeClassifier(recipe).fit(both, labels, sample_weight=weights)
    without = TreeClassifier(recipe).fit(X, y, sample_weight=np.ones(N_ROWS))
    assert_same_model(with_them.model_, without.model_)


def test_weights_are_repetitions(rows):
    X, y = rows
    times = np.arange(N_ROWS) % 3 + 1
    # A surrogate needs two rows each way, whatever they weigh.
    recipe = TreeClassifier("cart", missing="branch")
    weighted = clone(recipe).fit(X, y, sample_weight=times)
    repeated = clone(recipe).fit(X.loc[X.index.repeat(times)], y.repeat(times))
    assert str(weighted) == str(repeated)


def test_class_weights_turn_labels():
    X, y = {"x": [0.0] * 4}, ["a", "a", "a", "b"]
    table = {**X, "y": y}
    assert spinney.grow(table, "y").predict(X).tolist() == ["a"] * 4
    heavy = spinney.grow(table, "y", class_weight={"b": 4})
    assert heavy.predict_proba(X)[0].tolist() == pytest.approx([3 / 7, 4 / 7])
    assert heavy.predict(X).tolist() == ["b"] * 4
    even = spinney.grow(table, "y", class_weight="balanced")
    assert even.predict_proba(X)[0].tolist() == pytest.approx([0.5, 0.5])
    fitted = TreeClassifier(class_weight={1: 4}).fit(np.zeros((4, 1)), [0, 0, 0, 1])
    assert fitted.predict([[0.0]]).tolist() == [1]


def test_light_rows_are_told(rows):
    X, y = rows
    with pytest.warns(SpinneyWarning, match="min_samples_leaf=2 counts weight"):
        TreeClassifier(min_samples_leaf=2).fit(X, y, sample_weight=[0.01] * N_ROWS)


# Names and numbers of columns


def test_an_array_after_a_frame_warns(fitted, rows):
    array = rows[0].astype(object).to_numpy()
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        found = fitted.predict(array)
    np.testing.assert_array_equal(found, fitted.predict(rows[0]))


def test_fit_wants_the_same_columns_in_the_same_order(fitted, rows):
    X, _ = rows
    with pytest.raises(ValueError, match="must be in the same order"):
        fitted.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="unseen at fit time:\n- more"):
        fitted.predict(X.assign(more=1))
    with pytest.raises(ValueError, match="yet now missing:\n- width"):
        fitted.predict(X.drop(columns="width"))


def test_grow_takes_columns_by_name(rows):
    X, y = rows
    model = spinney.grow(X.assign(ripe=y), "ripe", recipe="cart")
    mixed = X.assign(more=1)[["more", *X.columns[::-1]]]
    np.testing.assert_array_equal(model.predict(mixed), model.predict(X))
    with pytest.raises(spinney.DataError, match="needs the column 'width'"):
        model.predict(X.drop(columns="width"))


def test_another_number_of_columns():
    model = TreeClassifier().fit(np.arange(8.0).reshape(4, 2), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"X has 3 features, but .* expecting 2"):
        model.predict(np.zeros((1, 3)))


@pytest.mark.parametrize("unseen", ["violet", None])
def test_an_unseen_category_is_a_missing_one(unseen, fitted, rows):
    odd = rows[0].iloc[:3].assign(colour=pd.Series([unseen] * 3, dtype=object))
    missing = rows[0].iloc[:3].assign(colour=pd.Series([None] * 3, dtype=object))
    np.testing.assert_array_equal(
        fitted.predict_proba(odd), fitted.predict_proba(missing)
    )


def test_fit_takes_a_dictionary_of_columns():
    columns = {"a": [1.0, 2.0, 3.0, 4.0], "b": ["p", "q", "p", "q"]}
    model = TreeClassifier("cart").fit(columns, ["n", "y", "n", "y"])
    assert model.predict(columns).tolist() == ["n", "y", "n", "y"]


# Labels


@pytest.mark.parametrize(
    "labels", [["a", 1, "a", 1], [True, "x", True, "x"], [2, 0.5, 2, 0.5]]
)
def test_labels_of_mixed_types_keep_them(labels, tmp_path):
    columns = {"x": [1.0, 2.0, 3.0, 4.0], "y": labels}
    model = spinney.grow(columns, "y", nominal=["y"], recipe="cart")
    model.save(tmp_path / "model")
    for one in (model, spinney.load(tmp_path / "model")):
        found = one.predict(columns).tolist()
        assert [(type(label), label) for label in found] == [
            (type(label), label) for label in labels
        ]


@pytest.mark.parametrize(
    "labels, kind",
    [
        ([True, False, True, False], np.bool_),
        ([3, 1, 3, 1], np.int64),
        (["b", "a", "b", "a"], np.str_),
    ],
)
def test_labels_keep_their_type(labels, kind, tmp_path):
    columns = {"x": [1.0, 2.0, 3.0, 4.0], "y": labels}
    model = spinney.grow(columns, "y", recipe="cart")
    model.save(tmp_path / "model")
    fitted = TreeClassifier("cart").fit(np.arange(1.0, 5).reshape(4, 1), labels)
    for found in (
        model.predict(columns),
        spinney.load(tmp_path / "model").predict(columns),
        fitted.predict(np.arange(1.0, 5).reshape(4, 1)),
    ):
        assert isinstance(found[0], kind)
        assert found.tolist() == labels


@pytest.mark.parametrize("nothing", [None, np.nan])
def test_a_row_without_a_label_is_refused(nothing):
    labels = np.array(["a", nothing, "b"], dtype=object)
    with pytest.raises(ValueError, match=r"class|NaN"):
        TreeClassifier().fit(pd.DataFrame({"x": [1, 2, 3]}), labels)


# Scores without labels


def test_score_of_a_table_that_holds_its_target():
    path = TABLES / "netball.csv"
    model = spinney.grow(path, "play", recipe="id3", ignore=["day"], max_depth=1)
    frame = pd.read_csv(path)
    expected = np.mean(model.predict(frame) == frame["play"])
    assert model.score(path) == model.score(frame) == expected
    assert model.score(frame.drop(columns="play"), frame["play"]) == expected
    with pytest.raises(spinney.DataError, match="no column 'play'"):
        model.score(frame.drop(columns="play"))


def test_score_of_a_fitted_model_without_labels(fitted, rows):
    X, y = rows
    assert fitted.score(X.assign(ripe=y)) == fitted.score(X, y)


def test_score_of_rows_whose_class_is_unknown():
    columns = {"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "b", "a", "b"]}
    model = spinney.grow(columns, "y", recipe="cart")
    # A class that the model does not know is an error, a missing one is left out.
    assert model.score({**columns, "y": ["a", "b", "a", "maybe"]}) == 0.75
    with pytest.warns(spinney.SpinneyWarning, match="1 of 4 rows have no class"):
        assert model.score({**columns, "y": ["a", "b", "b", None]}) == 2 / 3


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
    model = spinney.grow(columns, "y", recipe="cart", force={(): "a"})
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
