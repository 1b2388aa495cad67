"""Rows, and models of them."""

import pandas as pd
import pytest
from tests.estimators.frames import pandas_rows
from tests.helpers.strategies import TABLES

import spinney
from spinney import TreeClassifier


@pytest.fixture
def rows() -> tuple[pd.DataFrame, pd.Series]:
    return pandas_rows()


@pytest.fixture
def fitted(rows) -> TreeClassifier:
    return TreeClassifier("cart", max_depth=4).fit(*rows)


@pytest.fixture(scope="module")
def model() -> TreeClassifier:
    return spinney.grow(TABLES / "rpart_kyphosis.csv", "Kyphosis", recipe="cart")
