"""Warnings about columns that look like something else."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney.data.column_issues import (
    ISSUES,
    table_warnings,
    without_identifiers,
)
from spinney.data.declarations import Declarations
from spinney.data.readers import read_table
from spinney.data.text_formats import CELL_FORMATS, DIGIT, to_python_pattern
from spinney.errors import SpinneyNote, SpinneyWarning


def identifier_warnings(table):
    issues = {"identifier": ISSUES["identifier"]}
    return table_warnings(table, issues=issues)


def number_warnings(table, declared=None, rows=None):
    issues = {"unparsable": ISSUES["unparsable"]}
    found = table_warnings(table, declared, rows, issues)
    return [each for each in found if "reads as text" in str(each)]


def test_text_that_is_all_different_looks_like_an_identifier():
    table = read_table({"name": [f"n{i}" for i in range(10)], "x": list(range(10))})
    (warning,) = identifier_warnings(table)
    assert str(warning) == (
        "column 'name' looks like an identifier with only unique values (10): exclude "
        "it (ignore=['name'])"
    )


@pytest.mark.parametrize(
    "cells",
    [
        [f"n{i}" for i in range(9)],
        [*(f"n{i}" for i in range(9)), None],
        [*(f"n{i}" for i in range(10)), "n1"],
        list(range(10)),
        [True, False] * 5,
    ],
    ids=["few", "few present", "one twice", "numbers", "booleans"],
)
def test_no_identifier(cells):
    assert identifier_warnings(read_table({"x": cells})) == []


def test_missing_cells_do_not_hide_an_identifier():
    table = read_table({"x": [*(f"n{i}" for i in range(10)), None, None]})
    assert len(identifier_warnings(table)) == 1


@pytest.mark.parametrize(
    ("n_cells", "n_repeats", "told"),
    [
        (20, 2, "almost only unique values (18 of 20)"),
        (20, 3, None),
        (19, 1, None),
        (101, 1, "almost only unique values (100 of 101)"),
        (101, 11, None),
    ],
)
def test_text_that_nearly_all_differs(n_cells, n_repeats, told):
    cells = [f"n{i}" for i in range(n_cells - n_repeats)] + ["n0"] * n_repeats
    found = identifier_warnings(read_table({"x": [*cells, None]}))
    assert [told in str(warning) for warning in found] == (
        [] if told is None else [True]
    )


def test_numbers_kept_from_being_numeric_by_a_text():
    ages = [*map(str, range(20)), "NA", "NA", "?"]
    table = read_table({"age": ages})
    (warning,) = number_warnings(table)
    assert str(warning) == (
        "column 'age' reads as text because of '?' in row 23 and 'NA': declare these "
        "missing and the column numeric (missing_values=['?', 'NA'], numeric=['age']), "
        "or the column nominal (nominal=['age'])"
    )
    # A text of a file without types is a number if it looks like one.
    (warning,) = number_warnings(replace(table, has_types=False))
    assert str(warning) == (
        "column 'age' reads as text because of '?' in row 23 and 'NA': fix these "
        "cells, declare them missing (missing_values=['?', 'NA']) or the column "
        "nominal (nominal=['age'])"
    )


def test_one_odd_cell_among_few():
    table = replace(read_table({"size": ["1", "2", "x", "4"]}), has_types=False)
    (warning,) = number_warnings(table)
    assert "because of 'x' in row 3: fix that cell, declare it missing" in str(warning)
    # Where rows were left out, it is the row of the user's table.
    (warning,) = number_warnings(table, rows=np.array([1, 2, 5, 6]))
    assert "because of 'x' in row 6: fix that cell, declare it missing" in str(warning)


def test_numbers_left_out_as_an_identifier_say_which_cell_made_them_texts():
    cells = [*map(str, range(9)), "x"]
    table = read_table({"size": cells, "other": [1, 2] * 5})
    with pytest.warns(SpinneyWarning) as told:
        assert without_identifiers(table, Declarations()).names == ("other",)
    assert not isinstance(told[0].message, SpinneyNote)  # nobody wants that
    assert str(told[0].message) == (
        "column 'size' reads as text because of 'x' in row 10, and was excluded: "
        "declare that missing and the column numeric (missing_values=['x'], "
        "numeric=['size']), or the column nominal (nominal=['size'])"
    )
    assert identifier_warnings(table) == []  # nor that it is to be ignored


def test_many_odd_cells_are_named_in_part():
    table = read_table({"size": [*map(str, range(90)), *"abcdefg"]})
    (warning,) = number_warnings(table)
    assert "'e' in row 95 and 2 more texts: declare these missing" in str(warning)
    assert "(missing_values=…, numeric=['size'])" in str(warning)


@pytest.mark.parametrize(
    "cells",
    [
        ["1", "2", "NA"],
        ["1", "2", "3", "x", "x"],
        [*map(str, range(20))],
        ["a", "b"],
        [*range(20), True, False],
        [None, None],
    ],
    ids=["too few", "twice", "no text", "all text", "truths", "nothing"],
)
def test_no_numbers(cells):
    assert number_warnings(read_table({"x": cells})) == []


@pytest.mark.parametrize("text", ["NA", "82 kg", "?"])
def test_a_text_among_cells_that_are_numbers(text):
    cells = {"x": [*range(20), text]}
    (warning,) = table_warnings(read_table(cells))
    assert f"column 'x' reads as text because of {text!r} in row 21" in str(warning)
    # What is said to help does.
    mended = Declarations(missing=(text,), numeric=("x",))
    assert f"(missing_values=[{text!r}], numeric=['x'])" in str(warning)
    table = read_table(cells, declarations=mended)
    assert table["x"].kind == "numeric"
    assert table["x"].missing.tolist() == [False] * 20 + [True]


def test_nominal_by_declaration_is_no_mistake():
    declared = Declarations(nominal=("x",))
    table = read_table({"x": [*map(str, range(20)), "NA"]}, declarations=declared)
    assert number_warnings(table, declared) == []


def test_both_kinds_together():
    cells = [*map(str, range(20)), "NA"]
    found = table_warnings(read_table({"x": cells, "y": [f"n{i}" for i in cells]}))
    # Of x it is said what keeps it from being numbers, and not that it is to go.
    assert ["reads as text" in str(warning) for warning in found] == [True, False]


@given(data=st.data(), form=st.sampled_from(CELL_FORMATS))
@settings(max_examples=examples(400))
def test_what_is_of_some_form_has_a_digit(data, form):
    """So a column of texts without one need not be tried."""
    pattern = re.compile(to_python_pattern(form.pattern), re.ASCII)
    text = data.draw(st.from_regex(pattern, fullmatch=True))
    assert form.matches(text)
    assert DIGIT.search(text)


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([*map(str, range(9)), "x"], 1),  # nine of ten
        ([*map(str, range(8)), "x", "y"], 0),
        ([*map(str, range(18)), "x", "y"], 1),
        ([*map(str, range(17)), "x", "y", "a1"], 0),
        ([*map(str, range(5)), "x"], 1),  # one cell
        (["a", "b", "c"], 0),
        (["a"], 0),
    ],
)
def test_few_odd_texts_are_told_however_many_have_digits(cells, told):
    assert len(number_warnings(read_table({"x": cells}))) == told
