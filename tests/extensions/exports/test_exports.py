"""Exports answer as their model does: run for real, row by row, bit by bit."""

import math
import sqlite3
import sys
from dataclasses import replace
from itertools import product

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from tests.helpers.export_cases import (
    CASES,
    NUMBERS,
    changed,
    grown,
    outputs_of,
    rows_of,
    table,
)
from tests.helpers.export_compare import WAYS, compare
from tests.helpers.export_runs import (
    CC,
    NODE,
    answers,
    by_c,
    by_duckdb,
    by_onnx,
    by_pmml,
    by_python,
    sql_rows,
)
from tests.helpers.hostile_names import NAMES

import spinney
from spinney.data import Target
from spinney.data.readers import read_table
from spinney.errors import MissingExtraError, ParameterError
from spinney.extensions.clustering.models import FittedClusters
from spinney.extensions.exports.javascript_code import to_javascript
from spinney.extensions.exports.portable import (
    FormNode,
    FormSplit,
    Input,
    Portable,
)
from spinney.extensions.exports.portable_models import portable
from spinney.extensions.exports.python_code import to_python
from spinney.extensions.exports.sql_code import to_sql
from spinney.extensions.exports.sql_dialects import DIALECTS

needs_c = pytest.mark.skipif(CC is None, reason="no compiler of C is installed")


def refused(way, case):
    """Return what the format has no words for, if anything."""
    form = portable(grown(case))
    divided_votes = form.majority and form.divides
    if way.format == "sql" and divided_votes:
        return "format='sql' cannot express the majority vote of trees that divide rows"
    if way.format != "pmml":
        return None
    if divided_votes:
        return "format='pmml' cannot express votes of trees that divide rows"
    if case.target == "value" and ("missing_policy", "fractional") in case.changes:
        return "format='pmml' cannot express numbers of rows that are divided"
    if case.recipe == "KPrototypes":
        return "format='pmml' cannot express k-prototypes"
    return None


SLOW = ("pmml4s", "postgres", "spark")  # which start a machine or a server of their own
STARTED = ("c", "javascript")  # a process for each model: every third one, but for slow


def marks(way, at):
    return [pytest.mark.slow] if way in SLOW or (way in STARTED and at % 3) else []


@pytest.mark.parametrize(
    ("way", "case"),
    [
        pytest.param(way, case, marks=marks(way, at), id=f"{way}-{case}")
        for way in WAYS
        if way != "json"  # tests/output/test_json_model.py
        for at, case in enumerate(CASES)
    ],
)
def test_an_export_says_what_its_model_does(way, case):
    """Bit by bit; what is added up in another order, to 12 digits."""
    way = WAYS[way]
    if way.missing_tool:
        pytest.skip(way.missing_tool)
    result = compare(way, case)
    expected = refused(way, case)
    if expected is not None:
        assert expected in result.refusal
        return
    assert result.refusal is None
    assert result.rows > 20
    assert result.differences == 0


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", CASES[::4], ids=str)
def test_every_dialect_is_read_by_its_grammar(dialect, case):
    """SQLGlot reads each dialect, and finds the columns that the query makes."""
    if case.voting == "majority" and case.recipe == "c4.5":
        return
    model = grown(case)
    query = sqlglot.parse_one(model.export("sql", dialect=dialect), dialect=dialect)
    target = model.schema.target
    assert f"predicted {target.name}" in query.named_selects
    tables = {each.name for each in query.find_all(sqlglot.exp.Table)}
    assert tables == {"data"}
    asked = {column.name for column in portable(model).columns}
    assert asked <= {each.name for each in query.find_all(sqlglot.exp.Column)}


def test_a_wrong_answer_is_a_difference():
    case = CASES[0]
    right = compare(WAYS["python"], case)

    def wrong(model, rows):
        outputs, labels = by_python(model, rows)
        return outputs, ["no", *labels[1:]] if labels[0] != "no" else labels[::-1]

    said = compare(replace(WAYS["python"], ask=wrong), case)
    assert right.differences == 0 < said.differences


def same_bits(said, expected):
    outputs, labels = expected
    assert said[1] == labels
    np.testing.assert_array_equal(said[0], outputs)


def chain(depth, *, divides):
    """Return a tree with a leaf beside every node of one long way."""
    nodes = []
    for at in range(depth):
        leaf, deeper = 2 * at + 1, 2 * at + 2
        asks = (FormSplit(0, (float(at),), (leaf, deeper)),)
        parts = ((leaf, 0.5), (deeper, 0.5)) if divides else ()
        nodes.append(FormNode(asks, None if divides else deeper, parts))
        nodes.append(FormNode(outputs=(float(at),)))
    nodes.append(FormNode(outputs=(float(depth),)))
    target = Target("y", origin=0.0)
    return Portable((Input("x", True),), (), tuple(nodes), (0,), False, target)


@pytest.mark.parametrize("divides", [False, True])
def test_a_deep_tree_is_no_deep_program(divides):
    depth = 300 if divides else 3000
    form = chain(depth, divides=divides)
    rows = [0.0, 0.5, depth - 1.5, 9e9, None]
    expected = [0.0, 1.0, depth - 1.0, depth, 1.0 if divides else depth]
    names = {}
    exec(to_python(form), names)
    assert [names["predict"]({"x": x}) for x in rows] == pytest.approx(expected)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (x)")
    connection.executemany("INSERT INTO data VALUES (?)", [[x] for x in rows])
    said = connection.execute(to_sql(form, dialect="sqlite")).fetchall()
    assert [line[-1] for line in said] == pytest.approx(expected)
    assert to_javascript(form).count("ask:") == to_python(form).count("'ask':") == depth


def test_costs_decide_the_label():
    case = changed("c4.5")
    data = table(missing=0.1)
    del data["value"]
    costs = [[0, 9, 1], [1, 0, 1], [7, 1, 0]]
    model = spinney.TreeClassifier(recipe="c4.5", cost_matrix=costs, nominal=["grade"])
    classes = data.pop("class")
    model.fit(data, classes)
    rows = sql_rows(rows_of(case))
    expected = outputs_of(model, rows)
    assert expected[1] != outputs_of(grown(case), rows)[1]
    same_bits(by_python(model, rows), expected)
    assert by_duckdb(model, rows)[1] == expected[1]
    assert by_onnx(model, rows)[1] == expected[1]
    with pytest.raises(ParameterError, match="misclassification costs where"):
        model.export("pmml")
    if CC is not None:
        same_bits(by_c(model, rows), expected)


@pytest.mark.parametrize(
    ("train", "given"),
    [
        ((True, False), (True, False, "True", "FALSE", "true", 1, 0, "1", None)),
        (("True", "False"), (True, False, "True", "true", None)),
        (("true", "false"), (True, False, "True", "true")),
        ((7, 8), (7, 7.0, "7", "7.0", np.int64(8), np.float64(8), float("nan"), "")),
        (("7", "1e-05"), (7, "7", 1e-05, 0.00001, "0.00001")),
    ],
)
def test_values_are_read_as_the_model_reads_them(train, given):
    data = {"x": [train[0], train[1]] * 4, "y": ["no", "yes"] * 4}
    model = spinney.grow(data, "y", recipe="id3", nominal=["x"])
    names = {}
    exec(model.export("python"), names)
    for value in given:
        expected = model.outputs({"x": [value]})[0].tolist()
        assert list(names["probabilities"]({"x": value}).values()) == expected, value


@pytest.mark.parametrize(
    "value", [3, 3.5, "3", " 4.0", True, None, "", "nan", -1, "-1"]
)
def test_numbers_are_read_as_the_model_reads_them(value):
    data = {"x": [0.0, 1, 2, 3, 4, 5], "y": [0.0, 0, 0, 1.5, 1.5, 1.5]}
    model = spinney.grow(data, "y", recipe="cart", missing_values=["-1"])
    names = {}
    exec(model.export("python"), names)
    assert names["predict"]({"x": value}) == model.outputs({"x": [value]})[0, 0]


@pytest.mark.parametrize("value", ["x", "1_000", "inf", float("inf"), "١"])
def test_what_is_no_number_is_refused(value):
    data = {"x": [0.0, 1, 2, 3], "y": [0.0, 0, 1.5, 1.5]}
    names = {}
    exec(spinney.grow(data, "y", recipe="cart").export("python"), names)
    with pytest.raises(ValueError, match="x"):
        names["predict"]({"x": value})
    with pytest.raises(KeyError, match="x"):
        names["predict"]({})


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_and_values_stay_what_they_are(name):
    label = "a" if name.splitlines()[1:] else name
    data = {name: [name, "other"] * 3, "size": [1.0, 2, 3] * 2, "y": [label, "b"] * 3}
    model = spinney.grow(data, "y", recipe="id3")
    rows = [{name: each, "size": 3.0} for each in (name, "other", None, "new")]
    expected = outputs_of(model, rows)
    same_bits(by_python(model, rows), expected)
    if "\0" in name:
        for format in ("c", "sql", "onnx", "pmml"):
            with pytest.raises(ParameterError, match="NUL"):
                model.export(format)
        return
    if CC is not None:
        same_bits(by_c(model, rows), expected)
    same_bits(by_onnx(model, rows), expected)
    if "\ufffe" in name:
        with pytest.raises(ParameterError, match="which XML cannot represent"):
            model.export("pmml")
    else:
        assert by_pmml(model, rows)[1] == expected[1]
    connection = duckdb.connect()
    connection.register("data", pa.table({n: [r[n] for r in rows] for n in rows[0]}))
    same_bits(answers(connection.execute(model.export("sql")), model), expected)
    if NODE is not None and len(name) < 100:
        assert "<" not in model.export("javascript").split("/** ")[0]


def test_nan_is_missing_in_duckdb():
    case = CASES[2]
    rows = sql_rows(rows_of(case))[:60]
    nan = [
        {n: math.nan if v is None and n in NUMBERS else v for n, v in r.items()}
        for r in rows
    ]
    assert by_duckdb(grown(case), nan)[1] == outputs_of(grown(case), rows)[1]


def test_what_a_format_has_no_words_for_is_refused():
    model = grown(CASES[0])
    with pytest.raises(ParameterError, match="dialect='mysql' is unknown"):
        model.export("sql", dialect="mysql")
    with pytest.raises(ParameterError, match=r"table='a\.\.b' is not a table name"):
        model.export("sql", table="a..b")
    with pytest.raises(ParameterError, match="table='t' has no effect with format='c'"):
        model.export("c", table="t")
    large = {"x": [1, 2, 3, 4], "y": [2**60, 2**60, 2**60 + 1, 2**60 + 1]}
    with pytest.raises(
        ParameterError, match="format='javascript' cannot express the class"
    ):
        spinney.grow(large, "y", nominal=["y"], recipe="id3").export("javascript")


def test_onnx_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'spinney\[onnx\]'"):
        grown(CASES[0]).export("onnx")


def test_onnx_multiplies_a_single_factor_in_double_precision():
    """A runtime fused it into a product of matrices, as a number of 32 bits."""
    rows = [{"x": number / 7} for number in range(21)]
    x = [row["x"] for row in rows]
    y = [3.3 * number + 0.1 * (at % 3) for at, number in enumerate(x)]
    model = spinney.grow({"x": x, "y": y}, "y", recipe="m5")
    (leaf,) = portable(model).nodes
    assert len(leaf.line.terms) == 1
    outputs, _ = by_onnx(model, rows)
    np.testing.assert_allclose(outputs, outputs_of(model, rows)[0], rtol=1e-14)


def test_onnx_refuses_what_it_cannot_hold():
    table = {"x": ["a", "b"] * 3, "y": ["no", "yes"] * 3}
    model = spinney.grow(table, "y", recipe="id3")
    assert model.export("onnx") == model.export("onnx")
    alone = spinney.grow({"x": [1, 1], "y": ["no", "yes"]}, "y", recipe="id3")
    with pytest.raises(ParameterError, match="a model that uses no column"):
        alone.export("onnx")


FAR = (1e130, -1e308, 1.7e308, 2.0**400, 2.0**401, 8.5, 5.0, 1.0, -3.0)


def found_clusters(method, **settings):
    """Return clusters of numbers, with names beside them for k-prototypes."""
    table = {"size": [1.0, 2.0, 8.0, 9.0], "width": [1.0, 1.5, 5.0, 7.0]}
    if method == "KPrototypes":
        table["hue"] = ["a", "b", "a", "b"]
    found = getattr(spinney, method)(2, random_state=0, **settings).fit(
        read_table(table)
    )
    rows = [
        dict(zip(table, cells, strict=True))
        for cells in product(FAR, FAR, *(["a", "b", None],) * (len(table) - 2))
    ]
    return FittedClusters(found.clusters_), rows


@pytest.mark.parametrize("method", ["KMeans", "KPrototypes"])
def test_a_row_has_its_cluster_whatever_rows_are_beside_it(method):
    """One of 1e308 had sent all others to the first cluster."""
    model, rows = found_clusters(method)
    alone = [outputs_of(model, [row])[1][0] for row in rows]
    assert outputs_of(model, rows)[1] == alone
    assert {*alone} == {0, 1}
    tiny = spinney.KMeans(2, random_state=0).fit({"x": [0.0, 1e-200, 8e-200]})
    labels = list(tiny.predict({"x": [0.0, 8e-200]}))
    assert labels[0] != labels[1]
    assert list(tiny.predict({"x": [0.0, 8e-200, 1.0]}))[:2] == labels


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("KMeans", {}),
        ("KMeans", {"standardise": True}),
        ("KPrototypes", {}),
        ("KPrototypes", {"standardise": True}),
    ],
)
@pytest.mark.parametrize("way", ["python", "javascript", "c"])
def test_programs_measure_numbers_of_any_size_as_the_model_does(way, method, settings):
    if WAYS[way].missing_tool:
        pytest.skip(WAYS[way].missing_tool)
    model, rows = found_clusters(method, **settings)
    assert WAYS[way].ask(model, rows)[1] == outputs_of(model, rows)[1]


@pytest.mark.parametrize("row", [{"size": None}, {"size": 1e130}], ids=["none", "far"])
def test_what_k_means_cannot_measure_is_refused(row):
    """Programs raise for what is missing; what cannot raise answers -1 or NULL.

    ONNX and SQL have no words for large squares.
    """
    found = spinney.KMeans(2, random_state=0).fit({"size": [1.0, 2.0, 8.0, 9.0]})
    model = FittedClusters(found.clusters_)
    if row["size"] is None:
        with pytest.raises(ValueError, match="'size'"):
            by_python(model, [row])
        if CC is not None:
            assert by_c(model, [row])[1] == [-1]
    assert by_onnx(model, [row])[1] == [-1]
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (size)")
    connection.execute("INSERT INTO data VALUES (?)", [row["size"]])
    (line,) = connection.execute(model.export("sql", dialect="sqlite")).fetchall()
    assert line[1:] == (None, None, None)


def test_clusters_in_single_precision_are_refused():
    cells = np.array([[1.0], [2.0], [8.0], [9.0]], dtype=np.float32)
    model = spinney.KMeans(2, random_state=0).fit(cells)
    for format in ("python", "onnx", "pmml"):
        with pytest.raises(ParameterError, match="found in single precision"):
            model.export(format)


@pytest.mark.parametrize("number", [0.1, -2.45, 2.5, 1e300, 5e-324, 5.13e-15, 2**400])
def test_sqlite_reads_every_number_to_the_last_bit(number):
    literal = DIALECTS["sqlite"].number(float(number))
    assert sqlite3.connect(":memory:").execute(f"SELECT {literal}").fetchone() == (
        number,
    )


def test_spark_replaces_nothing_in_a_text():
    """It would replace ${…} by what a variable says, wherever it stands."""
    data = {"x": ["${env:HOME}", "b"] * 3, "y": ["a", "b"] * 3}
    query = spinney.grow(data, "y", recipe="id3").export("sql", dialect="spark")
    assert "${" not in query
    assert "'\\u0024{env:HOME}'" in query
    named = spinney.grow({"${x}": [1, 2], "y": ["a", "b"]}, "y", recipe="cart")
    assert named.export("sql", dialect="duckdb")
    with pytest.raises(ParameterError, match=r"would replace \$\{…\}: rename it"):
        named.export("sql", dialect="spark")
