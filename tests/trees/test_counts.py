"""The count table."""

import numpy as np
import pytest

from spinney.trees.counts import CountTable


def by_hand(
    values: list[int],
    weights: list[list[float]],
    *,
    rows: list[list[int]],
    missing: tuple[list[float], list[int]] = ([0, 0], [0, 0]),
) -> CountTable:
    return CountTable(
        np.array(values),
        np.array(weights, dtype=float),
        np.array(rows),
        np.array(missing[0], dtype=float),
        np.array(missing[1]),
    )


@pytest.fixture
def color() -> CountTable:
    """Watermelon 2.0: unripe and ripe for dark, green and light."""
    return CountTable.of([[2, 4], [3, 3], [4, 1]])


def test_plain_numbers_make_a_table(color: CountTable):
    assert color.values.tolist() == [0, 1, 2]
    assert color.rows.tolist() == [[2, 4], [3, 3], [4, 1]]
    assert color.missing.tolist() == [0, 0]
    assert color.total.tolist() == [9, 8]
    assert color.weight == 17
    assert color.known_share == 1


def test_fractional_weights_stand_for_at_least_one_row():
    table = CountTable.of([[0.25, 0]], missing=[0, 1.5])
    assert table.rows.tolist() == [[1, 0]]
    assert table.missing_rows.tolist() == [0, 2]


def test_known_share_is_by_weight():
    table = CountTable.of([[2, 1], [0, 3]], missing=[1, 1])
    assert table.weight == 8
    assert table.known_share == 0.75


def test_known_share_of_a_stack_is_that_of_each():
    table = CountTable.of([[2, 1], [0, 3]], missing=[1, 1])
    stack = CountTable(
        table.values,
        np.stack([table.weights, table.weights[::-1]]),
        np.stack([table.rows, table.rows[::-1]]),
        table.missing,
        table.missing_rows,
    )
    assert stack.known_share.tolist() == [0.75, 0.75]


def test_class_weights_scale_weights_not_rows(color: CountTable):
    scaled = CountTable.of([[2, 4]], missing=[1, 1]).scaled(np.array([0.5, 2]))
    assert scaled.weights.tolist() == [[1, 8]]
    assert scaled.missing.tolist() == [0.5, 2]
    assert scaled.rows.tolist() == [[2, 4]]
    assert color.scaled(None) is color


def test_merging_adds_values_that_share_a_branch(color: CountTable):
    merged = color.merged(np.array([1, 0, 1]), 3)
    assert merged.values.tolist() == [0, 1, 2]
    assert merged.weights.tolist() == [[3, 3], [6, 5], [0, 0]]
    assert merged.rows.tolist() == [[3, 3], [6, 5], [0, 0]]


def test_missing_rows_can_be_counted_somewhere():
    table = CountTable.of([[2, 1], [0, 3]], missing=[1, 4])
    there = table.with_missing_at(1)
    assert there.weights.tolist() == [[2, 1], [1, 7]]
    assert there.rows.tolist() == [[2, 1], [1, 7]]
    assert there.missing.tolist() == there.missing_rows.tolist() == [0, 0]
    assert table.weights.tolist() == [[2, 1], [0, 3]]  # the table itself is as before


def test_missing_rows_can_be_left_out():
    table = CountTable.of([[2, 1]], missing=[1, 4]).without_missing()
    assert table.weight == 3
    assert table.missing_rows.tolist() == [0, 0]
