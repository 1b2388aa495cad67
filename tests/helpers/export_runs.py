"""Exports, run for real: each runner asks one of them about rows.

A runner takes a fitted model and rows, and returns what the export says of them:
outputs, rows × classes, and labels, None of numbers.
"""

import atexit
import ctypes
import datetime
import json
import shutil
import sqlite3
import subprocess
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import pyarrow as pa
from tests.helpers.export_cases import UNSEEN, WIDE, outputs_of
from tests.helpers.pmml_reader import Document
from tests.helpers.postgres import server

from spinney._support.text import value_text
from spinney.data.times import days_of, seconds_of
from spinney.extensions.exports.portable_models import portable
from spinney.extensions.exports.sql_dialects import DIALECTS
from spinney.models.load import ALL_KINDS, load_model

TYPES = {
    "hue */ ??/": pa.string(),
    "</script>": pa.string(),
    "level": pa.string(),
    WIDE: pa.string(),
    "truth": pa.bool_(),
    "grade": pa.float64(),
    "it's a day": pa.date32(),
    "due": pa.date32(),
    "moment": pa.timestamp("us"),
}

ROW_NUMBER = "row number"
KEPT = [ROW_NUMBER]

NODE = shutil.which("node")
CC = shutil.which("gcc") or shutil.which("cc")
DOUBLES = ctypes.POINTER(ctypes.c_double)


def labels_only(labels):
    """Return what is said of clusters, which have no shares."""
    return np.array(labels, dtype=float)[:, None], labels


def by_python(model, rows):
    names = {}
    exec(model.export("python"), names)
    if model.kind == "clusters":
        return labels_only([names["predict"](row) for row in rows])
    if model.schema.target.is_numeric:
        return np.array([[names["predict"](row)] for row in rows]), None
    shares = [list(names["probabilities"](row).values()) for row in rows]
    return np.array(shares), [names["predict"](row) for row in rows]


RUN = """
import {readFileSync} from "node:fs";
const model = await import(process.argv[2]);
const rows = JSON.parse(readFileSync(process.argv[3], "utf8"));
const labels = rows.map((row) => model.predict(row));
const shares = model.probabilities
  ? rows.map((row) => [...model.probabilities(row).values()])
  : labels.map((label) => [label]);
console.log(JSON.stringify({labels, shares}));
"""


def by_javascript(model, rows):
    with TemporaryDirectory() as name:
        folder = Path(name)
        model.export("javascript", path=folder / "model.mjs")
        (folder / "run.mjs").write_text(RUN)
        texts = json.dumps(rows, default=lambda time: time.isoformat())
        (folder / "rows.json").write_text(texts)
        files = [folder / each for each in ("run.mjs", "model.mjs", "rows.json")]
        done = subprocess.run([NODE, *files], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    said = json.loads(done.stdout)
    numeric = model.schema.target.is_numeric
    return np.array(said["shares"], float), None if numeric else said["labels"]


def compiled(model, folder):
    """Return the library that a compiler makes of an export."""
    source, library = folder / "model.c", folder / "model.so"
    model.export("c", path=source)
    command = [CC, "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    done = subprocess.run(
        [*command, source, "-o", library, "-lm"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return ctypes.CDLL(str(library))


def by_c(model, rows):
    with TemporaryDirectory() as name:
        library = compiled(model, Path(name))
    columns = portable(model).columns
    types = [ctypes.c_double if c.is_number else ctypes.c_char_p for c in columns]

    class Row(ctypes.Structure):
        _fields_ = [(f"f{at}", each) for at, each in enumerate(types)]

    cells = [Row(*(c_cell(row.get(c.name), c) for c in columns)) for row in rows]
    target = model.schema.target
    if target.is_numeric:
        library.model_predict.restype = ctypes.c_double
        numbers = [library.model_predict(ctypes.byref(row)) for row in cells]
        return np.array(numbers)[:, None], None
    if model.kind == "clusters":
        return labels_only([library.model_predict(ctypes.byref(r)) for r in cells])
    outputs = np.zeros((len(rows), len(target.classes)))
    labels = []
    for row, line in zip(cells, outputs, strict=True):
        library.model_probabilities(ctypes.byref(row), line.ctypes.data_as(DOUBLES))
        labels.append(target.classes[library.model_predict(ctypes.byref(row))])
    return outputs, labels


def counted(value):
    """Return what a date or time counts, for formats that know numbers alone."""
    if isinstance(value, datetime.datetime):
        return seconds_of(value)
    return days_of(value) if isinstance(value, datetime.date) else value


def c_cell(value, column):
    if column.is_number:
        return float("nan") if value is None else float(counted(value))
    return None if value is None else value_text(value).encode()


def sql_rows(rows):
    """Return rows that typed columns of a database can hold."""
    odd = {"grade": 99.5, "truth": None}
    return [
        {n: odd.get(n, v) if v == UNSEEN else v for n, v in row.items()} for row in rows
    ]


def cells_by_column(rows):
    numbered = [{**row, ROW_NUMBER: float(at)} for at, row in enumerate(rows)]
    return {name: [row[name] for row in numbered] for name in numbered[0]}


def by_duckdb(model, rows):
    columns = {
        name: pa.array(cells, type=TYPES.get(name, pa.float64()))
        for name, cells in cells_by_column(rows).items()
    }
    connection = duckdb.connect()
    connection.register('some "rows"', pa.table(columns))
    query = model.export("sql", dialect="duckdb", table='some "rows"', keep=KEPT)
    return answers(
        connection.execute(f'SELECT * FROM ({query}) ORDER BY "row number"'), model
    )


def by_sqlite(model, rows):
    columns = cells_by_column(rows)
    names = ", ".join(DIALECTS["sqlite"].identifier(name) for name in columns)
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE data ({names})")
    marks = ", ".join("?" * len(columns))
    lines = [
        [str(c) if isinstance(c, datetime.date) else c for c in line]
        for line in zip(*columns.values(), strict=True)
    ]
    connection.executemany(f"INSERT INTO data VALUES ({marks})", lines)
    query = model.export("sql", dialect="sqlite", keep=KEPT)
    return answers(
        connection.execute(f'SELECT * FROM ({query}) ORDER BY "row number"'), model
    )


def answers(cursor, model):
    """Return what a query says in its last columns: the label, and then the shares."""
    target = model.schema.target
    names = [each[0] for each in cursor.description]
    assert len({*names}) == len(names)
    records = [tuple(record) for record in cursor.fetchall()]
    n_outputs = 1 if target.is_numeric else 1 + len(target.classes)
    label, *shares = zip(*(record[-n_outputs:] for record in records), strict=True)
    if target.is_numeric:
        return np.array(label)[:, None], None
    if model.kind == "clusters":
        return labels_only([*label])
    return np.array(shares).T, [*label]


def by_onnx(model, rows):
    import onnxruntime

    session = onnxruntime.InferenceSession(
        model.export("onnx"), providers=["CPUExecutionProvider"]
    )
    form, target = portable(model), model.schema.target
    pairs = zip(session.get_inputs(), form.columns, strict=True)
    given = {i.name: onnx_cells([row[c.name] for row in rows], c) for i, c in pairs}
    names = ["prediction"] if target.is_numeric else ["label", "probabilities"]
    said = session.run(names[:1] if model.kind == "clusters" else names, given)
    if target.is_numeric:
        return said[0][:, None], None
    if model.kind == "clusters":
        return labels_only(said[0].tolist())
    return said[1], said[0].tolist()


def onnx_cells(values, column):
    if column.is_number:
        numbers = [np.nan if value is None else counted(value) for value in values]
        return np.array(numbers, float)[:, None]
    texts = ["" if value is None else value_text(value) for value in values]
    return np.array(texts, dtype=object)[:, None]


def pmml_rows(model, rows):
    """Return rows as PMML has them: categories are texts."""
    numbers = {column.name for column in portable(model).columns if column.is_number}
    return [
        {
            name: counted(cell) if name in numbers or cell is None else value_text(cell)
            for name, cell in row.items()
        }
        for row in rows
    ]


def by_pmml(model, rows):
    document = Document(model.export("pmml"))
    said = [document.says(row) for row in pmml_rows(model, rows)]
    labels, target = [label for label, _ in said], model.schema.target
    if target.is_numeric:
        return np.array(labels)[:, None], None
    classes = {value_text(label): label for label in target.classes}
    labels = [classes[label] for label in labels]
    if model.kind == "clusters":
        return labels_only(labels)
    return np.array([[shares[text] for text in classes] for _, shares in said]), labels


def pmml4s_rows(model, rows):
    """Return rows that are not divided, for PMML4S divides them only once."""
    if not portable(model).divides:
        return list(rows)
    return [row for row in rows if not {None, UNSEEN} & {*row.values()}]


def by_pmml4s(model, rows):
    """Ask PMML4S, a reader of PMML on the Java virtual machine."""
    import pypmml

    text, target = model.export("pmml"), model.schema.target
    reader = pypmml.Model.fromString(text)
    said = [reader.predict(row) for row in pmml_rows(model, rows)]
    names = (f"predicted {target.name}", "predicted_value")
    labels = [next(each[n] for n in names if n in each) for each in said]
    if target.is_numeric:
        return np.array(labels, float)[:, None], None
    classes = {value_text(label): label for label in target.classes}
    labels = [classes[label] for label in labels]
    if model.kind == "clusters":
        return labels_only(labels)
    if model.kind == "rules":  # of which it gives no shares
        return outputs_of(model, rows)[0], labels
    return np.array([[each[f"p({text})"] for text in classes] for each in said]), labels


@cache
def postgres():
    """Return a connection to a server that ends with the tests."""
    import psycopg

    stack = ExitStack()
    atexit.register(stack.close)
    address = stack.enter_context(server())
    return stack.enter_context(psycopg.connect(address, autocommit=True))


POSTGRES_TYPES = {
    pa.string(): "text",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
}


def by_postgres(model, rows):
    columns, dialect = cells_by_column(rows), DIALECTS["postgres"]
    kinds = [POSTGRES_TYPES.get(TYPES.get(name), "float8") for name in columns]
    typed = zip(map(dialect.identifier, columns), kinds, strict=True)
    created = ", ".join(f"{name} {kind}" for name, kind in typed)
    cursor = postgres().cursor()
    cursor.execute(f"DROP TABLE IF EXISTS data; CREATE TEMP TABLE data ({created})")
    marks = ", ".join(["%s"] * len(columns))
    lines = [*zip(*columns.values(), strict=True)]
    cursor.executemany(f"INSERT INTO data VALUES ({marks})", lines)
    query = model.export("sql", dialect="postgres", keep=KEPT)
    ordered = f'SELECT * FROM ({query}) AS said ORDER BY "row number"'
    return answers(cursor.execute(ordered), model)


@cache
def spark():
    """Return a session of Spark in this process that ends with the tests."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("exports")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "localhost",
        # Queries of few rows: to translate them into Java takes longer than to run.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    atexit.register(session.stop)
    return session


class SparkAnswer:
    """Rows of Spark as a cursor has them."""

    def __init__(self, frame):
        self.description = [(name,) for name in frame.columns]
        self.fetchall = frame.collect


def spark_cell(cell):
    if isinstance(cell, datetime.datetime):
        return cell.replace(tzinfo=datetime.UTC)
    return float(cell) if type(cell) is int else cell


def by_spark(model, rows):
    from pyspark.sql import types

    columns, session = cells_by_column(rows), spark()
    kinds = {
        pa.string(): types.StringType(),
        pa.bool_(): types.BooleanType(),
        pa.date32(): types.DateType(),
        pa.timestamp("us"): types.TimestampType(),
    }
    fields = [
        types.StructField(name, kinds.get(TYPES.get(name), types.DoubleType()))
        for name in columns
    ]
    lines = [
        tuple(spark_cell(c) for c in line)
        for line in zip(*columns.values(), strict=True)
    ]
    frame = session.createDataFrame(lines, types.StructType(fields))
    frame.createOrReplaceTempView("data")
    query = model.export("sql", dialect="spark", keep=KEPT)
    ordered = f"SELECT * FROM ({query}) ORDER BY `row number`"
    return answers(SparkAnswer(session.sql(ordered)), model)


def by_json(model, rows):
    """Ask the model that is read back."""
    with TemporaryDirectory() as name:
        path = Path(name) / "model.json"
        model.export("json", path=path)
        return outputs_of(load_model(path, kinds=ALL_KINDS), rows)
