"""Costs as mappings and arrays."""

import numpy as np
import pytest

from spinney.data.cost_matrix import cost_array
from spinney.errors import ParameterError


def test_a_mapping_is_put_in_the_order_of_the_classes():
    found = cost_array({"x": {"y": 5, "x": 1}, "y": {"x": 2.5}}, ["y", "x"])
    assert found.tolist() == [[0, 2.5], [5, 1]]


def test_labels_match_by_their_text():
    assert cost_array({"1": {"2": 3}, "2": {"1": 4}}, [1, 2]).tolist() == [
        [0, 3],
        [4, 0],
    ]


def test_an_array_is_copied():
    given = np.array([[0.0, 1.0], [2.0, 0.0]])
    found = cost_array(given, ["a", "b"])
    found[0, 0] = 9
    assert given[0, 0] == 0


@pytest.mark.parametrize(
    "costs, said",
    [
        ([[0, 1]], r"shape \(1, 2\) does not fit 2 classes"),
        ([[0, "x"], [1, 0]], "holds more than numbers"),
        ([[0, -1], [1, 0]], "label 'a' where 'b' is true costs -1.0"),
        ([[0, float("nan")], [1, 0]], "costs nan"),
        ({"a": {"b": 1}}, "does not say what label 'b' costs where 'a' is true"),
        ({"a": {"b": 1}, "b": 3}, "'b' has 3, not a mapping of classes to costs"),
        ({"a": {"b": 1}, "c": {"a": 1}}, "no class 'c'"),
        ({"a": {"b": "1"}, "b": {"a": 1}}, "costs '1', which is no number"),
        ({"a": {"b": float("inf")}, "b": {"a": 1}}, "costs inf"),
        ({"a": {"b": float("nan")}, "b": {"a": 1}}, "costs nan, which is no number"),
    ],
)
def test_what_is_refused(costs, said):
    with pytest.raises(ParameterError, match=said):
        cost_array(costs, ["a", "b"])
