"""Labels under costs, by hand and against the majority."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.errors import ParameterError
from spinney.trees.costs import expected_costs, labels_of

weights_of = st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(any)


def test_expected_costs_by_hand():
    # 6 of 10 rows are of class 0: calling them 1 costs 1, calling the others 0
    # costs 3 or 5.
    costs = [[0, 3, 5], [1, 0, 1], [2, 2, 0]]
    expected = [0.3 * 3 + 0.1 * 5, 0.6 + 0.1, 0.6 * 2 + 0.3 * 2]
    assert expected_costs([6, 3, 1], costs).tolist() == pytest.approx(expected)
    assert labels_of([6, 3, 1], costs) == 1


@given(weights_of)
def test_with_equal_costs_the_majority_wins(weights):
    size = len(weights)
    equal = np.ones((size, size)) - np.eye(size)
    assert labels_of(weights, equal) == labels_of(np.array(weights, dtype=float))


@given(weights_of, st.integers(1, 1000), st.data())
def test_scale_does_not_matter(weights, scale, data):
    size = len(weights)
    numbers = st.lists(st.integers(0, 7), min_size=size, max_size=size)
    costs = np.array(data.draw(st.lists(numbers, min_size=size, max_size=size)), float)
    found = labels_of(weights, costs)
    assert labels_of([scale * w for w in weights], costs) == found
    by_hand = [
        sum(w * costs[label][true] for true, w in enumerate(weights)) / sum(weights)
        for label in range(size)
    ]
    assert by_hand[found] == pytest.approx(min(by_hand))
    assert all(by_hand[later] > min(by_hand) for later in range(found + 1, size))


def test_the_last_of_equal_labels():
    assert labels_of([1, 1], [[0, 1], [1, 0]]) == 1
    # 0.1 + 0.2 and 0.3 are equal, but not as floats.
    assert labels_of([1, 1, 1], [[0, 0.3, 0], [0, 0.1, 0.2], [9, 9, 9]]) == 1
    assert labels_of([1, 1, 1], [[0, 0.1, 0.2], [0, 0.3, 0], [9, 9, 9]]) == 1


@pytest.mark.parametrize("costs", [[[0, 1]], [[0], [1]], [0, 1], np.zeros((3, 3))])
def test_costs_that_do_not_fit(costs):
    with pytest.raises(ParameterError, match="do not fit 2 classes"):
        expected_costs([1, 2], costs)
