"""Noise and missing values hit the share of cells that was asked for, and no other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.data.readers import read_table
from spinney.extensions.evaluation.tasks import (
    ATTRIBUTE_NOISE,
    CLASS_NOISE,
    MISSING_VALUES,
    OUTLIERS,
    perturbed,
)

RATES = st.sampled_from([0, 0.1, 0.25, 0.5, 1])


@st.composite
def tables(draw):
    n_rows = draw(st.integers(2, 25))

    def cells(values):
        return draw(st.lists(values, min_size=n_rows, max_size=n_rows))

    columns = {
        "colour": cells(st.sampled_from(["red", "green", "blue", None])),
        "size": cells(st.sampled_from([0.5, 1.5, 7.0, None])),
        "number": [place + 0.5 for place in range(n_rows)],
        "class": ["a", "b", *cells(st.sampled_from("abc"))][:n_rows],
    }
    return read_table(columns)


def changed(one, other):
    return ~((one == other) | ((one != one) & (other != other)))


def generator():
    return np.random.default_rng(4)


@given(tables(), RATES)
def test_missing_values(table, rate):
    names = ["colour", "size"]
    found = perturbed(table, names, MISSING_VALUES, rate=rate, random=generator())
    for name in names:
        before, after = table[name].missing, found[name].missing
        known = np.count_nonzero(~before)
        assert np.count_nonzero(after & ~before) == round(rate * known)
        assert not np.any(before & ~after)
        chosen = ~after
        assert np.array_equal(table[name].cells[chosen], found[name].cells[chosen])
    for name in ("number", "class"):
        assert np.array_equal(table[name].cells, found[name].cells)


@given(tables(), RATES)
def test_class_noise(table, rate):
    found = perturbed(table, ["class"], CLASS_NOISE, rate=rate, random=generator())
    column = found["class"]
    wrong = np.count_nonzero(column.cells != table["class"].cells)
    assert wrong == round(rate * table.n_rows)
    assert column.cells.min() >= 0
    assert column.cells.max() < len(column.levels)
    assert found["colour"] is table["colour"]


@given(tables(), RATES)
def test_noise_of_a_number_takes_that_of_another_row(table, rate):
    found = perturbed(table, ["number"], CLASS_NOISE, rate=rate, random=generator())
    wrong = np.count_nonzero(found["number"].cells != table["number"].cells)
    assert wrong <= round(rate * table.n_rows)
    assert set(found["number"].cells) <= set(table["number"].cells)


@given(tables(), RATES)
def test_attribute_noise(table, rate):
    names = ["colour", "size", "number"]
    found = perturbed(table, names, ATTRIBUTE_NOISE, rate=rate, random=generator())
    for name in names:
        one, other = table[name], found[name]
        known = ~one.missing
        assert np.array_equal(one.missing, other.missing)
        assert set(other.cells[known]) <= set(one.cells[known])
        hit = np.count_nonzero(changed(one.cells, other.cells))
        assert hit <= round(rate * np.count_nonzero(known))
    assert found["class"] is table["class"]


def naive_quartile(values, share):
    """Return the value at a share of the way through sorted values, between two."""
    values = sorted(values)
    at = share * (len(values) - 1)
    below = int(at)
    above = min(below + 1, len(values) - 1)
    return values[below] + (at - below) * (values[above] - values[below])


@given(tables(), RATES)
def test_outliers_against_plain_loops(table, rate):
    """004, 2.2: robustness is handling noise *and outliers*."""
    found = perturbed(
        table, ["size", "number"], OUTLIERS, rate=rate, random=generator()
    )
    for name in ("size", "number"):
        before, after = table[name].cells.tolist(), found[name].cells.tolist()
        known = [cell for cell in before if cell == cell]
        hit = 0
        for one, other in zip(before, after, strict=True):
            if one != one:
                assert other != other  # a missing cell stays missing
                continue
            if one == other:
                continue
            hit += 1
            low, high = naive_quartile(known, 0.25), naive_quartile(known, 0.75)
            unit = (high - low) or (max(known) - min(known)) or 1
            distance = other - high if other > high else low - other
            assert 3 - 1e-9 <= distance / unit <= 10 + 1e-9
        assert hit == round(rate * len(known))
    for name in ("colour", "class"):
        assert found[name] is table[name]


def test_outliers_lie_above_and_below_and_stay_finite():
    table = read_table({"x": [n / 8 for n in range(200)], "y": [-1e308, 1e308] * 100})
    found = perturbed(table, ["x", "y"], OUTLIERS, rate=1, random=generator())
    above = np.count_nonzero(found["x"].cells > 25)
    assert 60 < above < 140  # more than five standard deviations
    assert np.isfinite(found["y"].cells).all()


@pytest.mark.parametrize("perturb", [MISSING_VALUES, ATTRIBUTE_NOISE, OUTLIERS])
def test_more_damage_holds_the_lesser(perturb):
    table = read_table({"x": [n / 2 for n in range(200)]})
    low, high = (
        perturbed(table, ["x"], perturb, rate=rate, random=generator())["x"].cells
        for rate in (0.1, 0.4)
    )
    hit = changed(table["x"].cells, low)
    assert np.count_nonzero(hit) > 15
    assert not np.any(changed(low[hit], high[hit]))


def test_wrong_classes_are_spread_over_the_others():
    table = read_table({"class": ["a", "b", "c", "d"] * 300})
    found = perturbed(table, ["class"], CLASS_NOISE, rate=1, random=generator())
    steps = (found["class"].cells - table["class"].cells) % 4
    counts = np.bincount(steps, minlength=4)
    assert counts[0] == 0
    assert np.all(np.abs(counts[1:] - 400) < 80)  # more than four standard deviations
