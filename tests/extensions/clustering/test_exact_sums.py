"""Sums are exact in any order, and means are rounded once."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney.extensions.clustering.exact_sums import (
    exact_means,
    exact_parts,
    exact_scales,
    sum_by_cluster,
)

cell = st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) > 1e-2)
weight = st.floats(0.01, 100)


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(cell, weight), min_size=1, max_size=40), st.randoms())
def test_means_are_exact(drawn, random):
    cells = np.array([[number] for number, _ in drawn])
    weights = np.array([heavy for _, heavy in drawn])
    scales = exact_scales(cells, weights)
    parts = exact_parts(cells, weights, scales)
    labels = np.zeros(len(cells), dtype=np.int64)
    mean, total = exact_means(sum_by_cluster(parts, labels, 1), scales)
    products = [Fraction(w * x) for x, w in drawn]
    exact = sum(map(Fraction, weights.tolist()))
    assert mean[0, 0] == float(sum(products) / exact)
    assert total[0] == float(exact)
    order = list(range(len(drawn)))
    random.shuffle(order)
    np.testing.assert_array_equal(
        sum_by_cluster(parts[:, order], labels, 1), sum_by_cluster(parts, labels, 1)
    )


def test_an_outlier_ruins_nothing():
    cells = np.array([[1e12], [0.1], [0.2]])
    scales = exact_scales(cells, np.empty(0))
    labels = np.array([0, 1, 1])
    sums = sum_by_cluster(exact_parts(cells, np.empty(0), scales), labels, 2)
    mean, _ = exact_means(sums, scales)
    assert mean[1, 0] == float((Fraction(0.1) + Fraction(0.2)) / 2)
