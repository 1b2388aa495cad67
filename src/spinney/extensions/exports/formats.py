"""The export formats of this extension, for the registry."""

from collections.abc import Sequence
from typing import Any

from spinney.extensions.exports.c_code import to_c
from spinney.extensions.exports.javascript_code import to_javascript
from spinney.extensions.exports.onnx_code import to_onnx
from spinney.extensions.exports.pmml_code import to_pmml
from spinney.extensions.exports.portable_models import portable
from spinney.extensions.exports.python_code import to_python
from spinney.extensions.exports.sql_code import to_sql
from spinney.extensions.exports.sql_dialects import DIALECTS
from spinney.extensions.exports.sql_names import QueryNames
from spinney.extensions.exports.tree_dot import to_dot
from spinney.output.export_formats import ALL, Format

DOT = Format("dot", ("tree",), lambda m: to_dot(m.tree) + "\n")
PYTHON = Format("python", ALL, lambda m: to_python(portable(m)))
JAVASCRIPT = Format("javascript", ALL, lambda m: to_javascript(portable(m)))
C = Format("c", ALL, lambda m: to_c(portable(m)))
ONNX = Format("onnx", ALL, lambda m: to_onnx(portable(m)))
PMML = Format("pmml", ALL, lambda m: to_pmml(portable(m)))
SQL = Format(
    "sql",
    ALL,
    lambda m, **options: to_sql(portable(m), **options),
    options=("dialect", "table", "keep"),
)


def prediction_names(model: Any, dialect: str, columns: Sequence[str]) -> list[str]:
    """Return the columns that have the name of a prediction of the SQL export."""
    names = QueryNames(portable(model), DIALECTS[dialect])
    return names.predictions_in(columns)
