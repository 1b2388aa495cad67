"""From a table to coded rows: what is kept, what is refused, what tells it apart."""

import numpy as np
import pytest

from spinney.data.declarations import Declarations
from spinney.data.readers import read_table
from spinney.data.schema import Target
from spinney.data.table import Column, Table
from spinney.data.target_leakage import MAX_CLASSES
from spinney.data.times import DAY_UNIT
from spinney.errors import DataError, SpinneyWarning
from spinney.sources.rows.training_rows import (
    TrainingSet,
    as_classes,
    as_target,
    check_classes,
    check_roles,
    check_target,
    training_set,
)

TARGET = Target("y", ("a", "b"))


def rows_of(weights: list[float] | None = None, **columns: list) -> TrainingSet:
    """Return four rows of alternating classes."""
    table = read_table(
        columns or {"x": [1.0, 2.0, None, 4.0], "c": ["r", "g", "b", ""]}
    )
    return training_set(
        table,
        TARGET,
        classes=np.arange(table.n_rows) % 2,
        weights=None if weights is None else np.array(weights),
    )


def test_rows_are_coded():
    found = rows_of()
    assert [(a.name, a.kind, a.values) for a in found.schema.attributes] == [
        ("x", "numeric", ()),
        ("c", "nominal", ("b", "g", "r")),
    ]
    np.testing.assert_array_equal(found.columns[0], [1, 2, np.nan, 4])
    assert found.columns[1].tolist() == [2, 1, 0, -1]
    assert found.classes.tolist() == [0, 1, 0, 1]
    assert found.weight == 4
    assert found.source().root().weights.tolist() == [2, 2]


def test_rows_of_no_weight_leave_no_trace():
    found = rows_of([1, 0.5, 0, 2])
    assert found.schema.attributes[1].values == ("g", "r")
    assert found.columns[1].tolist() == [1, 0, -1]
    assert found.classes.tolist() == [0, 1, 1]
    assert found.weights.tolist() == [1, 0.5, 2]
    assert found.weight == 3.5
    assert found.source().root().weights.tolist() == [1, 2.5]
    absent = rows_of([1, 0.5, 2], x=[1.0, 2.0, 4.0], c=["r", "g", ""])
    assert found.schema == absent.schema


def test_rows_of_no_class_are_left_out():
    table = read_table({"c": ["r", "g", "b"]})
    found = training_set(table, TARGET, classes=np.array([0, -1, 1]))
    assert found.schema.attributes[0].values == ("b", "r")
    assert found.classes.tolist() == [0, 1]


def test_ordinal_levels_stay_even_if_they_do_not_occur():
    levels = ("low", "middle", "high")
    column = Column("o", "ordinal", np.array([2, 0]), levels)
    found = training_set(Table((column,), 2), TARGET, classes=np.array([0, 1]))
    assert found.schema.attributes[0].values == levels
    assert found.columns[0].tolist() == [2, 0]


def test_nothing_to_learn():
    with pytest.raises(DataError, match="no row has both a weight"):
        rows_of([0, 0, 0, 0])


def test_rows_that_no_tree_can_grow_on():
    with pytest.raises(DataError, match="target 'y': there is 1 sample"):
        rows_of([1, 0, 0, 0])


def test_rows_of_one_class_are_warned_of():
    with pytest.warns(SpinneyWarning, match="target 'y': all 2 rows have one class"):
        rows_of([1, 0, 1, 0])


@pytest.mark.parametrize("label", ["two\nlines", "form\x0cfeed", "line\u2028break"])
def test_a_class_of_several_lines_is_refused(label):
    with pytest.raises(DataError, match="holds a line break"):
        check_classes(Target("y", ("a", label)), np.array([0, 1]), 2)


# Fingerprints


def test_a_fingerprint_tells_what_differs():
    same = rows_of().fingerprint()
    assert same == rows_of().fingerprint()
    assert (same.n_rows, same.weight) == (4, 4.0)
    assert len(same.digest) == 64
    others = [
        rows_of([1, 1, 1, 1]),  # weights are said
        rows_of([1, 1, 1, 2]),
        rows_of(x=[1.0, 2.0, None, 5.0], c=["r", "g", "b", ""]),
        rows_of(x=[1.0, 2.0, None, 4.0], c=["r", "g", "z", ""]),
        rows_of(z=[1.0, 2.0, None, 4.0], c=["r", "g", "b", ""]),
        rows_of(x=[2.0, 1.0, None, 4.0], c=["g", "r", "b", ""]),
    ]
    digests = {other.fingerprint().digest for other in others} | {same.digest}
    assert len(digests) == len(others) + 1


# Targets


def test_numbers_as_classes():
    target, codes = as_classes(Column("y", "numeric", np.array([3, 1, np.nan, 1.0])))
    assert target.classes == (1, 3)
    assert all(type(label) is int for label in target.classes)
    assert codes.tolist() == [1, 0, -1, 0]


def test_as_many_numbers_as_may_be_classes():
    numbers = np.arange(MAX_CLASSES, dtype=float)
    target, _ = as_classes(Column("y", "numeric", numbers))
    assert len(target.classes) == MAX_CLASSES
    assert as_target(Column("y", "numeric", numbers))[0] == target
    more = Column("y", "numeric", np.append(numbers, 20.0))
    assert as_target(more)[0] == Target("y", origin=0.0)


def test_fractions_are_no_classes():
    with pytest.raises(DataError, match=r"such as 0\.5.*declare it nominal"):
        as_classes(Column("y", "numeric", np.array([0.0, 0.5, 1.0])))
    with pytest.raises(DataError, match="holds dates or times"):
        as_classes(Column("y", "numeric", np.array([0.0, 0.5]), unit=DAY_UNIT))


def test_classes_are_the_levels_that_occur():
    column = Column("y", "ordinal", np.array([2, 0, -1]), ("low", "middle", "high"))
    target, codes = as_classes(column)
    assert target.classes == ("low", "high")
    assert codes.tolist() == [1, 0, -1]


@pytest.mark.parametrize("name", [None, "", 3, ["y"]])
def test_a_target_that_is_no_name(name):
    with pytest.raises(DataError, match="must be the name of a column"):
        check_roles(name, None)


def test_a_target_that_is_ignored_or_a_weight_too():
    with pytest.raises(DataError, match="target 'y' is ignored too"):
        check_roles("y", None, Declarations(ignore=("y",)))
    with pytest.raises(DataError, match="weight 'y' is the target"):
        check_roles("y", "y")


def test_a_target_that_is_not_there():
    with pytest.raises(DataError, match="no column 'yy': did you mean 'y'"):
        check_target(read_table({"y": ["a"]}), "yy")


def test_missing_classes_are_told():
    table = read_table({"y": ["a", None, "b", None]})
    with pytest.warns(SpinneyWarning, match="'y' is missing in 2 of 4 rows, which"):
        check_target(table, "y")
    with pytest.raises(DataError, match="all 2 cells are missing"):
        check_target(read_table({"y": [None, None]}), "y")


def test_a_target_that_only_tells_rows_apart_is_refused():
    target = Target("name", tuple(f"n{n}" for n in range(120)))
    with pytest.raises(DataError, match="'name': 120 of 130 rows have a class of"):
        check_classes(target, np.arange(120), 130)
    check_classes(target, np.arange(120), 300)
