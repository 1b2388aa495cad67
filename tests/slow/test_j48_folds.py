"""Ten-fold cross-validation of c4.5 on the very folds of Weka's J48, seed 1.

``pytest -m slow -s tests/slow/test_j48_folds.py`` prints the table.
"""

import json

import numpy as np
import pytest
from tests.helpers.real_tables import facts_of, needs_tables
from tests.helpers.weka import FIXTURES
from tests.helpers.weka_folds import weka_folds
from tests.slow.test_j48 import with_header

import spinney
from spinney.data.declarations import declarations_of
from spinney.data.readers import read_table

MEASURED = json.loads((FIXTURES / "cross_validation.json").read_text(encoding="utf-8"))

pytestmark = [
    pytest.mark.slow,
    needs_tables,
    pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning"),
]


def accuracy(name: str, seed: int) -> float:
    """Return the accuracy over the ten folds of a seed, in percent."""
    arguments, target = with_header(name), facts_of(name)["target"]
    declared = declarations_of(
        nominal=arguments["nominal"],
        ignore=arguments["ignore"],
        missing_values=arguments["missing_values"],
        values=arguments["values"],
    )
    table = read_table(arguments["data"], declarations=declared)
    right = 0.0
    for fold in weka_folds(table[target].cells.tolist(), 10, seed=seed):
        tested = np.zeros(table.n_rows, dtype=bool)
        tested[fold] = True
        model = spinney.grow(table.take(~tested), target, recipe="c4.5")
        right += model.score(table.take(tested)) * len(fold)
    return 100 * right / table.n_rows


@pytest.mark.parametrize("name", MEASURED)
def test_ten_folds(name):
    measured = MEASURED[name]
    found, expected = accuracy(name, 1), measured["seed_1"]
    print(f"\n{name:16} seed 1: ours {found:7.4f}, J48 {expected:7.4f}")
    if measured["rows"] >= 200 and abs(found - expected) > 0.5:
        found = float(np.mean([accuracy(name, seed) for seed in range(1, 11)]))
        expected = measured["mean"]
        print(f"{name:16} mean of ten seeds: ours {found:.2f}, J48 {expected:.2f}")
        assert abs(found - expected) <= 0.5
