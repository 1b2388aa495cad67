"""The names that an export has inside, read from its text, and tables that have them.

Whoever runs an export may have a column of any name, and the export must not take it
for what it made under that name. The names are not listed here: they are those that
the text has, so that a new one is tried, too.
"""

import ast
import json
import re
from xml.etree import ElementTree

import sqlglot

from spinney.extensions.exports.portable_models import portable

CAPITALS = {"as it is": str, "capitals": str.upper, "mixed": str.title}
DIALECTS = ("duckdb", "postgres", "sqlite", "spark")


def of_sql(text, dialect):
    query = sqlglot.parse_one(text, dialect=dialect)
    return {each.name for each in query.find_all(sqlglot.exp.Identifier)}


def of_python(text):
    names = set()
    for node in ast.walk(ast.parse(text)):
        names |= {getattr(node, field, None) for field in ("id", "arg", "name")}
        names.add(getattr(node, "value", None))
    return {name for name in names if isinstance(name, str) and len(name) < 40}


def of_javascript(text):
    return {*re.findall(r"[A-Za-z_$][\w$]*", text)}


def of_xml(text):
    elements = [*ElementTree.fromstring(text).iter()]
    return {value for each in elements for value in each.attrib.values()}


def of_json(text):
    names, left = set(), [json.loads(text)]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            names |= {*part}
            left += part.values()
        elif isinstance(part, list):
            left += part
    return names


def of_onnx(data):
    import onnx

    names, graphs = set(), [onnx.load_from_string(data).graph]
    while graphs:
        graph = graphs.pop()
        names |= {each.name for each in (*graph.input, *graph.output)}
        names |= {each.name for each in graph.initializer}
        for node in graph.node:
            names |= {*node.input, *node.output}
            graphs += [each.g for each in node.attribute if each.HasField("g")]
    return names


READ = {
    "json": of_json,
    "python": of_python,
    "javascript": of_javascript,
    "c": of_javascript,  # which has words, too
    "onnx": of_onnx,
    "pmml": of_xml,
}


def names_in(model, format, dialect=None):
    """Return the names that an export has, but for columns that the model reads."""
    options = {"dialect": dialect} if format == "sql" else {}
    text = model.export(format, **options)
    found = of_sql(text, dialect) if format == "sql" else READ[format](text)
    return sorted(name for name in found if name.strip() and "\0" not in name)


def free_names(names, taken, written=str):
    """Return names in some capitals, but for those that engines take for others."""
    used, free = {each.lower() for each in taken}, []
    for name in map(written, names):
        if name.lower() not in used and len(name.encode()) < 60:
            used.add(name.lower())
            free.append(name)
    return free


def with_columns(rows, names):
    """Return rows with further columns, whose numbers are leaves, nodes or shares."""
    extra = [
        {name: float((at + place) % 4) for place, name in enumerate(names)}
        for at in range(len(rows))
    ]
    return [{**more, **row} for more, row in zip(extra, rows, strict=True)]


def columns_of(model):
    return [column.name for column in portable(model).columns]
