"""Rows reserved to prune by: of each class its share, by what is in them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney import ParameterError
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.prune import reserve_validation_rows
from spinney.sources.rows.training_rows import TrainingSet


def rows_of(numbers, classes, weights=None, *, numeric=False):
    target = Target("y", origin=0.0) if numeric else Target("y", ("a", "b", "c"))
    schema = Schema((Attribute("x", "numeric"),), target)
    weights = None if weights is None else np.array(weights, float)
    dtype = float if numeric else np.int64
    classes = np.array(classes, dtype)
    return TrainingSet(schema, (np.array(numbers, float),), classes, weights)


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 2), st.sampled_from((1, 2, 5))),
        min_size=12,
        max_size=60,
    ),
    share=st.sampled_from((0.2, 0.3, 0.5, 0.7)),
    seed=st.integers(0, 5),
    weighted=st.booleans(),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=examples(60))
def test_every_class_gives_its_share_in_any_order(rows, share, seed, weighted, order):
    def drawn(given_rows):
        numbers, classes, weights = zip(*given_rows, strict=True)
        training = rows_of(numbers, classes, weights if weighted else None)
        return training, reserve_validation_rows(training, share, seed=seed)

    training, chosen = drawn(rows)
    weights, largest = training.sample_weights, training.sample_weights.max()
    for code in np.unique(training.classes):
        own = training.classes == code
        assert not chosen[own].all()  # one at least is left to grow on
        # What one class cannot give, a heavy row or its first, the next one gives.
        amiss = weights[own & chosen].sum() - share * weights[own].sum()
        assert -3 * largest <= amiss <= 3 * largest
    assert abs(weights[chosen].sum() - share * weights.sum()) <= 2 * largest
    shuffled = list(rows)
    order.shuffle(shuffled)
    _, again = drawn(shuffled)
    # Where weights are not given they are of no concern.
    width = 3 if weighted else 2
    found = [
        sorted(row[:width] for row, kept in zip(table, mask, strict=True) if kept)
        for table, mask in ((rows, chosen), (shuffled, again))
    ]
    assert found[0] == found[1]


def test_a_third_of_two_classes():
    """Thirds of 6 and 3 rows: two of the first class, one of the second."""
    training = rows_of(range(9), [0] * 6 + [1] * 3)
    chosen = reserve_validation_rows(training, 1 / 3)
    assert np.bincount(training.classes[chosen]).tolist() == [2, 1]
    assert (reserve_validation_rows(training, 1 / 3) == chosen).all()
    others = [
        reserve_validation_rows(training, 1 / 3, seed=seed).tolist()
        for seed in range(1, 6)
    ]
    assert any(other != chosen.tolist() for other in others)


def test_numbers_are_drawn_by_quantiles():
    training = rows_of(range(200), np.arange(200.0) ** 2, numeric=True)
    chosen = reserve_validation_rows(training, 0.3)
    assert chosen.sum() == 60
    assert chosen.reshape(10, 20).sum(axis=1).tolist() == [6] * 10


def test_an_order_of_numbers_is_enough():
    """Another unit of an attribute reserves the same rows."""
    numbers = np.random.RandomState(0).rand(50)
    one = reserve_validation_rows(rows_of(numbers, np.arange(50) % 3), 0.4)
    other = reserve_validation_rows(rows_of(1000 * numbers + 3, np.arange(50) % 3), 0.4)
    assert (one == other).all()


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan"), "0.3", True, None])
def test_what_is_no_share_is_refused(share):
    with pytest.raises(
        ParameterError, match=r"validation_share=.* must be a fraction of"
    ):
        reserve_validation_rows(rows_of(range(4), [0, 0, 1, 1]), share)


def test_a_share_that_reserves_nothing_is_refused():
    with pytest.raises(ParameterError, match=r"0.01 of 6 rows reserves none that"):
        reserve_validation_rows(rows_of(range(6), [0, 0, 0, 1, 1, 1]), 0.01)
    with pytest.raises(ParameterError, match=r"0.5 of 3 rows reserves none that a cla"):
        reserve_validation_rows(rows_of(range(3), [0, 1, 2]), 0.5)
