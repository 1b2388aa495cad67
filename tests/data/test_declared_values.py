"""What a column may hold: by a user's word, or by its type."""

import numpy as np
import pyarrow as pa
import pytest

from spinney.data.declarations import Declarations, declarations_of, parse_values
from spinney.data.declared_values import (
    MAX_UNUSED_VALUES,
    merged_values,
    with_type_values,
)
from spinney.data.readers import read_table
from spinney.errors import DataError, ParameterError


def test_values_are_sorted_and_cells_coded_anew():
    declared = Declarations(values={"x": ("d", "a", "b", "c")})
    column = read_table({"x": ["d", "b", None]}, declarations=declared)["x"]
    assert (column.kind, column.levels) == ("nominal", ("a", "b", "c", "d"))
    assert column.cells.tolist() == [3, 1, -1]
    assert column.declared
    assert column.without_rows == ("a", "c")


def test_values_have_the_type_of_the_cells():
    declared = declarations_of(values={"x": [3, 1.0, 2], "b": [True, False]})
    table = read_table({"x": [1, 2], "b": [True, True]}, declarations=declared)
    assert table["x"].levels == (1, 2, 3)
    assert table["b"].levels == (False, True)
    assert merged_values([], ["2", "1"]) == ("1", "2")
    assert merged_values(["a"], ["a", "b", "b", ""]) == ("a", "b")


def test_what_stands_for_a_missing_cell_is_no_value():
    declared = declarations_of(values={"x": ["a", "?", "b"]}, missing_values=["?"])
    column = read_table({"x": ["a", "?"]}, declarations=declared)["x"]
    assert (column.levels, column.cells.tolist()) == (("a", "b"), [0, -1])


def test_values_of_a_table_that_has_been_read():
    table = read_table({"x": ["b", "c"], "n": [1.0, 2.0]})
    declared = Declarations(values={"x": ("a", "b", "c")})
    assert read_table(table, declarations=declared)["x"].cells.tolist() == [1, 2]
    declared = Declarations(values={"n": ("1", "2")})
    with pytest.raises(DataError, match="column 'n', which is numeric"):
        read_table(table, declarations=declared)


def test_a_cell_that_is_none_of_the_values_is_refused():
    declared = Declarations(values={"x": tuple("abcdefghijkl")})
    message = "holds 'z', which is none of its values a, b, .*, j and 2 more: add it"
    with pytest.raises(DataError, match=message):
        read_table({"x": ["a", "z"]}, declarations=declared)


def test_an_older_level_that_no_cell_has_is_no_reason_to_refuse():
    table = read_table({"x": ["a", "z"]}).take(np.array([0]))
    declared = Declarations(values={"x": ("a", "b")})
    assert read_table(table, declarations=declared)["x"].levels == ("a", "b")


def test_values_as_text_may_have_quotes():
    assert parse_values('sky: a,"b, c" ,d') == ("sky", ("a", "b, c", "d"))
    with pytest.raises(ParameterError, match="'sky' is declared 2 times: do it once"):
        declarations_of(values=["sky:a,b", "sky:c"])
    with pytest.raises(ParameterError, match="must map columns to values, as in"):
        declarations_of(values="sky:a,b")
    with pytest.raises(ParameterError, match="'sky' has 'ab': give a list of all its"):
        declarations_of(values={"sky": "ab"})


@pytest.mark.parametrize("more", [0, 1])
def test_a_type_may_declare_so_many_values_without_rows(more):
    table = read_table({"x": ["a", "b"]})
    named = [f"n{number}" for number in range(MAX_UNUSED_VALUES + more)]
    found = with_type_values(table, {"x": named})
    assert len(found["x"].levels) == 2 + (0 if more else MAX_UNUSED_VALUES)
    assert (len(found.notes), found["x"].declared) == (more, not more)


def test_a_users_word_counts_more_than_a_type():
    cells = pa.array(["b", "c"]).dictionary_encode()
    declared = Declarations(values={"x": ("a", "b")})
    table = pa.table({"x": cells}).slice(0, 1)
    assert read_table(table, declarations=declared)["x"].levels == ("a", "b")


def test_a_model_that_reads_knows_its_values():
    table = pa.table({"x": pa.array(["b", "c"]).dictionary_encode()}).slice(0, 1)
    read = read_table(table, declarations=Declarations(only=("x",)))
    assert read["x"].levels == ("b",)


def test_numbers_have_no_levels_without_rows():
    table = read_table({"x": [1.0, 2.5]})
    assert table["x"].without_rows == ()


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_what_is_missing_is_no_value(nothing):
    with pytest.raises(ParameterError, match="a missing-value marker"):
        declarations_of(values={"sky": ["sunny", nothing]})
