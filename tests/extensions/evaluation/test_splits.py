"""Parts of the rows: those of scikit-learn, the same for every recipe."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from spinney.errors import DataError, ParameterError, SpinneyError, SpinneyWarning
from spinney.extensions.evaluation.evaluation_rows import read_evaluation_rows
from spinney.extensions.evaluation.splits import Scheme, make_splits
from spinney.sources.training_data import TableInput


def rows_with(target):
    columns = {"x": list(range(len(target))), "y": target}
    return read_evaluation_rows(TableInput(data=columns, target="y"))


TWO = ["a"] * 12 + ["b"] * 18


def test_folds_are_those_of_scikit_learn():
    expected = StratifiedKFold(5, shuffle=True, random_state=3)
    found = make_splits(rows_with(TWO), Scheme(folds=5, seed=3))
    for part, (train, test) in zip(found, expected.split(TWO, TWO), strict=True):
        assert np.array_equal(part.train, train)
        assert np.array_equal(part.test, test)
    assert [(part.repeat, part.fold) for part in found] == [(1, n) for n in range(1, 6)]


def test_numbers_are_not_stratified():
    numbers = [n / 7 for n in range(30)]
    expected = KFold(5, shuffle=True, random_state=3)
    found = make_splits(rows_with(numbers), Scheme(folds=5, seed=3))
    for part, (train, test) in zip(found, expected.split(numbers), strict=True):
        assert np.array_equal(part.train, train)
        assert np.array_equal(part.test, test)


@pytest.mark.parametrize("target", [TWO, [n / 7 for n in range(30)]])
def test_held_out_is_that_of_scikit_learn(target):
    [part] = make_splits(rows_with(target), Scheme(holdout=0.3, seed=5))
    train, test = train_test_split(
        np.arange(30),
        test_size=0.3,
        random_state=5,
        stratify=target if target is TWO else None,
    )
    assert np.array_equal(part.train, train)
    assert np.array_equal(part.test, test)


def test_repeats_differ_and_start_with_the_single_one():
    once = make_splits(rows_with(TWO), Scheme(folds=3))
    twice = make_splits(rows_with(TWO), Scheme(folds=3, repeats=2))
    assert [(part.repeat, part.fold) for part in twice[3:]] == [(2, 1), (2, 2), (2, 3)]
    for one, other in zip(once, twice[:3], strict=True):
        assert np.array_equal(one.test, other.test)
    assert not np.array_equal(twice[0].test, twice[3].test)
    held = make_splits(rows_with(TWO), Scheme(holdout=0.5, repeats=4))
    assert [(part.repeat, part.fold) for part in held] == [(n, 1) for n in range(1, 5)]


@given(
    st.lists(st.sampled_from("abc"), min_size=2, max_size=30),
    st.integers(2, 6),
    st.integers(0, 2**32 - 1),
)
def test_every_row_is_tested_once(target, folds, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpinneyWarning)
        try:
            found = make_splits(rows_with(target), Scheme(folds=folds, seed=seed))
        except SpinneyError:
            counts = [target.count(label) for label in set(target)]
            assert len(counts) == 1 or max(counts) < folds
            return
    assert sorted(np.concatenate([part.test for part in found])) == list(
        range(len(target))
    )
    for part in found:
        assert set(part.train) | set(part.test) == set(range(len(target)))
        assert not set(part.train) & set(part.test)


def test_a_rare_class_is_told_once():
    rows = rows_with([*TWO, "c", "c"])
    with pytest.warns(SpinneyWarning) as told:
        make_splits(rows, Scheme(folds=5, repeats=3))
    [warning] = told
    assert "class 'c' (2) has fewer rows than the 5 folds: some training" in str(
        warning.message
    )


def test_a_class_of_one_row_held_out():
    with pytest.warns(SpinneyWarning, match=r"class 'c' \(1\) has one row only"):
        [part] = make_splits(rows_with([*TWO, "c"]), Scheme(holdout=0.3))
    assert len(part.test) == 10


def test_too_few_rows_held_out_for_all_classes():
    with pytest.warns(SpinneyWarning, match="1 of 4 rows cannot hold all 2 classes"):
        [part] = make_splits(rows_with(["a", "a", "b", "b"]), Scheme(holdout=0.2))
    assert len(part.test) == 1


@pytest.mark.parametrize(
    "target, scheme, said",
    [
        (["a", "b"], {"folds": 2}, "more than the rows of any class, at most 1: give"),
        (["a", "b"] * 3, {"folds": 4}, "at most 3: use at most 3"),
        (["a", "b"] * 3, {"folds": 7}, "more than the 6 rows"),
        ([0.5, 1.5], {"folds": 3}, "more than the 2 rows"),
        (["a", "b"], {"holdout": 0.7}, "leaves none of 2 rows"),
    ],
)
def test_more_folds_than_there_are_rows(target, scheme, said):
    with pytest.raises(ParameterError, match=said):
        make_splits(rows_with(target), Scheme(**scheme))


def test_one_row_and_one_class():
    with pytest.raises(DataError, match="1 sample"):
        rows_with(["a"])
    with pytest.raises(DataError, match="at least two"):
        make_splits(rows_with([0.5]), Scheme())
    with pytest.warns(SpinneyWarning, match="all 3 rows have one class"):
        rows_with(["a"] * 3)


@pytest.mark.parametrize(
    "name, value",
    [
        ("folds", 1),
        ("folds", 2.0),
        ("folds", True),
        ("repeats", 0),
        ("repeats", "3"),
        ("holdout", 0),
        ("holdout", 1),
        ("holdout", float("nan")),
        ("holdout", "0.3"),
    ],
)
def test_schemes_that_mean_nothing(name, value):
    with pytest.raises(ParameterError, match=f"{name}="):
        Scheme(**{name: value})


def test_folds_and_a_part_held_out_are_not_both():
    with pytest.raises(ParameterError, match=r"folds=3 with holdout=0\.3"):
        Scheme(folds=3, holdout=0.3)
