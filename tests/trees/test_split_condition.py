"""Questions as people write them: what is read, and what is refused."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spinney.data.schema import Attribute, Schema, Target
from spinney.errors import ParameterError
from spinney.trees import (
    Groups,
    SplitCondition,
    Threshold,
    outside_quotes,
    parse_condition,
)
from spinney.trees.split import describe

SCHEMA = Schema(
    (
        Attribute("width", "numeric"),
        Attribute("color", "nominal", ("red", "green", "light, blue", 'a "b"', "in")),
        Attribute("size", "ordinal", ("small", "medium", "large")),
        Attribute("a > b", "nominal", ("yes", "no")),
        Attribute("when", "numeric", unit="days since 1970-01-01"),
        Attribute("width in cm", "numeric"),
        Attribute("sold", "nominal", (False, True)),
        Attribute("zip", "nominal", (7, 8)),
        Attribute("a", "nominal", ("b",)),
    ),
    Target("y", ("n", "y")),
)


def read(text: object) -> int | SplitCondition:
    return parse_condition(text, SCHEMA, "forced_splits")


@pytest.mark.parametrize(
    ("text", "attribute", "cut"),
    [
        ("width > 6.5", 0, 6.5),
        ("width <= 6.5", 0, 6.5),
        ("width≤6.5", 0, 6.5),
        ("  width>6.5 ", 0, 6.5),
        ("width >= 6.5", 0, np.nextafter(6.5, 0)),
        ("width < -1e3", 0, np.nextafter(-1e3, -np.inf)),
        ("'width' > \"6.5\"", 0, 6.5),
        ("width in cm > 2", 5, 2.0),
        ("when > 1970-01-11", 4, 10.0),
        ("when < 1970-01-11", 4, np.nextafter(10.0, -np.inf)),
        ("when < 1970-01-11 00:00", 4, np.nextafter(10.0, -np.inf)),
        ("when < 1970-01-11 12:00", 4, 10.0),  # which that day begins before
        ("when >= 1970-01-11 12:00", 4, 10.0),
        ("when <= 1970-01-11 12:00", 4, 10.0),
        ("size <= medium", 2, 1.5),
        ("size > medium", 2, 1.5),
        ("size < medium", 2, 0.5),
        ("size ≥ medium", 2, 0.5),
    ],
)
def test_a_cut(text, attribute, cut):
    assert read(text) == SplitCondition(attribute, cut)


@pytest.mark.parametrize(
    ("text", "attribute", "codes"),
    [
        ("color = red", 1, (0,)),
        ("color == red", 1, (0,)),
        ("color in {red, green}", 1, (0, 1)),
        ("color ∈ {green,red,green}", 1, (0, 1)),
        ("color not in {red, green}", 1, (2, 3, 4)),
        ("color   not   in {red}", 1, (1, 2, 3, 4)),
        ("color ∉ {red}", 1, (1, 2, 3, 4)),
        ("color != red", 1, (1, 2, 3, 4)),
        ("color = light, blue", 1, (2,)),
        ("color in {\"light, blue\", 'red'}", 1, (0, 2)),
        ('color = "a ""b"""', 1, (3,)),
        ('color in {"a ""b""", red}', 1, (0, 3)),
        ("color = in", 1, (4,)),
        ("size = medium", 2, (1,)),
        ('"a > b" = yes', 3, (0,)),
        ("a > b = yes", 3, (0,)),
        ("sold = true", 6, (1,)),
        ("zip in {7}", 7, (0,)),
        ("a = b", 8, (0,)),
    ],
)
def test_a_group(text, attribute, codes):
    assert read(text) == SplitCondition(attribute, codes=codes)


@pytest.mark.parametrize(
    ("text", "attribute"),
    [("width", 0), (" color ", 1), ("a > b", 3), ("'size'", 2), ("width in cm", 5)],
)
def test_an_attribute_alone(text, attribute):
    assert read(text) == attribute


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("widht > 3", "no attribute 'widht': did you mean 'width'"),
        ("texture", "no attribute 'texture'"),
        ("width > wide", "'width' is compared with 'wide', which is no number"),
        ("width > inf", "which is no number"),
        ("width > nan", "which is no number"),
        ("when > soon", "which is no date or time"),
        (
            "width = 3",
            "'width' is a number, and = is for single values: use a threshold",
        ),
        ("width in {3, 4}", "is a number, and in is for"),
        ("color > red", "'color' is nominal, and its values have no order: list"),
        ("color = rde", "'color' has no value 'rde': did you mean 'red'"),
        ("color in {red, pink}", "'color' has no value 'pink'"),
        ("size <= huge", "'size' has no value 'huge'"),
        ("color in red", "is no condition: write an attribute"),
        ("color in {}", "is no condition"),
        ("color in {red,}", "is no condition"),
        ('color in {"red"green}', "is no condition"),
        ("color in {{red}}", "is no condition"),
        ("color =", "is no condition"),
        ("'color' red", "is no condition"),
        ("", "no attribute ''"),
        (3, "3 is no name of an attribute"),
    ],
)
def test_what_cannot_be_read_is_refused(text, message):
    with pytest.raises(ParameterError) as refused:
        read(text)
    assert message in str(refused.value)
    assert refused.value.parameter == "forced_splits"


def test_separators_in_quotes_separate_nothing():
    text = 'a = "x -> y"; it\'s so -> b'
    assert outside_quotes(text, "->") == ['a = "x -> y"; it\'s so ', " b"]
    assert outside_quotes(text, ";") == ['a = "x -> y"', " it's so -> b"]


def test_where_values_go():
    cut, group = SplitCondition(0, 6.5), SplitCondition(1, codes=(0, 2))
    assert cut.branch_of(np.array([6.4, 6.5, 6.6])).tolist() == [0, 0, 1]
    assert group.branch_of(np.array([0, 1, 2, 3])).tolist() == [0, 1, 0, 1]


printable = st.text(st.sampled_from("ab ,{}\"'=<→;é1"), min_size=1, max_size=6).filter(
    lambda text: text == text.strip()
)


@given(st.lists(printable, min_size=3, max_size=5, unique=True), st.integers(1, 2))
@example(["Rome, GA", "O'Hare", '6" x 4"'], 2)
@example(["{a}", "'", "a''b"], 1)
def test_what_is_printed_of_values_can_be_written(values, n_left):
    attribute = Attribute("town", "nominal", tuple(values))
    left = tuple(range(n_left))
    split = Groups(0, (left, tuple(range(n_left, len(values)))), (0.5, 0.5))
    schema = Schema((attribute,), None)
    for branch, codes in enumerate(split.groups):
        text = describe(split, attribute, branch)
        assert parse_condition(text, schema, "forced_splits") == SplitCondition(
            0, codes=codes
        )


@given(st.floats(-1e9, 1e9), st.booleans())
@example(6.5, True)
@example(0.0, True)
@example(20000.0, True)
def test_what_is_printed_of_cuts_can_be_written(cut, below):
    cut = float(np.nextafter(cut, -np.inf)) if below else cut
    attribute, split = Attribute("width", "numeric"), Threshold(0, cut, (0.5, 0.5))
    for branch in (0, 1):
        text = describe(split, attribute, branch)
        assert (
            parse_condition(text, Schema((attribute,), None), "forced_splits").cut
            == cut
        )


def test_a_cut_below_a_round_number_reads_as_below_it():
    question = read("width < 6.5")
    split = Threshold(0, question.cut, (0.5, 0.5))
    texts = [describe(split, SCHEMA.attributes[0], branch) for branch in (0, 1)]
    assert texts == ["width < 6.5", "width ≥ 6.5"]
