"""What the user declares about columns."""

import pytest

from spinney.data.declarations import (
    Declarations,
    check_declarations,
    check_names,
    parse_ordinal,
)
from spinney.errors import DataError, ParameterError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("size:small<medium<large", ("size", ("small", "medium", "large"))),
        (" size : small < large ", ("size", ("small", "large"))),
        ("time:9:00<10:00", ("time", ("9:00", "10:00"))),
        ("grade:1<2<3", ("grade", ("1", "2", "3"))),
    ],
)
def test_parse_ordinal(text, expected):
    assert parse_ordinal(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no 'name:'"),
        ("size", "no 'name:'"),
        (":a<b", "no 'name:'"),
        ("size:", "fewer than two"),
        ("size:small", "fewer than two"),
        ("size:small<", "empty level"),
        ("size:a<b<a", "a level twice"),
    ],
)
def test_parse_ordinal_refuses(text, reason):
    with pytest.raises(ParameterError, match=reason) as caught:
        parse_ordinal(text)
    assert "size:small<medium<large" in str(caught.value)


def test_kind():
    declared = Declarations(nominal=("a",), ordinal={"b": ("x", "y")}, numeric=("c",))
    assert [declared.kind(name) for name in "abcd"] == [
        "nominal",
        "ordinal",
        "numeric",
        None,
    ]


def test_nothing_is_declared_by_default():
    check_declarations(Declarations(), [])


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(DataError, match=r"'colour' is declared.*did you mean 'color'"):
        check_declarations(Declarations(nominal=("colour",)), ["color", "size"])


@pytest.mark.parametrize(
    "declared",
    [
        Declarations(nominal=("a", "a")),
        Declarations(nominal=("a",), ordinal={"a": ("x", "y")}),
        Declarations(numeric=("a",), ignore=("a",)),
    ],
)
def test_declared_twice_is_refused(declared):
    with pytest.raises(
        ParameterError, match="'a' is declared 2 times: declare it once"
    ):
        check_declarations(declared, ["a"])


@pytest.mark.parametrize("levels", [(), ("x",), ("x", "x"), ("x", "y", "x")])
def test_levels_that_are_no_order_are_refused(levels):
    with pytest.raises(ParameterError, match="'a' is declared ordinal with levels"):
        check_declarations(Declarations(ordinal={"a": levels}), ["a"])


def test_only_some_columns_are_looked_for():
    declared = Declarations(nominal=("a", "gone"), ignore=("b",), only=("a", "b"))
    assert [declared.ignores(name) for name in "abc"] == [False, True, True]
    check_declarations(declared, ["a", "b", "c"])


def test_names():
    check_names(["a", "A", " a", "naïve"], Declarations())
    with pytest.raises(DataError, match=r"t\.csv has no columns"):
        check_names([], Declarations(), origin="t.csv")
    with pytest.raises(DataError, match=r"columns 1, 3 of the table .* have no name"):
        check_names(["", "a", "\t "], Declarations())
    with pytest.raises(DataError, match="more than one column named 'a', 'b'"):
        check_names(["a", "b", "a", "b", "c"], Declarations())
