"""Predictions of real tables: written in every format, they read back as they were."""

import warnings
from pathlib import Path

import pytest
from benchmarks import tables
from tests.helpers.real_tables import FOLDER, arguments_of, needs_tables
from tests.helpers.round_trip import check_formats

import spinney

NAMES = sorted(tables.facts_of(Path(FOLDER))) if FOLDER else ["any"]

pytestmark = [pytest.mark.slow, needs_tables]


@pytest.mark.parametrize("name", NAMES)
def test_predictions_of_real_tables(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = arguments_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", spinney.SpinneyWarning)
        model = spinney.grow(**arguments, recipe="cart", max_depth=6)
        check_formats(model, arguments["data"], arguments["target"])
