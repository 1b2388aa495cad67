"""Formulas: cells, texts, refusals; and what a schema makes of them."""

import numpy as np
import pytest

from spinney.data.formula import (
    Clause,
    Conjunction,
    Difference,
    Linear,
    Ratio,
    reindexed,
)
from spinney.data.schema import Attribute, Schema, Target
from spinney.data.table import Column, Table
from spinney.errors import DataError, ParameterError

NAN = float("nan")
LENGTH = Attribute("length", "numeric")
WIDTH = Attribute("width", "numeric")
OUTLOOK = Attribute("outlook", "nominal", ("rain", "sunny", "overcast"))
SIZE = Attribute("size", "ordinal", ("small", "medium", "large"))
START = Attribute("start", "numeric", unit="days since 1970-01-01")
END = Attribute("end", "numeric", unit="days since 1970-01-01")
SCHEMA = Schema((LENGTH, WIDTH, OUTLOOK, SIZE, START, END), Target("y", ("a", "b")))
SUNNY = Clause(2, codes=(1,))


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (Difference(0, 1), "length − width"),
        (Ratio(1, 0), "width / length"),
        (Linear((0, 1), (0.5, -1.25)), "0.5·length − 1.25·width"),
        (Linear((0, 1), (-1.0, 1e-5)), "−length + 1e-05·width"),
        (
            Conjunction((Clause(0, low=77.5), SUNNY)),
            "length > 77.5 and outlook = sunny",
        ),
        (
            Conjunction((Clause(0, low=1, high=2), Clause(3, codes=(0, 2)))),
            "1 < length ≤ 2 and size ∈ {small, large}",
        ),
        (
            Conjunction((Clause(1, high=3), SUNNY, Clause(4, low=1.0))),
            "width ≤ 3 and outlook = sunny and start > 1970-01-02",
        ),
    ],
)
def test_formulas_read_as_people_write_them(formula, text):
    assert formula.text(SCHEMA.attributes) == text


def test_ascii_is_for_formulas_and_not_for_names():
    made = SCHEMA.constructed(Linear((0, 1), (0.5, -1.25)))
    assert made.text(ascii_only=True) == "0.5*length - 1.25*width"
    assert Attribute("a·b", "numeric").text(ascii_only=True) == "a·b"


@pytest.mark.parametrize(
    ("formula", "cells"),
    [
        (Difference(0, 1), [2.0, NAN, NAN, 4.0, NAN]),
        (Ratio(0, 1), [2.0, NAN, NAN, NAN, -1.0]),
        (Linear((0, 1), (0.5, -1.25)), [-0.5, NAN, NAN, 2.0, NAN]),
        (Linear((1, 0), (-1.25, 0.5)), [-0.5, NAN, NAN, 2.0, NAN]),
    ],
)
def test_numbers_are_missing_where_an_input_is(formula, cells):
    length = np.array([4.0, NAN, 4.0, 4.0, 1.7e308])
    width = np.array([2.0, 2.0, NAN, 0.0, -1.7e308])
    np.testing.assert_array_equal(formula.cells([length, width]), cells)


def test_a_conjunction_is_missing_where_an_input_is():
    both = Conjunction((SUNNY, Clause(0, low=2.0, high=5.0)))
    length = np.array([3.0, 2.0, 5.0, 6.0, NAN, 3.0])
    outlook = np.array([1, 1, 1, 1, 1, -1])
    assert both.cells([length, None, outlook]).tolist() == [1, 0, 1, 0, -1, -1]


def test_no_minus_zero():
    zero = Difference(0, 1).cells([np.array([-0.0]), np.array([0.0])])
    assert not np.signbit(zero).any()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Difference(1, 1),
        lambda: Ratio(0, 0),
        lambda: Difference(-1, 0),
        lambda: Linear((0,), (1.0,)),
        lambda: Linear((0, 1), (1.0,)),
        lambda: Linear((0, 1), (1.0, 0.0)),
        lambda: Linear((0, 1), (1.0, np.inf)),
        lambda: Linear((0, 0), (1.0, 2.0)),
        lambda: Clause(0),
        lambda: Clause(0, low=2.0, high=2.0),
        lambda: Clause(0, codes=()),
        lambda: Clause(0, codes=(2, 1)),
        lambda: Clause(0, codes=(1,), low=3.0),
        lambda: Conjunction((SUNNY,)),
        lambda: Conjunction((SUNNY, SUNNY)),
        lambda: Conjunction(tuple(Clause(place, low=0.0) for place in range(4))),
    ],
)
def test_what_is_no_formula_is_refused(make):
    with pytest.raises(ParameterError):
        make()


@pytest.mark.parametrize(
    "attribute",
    [
        Attribute("m", "numeric", formula=Difference(0, 9)),
        Attribute("m", "numeric", formula=Difference(0, 6)),
        Attribute("m", "numeric", formula=Difference(0, 2)),
        Attribute("m", "numeric", formula=Difference(0, 4)),
        Attribute("m", "numeric", formula=Ratio(4, 5)),
        Attribute("m", "numeric", formula=Linear((0, 4), (1.0, 1.0))),
        Attribute("m", "nominal", (False, True), formula=Difference(0, 1)),
        Attribute("m", "numeric", formula=Conjunction((Clause(0, low=1), SUNNY))),
        Attribute(
            "m", "nominal", (0, 1), formula=Conjunction((SUNNY, Clause(0, low=1)))
        ),
        Attribute(
            "m",
            "nominal",
            (False, True),
            formula=Conjunction((Clause(2, codes=(3,)), Clause(0, low=1))),
        ),
        Attribute(
            "m",
            "nominal",
            (False, True),
            formula=Conjunction((Clause(2, low=0.0), Clause(0, low=1))),
        ),
        Attribute(
            "m",
            "nominal",
            (False, True),
            formula=Conjunction((Clause(0, codes=(0,)), Clause(1, low=1))),
        ),
    ],
)
def test_a_schema_refuses_formulas_over_what_cannot_be_behind_them(attribute):
    with pytest.raises(ParameterError, match="'m'"):
        SCHEMA.extended([attribute])


def test_columns_stand_before_formulas():
    made = SCHEMA.constructed(Difference(0, 1))
    with pytest.raises(ParameterError, match="'late' is a column"):
        SCHEMA.extended([made, Attribute("late", "numeric")])


def test_dates_may_be_subtracted():
    assert SCHEMA.constructed(Difference(5, 4)).name == "end − start"
    assert SCHEMA.extended([SCHEMA.constructed(Difference(5, 4))]).n_columns == 6


def test_names_are_new():
    schema = Schema(
        (LENGTH, WIDTH, Attribute("length − width", "numeric")), Target("y")
    )
    made = schema.constructed(Difference(0, 1))
    assert made.name == "(length − width)"
    again = schema.extended([made]).constructed(Difference(0, 1))
    assert again.name == "((length − width))"
    both = Conjunction((Clause(0, low=1), Clause(1, low=1)))
    assert SCHEMA.constructed(both).name == "(length > 1 and width > 1)"


def wide_schema() -> Schema:
    formulas = (Difference(0, 1), Conjunction((Clause(1, high=2.0), SUNNY)))
    return SCHEMA.extended(SCHEMA.constructed(formula) for formula in formulas)


def table(**columns: list[float]) -> Table:
    made = [Column(name, "numeric", np.array(cells)) for name, cells in columns.items()]
    return Table(tuple(made), len(made[0].cells))


def test_encoding_computes_what_is_needed_and_no_more():
    schema = wide_schema()
    columns = schema.encode(table(width=[1.0, NAN], length=[3.0, 3.0]), np.array([6]))
    np.testing.assert_array_equal(columns[6], [2.0, NAN])
    assert [column is None for column in columns] == [False] * 2 + [True] * 4 + [
        False,
        True,
    ]


def test_the_columns_behind_a_formula_are_needed_and_not_its_name():
    schema = wide_schema()
    assert schema.input_columns([6]) == [0, 1]
    assert schema.input_columns([0, 7]) == [0, 1, 2]
    assert schema.lacking_columns(["length"], [6, 7]) == ["width", "outlook"]
    with pytest.raises(DataError, match="'width'"):
        schema.encode(table(length=[1.0]), np.array([6]))


def test_a_narrow_schema_has_the_columns_behind_its_formulas():
    narrow = wide_schema().narrowed([7])
    assert narrow.names == ("width", "outlook", "(width ≤ 2 and outlook = sunny)")
    assert narrow.attributes[2].formula.attribute_indices == (0, 1)
    assert narrow.attributes[2].formula.clauses[1].codes == (1,)
    assert wide_schema().narrowed([3]).names == ("size",)
    assert reindexed(Linear((0, 4), (1.0, 2.0)), {0: 3, 4: 1}) == Linear(
        (3, 1), (1.0, 2.0)
    )
    assert wide_schema().of_columns() == SCHEMA
