"""The cost matrix of credit_g lowers the expected cost, on rows held out."""

import warnings
from pathlib import Path

import pytest
from tests.helpers.real_tables import FOLDER, arguments_of, needs_tables

import spinney
from spinney.data.readers.cost_file import read_costs

pytestmark = [
    pytest.mark.slow,
    needs_tables,
]


@pytest.mark.parametrize("recipe", ["c4.5", "chaid"])
def test_costs_are_lower_where_they_are_known(recipe):
    costs = read_costs(Path(FOLDER, "credit_g_costs.csv"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", spinney.SpinneyWarning)
        found = spinney.evaluate(
            **arguments_of("credit_g"),
            recipes={
                "plain": {"recipe": recipe},
                "costly": {"recipe": recipe, "cost_matrix": costs},
            },
            cost_matrix=costs,
            folds=10,
            random_state=1,
        )
    plain, costly = found.table
    print(found)
    assert costly["cost"] < plain["cost"]
