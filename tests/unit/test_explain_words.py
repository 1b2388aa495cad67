"""What explanations say of forests, costs, smoothing and missing values."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import spinney

TABLES = Path(__file__).parents[1] / "tables"
IRIS = TABLES / "iris.csv"


# A forest


@pytest.fixture(scope="module")
def taught() -> Any:
    return spinney.grow(IRIS, "class", max_depth=3)


def test_a_choice_on_smoothed_labels_is_told(taught):
    told = taught.explain(2)
    (only,) = told.candidates
    assert told.why == (
        "petallength: chosen on labels that a forest has smoothed; on the rows as they "
        f"are its decrease of gini is {only.gain:.3f}"
    )
    assert "greatest" not in str(told)
    assert told.as_dict()["forest"] == 0.75
    assert only.competes
    # On the rows as they are petalwidth ≤ 1.75 is better, 0.390 to 0.374.
    plain = spinney.grow(IRIS, "class", recipe="cart", max_depth=2).explain(2)
    assert max(each.gain for each in plain.candidates) > only.gain
    assert plain.forest == 0
    assert "the greatest decrease of gini" in plain.why


def test_limits_that_the_rows_as_they_are_would_fail_are_not_told(taught):
    strict = replace(taught.explain(2), min_gain=1.0)
    assert "below the least gain" not in str(strict)
    assert "below the least gain 1: out" in str(replace(strict, forest=0.0))


def test_no_average_is_told_of_the_one_question_kept():
    taught = spinney.grow(IRIS, "class", criterion="gain_ratio", max_depth=1)
    told = taught.explain(0)
    assert told.average_gain is None
    assert ": chosen among those of at least average gain on labels" in told.why
