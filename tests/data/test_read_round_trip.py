"""A random table comes back the same through every format."""

import csv
import json
import tempfile
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney.data.readers import read_table

TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8
)
NUMBER = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**53), 2**53),
)
# A name with another delimiter in it could not be told from several names.
NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0;|\t"), min_size=1, max_size=6
).filter(lambda name: name.strip())


@st.composite
def tables(draw):
    """Return columns of numbers or text, each with a cell that tells which."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    rows = draw(st.integers(1, 8))
    columns = {}
    for name in names:
        cell = draw(st.sampled_from([TEXT, NUMBER]))
        cells = draw(st.lists(st.none() | cell, min_size=rows - 1, max_size=rows - 1))
        columns[name] = [*cells, "a text" if cell is TEXT else 0.5]
    return columns


def write_csv(columns, path):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            # A line of nothing in a table of one column is quoted by the writer.
            writer.writerow(["" if cell is None else cell for cell in row])


def write_json_lines(columns, path):
    with open(path, "w", encoding="utf-8") as file:
        for row in zip(*columns.values(), strict=True):
            file.write(json.dumps(dict(zip(columns, row, strict=True))) + "\n")


def as_floats(columns):
    """Return the columns with floats for numbers, as typed formats have them."""
    return {
        name: [cell if isinstance(cell, str | None) else float(cell) for cell in cells]
        for name, cells in columns.items()
    }


WRITERS = {
    "csv": write_csv,
    "jsonl": write_json_lines,
    "parquet": lambda columns, path: pl.DataFrame(as_floats(columns)).write_parquet(
        path
    ),
}


# Names may be such as cells are.
@pytest.mark.filterwarnings("ignore:.*(looks like a row|spaces)")
@pytest.mark.parametrize("suffix", WRITERS)
@given(columns=tables())
@example(columns={"a": ["\r\n", " ", '"', "'", ",;|\t", "\ufeff", "x\ny"]})
@example(columns={"a": ["?"], "A": [None], "b\u2028": [-0.0]})
@settings(max_examples=examples(60))
def test_through_a_file(suffix, columns, assert_same_table):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"table.{suffix}")
        WRITERS[suffix](columns, path)
        assert_same_table(read_table(path), read_table(columns))


@given(columns=tables())
@settings(max_examples=examples(60))
def test_through_frames(columns, assert_same_table):
    expected = read_table(columns)
    assert_same_table(read_table(pl.DataFrame(as_floats(columns))), expected)
    assert_same_table(read_table(pd.DataFrame(as_floats(columns))), expected)
