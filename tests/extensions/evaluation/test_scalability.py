"""Scalability (004, 2.2): time and memory against rows, and the exponent of rows."""

import json
import sys

import numpy as np
import pytest

import spinney
from spinney._support.peak_memory import peak_memory_of
from spinney.errors import DataError, ParameterError
from spinney.extensions.evaluation import Scalability, exponent
from spinney.extensions.evaluation.results import FoldResult
from spinney.extensions.evaluation.splits import Scheme

SPEED = ("seconds", "row_microseconds", "peak_mib")


def rows(n=300):
    x = [(7 * i) % 101 for i in range(n)]
    return {"x": x, "y": ["a" if v > 40 + i % 9 else "b" for i, v in enumerate(x)]}


@pytest.mark.parametrize("power", [0, 0.5, 1, 2])
def test_the_exponent_of_a_power_is_that(power):
    sizes = [10, 20, 40, 1000]
    values = [3 * size**power for size in sizes]
    assert exponent(sizes, values) == pytest.approx(power, abs=1e-12)


def test_the_exponent_is_the_slope_of_least_squares():
    # By hand: log2 of rows is 0, 1, 2 and of seconds 0, 2, 2, so the slope is the sum
    # of (x − 1)(y − 4/3) = 4/3 + 0 + 2/3 = 2, over that of (x − 1)² = 2.
    assert exponent([1, 2, 4], [1, 4, 4]) == pytest.approx(1)


@pytest.mark.parametrize("sizes, values", [([5], [1.0]), ([], []), ([5, 6], [0.0, 1])])
def test_no_exponent(sizes, values):
    assert exponent(sizes, values) is None


def made(seconds):
    """Return a made curve: three repeats of each size, one run of 100 rows spoilt."""
    folds = [
        FoldResult(
            "cart",
            repeat,
            1,
            size,
            9,
            {"seconds": each * (50 if (size, repeat) == (100, 2) else 1)},
            {"rows": size},
        )
        for size, each in seconds.items()
        for repeat in (1, 2, 3)
    ]
    return Scalability("y", ("a", "b"), 99, Scheme(holdout=0.3), tuple(folds))


def test_exponents_are_of_medians():
    found = made({100: 1.0, 200: 2.0, 400: 8.0})
    [line] = found.exponents
    assert (line["recipe"], line["measure"]) == ("cart", "seconds")
    assert line["exponent"] == pytest.approx(1.5)
    assert line["last"] == pytest.approx(2)
    assert str(found).splitlines()[-1] == "cart    1.50 (2.00)"
    assert found.as_dict()["exponents"] == [line]


@pytest.mark.slow
def test_what_is_measured():
    found = spinney.scalability(rows(), "y", ["c4.5", "cart"], repeats=2)
    assert [(line["recipe"], line["rows"]) for line in found.table] == [
        (recipe, number) for recipe in ("c4.5", "cart") for number in (52, 105, 210)
    ]
    assert {result.n_test for result in found.folds} == {90}
    for result in found.folds:
        assert all(result.measures[name] > 0 for name in SPEED[:2])
        assert ("peak_mib" in result.measures) == (sys.platform == "linux")
        assert result.measures.get("peak_mib", 0) >= 0
    assert found.scheme.as_dict()["holdout"] == 0.3
    measured = {(line["recipe"], line["measure"]) for line in found.exponents}
    assert {("c4.5", "seconds"), ("cart", "row_microseconds")} <= measured
    json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.slow
def test_the_models_are_those_of_a_learning_curve():
    given = {"sizes": [60, 120], "folds": 3}
    found = spinney.scalability(rows(), "y", "cart", **given, repeats=1)
    curve = spinney.learning_curve(rows(), "y", "cart", **given)
    for one, other in zip(found.folds, curve.folds, strict=True):
        assert one.measures["accuracy"] == other.measures["accuracy"]
        assert one.measures["leaves"] == other.measures["leaves"]
        assert "peak_mib" not in other.measures


def test_too_few_rows():
    with pytest.raises(DataError, match=r"too few training rows \(21\).*sizes="):
        spinney.scalability(rows(30), "y", "cart")
    with pytest.raises(DataError, match="too few"):
        spinney.scalability(rows(), "y", "cart", sizes=[100])
    with pytest.raises(ParameterError, match="5000 must be a whole number from 2"):
        spinney.scalability(rows(), "y", "cart", sizes=[50, 5000])
    assert spinney.scalability(rows(30), "y", "cart", sizes=[10, 20], repeats=1)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_memory_is_what_is_written_to():
    def text_of():
        np.ones(32 << 17)  # 32 MiB

    def only_asked_for():
        np.empty(1 << 29)  # 4 GiB that nobody touches

    assert 31 << 20 < peak_memory_of(text_of) < 40 << 20
    assert peak_memory_of(only_asked_for) < 8 << 20


@pytest.mark.slow
def test_leave_one_out_pools_what_single_rows_cannot_tell():
    table = {**rows(24), "y": ["a" if i % 5 < 2 else "b" for i in range(24)]}
    options = {"sizes": [12, 23], "folds": "loo", "repeats": 1}
    speed = spinney.scalability(table, "y", "cart", **options)
    curve = spinney.learning_curve(table, "y", "cart", **options)
    of_speed, of_curve = (
        [line["balanced_accuracy"] for line in each.table] for each in (speed, curve)
    )
    assert of_speed == of_curve
