"""Estimators inside scikit-learn's own tools, over frames with columns as they are.

Nominal, logical, numeric and missing cells arrive in tables of pandas, Polars and
PyArrow; nothing is encoded before.
"""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.estimators.frames import pandas_rows

import spinney
from spinney import (
    ForestClassifier,
    ForestRegressor,
    KMeans,
    KPrototypes,
    MiniBatchKMeans,
    TreeClassifier,
    TreeRegressor,
)

FRAME, RIPE = pandas_rows()
# Categories of Polars have no order that a model could go by.
FRAME["size"] = FRAME["size"].cat.as_unordered()
FRAMES = {
    "pandas": FRAME,
    "polars": pl.from_pandas(FRAME),
    "pyarrow": pa.Table.from_pandas(FRAME, preserve_index=False),
}
LABELS = {
    "pandas": RIPE,
    "polars": pl.Series("ripe", RIPE.tolist()),
    "pyarrow": np.array(RIPE),
}
NUMBERS = (RIPE == "yes").to_numpy().astype(float) + FRAME["width"].fillna(0).to_numpy()
NUMERIC = {
    "pandas": FRAME[["width"]].fillna(0).assign(fits=FRAME["fits"].astype(float)),
}
NUMERIC["polars"] = pl.from_pandas(NUMERIC["pandas"])
NUMERIC["pyarrow"] = pa.Table.from_pandas(NUMERIC["pandas"], preserve_index=False)

CLASSIFIERS = (TreeClassifier("c4.5"), ForestClassifier(3, random_state=0))
SUPERVISED = (*CLASSIFIERS, TreeRegressor("cart"), ForestRegressor(3, random_state=0))
CLUSTERERS = (
    KMeans(2, random_state=0),
    MiniBatchKMeans(2, random_state=0),
    KPrototypes(2, random_state=0),
)
EVERY = (*SUPERVISED, *CLUSTERERS)


def named(estimator):
    return type(estimator).__name__


def given(estimator, kind="pandas"):
    """Return rows and a target that suit an estimator."""
    if estimator in CLUSTERERS and not isinstance(estimator, KPrototypes):
        return NUMERIC[kind], None
    return FRAMES[kind], LABELS[kind] if estimator in CLASSIFIERS else NUMBERS


frames = pytest.mark.parametrize("kind", FRAMES)
every = pytest.mark.parametrize("estimator", EVERY, ids=named)
supervised = pytest.mark.parametrize("estimator", SUPERVISED, ids=named)


@frames
@every
def test_the_kind_of_frame_makes_no_difference(estimator, kind):
    X, y = given(estimator, kind)
    model = clone(estimator).fit(X, y)
    as_pandas, target = given(estimator)
    wanted = clone(estimator).fit(as_pandas, target)
    np.testing.assert_array_equal(model.predict(X), wanted.predict(as_pandas))
    assert model.feature_names_in_.tolist() == list(as_pandas.columns)


@frames
@supervised
def test_cross_validate(estimator, kind):
    X, y = given(estimator, kind)
    result = cross_validate(estimator, X, y, cv=3, return_train_score=True)
    assert (result["train_score"] > 0.5).all()
    assert np.isfinite(result["test_score"]).all()


@frames
def test_grid_search_in_a_pipeline(kind):
    X, y = FRAMES[kind], LABELS[kind]
    steps = make_pipeline(FunctionTransformer(), TreeClassifier("cart"))
    grid = {"treeclassifier__max_depth": [1, 4]}
    search = GridSearchCV(steps, grid, cv=3).fit(X, y)
    assert search.best_params_ == {"treeclassifier__max_depth": 4}
    assert search.score(X, y) > 0.7
    assert "colour" in search.best_estimator_[-1].feature_names_in_


@frames
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(kind, method):
    X, y = FRAMES[kind], LABELS[kind]
    model = CalibratedClassifierCV(TreeClassifier("c4.5"), method=method, cv=3)
    shares = model.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert model.score(X, y) > 0.7


# scikit-learn makes an array of what is no frame of pandas, and names are lost.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@frames
@supervised
def test_permutation_importance(estimator, kind):
    X, y = given(estimator, kind)
    model = clone(estimator).fit(X, y)
    result = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    assert result.importances_mean[2] > 0  # the width
    assert result.importances_mean.shape == (4,)


@every
def test_clone_and_parameters(estimator):
    copy = clone(estimator)
    assert copy is not estimator
    assert copy.get_params() == estimator.get_params()
    copy.set_params(**estimator.get_params())
    assert repr(copy) == repr(estimator)


@every
def test_pickles_predict_the_same(estimator):
    """For those who insist; ``save`` writes a file that runs no code."""
    X, y = given(estimator)
    model = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 (our own)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert str(again) == str(model)
    assert again.get_params() == model.get_params()


@every
def test_columns_are_held_to_their_names(estimator):
    X, y = given(estimator)
    model = clone(estimator).fit(X, y)
    with pytest.raises(ValueError, match=r"colour|width"):
        model.predict(X.rename(columns={"colour": "hue", "width": "breadth"}))


@pytest.mark.parametrize(
    "container, frame", [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
)
@pytest.mark.parametrize("estimator", CLUSTERERS[:2], ids=named)
def test_what_transforms_sets_its_output(estimator, container, frame):
    X, _ = given(estimator)
    model = clone(estimator).set_output(transform=container).fit(X)
    distances = model.transform(X)
    assert isinstance(distances, frame)
    assert list(distances.columns) == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(
        distances.to_numpy(), clone(estimator).fit(X).transform(X)
    )


@supervised
def test_weights_are_routed_to_a_fit(estimator):
    """A row that weighs nothing is not there, through two layers of others' tools."""
    X, y = given(estimator)
    weights = np.where(np.arange(len(X)) % 2, 0.0, 2.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(estimator).set_fit_request(sample_weight=True)
        asked.set_score_request(sample_weight=True)
        steps = make_pipeline(FunctionTransformer(), asked)
        search = GridSearchCV(steps, {}, cv=2).fit(X, y, sample_weight=weights)
        result = cross_validate(steps, X, y, cv=2, params={"sample_weight": weights})
    half = clone(estimator).fit(
        X[weights > 0], np.asarray(y)[weights > 0], weights[weights > 0]
    )
    np.testing.assert_array_equal(search.best_estimator_.predict(X), half.predict(X))
    assert np.isfinite(result["test_score"]).all()


def test_weights_that_nobody_asked_for_are_refused():
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match="sample_weight"),
    ):
        GridSearchCV(TreeClassifier("cart"), {}, cv=2).fit(
            FRAME, RIPE, sample_weight=np.ones(len(RIPE))
        )


@pytest.mark.parametrize("estimator", CLUSTERERS, ids=named)
def test_weights_are_routed_to_clusters(estimator):
    X, _ = given(estimator)
    weights = np.where(np.arange(len(X)) % 3, 1.0, 4.0)
    with sklearn.config_context(enable_metadata_routing=True):
        steps = make_pipeline(
            FunctionTransformer(), clone(estimator).set_fit_request(sample_weight=True)
        )
        steps.fit(X, sample_weight=weights)
    wanted = clone(estimator).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(steps[-1].counts_, wanted.counts_)
    assert (wanted.counts_ != clone(estimator).fit(X).counts_).any()


def test_a_loaded_model_goes_on_in_these_tools(tmp_path):
    TreeClassifier("c4.5").fit(FRAME, RIPE).save(tmp_path / "t.spinney")
    model = spinney.load(tmp_path / "t.spinney")
    result = permutation_importance(model, FRAME, RIPE, n_repeats=1, random_state=0)
    assert len(result.importances) == 4
    assert cross_validate(model, FRAME, RIPE, cv=2)["test_score"].shape == (2,)
