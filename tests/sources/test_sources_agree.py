"""One suite over every source: the same rows give the same tree, node by node.

The reference is a dictionary of columns in memory; the others count in DuckDB. Sums
are exact where weights are whole and no row is divided, and then no bit may differ;
otherwise the order of additions may make a difference, of 1e-9 at most.
"""

import csv
import datetime
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.strategies import CLASS_RECIPES

import spinney
from spinney.missing import POLICIES
from spinney.sources.base import Request, Source
from spinney.sources.sql_engine import Engine
from spinney.split import Groups, Intervals, Route, Threshold
from spinney.tree import Candidate, Node, Reason, Tree

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

ROUNDING = 1e-9
SOURCES = ("relation", "bound relation", "csv", "parquet")
# fmt: off
NAMES = (
    "select", "group by", 'a"b', "it's", "x; DROP TABLE spinney_rows; --",
    "größe ≤ 1", "a0", "a1", "class", "weight", "node", "part", "c1", "spinney_rows",
    "spinney place 0", "{}", "?", "$1", "two\nlines", "NULL", "/*", "count(*)",
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
            **options,
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


def arrow_of(columns: dict[str, list[Any]]) -> pa.Table:
    """Return columns as an Arrow table; a column of nothing has no type."""
    return pa.table(list(map(pa.array, columns.values())), names=list(columns))


def write_csv(path: Path, columns: dict[str, list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


@contextmanager
def opened(
    kind: str, columns: dict[str, list[Any]], folder: Path
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Give columns as one kind of source, with the options that it needs."""
    if kind == "memory":
        yield columns, {}
    elif kind == "csv":
        write_csv(folder / "rows.csv", columns)
        yield folder / "rows.csv", {"source": "duckdb"}
    elif kind == "parquet":
        pq.write_table(arrow_of(columns), folder / "rows.parquet")
        yield folder / "rows.parquet", {"source": "duckdb"}
    else:
        with duckdb.connect() as connection:
            relation = connection.from_arrow(arrow_of(columns))
            bound = kind == "bound relation"
            yield relation, {"connection": connection} if bound else {}


def as_written(kind: str, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the columns as the source knows them: a CSV file has only texts."""
    return (
        columns
        if kind != "csv"
        else {
            name: [str(c).lower() if isinstance(c, bool) else c for c in cells]
            for name, cells in columns.items()
        }
    )


# Comparing


def assert_numbers(found: Any, expected: Any, *, exact: bool) -> None:
    if exact:
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=ROUNDING, atol=ROUNDING)


def assert_same_candidate(one: Candidate, other: Candidate, *, exact: bool) -> None:
    assert type(one.split) is type(other.split)
    assert one.attribute == other.attribute
    assert one.split.missing == other.split.missing
    names = {Threshold: "threshold", Groups: "groups", Intervals: "cuts"}
    sides = names[type(one.split)]
    assert getattr(one.split, sides) == getattr(other.split, sides)
    assert one.exact == other.exact
    for name in ("values", "rows", "missing_rows", "weights", "missing"):
        pair = (getattr(candidate.table, name) for candidate in (one, other))
        assert_numbers(*pair, exact=exact or name not in ("weights", "missing"))
    assert_numbers(one.split.shares, other.split.shares, exact=exact)
    assert_numbers((one.gain, one.merit), (other.gain, other.merit), exact=exact)


def assert_same_node(one: Node, other: Node, *, exact: bool) -> None:
    names = "number parent branch depth n_rows label chosen children reason forced"
    assert one.otherwise == other.otherwise
    for name in names.split():
        assert getattr(one, name) == getattr(other, name), (one.number, name)
    assert_numbers(one.weights, other.weights, exact=exact)
    assert_numbers(one.distribution, other.distribution, exact=exact)
    for pair in zip(one.candidates, other.candidates, strict=True):
        assert_same_candidate(*pair, exact=exact)
    for found, expected in zip(one.surrogates, other.surrogates, strict=True):
        assert found.split == expected.split
        assert found.reversed == expected.reversed
        figures = ([each.agreement, each.adjusted] for each in (found, expected))
        assert_numbers(*figures, exact=exact)


def divides_a_row(tree: Tree) -> bool:
    return any(
        node.route.last is None and node.candidate.table.missing_rows.any()
        for node in tree
        if node.route is not None
    )


def policy_of(missing: str) -> dict[str, str | None]:
    """Return the settings of a policy; surrogates need splits of two branches."""
    grouping = "binary" if missing == "surrogate" else None
    return {"missing": missing, "grouping": grouping}


def unlimited(recipe: str) -> dict[str, Any]:
    """Return the settings that let a small table grow a tree of several levels."""
    settings = {"pruning": "none", "forest": 0.0}
    if recipe == "chaid":
        settings |= {"alpha_split": 1.0, "alpha_merge": 1.0}
        settings |= {"min_samples_split": 2, "min_samples_leaf": 1}
    return settings


def assert_same_tree(one: Tree, other: Tree, *, whole: bool) -> None:
    exact = whole and not divides_a_row(one)
    for pair in zip(one, other, strict=True):
        assert_same_node(*pair, exact=exact)


@pytest.mark.parametrize("missing", sorted(POLICIES))
@pytest.mark.parametrize("recipe", CLASS_RECIPES)
@given(data=st.data())
@settings(
    max_examples=5,
    deadline=None,
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
    for kind in SOURCES:
        columns = as_written(kind, table.columns)
        expected = table.grow(columns, **options)
        with opened(kind, columns, tmp_path) as (rows, source):
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


# How the questions are asked

# fmt: off
STOPPED_UNASKED = (
    Reason.PURE, Reason.EMPTY, Reason.EXHAUSTED, Reason.DEPTH, Reason.ROWS_TO_SPLIT
)
# fmt: on


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list to which every statement is added as it runs."""
    heard: list[str] = []
    fetch = Engine.fetch

    def heard_fetch(engine: Engine, statement: str, values: Any = ()) -> Any:
        heard.append(statement)
        return fetch(engine, statement, values)

    monkeypatch.setattr(Engine, "fetch", heard_fetch)
    return heard


def mixed_rows(n_rows: int) -> dict[str, list[Any]]:
    """Return rows of every kind, some cells missing, with a tree of several levels."""
    random = np.random.default_rng(3)
    texts = random.choice(["it's", "?", "{}", ""], n_rows).tolist()
    numbers = [None if n > 8 else float(n) for n in random.integers(0, 10, n_rows)]
    flags = [bool(n) for n in random.integers(0, 2, n_rows)]
    labels = random.choice(["x", "y", "z"], n_rows).tolist()
    return {"t": texts, "n": numbers, "b": flags, "label": labels}


@pytest.mark.parametrize("missing", sorted(POLICIES))
@pytest.mark.parametrize("recipe", CLASS_RECIPES)
def test_a_level_is_one_statement(recipe, missing, statements, tmp_path):
    options = {"recipe": recipe, **policy_of(missing), **unlimited(recipe)}
    with opened("bound relation", mixed_rows(60), tmp_path) as (rows, source):
        spinney.grow(rows, "label", max_depth=0, **options, **source)
        n_before = len(statements)  # for the classes, values, totals and cuts
        statements.clear()
        model = spinney.grow(rows, "label", max_depth=5, **options, **source)
    tree = model.tree
    assert tree.height >= 2
    asked = {node.depth for node in tree if node.reason not in STOPPED_UNASKED}
    cuts = int(recipe == "chaid" and missing != "surrogate")  # those of buckets
    # Surrogates are one more statement for the splits of a level, and one for what
    # they send where a value is missing.
    splits = [node for node in tree if node.otherwise is not None]
    missed = [node for node in splits if node.candidate.table.missing_rows.any()]
    agreed, sent = ({node.depth for node in nodes} for nodes in (splits, missed))
    assert sum("GROUPING SETS" in text for text in statements) == (
        cuts + len(asked) + len(agreed)
    )
    assert len(statements) == n_before + len(asked) + len(agreed) + len(sent)
    assert (missing == "surrogate") == bool(sent)


class AnsweredError(Exception):
    """Ends the growing of a tree, with what its source answered."""


def answers_of(ask: Callable[[Source], Any], folder: Path) -> list[Any]:
    """Ask the same rows in DuckDB and in memory, where a tree would be grown."""

    def answered(source: Source, *_: Any) -> None:
        raise AnsweredError(ask(source))

    answers = []
    for kind in ("bound relation", "memory"):
        with (
            pytest.MonkeyPatch.context() as patch,
            opened(kind, mixed_rows(30), folder) as (rows, options),
        ):
            patch.setattr("spinney.growing.grow_with_construction", answered)
            with pytest.raises(AnsweredError) as found:
                spinney.grow(rows, "label", recipe="c4.5", **options)
            answers.append(found.value.args[0])
    return answers


def test_an_empty_request_gets_an_empty_answer(tmp_path, statements):
    def ask(source: Source) -> list[Any]:
        statements.clear()
        return [source.tables([]), source.tables([Request(0, ())]), list(statements)]

    assert answers_of(ask, tmp_path) == [[[], [{}], []]] * 2


def test_nodes_may_be_asked_for_different_attributes(tmp_path):
    def ask(source: Source) -> list[Any]:
        source.partition(0, Route(Threshold(1, 4.0, (0.5, 0.5))), {0: 7, 1: 3})
        return source.tables([Request(7, (2,)), Request(3, (0, 1))])

    answers = answers_of(ask, tmp_path)
    assert [sorted(tables) for tables in answers[0]] == [[2], [0, 1]]
    for sql, memory in zip(*answers, strict=True):
        assert sorted(sql) == sorted(memory)
        for place in sql:
            for name in ("values", "weights", "rows", "missing", "missing_rows"):
                pair = (getattr(tables[place], name) for tables in (sql, memory))
                np.testing.assert_array_equal(*pair)


@pytest.mark.parametrize("kind", ["relation", "bound relation"])
def test_more_attributes_than_one_grouping_takes(kind, tmp_path, statements):
    random = np.random.default_rng(5)
    columns: dict[str, list[Any]] = {
        f"column {place}": random.choice(["a", "b", "c"], 40).tolist()
        for place in range(125)
    }
    # The deciding columns are at the edges of the chunks of 60.
    for place in (59, 60, 119, 120, 124):
        columns[f"column {place}"][::7] = [""] * 6
    parity = [
        (columns["column 60"][i] == "a") ^ (columns["column 119"][i] == "b")
        for i in range(40)
    ]
    columns["label"] = ["yes" if even else "no" for even in parity]
    options = {"recipe": "cart", "max_depth": 2}
    expected = spinney.grow(columns, "label", **options).tree
    with opened(kind, columns, tmp_path) as (rows, source):
        found = spinney.grow(rows, "label", **options, **source).tree
    assert len(found.root.candidates) == 125
    assert statements[-1].count("GROUPING(") == 3
    assert_same_tree(expected, found, whole=True)


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
    expected = spinney.grow(columns, "label", recipe=recipe, **plain).tree
    with opened(kind, columns, tmp_path) as (rows, source):
        found = spinney.grow(rows, "label", recipe=recipe, **plain, **source).tree
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
