"""Exports answer as their model does: run for real, row by row, bit by bit."""

import ctypes
import json
import shutil
import sqlite3
import subprocess

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.helpers.export_cases import CASES, UNSEEN, grown, outputs_of, rows_of

from spinney._support.text import value_text
from spinney.errors import ParameterError
from spinney.output.export.portable import portable
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
