"""What a node asks, and where values go."""

import numpy as np
import pytest

from spinney.data.schema import Attribute
from spinney.trees.counts import CountTable
from spinney.trees.split import Groups, Threshold, branch_table, describe

LETTERS = Attribute("letter", "nominal", ("a", "b", "c", "d"))
SIZES = Attribute("size", "ordinal", ("small", "medium", "large"))
NUMBER = Attribute("number", "numeric")


def test_the_threshold_itself_goes_left():
    split = Threshold(0, 1.5, (0.5, 0.5))
    numbers = np.array([1.5, np.nextafter(1.5, 2), -np.inf, np.inf, np.nan])
    assert split.branch_of(numbers).tolist() == [0, 1, 0, 1, -1]
    assert split.n_branches == 2


def test_codes_have_thresholds_too():
    codes = np.array([0, 1, 2, -1], dtype=np.int32)
    assert Threshold(0, 0.5, ()).branch_of(codes).tolist() == [0, 1, 1, -1]


def test_the_infinite_threshold_asks_whether_the_value_is_known():
    split = Threshold(0, np.inf, (1.0, 0.0), missing=1)
    numbers = np.array([0.0, 1.7e308, np.nan])
    assert split.branch_of(numbers).tolist() == [0, 0, -1]


def test_every_group_is_a_branch():
    split = Groups(0, ((2,), (0, 3)), (0.5, 0.5))
    assert split.n_branches == 2
    assert split.lookup().tolist() == [1, -1, 0, 1]
    # 1 is in no group, 9 is no code of the attribute, -1 is missing.
    codes = np.array([0, 1, 2, 3, 9, -1], dtype=np.int32)
    assert split.branch_of(codes).tolist() == [1, -1, 0, 1, -1, -1]


def test_an_empty_group_holds_no_code():
    split = Groups(0, ((0,), (1,), ()), (0.5, 0.5, 0.0), missing=2)
    assert split.n_branches == 3
    assert split.branch_of(np.array([0, 1, 2, -1])).tolist() == [0, 1, -1, -1]


def test_groups_that_are_all_empty_send_everything_nowhere():
    split = Groups(0, ((), ()), (0.5, 0.5))
    assert split.branch_of(np.array([0, 5, -1])).tolist() == [-1, -1, -1]


def test_missing_rows_are_counted_where_they_go():
    table = CountTable.of([[2, 1], [0, 3], [1, 1]], missing=[4, 5])
    left = branch_table(table, Groups(0, ((0, 2), (1,)), (), missing=0))
    assert left.weights.tolist() == [[7, 7], [0, 3]]
    assert left.missing.tolist() == [0, 0]
    nowhere = branch_table(table, Groups(0, ((0, 2), (1,)), ()))
    assert nowhere.weights.tolist() == [[3, 2], [0, 3]]
    assert nowhere.missing.tolist() == [4, 5]


def test_a_branch_for_missing_rows_is_no_matter_without_them():
    table = CountTable.of([[2, 1], [0, 3]])
    halves = branch_table(table, Threshold(0, 0.5, (), missing=1))
    assert halves.weights.tolist() == [[2, 1], [0, 3]]


@pytest.mark.parametrize(
    "split, attribute, expected",
    [
        (Threshold(0, 0.3815, ()), NUMBER, ["number ≤ 0.3815", "number > 0.3815"]),
        (Threshold(0, 6.0, ()), NUMBER, ["number ≤ 6", "number > 6"]),
        (Threshold(0, np.inf, ()), NUMBER, ["number is known", "number is missing"]),
        (Threshold(0, 0.5, ()), SIZES, ["size < medium", "size ≥ medium"]),
        (Threshold(0, 1.5, ()), SIZES, ["size < large", "size ≥ large"]),
        # Between codes 0 and 2, where 1 does not occur, the cut is at 1.
        (Threshold(0, 1.0, ()), SIZES, ["size < large", "size ≥ large"]),
        (Groups(0, ((0,), (1, 3)), ()), LETTERS, ["letter = a", "letter ∈ {b, d}"]),
        (Groups(0, ((2,), ()), ()), LETTERS, ["letter = c", "letter is missing"]),
    ],
)
def test_how_branches_read(split, attribute: Attribute, expected: list[str]):
    assert [describe(split, attribute, branch) for branch in (0, 1)] == expected


@pytest.mark.parametrize(
    "split, attribute, expected",
    [
        (Threshold(0, 0.5, ()), NUMBER, ["number <= 0.5", "number > 0.5"]),
        (Threshold(0, 0.5, ()), SIZES, ["size < medium", "size >= medium"]),
        (Groups(0, ((0,), (1, 3)), ()), LETTERS, ["letter = a", "letter in {b, d}"]),
    ],
)
def test_how_branches_read_in_ascii(split, attribute: Attribute, expected: list[str]):
    texts = [describe(split, attribute, branch, ascii_only=True) for branch in (0, 1)]
    assert texts == expected
    assert all(text.isascii() for text in texts)
