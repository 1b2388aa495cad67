"""Every export beside its model, row by row: what differs, and what is refused."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from shutil import which
from typing import Any

import numpy as np
from tests.helpers import export_runs
from tests.helpers.export_cases import Case, grown, outputs_of, rows_of
from tests.helpers.export_names import CAPITALS, free_names, names_in, with_columns
from tests.helpers.postgres import programs

from spinney.errors import ParameterError
from spinney.extensions.exports.portable_models import portable


@dataclass(frozen=True)
class Way:
    """A way to run a format: by what, on which rows, and whether bits are the same.

    Sums of forests, of rows that are divided and of linear models may be added up in
    another order where ``same_sums`` is False: then to 12 digits.
    """

    format: str
    ask: Callable[..., Any]
    rows: Callable[..., Any] = lambda _, rows: list(rows)
    same_sums: bool = True
    missing_tool: str | None = None
    dialect: str | None = None


def _needs(tool: object, name: str) -> str | None:
    return None if tool else f"{name} is not installed"


WAYS = {
    "json": Way("json", export_runs.by_json),
    "python": Way("python", export_runs.by_python),
    "javascript": Way(
        "javascript",
        export_runs.by_javascript,
        missing_tool=_needs(export_runs.NODE, "node"),
    ),
    "c": Way(
        "c",
        export_runs.by_c,
        missing_tool=_needs(export_runs.CC, "a compiler of C"),
    ),
    "onnx": Way(
        "onnx",
        export_runs.by_onnx,
        same_sums=False,
        missing_tool=_needs(find_spec("onnxruntime"), "onnxruntime"),
    ),
    "pmml": Way("pmml", export_runs.by_pmml, same_sums=False),
    "pmml4s": Way(
        "pmml",
        export_runs.by_pmml4s,
        rows=export_runs.pmml4s_rows,
        same_sums=False,
        missing_tool=_needs(find_spec("pypmml") and which("java"), "pypmml or Java"),
    ),
    "duckdb": Way(
        "sql",
        export_runs.by_duckdb,
        dialect="duckdb",
        rows=lambda _, rows: export_runs.sql_rows(rows),
        same_sums=False,
    ),
    "postgres": Way(
        "sql",
        export_runs.by_postgres,
        dialect="postgres",
        rows=lambda _, rows: export_runs.sql_rows(rows),
        same_sums=False,
        missing_tool=_needs(programs() and find_spec("psycopg"), "PostgreSQL"),
    ),
    "spark": Way(
        "sql",
        export_runs.by_spark,
        dialect="spark",
        rows=lambda _, rows: export_runs.sql_rows(rows),
        same_sums=False,
        missing_tool=_needs(find_spec("pyspark") and which("java"), "pyspark or Java"),
    ),
    "sqlite": Way(
        "sql",
        export_runs.by_sqlite,
        dialect="sqlite",
        rows=lambda _, rows: export_runs.sql_rows(rows),
        same_sums=False,
    ),
}


@dataclass(frozen=True)
class Compared:
    """How many rows were asked, how many of them differ, or why there is no export."""

    rows: int = 0
    differences: int = 0
    refusal: str | None = None


def compare(way: Way, case: Case, *, beside: str | None = None) -> Compared:
    """Compare what an export and its model say of the rows of a case.

    ``beside`` says in which capitals the names that the export has inside are columns
    of the rows, too.
    """
    model, rows = grown(case), way.rows(grown(case), rows_of(case))
    asked = rows
    try:
        if beside is not None:
            names = names_in(model, way.format, way.dialect)
            taken = [*rows[0], export_runs.ROW_NUMBER]
            more = free_names(names, taken, CAPITALS[beside])
            assert more
            asked = with_columns(rows, more)
        outputs, labels = way.ask(model, asked)
    except ParameterError as refusal:
        return Compared(refusal=str(refusal))
    expected, classes = outputs_of(model, rows)
    differs = _differs(np.asarray(outputs, float), expected, exact=_exact(way, model))
    if classes is not None:
        pairs = zip(labels, classes, strict=True)
        differs |= np.array([said != label for said, label in pairs])
    return Compared(len(rows), int(differs.sum()))


def _exact(way: Way, model: Any) -> bool:
    form = portable(model)
    lines = any(node.line is not None for node in form.nodes)
    return way.same_sums or not (form.divides or lines or len(form.roots) > 1)


def _differs(outputs: Any, expected: Any, *, exact: bool) -> Any:
    """Return which rows differ."""
    if outputs.shape != expected.shape:
        return np.ones(len(expected), bool)
    if exact:
        return (outputs != expected).any(axis=1)
    return ~np.isclose(outputs, expected, rtol=1e-12, atol=1e-15).all(axis=1)
