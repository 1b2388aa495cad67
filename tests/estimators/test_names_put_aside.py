"""Estimators whose ``feature_names_in_`` another program has set to None.

``shap.KernelExplainer`` does so with whatever estimator it explains, before it asks for
predictions of arrays: None counts as no names.
"""

import numpy as np
import pandas as pd
import pytest

import spinney

ESTIMATORS = {
    "tree of classes": lambda: spinney.TreeClassifier("cart"),
    "tree of numbers": lambda: spinney.TreeRegressor("cart"),
    "forest": lambda: spinney.ForestClassifier(3, random_state=0),
    "k-means": lambda: spinney.KMeans(2, random_state=0),
}


def table():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(40, 3)), columns=["a", "b", "c"])
    return X, (X["a"] + X["b"] > 0).astype(int)


# scikit-learn then says of a frame that the model was fitted without names.
@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_arrays_are_predicted_where_names_are_put_aside(name):
    X, y = table()
    model = ESTIMATORS[name]().fit(X, y)
    expected = model.predict(X)
    model.feature_names_in_ = None
    assert model.predict(X.to_numpy()).tolist() == expected.tolist()
    assert model.predict(X).tolist() == expected.tolist()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_there_are_no_names_where_there_were_none(name):
    X, y = table()
    model = ESTIMATORS[name]().fit(X.to_numpy(), y)
    assert not hasattr(model, "feature_names_in_")


def test_a_tree_of_a_forest_predicts_without_names_as_well():
    X, y = table()
    member = ESTIMATORS["forest"]().fit(X, y).estimators_[0]
    expected = member.predict(X)
    member.feature_names_in_ = None
    assert member.predict(X.to_numpy()).tolist() == expected.tolist()
