"""Exports answer as their model does: run for real, row by row, bit by bit."""

import ctypes
import json
import math
import shutil
import sqlite3
import subprocess

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.helpers.export_cases import (
    CASES,
    NUMBERS,
    UNSEEN,
    changed,
    grown,
    outputs_of,
    rows_of,
    table,
)
from tests.helpers.hostile_names import NAMES

import spinney
from spinney._support.text import value_text
from spinney.data import Target
from spinney.errors import ParameterError
from spinney.output.export.javascript_code import to_javascript
from spinney.output.export.portable import (
    FormNode,
    FormQuestion,
    Input,
    Portable,
    portable,
)
from spinney.output.export.python_code import to_python
from spinney.output.export.sql_code import to_sql
from spinney.output.export.sql_dialects import DIALECTS

TYPES = {
    "hue */ ??/": pa.string(),
    "</script>": pa.string(),
    "level": pa.string(),
    "truth": pa.bool_(),
    "grade": pa.float64(),
}

NODE = shutil.which("node")
CC = shutil.which("gcc") or shutil.which("cc")
DOUBLES = ctypes.POINTER(ctypes.c_double)
needs_c = pytest.mark.skipif(CC is None, reason="no compiler of C is installed")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def by_python(model, rows):
    names = {}
    exec(model.export("python"), names)
    if model.schema.target.is_numeric:
        return np.array([[names["predict"](row)] for row in rows]), None
    shares = [list(names["probabilities"](row).values()) for row in rows]
    return np.array(shares), [names["predict"](row) for row in rows]


RUN = """
import {readFileSync} from "node:fs";
const answers = [];
for (const [code, rows] of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const model = await import(code);
  const labels = rows.map((row) => model.predict(row));
  const shares = model.probabilities
    ? rows.map((row) => [...model.probabilities(row).values()])
    : labels.map((label) => [label]);
  answers.push({labels, shares});
}
console.log(JSON.stringify(answers));
"""


@pytest.fixture(scope="module")
def by_javascript(tmp_path_factory):
    """What exports say of the rows of all cases: Node.js is started once."""
    folder, jobs = tmp_path_factory.mktemp("javascript"), []
    for number, case in enumerate(CASES):
        code = folder / f"model{number}.mjs"
        grown(case).export("javascript", path=code)
        jobs.append([str(code), rows_of(case)])
    (folder / "run.mjs").write_text(RUN)
    (folder / "jobs.json").write_text(json.dumps(jobs))
    command = [NODE, folder / "run.mjs", folder / "jobs.json"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return dict(zip(CASES, json.loads(done.stdout), strict=True))


def same_bits(said, expected):
    outputs, labels = expected
    assert said[1] == labels
    np.testing.assert_array_equal(said[0], outputs)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_python_says_the_same(case):
    model, rows = grown(case), rows_of(case)
    same_bits(by_python(model, rows), outputs_of(model, rows))


@needs_node
@pytest.mark.parametrize("case", CASES, ids=str)
def test_javascript_says_the_same(case, by_javascript):
    said, expected = by_javascript[case], outputs_of(grown(case), rows_of(case))
    labels = None if expected[1] is None else said["labels"]
    same_bits((np.array(said["shares"]), labels), expected)


def by_c(model, rows, folder):
    source, library = folder / "model.c", folder / "model.so"
    model.export("c", path=source)
    command = [CC, "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    done = subprocess.run(
        [*command, source, "-o", library, "-lm"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    compiled, columns = ctypes.CDLL(str(library)), portable(model).columns
    types = [ctypes.c_double if c.is_number else ctypes.c_char_p for c in columns]

    class Row(ctypes.Structure):
        _fields_ = [(f"f{at}", each) for at, each in enumerate(types)]

    cells = [Row(*(c_cell(row.get(c.name), c) for c in columns)) for row in rows]
    target = model.schema.target
    if target.is_numeric:
        compiled.model_predict.restype = ctypes.c_double
        numbers = [compiled.model_predict(ctypes.byref(row)) for row in cells]
        return np.array(numbers)[:, None], None
    outputs = np.zeros((len(rows), len(target.classes)))
    labels = []
    for row, line in zip(cells, outputs, strict=True):
        compiled.model_probabilities(ctypes.byref(row), line.ctypes.data_as(DOUBLES))
        labels.append(target.classes[compiled.model_predict(ctypes.byref(row))])
    return outputs, labels


def c_cell(value, column):
    if column.is_number:
        return float("nan") if value is None else float(value)
    return None if value is None else value_text(value).encode()


@needs_c
@pytest.mark.parametrize("case", CASES, ids=str)
def test_c_says_the_same(case, tmp_path):
    model, rows = grown(case), rows_of(case)
    same_bits(by_c(model, rows, tmp_path), outputs_of(model, rows))


def sql_rows(case):
    """Return rows that typed columns of a database can hold."""
    odd = {"grade": 99.5, "truth": None}
    return [
        {n: odd.get(n, v) if v == UNSEEN else v for n, v in row.items()}
        for row in rows_of(case)
    ]


def columns_of(rows):
    numbered = [{**row, "row number": float(at)} for at, row in enumerate(rows)]
    return {name: [row[name] for row in numbered] for name in numbered[0]}


def by_duckdb(model, rows):
    columns = {
        name: pa.array(cells, type=TYPES.get(name, pa.float64()))
        for name, cells in columns_of(rows).items()
    }
    connection = duckdb.connect()
    connection.register('some "rows"', pa.table(columns))
    query = model.export("sql", dialect="duckdb", table='some "rows"')
    return answers(
        connection.execute(f'SELECT * FROM ({query}) ORDER BY "row number"'), model
    )


def by_sqlite(model, rows):
    columns = columns_of(rows)
    names = ", ".join(DIALECTS["sqlite"].identifier(name) for name in columns)
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE data ({names})")
    marks = ", ".join("?" * len(columns))
    lines = zip(*columns.values(), strict=True)
    connection.executemany(f"INSERT INTO data VALUES ({marks})", lines)
    query = model.export("sql", dialect="sqlite")
    return answers(
        connection.execute(f'SELECT * FROM ({query}) ORDER BY "row number"'), model
    )


def answers(cursor, model):
    target = model.schema.target
    names = [each[0] for each in cursor.description]
    records = cursor.fetchall()

    def cells(name):
        return [record[names.index(name)] for record in records]

    label = cells(f"predicted {target.name}")
    if target.is_numeric:
        return np.array(label)[:, None], None
    return np.array([cells(f"p({each})") for each in target.classes]).T, label


@pytest.mark.parametrize("ask", [by_duckdb, by_sqlite])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_sql_says_the_same(case, ask):
    """Rows that are divided are added up in another order: to the last digits."""
    model, rows = grown(case), sql_rows(case)
    if case.voting == "majority":
        with pytest.raises(ParameterError, match="format='sql' cannot say"):
            model.export("sql")
        return
    outputs, labels = outputs_of(model, rows)
    said = ask(model, rows)
    assert said[1] == labels
    if portable(model).divides or case.trees or labels is None:
        np.testing.assert_allclose(said[0], outputs, rtol=1e-12, atol=1e-15)
    else:
        np.testing.assert_array_equal(said[0], outputs)


def chain(depth, *, divides):
    """Return a tree with a leaf beside every node of one long way."""
    nodes = []
    for at in range(depth):
        leaf, deeper = 2 * at + 1, 2 * at + 2
        asks = (FormQuestion(0, (float(at),), (leaf, deeper)),)
        parts = ((leaf, 0.5), (deeper, 0.5)) if divides else ()
        nodes.append(FormNode(asks, None if divides else deeper, parts))
        nodes.append(FormNode(says=(float(at),)))
    nodes.append(FormNode(says=(float(depth),)))
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


def test_costs_decide_the_label(tmp_path):
    case = changed("c4.5")
    data = table(missing=0.1)
    del data["value"]
    costs = [[0, 9, 1], [1, 0, 1], [7, 1, 0]]
    model = spinney.TreeClassifier(recipe="c4.5", cost_matrix=costs, nominal=["grade"])
    classes = data.pop("class")
    model.fit(data, classes)
    rows = sql_rows(case)
    expected = outputs_of(model, rows)
    assert expected[1] != outputs_of(grown(case), rows)[1]
    same_bits(by_python(model, rows), expected)
    assert by_duckdb(model, rows)[1] == expected[1]
    if CC is not None:
        same_bits(by_c(model, rows, tmp_path), expected)


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
def test_hostile_names_and_values_stay_what_they_are(name, tmp_path):
    label = "a" if name.splitlines()[1:] else name
    data = {name: [name, "other"] * 3, "size": [1.0, 2, 3] * 2, "y": [label, "b"] * 3}
    model = spinney.grow(data, "y", recipe="id3")
    rows = [{name: each, "size": 3.0} for each in (name, "other", None, "new")]
    expected = outputs_of(model, rows)
    same_bits(by_python(model, rows), expected)
    if "\0" in name:
        for format in ("c", "sql"):
            with pytest.raises(ParameterError, match="NUL"):
                model.export(format)
        return
    if CC is not None:
        same_bits(by_c(model, rows, tmp_path), expected)
    connection = duckdb.connect()
    connection.register("data", pa.table({n: [r[n] for r in rows] for n in rows[0]}))
    same_bits(answers(connection.execute(model.export("sql")), model), expected)
    if NODE is not None and len(name) < 100:
        code = tmp_path / "model.mjs"
        model.export("javascript", path=code)
        assert "<" not in code.read_text("utf-8").split("/** ")[0]


def test_nan_is_missing_in_duckdb():
    case = CASES[2]
    rows = sql_rows(case)[:60]
    nan = [
        {n: math.nan if v is None and n in NUMBERS else v for n, v in r.items()}
        for r in rows
    ]
    assert by_duckdb(grown(case), nan)[1] == outputs_of(grown(case), rows)[1]


def test_what_a_format_has_no_words_for_is_refused():
    model = grown(CASES[0])
    with pytest.raises(ParameterError, match="dialect='mysql' is unknown"):
        model.export("sql", dialect="mysql")
    with pytest.raises(ParameterError, match=r"table='a\.\.b' is no name of a table"):
        model.export("sql", table="a..b")
    with pytest.raises(ParameterError, match="table='t' says nothing with format='c'"):
        model.export("c", table="t")
    large = {"x": [1, 2, 3, 4], "y": [2**60, 2**60, 2**60 + 1, 2**60 + 1]}
    with pytest.raises(
        ParameterError, match="format='javascript' cannot say the class"
    ):
        spinney.grow(large, "y", nominal=["y"], recipe="id3").export("javascript")
