"""How a target is read, and columns that tell it by themselves."""

import random
import sys
from collections import Counter

import numpy as np
import pytest

from spinney.data.declarations import Declarations
from spinney.data.readers import read_table
from spinney.data.table import Column
from spinney.data.target_leakage import (
    MAX_CLASSES,
    MAX_NUMBERS,
    MAX_ROWS,
    MIN_ROWS,
    _n_predicted,
    holds_classes,
    leakage_warnings,
    similar_class_warnings,
    target_note,
)
from spinney.errors import in_words


def warnings_of(columns, target="y", **declared):
    table = read_table({**columns, "other": [1] * len(columns[target])})
    found = leakage_warnings(
        table.without([target]), table[target], Declarations(**declared)
    )
    return [str(each) for each in found]


def column_of(n_numbers, name="y"):
    return Column(name, "numeric", np.arange(n_numbers, dtype=float))


def note_of(column, **declared):
    return in_words(target_note(column, Declarations(**declared)), str)


HALVES = ["a", "b"] * (MIN_ROWS // 2)


def test_a_column_that_is_missing_where_the_target_is_no():
    boat = [
        None if each == "b" else f"{place % 9}" for place, each in enumerate(HALVES)
    ]
    assert warnings_of({"boat": boat, "y": HALVES}) == [
        "column 'boat' alone predicts 'y' in 100 % of rows: possible target "
        "leakage; exclude it if it is not known beforehand (ignore=['boat'])"
    ]


def test_of_few_rows_nothing_is_said():
    assert warnings_of({"x": HALVES[:-1], "y": HALVES[:-1]}) == []


def test_the_only_column_is_all_there_is():
    table = read_table({"x": HALVES, "y": HALVES})
    assert leakage_warnings(table.without(["y"]), table["y"], Declarations()) == []


def test_a_declared_column_stays_without_a_word():
    columns = {"x": HALVES, "y": HALVES}
    assert len(warnings_of(columns)) == 1
    assert warnings_of(columns, nominal=("x",)) == []


def test_an_identifier_tells_no_other_row():
    names = [f"n{place}" for place in range(len(HALVES))]
    assert warnings_of({"x": names, "y": HALVES}) == []


@pytest.mark.parametrize("n_odd, n_found", [(10, 1), (11, 0)])
def test_a_tenth_of_the_errors_may_be_left(n_odd, n_found):
    x = [*("b" if each == "a" else each for each in HALVES[: 2 * n_odd])]
    found = warnings_of({"x": [*x, *HALVES[2 * n_odd :]], "y": HALVES})
    assert len(found) == n_found
    assert not found or "in 95 % of rows" in found[0]


def test_a_number_by_its_threshold():
    rng = random.Random(0)
    size = [rng.random() for _ in range(1000)]
    y = ["big" if each > 0.4 else "small" for each in size]
    assert len(warnings_of({"size": size, "y": y})) == 1
    rng.shuffle(y)
    assert warnings_of({"size": size, "y": y}) == []


def test_rows_of_long_tables_are_looked_at_here_and_there():
    y = ["a", "b", "b"] * MAX_ROWS
    (found,) = warnings_of({"x": y, "y": y})
    assert "in 100 % of 10000 sampled rows" in found


THREE = ["ill", "well", "dead"] * 100


@pytest.mark.parametrize(
    "cells",
    [
        ["yes" if each == "dead" else "no" for each in THREE],
        [f"day {i}" if y == "dead" else None for i, y in enumerate(THREE)],
    ],
    ids=["by its values", "by its missing cells"],
)
def test_a_column_that_predicts_one_class(cells):
    assert warnings_of({"died": cells, "y": THREE}) == [
        "column 'died' alone predicts 'y' = 'dead' in 100 % of rows: possible target "
        "leakage; exclude it if it is not known beforehand (ignore=['died'])"
    ]
    assert warnings_of({"died": cells, "y": THREE}, nominal=("died",)) == []


def test_one_class_needs_most_of_its_rows():
    cells = ["yes" if each == "dead" else "no" for each in THREE]
    cells[:2] = ["yes", "yes"]
    assert warnings_of({"died": cells, "y": THREE}) == []
    rare = ["rare" if i < 19 else "ab"[i % 2] for i in range(MIN_ROWS)]
    assert warnings_of({"x": [y == "rare" for y in rare], "y": rare}) == []


def test_a_number_to_predict():
    price = [float(each**2) for each in range(MIN_ROWS)]
    tax = [0.2 * each for each in price]
    found = warnings_of({"tax": tax, "t": list(range(MIN_ROWS)), "y": price})
    assert [each.split(":")[0] for each in found] == [
        "column 'tax' alone predicts 'y' with r = 1.000",
        "column 't' alone predicts 'y' with r = 0.968",
    ]


def test_n_predicted_are_those_of_plain_loops():
    rng = np.random.default_rng(0)
    for _ in range(50):
        values, classes = rng.integers(0, 6, 30), rng.integers(0, 3, 30)
        told = 0
        for row in range(30):
            others = Counter(
                int(classes[other])
                for other in range(30)
                if other != row and values[other] == values[row]
            )
            mine = others.pop(int(classes[row]), 0)
            told += mine > max(others.values(), default=0)
        assert _n_predicted(values, classes) == told


def test_whole_numbers_are_classes_if_they_are_few():
    assert holds_classes(column_of(MAX_CLASSES))
    assert not holds_classes(column_of(MAX_CLASSES + 1))
    assert not holds_classes(column_of(MAX_CLASSES), numeric=True)
    assert not holds_classes(Column("y", "numeric", np.array([0.5, 1.0])))
    assert holds_classes(Column("y", "nominal", np.array([0]), ("a",)))


def test_what_is_said_of_whole_numbers():
    assert note_of(column_of(2)) == ""
    assert note_of(column_of(3)).endswith(
        "3 different integers, read as classes; to predict a number, declare it "
        "(numeric=['y'])"
    )
    assert note_of(column_of(MAX_CLASSES + 1)).endswith(
        "21 different integers, read as a number; to predict classes, declare it "
        "(nominal=['y'])"
    )
    assert note_of(column_of(MAX_NUMBERS + 1)) == ""
    assert note_of(column_of(3), numeric=("y",)) == ""
    assert note_of(Column("y", "nominal", np.array([0, 1, 2]), (0, 1, 2))) == ""


def test_a_debugger_changes_nothing():
    """A tracer holds the names of a frame, so no array there may be resized."""
    values, classes = np.array([0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 0])

    def trace(frame, *_):
        len(frame.f_locals)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert _n_predicted(values, classes) == 4
    finally:
        sys.settrace(before)


def test_classes_that_may_be_one():
    classes = ["Ja", "ja", "ja ", "nein", "nien", "nie"]
    codes = np.array([0, 2, 4, 5, *[1] * 10, *[3] * 10])
    first, second = similar_class_warnings("y", classes, codes)
    assert "holds 'Ja' in row 1, 'ja' and 'ja ' in row 2, three classes" in str(first)
    assert "holds 'nein', 'nien' in row 3 and 'nie' in row 4, three" not in str(second)
    assert "holds 'nein' and 'nien' in row 3, two classes" in str(second)
    # One of few rows beside others of few is no slip.
    assert similar_class_warnings("y", ["nein", "nien"], np.array([0, 0, 1])) == []
