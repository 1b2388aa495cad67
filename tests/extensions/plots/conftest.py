"""Figures that tests open are closed after each."""

import pytest


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")
