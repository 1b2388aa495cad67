"""Rows, and models of them."""

import pandas as pd
import pytest
from tests.estimators.frames import pandas_rows

from spinney import TreeClassifier


@pytest.fixture
def rows() -> tuple[pd.DataFrame, pd.Series]:
    return pandas_rows()


@pytest.fixture
def fitted(rows) -> TreeClassifier:
    return TreeClassifier("cart", max_depth=4).fit(*rows)
