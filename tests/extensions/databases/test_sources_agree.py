"""One suite over every source: the same rows give the same tree, node by node.

The reference is a dictionary of columns in memory; the others count in DuckDB.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.recipes import by_recipe
from tests.helpers.strategies import CLASS_RECIPES
from tests.sources.comparing import (
    SOURCES,
    as_written,
    assert_same_tree,
    opened,
    policy_of,
    unlimited,
)

import spinney
from spinney.errors import DataError
from spinney.search.missing_values import POLICIES
from spinney.trees import Tree

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

# fmt: off
NAMES = (
    "select", "group by", 'a"b', "it's", "x; DROP TABLE spinney_rows; --",
    "größe ≤ 1", "a0", "a1", "class", "weight", "node", "part", "c1", "spinney_rows",
    "spinney column 0", "{}", "?", "$1", "two\nlines", "NULL", "/*", "count(*)",
)
TEXTS = (
    "it's", 'say "no"', "?", "$1", "{}", "two\nlines",
    "'; DROP TABLE spinney_rows; --", "ü", "NULL", "nan", "true", "\\", "%s",
    " padded ", "a,b",
)
# fmt: on
NUMBERS = (-2.5, -0.0, 0.0, 0.1, 0.3, 1.0, 1e6)


@dataclass(frozen=True)
class Drawn:
    """A table as a dictionary of columns, and what is declared of it."""

    columns: dict[str, list[Any]]
    target: str
    weight: str | None
    nominal: tuple[str, ...]
    ordinal: dict[str, tuple[str, ...]]

    def grow(self, data: Any, **options: Any) -> Tree:
        model = spinney.grow(
            data,
            self.target,
            weight=self.weight,
            nominal=self.nominal,
            ordinal=self.ordinal,
            **by_recipe(**options),
        )
        return model.tree


def several(values: Sequence[str], least: int, most: int) -> st.SearchStrategy[Any]:
    return st.lists(
        st.sampled_from(values), min_size=least, max_size=most, unique=True
    ).map(tuple)


@st.composite
def drawn_tables(draw: st.DrawFn) -> Drawn:
    """Draw a table of two classes or three, with every kind of column."""
    kinds = draw(st.lists(st.sampled_from("norb"), min_size=1, max_size=4))
    names = draw(several(NAMES, len(kinds) + 2, len(kinds) + 2))
    n_rows = draw(st.integers(3, 24))

    def column(cells: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(cells, min_size=n_rows, max_size=n_rows))

    columns: dict[str, list[Any]] = {}
    ordinal: dict[str, tuple[str, ...]] = {}
    for name, kind in zip(names, kinds, strict=False):
        values: tuple[Any, ...] = (False, True) if kind == "b" else NUMBERS
        if kind in "no":
            values = draw(several(TEXTS, 1, 4))
        if kind == "o":
            values = (*values, "the highest")
            ordinal[name] = values
        cells = st.sampled_from(values)
        columns[name] = column(cells if draw(st.booleans()) else st.none() | cells)
    *_, target, weight = names
    labels = [text for text in TEXTS if "\n" not in text]
    classes = draw(several(labels, 2, 3))
    columns[target] = [*classes, *column(st.sampled_from(classes))][:n_rows]
    weights = draw(st.sampled_from(("none", "whole", "thirds")))
    if weights != "none":
        cells = st.integers(0, 5)
        divisor = 3 if weights == "thirds" else 1
        columns[weight] = [n / divisor for n in (1, 2, 1, *column(cells)[3:])]
    nominal = [n for n, k in zip(names, kinds, strict=False) if k in "nb"]
    return Drawn(
        columns,
        target,
        None if weights == "none" else weight,
        (*nominal, target),
        ordinal,
    )


@pytest.mark.parametrize("missing", sorted(POLICIES))
@pytest.mark.parametrize("recipe", CLASS_RECIPES)
@given(data=st.data())
@settings(
    max_examples=examples(5),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_every_source_grows_the_same_tree(recipe, missing, data, tmp_path):
    table = data.draw(drawn_tables())
    limits = {
        "max_leaves": data.draw(st.none() | st.none() | st.integers(2, 6)),
        "min_samples_leaf": data.draw(st.sampled_from((None, 1, 1.5))),
    }
    options = {**policy_of(missing), "recipe": recipe, **limits}
    if recipe == "auto":  # whose teacher and pruning need the rows
        options |= {"forest": 0.0, "pruning": "none"}
    whole = all(w.is_integer() for w in table.columns.get(table.weight, []))
    for kind in data.draw(several(SOURCES, 2, 2)):
        columns = as_written(kind, table.columns)
        with opened(kind, columns, tmp_path) as (rows, source):
            try:
                expected = table.grow(columns, **options)
            except DataError:  # of rows that are whole, none or one class is left
                assert missing == "drop"
                with pytest.raises(DataError):
                    table.grow(rows, **source, **options)
                continue
            found = table.grow(rows, **source, **options)
        assert_same_tree(expected, found, whole=whole)
        assert found.schema == expected.schema


@pytest.mark.parametrize("kind", SOURCES)
def test_rows_of_no_weight_bring_no_class(kind, tmp_path):
    columns = {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "c"], "w": [1.0, 1.0, 0.0]}
    with opened(kind, columns, tmp_path) as (rows, source):
        found = spinney.grow(rows, "y", weight="w", **source)
    assert found.tree.schema.target.classes == ("a", "b")
    expected = spinney.grow(columns, "y", weight="w")
    assert found.tree.schema == expected.tree.schema


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize(
    "levels", [("nan", "the highest"), ("1", "2"), ("true", "false"), ("inf", "0")]
)
def test_levels_of_a_column_without_cells_are_as_declared(kind, levels, tmp_path):
    columns = {"o": [None] * 4, "x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "b", "a", "b"]}
    ordinal = {"o": levels}
    expected = spinney.grow(columns, "y", ordinal=ordinal, nominal=["y"]).tree.schema
    assert expected.attributes[0].values == levels
    with opened(kind, columns, tmp_path) as (rows, source):
        options = {"ordinal": ordinal, "nominal": ["y"], "numeric": ["x"], **source}
        assert spinney.grow(rows, "y", **options).tree.schema == expected


@pytest.mark.parametrize("kind", [pa.float64(), pa.int32(), pa.bool_(), pa.string()])
def test_the_type_of_a_column_without_cells_does_not_count(kind):
    cells = pa.array([None, None, None], kind)
    rows = duckdb.from_arrow(pa.table({"o": cells, "y": ["a", "b", "a"]}))
    found = spinney.grow(rows, "y", ordinal={"o": ["1", "true", "nan"]}).tree.schema
    assert found.attributes[0].values == ("1", "true", "nan")


def test_a_level_that_is_no_number_stays_a_text(tmp_path):
    columns = {"o": [1.0, 2.0, None, 2.0], "y": ["a", "b", "a", "b"]}
    for kind in ("memory", "relation", "parquet"):
        with opened(kind, columns, tmp_path) as (rows, source):
            model = spinney.grow(rows, "y", ordinal={"o": ["nan", "1", "2"]}, **source)
        assert model.tree.schema.attributes[0].values == ("nan", 1, 2)


def test_a_database_is_left_as_it_was(tmp_path):
    path = str(tmp_path / "melons.db")
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i AS x, i % 2 AS y FROM range(9) r(i)"
        )
        connection.execute("CREATE VIEW spinney_rows AS SELECT 1 AS other")
    with duckdb.connect(path, read_only=True) as connection:
        relation = connection.table("t")
        bound = spinney.grow(relation, "y", recipe="cart", connection=connection)
        bare = spinney.grow(relation, "y", recipe="cart")
        assert str(bound) == str(bare)
        views = (
            "SELECT view_name FROM duckdb_views() WHERE NOT internal AND NOT temporary"
        )
        assert connection.execute(views).fetchall() == [("spinney_rows",)]


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("recipe", CLASS_RECIPES)
def test_dates_and_times_and_numbers_as_classes(kind, recipe, tmp_path):
    day, moment = datetime.date(2023, 12, 30), datetime.datetime(1969, 12, 31, 23, 59)
    hours = datetime.timedelta(hours=7, microseconds=1)
    columns: dict[str, list[Any]] = {
        "day": [day + datetime.timedelta(days=n % 5) for n in range(24)],
        "moment": [moment + hours * (n % 7) for n in range(24)],
    }
    if kind != "csv":  # where a time of day is a text
        columns["clock"] = [datetime.time(n % 3, 59, 59, 999999) for n in range(24)]
    for place, cells in enumerate(columns.values()):
        cells[3 + place] = None
    columns["label"] = [int(n % 5 > 1 and n % 7 < 6) for n in range(24)]
    plain = {"mdl_correction": False, **unlimited(recipe)}
    expected = spinney.grow(columns, "label", **by_recipe(recipe=recipe, **plain)).tree
    with opened(kind, columns, tmp_path) as (rows, source):
        found = spinney.grow(
            rows, "label", **source, **by_recipe(recipe=recipe, **plain)
        ).tree
    assert found.schema == expected.schema
    assert {attribute.kind for attribute in found.schema.attributes} == {"numeric"}
    assert found.schema.target.classes == (0, 1)
    assert all(attribute.unit for attribute in found.schema.attributes)
    assert found.height >= 2
    assert_same_tree(expected, found, whole=True)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_that_differ_in_case_only(kind, tmp_path):
    columns: dict[str, list[Any]] = {
        "x": ["a", "a", "b", "b"],
        "X": [1.0, 2.0, 1.0, 2.0],
        "Label": ["p", "p", "p", "p"],
        "label": ["no", "yes", "yes", "no"],
    }
    expected = spinney.grow(columns, "label", recipe="id3").tree
    with opened(kind, columns, tmp_path) as (rows, source):
        found = spinney.grow(rows, "label", recipe="id3", **source).tree
    assert found.schema == expected.schema
    assert_same_tree(expected, found, whole=True)


def test_a_group_of_all_known_values_has_no_missing_ones():
    """CHAID merges all numbers, (-inf, inf]: a condition that asks nothing."""
    columns = {
        "z": [1.0, None, 2.0, 3.0] * 6,
        "y": ["a", "b", "a", "a"] * 5 + list("baba"),
    }
    recipe = spinney.Recipe.named("chaid").changed(alpha_split=1.0, max_depth=3)
    how = {"recipe": recipe, "min_samples_leaf": 1, "min_samples_split": 2}
    expected = spinney.grow(columns, "y", **how)
    with duckdb.connect() as connection:
        rows = connection.from_arrow(pa.table(columns))
        found = spinney.grow(rows, "y", connection=connection, **how)
    assert "z is known" in str(expected)
    assert_same_tree(expected.tree, found.tree, whole=True)
