"""No name that an export has inside is taken for a column, nor a column for it."""

import sqlite3
from itertools import product

import duckdb
import pytest
from tests.helpers.export_cases import CASES, grown, outputs_of
from tests.helpers.export_compare import WAYS, compare
from tests.helpers.export_names import CAPITALS, columns_of, free_names, names_in
from tests.helpers.export_runs import (
    ROW_NUMBER,
    by_duckdb,
    by_onnx,
    by_pmml,
    by_postgres,
    by_sqlite,
)

import spinney
from spinney.errors import ParameterError
from spinney.extensions.clustering.models import FittedClusters
from spinney.extensions.exports.sql_dialects import DIALECTS

SLOW = ("pmml4s", "postgres", "spark")
RULES = next(each for each in CASES if each.kind == "rules" and each.recipe == "cart")
STARTED = ("c", "javascript")
SHOP = {"x": [1.0, 2.0, 3.0, 4.0], "y": ["no", "no", "yes", "yes"]}
SQL = {"duckdb": by_duckdb, "sqlite": by_sqlite, "postgres": by_postgres}


# Classes such as "add 4" and "and 4", or "NULL", are warned of.
ALIKE = pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")


def skip_without(way):
    if WAYS[way].missing_tool:
        pytest.skip(WAYS[way].missing_tool)


def marks(way, at):
    often = 12 if way in STARTED else 3
    return [pytest.mark.slow] if way in SLOW or at % often else []


@pytest.mark.parametrize(
    ("way", "case", "capitals"),
    [
        pytest.param(
            way, case, capitals, marks=marks(way, at), id=f"{way}-{case}-{capitals}"
        )
        for way in WAYS
        for at, (capitals, case) in enumerate(product(CAPITALS, CASES))
    ],
)
def test_a_table_may_have_a_column_of_every_name_inside(way, case, capitals):
    """Such as the table that an earlier run of the same query has made."""
    skip_without(way)
    result = compare(WAYS[way], case, beside=capitals)
    assert result.refusal is not None or result.rows > 20
    assert result.differences == 0


@pytest.mark.parametrize("way", WAYS)
def test_the_names_inside_are_found(way):
    """Those that tables had when the answers were wrong are among them."""
    skip_without(way)
    by_leaf, by_share = grown(CASES[2]), grown(CASES[1])
    names = {
        name
        for model in (by_leaf, by_share)
        for name in names_in(model, WAYS[way].format, WAYS[way].dialect)
    }
    expected = {
        "sql": {"leaf", "p(no)", "predicted class", "t", "q"},
        "onnx": {"label", "probabilities", "members"},
        "pmml": {"p(no)", "predicted class"},
        "python": {"NODES", "ask", "_cells", "row"},
        "javascript": {"NODES", "ask", "cells", "row"},
        "c": {"model_predict", "row"},
        "json": {"classes", "distribution"},
    }
    assert expected[WAYS[way].format] <= names


def first_of(names, recipe, **settings):
    """Return a model that asks all columns of some names, and rows for it.

    The class is the first column that is 1, so that none of them can be left out.
    """
    lines = [*product((0.0, 1.0), repeat=len(names))]
    classes = ["none", *names]
    labels = [classes[line.index(1.0) + 1 if 1.0 in line else 0] for line in lines]
    columns = dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))
    target = next(each for each in ("y", "kind", "z") if each not in names)
    model = spinney.grow(
        {**columns, target: labels},
        target,
        recipe=recipe,
        numeric=names,
        nominal=[target],
        **settings,
    )
    lacking = [
        tuple(None if at == lack else cell for at, cell in enumerate(line))
        for lack in range(len(names))
        for line in lines[:: 1 + 2 * lack]
    ]
    rows = [dict(zip(names, line, strict=True)) for line in (*lines, *lacking)]
    assert {*columns_of(model)} == {*names}
    return model, rows


def names_of(way):
    """Return the names inside, and those that a model of such columns has inside."""
    names, one = set(), WAYS[way]
    for case in (CASES[1], CASES[2], RULES):
        model = grown(case)
        taken = {*columns_of(model)}
        found = names_in(model, one.format, one.dialect)
        names |= {name for name in found if name not in taken}
    first = spinney.grow(SHOP, "y", recipe="cart")
    names |= {*names_in(first, one.format, one.dialect)} - {"x"}
    names = free_names(sorted(names), [ROW_NUMBER, "y", "kind", "z"])
    model = first_of(names[:6], "cart", missing_policy="branch")[0]
    again = names_in(model, one.format, one.dialect)
    return names + free_names(again, [*names, ROW_NUMBER, "y", "kind", "z"])


MOST_ASKED = 60  # names of a way; the others are like them


@ALIKE
@pytest.mark.parametrize("recipe", ["cart", "id3"])
@pytest.mark.parametrize(
    "way",
    [
        pytest.param(w, marks=[pytest.mark.slow] if w in (*SLOW, *STARTED) else [])
        for w in WAYS
    ],
)
def test_a_column_that_the_model_reads_may_have_such_a_name(way, recipe):
    """CART sends a row to one leaf, ID3 divides it among leaves."""
    skip_without(way)
    names = names_of(way)
    step = -(-len(names) // MOST_ASKED)
    names = [*names[::step]] if step > 1 else names
    settings = {"missing_policy": "branch"} if recipe == "cart" else {}
    for first in range(0, len(names), 6):
        model, rows = first_of(names[first : first + 6], recipe, **settings)
        rows = WAYS[way].rows(model, rows)
        outputs, labels = WAYS[way].ask(model, rows)
        expected, classes = outputs_of(model, rows)
        assert labels == classes
        assert outputs == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("way", ["duckdb", "sqlite", "python", "onnx", "pmml", "json"])
def test_clusters_of_columns_with_such_names(way):
    skip_without(way)
    names = ["leaf", "label", "predicted cluster", "q", "squared distance(0)", "T"]
    lines = [[float(at * (k + 1) % 7) for k in range(6)] for at in range(20)]
    columns = dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))
    found = spinney.KMeans(3, random_state=0).fit(columns)
    model = FittedClusters(found.clusters_)
    rows = [dict(zip(names, line, strict=True)) for line in lines]
    assert WAYS[way].ask(model, rows)[1] == outputs_of(model, rows)[1]


# Tables of earlier runs

XS = [1.0, None, 3.5, 4.0]


def tables(engine):
    """Return what runs statements in a new database with the table shop."""
    connection = {"duckdb": duckdb, "sqlite": sqlite3}[engine].connect(":memory:")
    connection.execute("CREATE TABLE shop (id INTEGER, x REAL)")
    for at, x in enumerate(XS):
        connection.execute("INSERT INTO shop VALUES (?, ?)", [at, x])
    return connection


@pytest.mark.parametrize("recipe", ["cart", "id3"])
@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_the_table_of_an_earlier_run_is_scored_anew(engine, recipe):
    old = spinney.grow({**SHOP, "y": SHOP["y"][::-1]}, "y", recipe=recipe)
    new = spinney.grow(SHOP, "y", recipe=recipe)
    connection = tables(engine)

    def scored(model, table):
        query = model.export("sql", dialect=engine, table=table, keep=["id"])
        said = connection.execute(f"SELECT * FROM ({query}) AS r ORDER BY id")
        return [each[0] for each in said.description], said.fetchall()

    query = old.export("sql", dialect=engine, table="shop", keep=["id"])
    connection.execute(f"CREATE TABLE earlier AS {query}")
    connection.execute("ALTER TABLE earlier ADD COLUMN leaf INTEGER")
    connection.execute("UPDATE earlier SET leaf = 2 - id % 2")
    names, lines = scored(new, "shop")
    assert names == ["id", "x", "predicted y", "p(no)", "p(yes)"]
    assert [line[2] for line in lines] == list(new.predict({"x": XS}))
    assert scored(new, "earlier") == (names, lines)
    assert scored(old, "earlier") != (names, lines)


def test_columns_with_fields_of_the_same_names_are_not_read():
    """The alias t of the table comes before a column t that has a field x."""
    model = spinney.grow(SHOP, "y", recipe="cart")
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE data AS SELECT 4.0 AS x, {'x': 1.0} AS t, {'leaf': 1} AS q"
    )
    ((_, label, *_),) = connection.execute(model.export("sql")).fetchall()
    assert label == "yes"


def test_a_column_that_is_not_there_is_no_text_in_sqlite():
    model = spinney.grow(SHOP, "y", recipe="cart")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (size)")
    connection.execute("INSERT INTO data VALUES (4.0)")
    with pytest.raises(sqlite3.OperationalError, match=r"no such column: t\.x"):
        connection.execute(model.export("sql", dialect="sqlite"))


# Columns to keep


@pytest.mark.parametrize("dialect", DIALECTS)
def test_columns_are_kept_by_name_and_once(dialect):
    model = spinney.grow(SHOP, "y", recipe="cart")
    keep = ["id", "x", "day", "id"]
    query = model.export("sql", dialect=dialect, keep=keep)
    quoted = [DIALECTS[dialect].identifier(name) for name in ("id", "x", "day")]
    for table in "qt":
        assert f"SELECT {', '.join(f'{table}.{name}' for name in quoted)},\n" in query


def test_what_cannot_be_kept_is_refused():
    model = spinney.grow(SHOP, "y", recipe="cart")
    with pytest.raises(ParameterError, match="is the name of a prediction"):
        model.export("sql", keep=["id", "P(Yes)"])
    assert model.export("sql", dialect="postgres", keep=["P(Yes)"])  # another name
    with pytest.raises(ParameterError, match="keep='id' is not a list of column"):
        model.export("sql", keep="id")
    with pytest.raises(ParameterError, match=r"keep=.* has no effect with format='c'"):
        model.export("c", keep=["id"])


# Names that engines take for one


@ALIKE
@pytest.mark.parametrize("engine", SQL)
def test_classes_that_differ_in_capitals_alone(engine):
    skip_without(engine)
    table = {"x": [1.0, 2.0, 3.0, None], "y": ["Yes", "yes", "YES", "yes"]}
    model = spinney.grow(table, "y", recipe="id3")
    rows = [{"x": x} for x in table["x"]]
    outputs, labels = SQL[engine](model, rows)
    expected, classes = outputs_of(model, rows)
    assert labels == classes
    assert outputs == pytest.approx(expected)
    query = model.export("sql", dialect=engine)
    exact = engine == "postgres"
    assert ('AS "p(yes)"' in query, 'AS "p(yes) 3"' in query) == (exact, not exact)


def test_classes_that_postgres_cuts_off():
    skip_without("postgres")
    labels = [70 * "é" + each for each in "abc"]
    table = {"x": [1.0, 2.0, 3.0, None], "y": [*labels, labels[0]]}
    model = spinney.grow(table, "y", recipe="id3")
    rows = [{"x": x} for x in table["x"]]
    outputs, said = by_postgres(model, rows)
    expected, classes = outputs_of(model, rows)
    assert said == classes
    assert outputs == pytest.approx(expected)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_columns_that_differ_in_capitals_alone(dialect):
    table = {"x": [0, 0, 1, 1] * 2, "X": [0, 1, 0, 1] * 2, "y": list("abcc") * 2}
    model = spinney.grow(table, "y", recipe="cart", min_samples_leaf=1)
    if dialect == "postgres":
        assert 't."X"' in model.export("sql", dialect=dialect)
        return
    words = f"'x' and 'X', which are one name to {dialect}: rename one of them"
    with pytest.raises(ParameterError, match=words):
        model.export("sql", dialect=dialect)


# What other formats call their outputs


@pytest.mark.parametrize("case", [c for c in CASES if c.kind != "clusters"], ids=str)
def test_the_outputs_of_onnx_are_called_as_documented(case):
    import onnx

    (*outputs,) = onnx.load_from_string(grown(case).export("onnx")).graph.output
    names = ["prediction"] if case.target == "value" else ["label", "probabilities"]
    assert [each.name for each in outputs] == names


def test_an_input_of_onnx_gives_way_to_an_output():
    import onnx

    names = ["label", "label 2", "probabilities", "prediction"]
    model, rows = first_of(names, "id3")
    read = onnx.load_from_string(model.export("onnx"))
    inputs = [each.name for each in read.graph.input]
    assert inputs == ["label 3", "label 2", "probabilities 2", "prediction"]
    assert 'The input "label 3" is the column "label".' in read.doc_string
    outputs, labels = by_onnx(model, rows)
    expected, classes = outputs_of(model, rows)
    assert labels == classes
    assert outputs == pytest.approx(expected)


def test_an_output_of_pmml_gives_way_to_a_column():
    names = ["p(none)", "predicted y", "p(p(none))"]
    model, rows = first_of(names, "cart", missing_policy="branch")
    text = model.export("pmml")
    assert '<OutputField name="predicted predicted y"' in text
    assert '<OutputField name="predicted p(none)"' in text
    outputs, labels = by_pmml(model, rows)
    expected, classes = outputs_of(model, rows)
    assert (outputs.tolist(), labels) == (expected.tolist(), classes)
