"""A fitted estimator's predictor against ``predict`` of a list of one row.

The row is read by the names of columns; a list is, too, but for a truth in a column of
numbers, which is refused in a list and a number in a table with names.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor

CELLS = (
    st.sampled_from(["a", "b", "c", None]),
    st.sampled_from([0.5, 1.5, 2.5, float("nan"), None]),
    st.sampled_from([True, False, None]),
    st.integers(-3, 3),
)
NEW = (
    st.sampled_from(["a", "b", "d", "", None, 7, 2.5]),
    st.sampled_from([0.5, 2, "1.5", float("nan"), None, np.float32(1.5)]),
    st.sampled_from([True, False, "true", "False", None, 1, np.bool_(1)]),
    st.integers(-5, 5) | st.sampled_from([np.int64(2), 1.5, -0.0, 2**40]),
)
CLASSIFIERS = {
    "id3": lambda: TreeClassifier("id3"),
    "c4.5": lambda: TreeClassifier("c4.5"),
    "cart": lambda: TreeClassifier("cart", missing_policy="surrogate"),
    "forest": lambda: ForestClassifier(6, random_state=0),
    "majority": lambda: ForestClassifier(6, random_state=0, voting="majority"),
}
REGRESSORS = {
    "cart": lambda: TreeRegressor("cart"),
    "m5": lambda: TreeRegressor("m5"),
    "forest": lambda: ForestRegressor(6, random_state=0),
}


def columns_known(rows):
    """Whether every column has a value, so that its kind is known."""
    return all(any(cell == cell is not None for cell in c) for c in zip(*rows))  # noqa: B905


tables = st.lists(st.tuples(*CELLS).map(list), min_size=8, max_size=30)
rows_to_predict = st.lists(st.tuples(*NEW).map(list), min_size=1, max_size=8)


@pytest.mark.parametrize("name", CLASSIFIERS)
@given(table=tables.filter(columns_known), rows=rows_to_predict, data=st.data())
@settings(max_examples=examples(20), deadline=None)
def test_classes(name, table, rows, data):
    labels = st.sampled_from(["no", "yes", "so"])
    size = len(table) - 2
    classes = data.draw(st.lists(labels, min_size=size, max_size=size))
    model = CLASSIFIERS[name]().fit(table, ["no", "yes", *classes])
    predictor = model.predictor()
    for row in rows:
        assert predictor(row) == model.predict([row])[0]
        shares = predictor.probabilities(row)
        assert [*shares] == model.classes_.tolist()
        assert [*shares.values()] == model.predict_proba([row])[0].tolist()


@pytest.mark.parametrize("name", REGRESSORS)
@given(table=tables.filter(columns_known), rows=rows_to_predict, data=st.data())
@settings(max_examples=examples(20), deadline=None)
def test_numbers(name, table, rows, data):
    size = len(table) - 2
    numbers = data.draw(st.lists(st.floats(-9, 9), min_size=size, max_size=size))
    model = REGRESSORS[name]().fit(table, [0.0, 1.5, *numbers])
    predictor = model.predictor()
    for row in rows:
        assert predictor(row) == model.predict([row])[0]
