"""Count tables line under line, and each as a view."""

import numpy as np

from spinney.trees.counts import CountTable
from spinney.trees.table_batch import TableBatch, joined_batches

COLOR = CountTable.of([[3, 1], [0, 2]], missing=[1, 0])
SIZE = CountTable.of([[1, 1], [2, 0], [1, 2]])
NOTHING = CountTable.of(np.zeros((0, 2)), missing=[2, 2])


def same(one: CountTable, other: CountTable) -> bool:
    names = ("values", "weights", "rows", "missing", "missing_rows")
    return all(np.array_equal(getattr(one, n), getattr(other, n)) for n in names)


def test_a_stack_gives_back_its_tables():
    batch = TableBatch.of([{4: SIZE, 0: COLOR}, {}, {1: NOTHING}])
    assert batch.node.tolist() == [0, 0, 2]
    assert batch.attribute.tolist() == [0, 4, 1]
    for number, table in enumerate((COLOR, SIZE, NOTHING)):
        assert same(batch.table(number), table)
    assert batch.table(0, codes=True).values.dtype.kind == "i"


def test_what_is_known_of_each_table():
    batch = TableBatch.of([{0: COLOR, 1: SIZE, 2: NOTHING}])
    assert batch.counts.tolist() == [2, 3, 0]
    assert batch.owner.tolist() == [0, 0, 1, 1, 1]
    assert batch.total.tolist() == [[3, 3], [4, 3], [0, 0]]
    assert batch.known_weight.tolist() == [6, 7, 0]
    assert batch.weight.tolist() == [7, 7, 4]
    assert batch.has_missing.tolist() == [True, False, True]


def test_tables_are_taken_in_any_order():
    batch = TableBatch.of([{0: COLOR, 1: SIZE, 2: NOTHING}])
    taken = batch.take(np.array([2, 1]))
    assert same(taken.table(0), NOTHING)
    assert same(taken.table(1), SIZE)
    assert batch.lines_of(np.array([1, 0])).tolist() == [2, 3, 4, 0, 1]


def test_stacks_are_joined():
    both = joined_batches([TableBatch.of([{0: COLOR}]), TableBatch.of([{3: SIZE}])])
    assert both.attribute.tolist() == [0, 3]
    assert same(both.table(1), SIZE)


def test_classes_are_weighed():
    scaled = TableBatch.of([{0: COLOR}]).scaled(np.array([2.0, 0.5]))
    assert same(scaled.table(0), COLOR.scaled(np.array([2.0, 0.5])))
    nothing = scaled.without_missing(np.array([True]))
    assert nothing.missing.tolist() == [[0, 0]]
