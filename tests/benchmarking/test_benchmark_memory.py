"""What a fit needs beside its table is bounded; docs/reliability.md says by what."""

from pathlib import Path

import pytest
from benchmarks.fit_memory import BOUND, FITS, in_child, made

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


@pytest.mark.parametrize(
    "name",
    [
        name if name == "cart" else pytest.param(name, marks=[pytest.mark.slow])
        for name in FITS
    ],
)
@pytest.mark.slow
def test_the_memory_of_a_fit_is_bounded(name):
    assert max(in_child(name, [50_000])) < BOUND


def test_the_bound_and_every_fit_are_in_the_page():
    text = PAGE.read_text("utf-8")
    assert f"{BOUND} bytes a cell" in text
    assert all(f"| {fit.name} | {fit.engine} |" in text for fit in FITS.values())


def test_tables_are_made_the_same_again():
    first, second = made(50, names=True), made(50, names=True)
    assert (first[0] == second[0]).all()
    assert set(first[1]) == {0, 1}
