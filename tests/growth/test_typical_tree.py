"""The typical tree against plain loops."""

import numpy as np
import pytest

import spinney
from spinney import ForestClassifier, ForestRegressor
from spinney.errors import DataError

RANDOM = np.random.default_rng(1)
ROWS = RANDOM.normal(size=(60, 3)).round(1)
ROWS[RANDOM.random(ROWS.shape) < 0.05] = np.nan
CLASSES = np.where(np.nan_to_num(ROWS[:, 0]) + RANDOM.normal(size=60) > 0, "a", "b")
NUMBERS = np.nan_to_num(ROWS[:, 1]) + 0.3 * RANDOM.normal(size=60)


@pytest.mark.parametrize("settings", [{}, {"bootstrap": False}, {"voting": "majority"}])
def test_classes(settings):
    model = ForestClassifier(9, ["cart", "c4.5"], random_state=0, **settings)
    model.fit(ROWS, CLASSES)
    together = model.predict(ROWS)
    shares = [(tree.predict(ROWS) == together).mean() for tree in model.trees]
    leaves = [tree.tree.n_leaves for tree in model.trees]
    best = min(range(9), key=lambda t: (-shares[t], leaves[t], t))
    typical = model.typical(ROWS)
    assert model.forest_.typical == typical
    assert (typical.number, typical.rows) == (best, 60)
    assert typical.agreement == pytest.approx(shares[best])


def test_numbers():
    model = ForestRegressor(9, random_state=0).fit(ROWS, NUMBERS)
    together = model.predict(ROWS)
    spread = ((together - together.mean()) ** 2).sum()
    errors = [((tree.predict(ROWS) - together) ** 2).sum() for tree in model.trees]
    typical = model.typical(ROWS)
    assert model.forest_.typical == typical
    assert typical.number == int(np.argmin(errors))
    assert typical.agreement == pytest.approx(1 - min(errors) / spread)


def test_the_order_of_rows_changes_nothing():
    order = RANDOM.permutation(60)
    one = ForestClassifier(9, random_state=0).fit(ROWS, CLASSES)
    other = ForestClassifier(9, random_state=0).fit(ROWS[order], CLASSES[order])
    assert one.typical(ROWS) == other.typical(ROWS[order])


def test_of_many_rows_some_are_asked_about():
    table = {"x": list(range(1500)), "y": [n % 2 for n in range(1500)]}
    model = spinney.grow_forest(table, "y", n_estimators=2, max_depth=2)
    assert model.forest_.typical is None
    assert model.typical(table).rows == 1000
    with pytest.raises(DataError, match="has no rows"):
        model.typical({"x": []})
