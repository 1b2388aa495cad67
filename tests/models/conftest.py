"""A model to question and prune."""

import pytest
from tests.helpers.strategies import TABLES

import spinney
from spinney import TreeClassifier


@pytest.fixture(scope="module")
def model() -> TreeClassifier:
    return spinney.grow(TABLES / "rpart_kyphosis.csv", "Kyphosis", recipe="cart")
