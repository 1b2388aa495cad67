"""Figures that tests open are closed after each."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    # A test may hide Matplotlib: there is nothing to close then.
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
