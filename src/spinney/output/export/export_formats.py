"""The formats of an export, by name: one table, one row per format."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

from spinney._support.atomic_file import write_whole
from spinney._support.checks import check_named
from spinney.errors import Setting, refusal
from spinney.output.export.c_code import to_c
from spinney.output.export.javascript_code import to_javascript
from spinney.output.export.json_model import model_json
from spinney.output.export.onnx_code import to_onnx
from spinney.output.export.pmml_code import to_pmml
from spinney.output.export.portable_models import portable
from spinney.output.export.python_code import to_python
from spinney.output.export.sql_code import to_sql
from spinney.output.export.sql_dialects import DIALECTS
from spinney.output.export.sql_names import QueryNames
from spinney.output.export.tree_dot import to_dot
from spinney.output.picture import svg_bytes
from spinney.output.rules.leaf_rules import rules_of
from spinney.output.tree_text import to_text

if TYPE_CHECKING:
    import os


@dataclass(frozen=True, slots=True)
class Format:
    """A format of an export.

    Parameters
    ----------
    name : str
        What the user types.
    kinds : tuple of str
        The kinds of fitted models that it can say.
    write : function of a fitted model of such a kind, and of the options
        Returns the text, or the bytes of a picture.
    options : tuple of str
        What else can be said of it.
    """

    name: str
    kinds: tuple[str, ...]
    write: Callable[..., str | bytes]
    options: tuple[str, ...] = ()


CONTENT = {"tree": "model_", "forest": "forest_", "clusters": "clusters_"}
"""What a fitted model of each kind is made of."""


def _json(model: Any) -> str:
    if model.kind == "rules":
        return str(model.to_json())
    return model_json(getattr(model, CONTENT[model.kind]))


def _page(model: Any, **options: Any) -> str:
    from spinney.output.explorer import explorer_page

    return explorer_page([model], **options)


def _svg(model: Any, **options: Any) -> str:
    for name, value in options.items():
        if name not in signature(model.plot).parameters:
            problem = f"is not for pictures of the kind {model.kind!r}"
            raise refusal(Setting(name, value), problem, "leave it out")
    return str(model.plot(**options).svg)


def _drawn(suffix: str) -> Callable[..., bytes]:
    return lambda model, **options: svg_bytes(_svg(model, **options), suffix)


def _sql(model: Any, **options: Any) -> str:
    return to_sql(portable(model), **options)


def names_of_predictions(model: Any, dialect: str, columns: Sequence[str]) -> list[str]:
    """Return which columns of a table have names that the query of "sql" makes."""
    names = QueryNames(portable(model), DIALECTS[dialect])
    return names.predictions_in(columns)


TREES = ("tree", "forest")
DRAWN = (*TREES, "clusters")
LOOKS = ("data", "bars")
ALL = (*DRAWN, "rules")

FORMATS = {
    row.name: row
    for row in (
        Format("text", ALL, lambda m: f"{m}\n"),
        Format(
            "numbered-text", ("tree",), lambda m: to_text(m.tree, numbers=True) + "\n"
        ),
        Format("rules", ("tree",), lambda m: rules_of(m.tree).text() + "\n"),
        Format("json", ALL, _json),
        Format("svg", DRAWN, lambda m, **o: _svg(m, **o) + "\n", options=LOOKS),
        Format("html", DRAWN, _page, options=("data",)),
        Format("png", DRAWN, _drawn("png"), options=LOOKS),
        Format("pdf", DRAWN, _drawn("pdf"), options=LOOKS),
        Format("lesson", ("tree",), lambda m: m.lesson().html),
        Format("dot", ("tree",), lambda m: to_dot(m.tree) + "\n"),
        Format("python", ALL, lambda m: to_python(portable(m))),
        Format("javascript", ALL, lambda m: to_javascript(portable(m))),
        Format("c", ALL, lambda m: to_c(portable(m))),
        Format("onnx", ALL, lambda m: to_onnx(portable(m))),
        Format("pmml", ALL, lambda m: to_pmml(portable(m))),
        Format("sql", ALL, _sql, options=("dialect", "table", "keep")),
    )
}


def exported(
    model: Any,
    format: str,
    *,
    path: "str | os.PathLike[str] | None" = None,
    **options: Any,
) -> Any:
    """Return a fitted model in a format; write it to a path too, if one is given.

    Formats are texts, but for "png", "pdf" and "onnx", which are bytes. Options that
    are None have not been given.
    """
    check_named("format", format, FORMATS)
    kinds = FORMATS[format].kinds
    if model.kind not in kinds:
        others = [repr(row.name) for row in FORMATS.values() if model.kind in row.kinds]
        problem = (
            f"cannot say a model of the kind {model.kind!r}, but "
            f"{' and '.join(map(repr, kinds))}"
        )
        remedy = f"take {' or '.join(others)}"
        raise refusal(Setting("format", format), problem, remedy)
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in FORMATS[format].options:
            of = next(row.name for row in FORMATS.values() if name in row.options)
            beside = ("says nothing with ", Setting("format", format))
            other = ("leave it out, or take ", Setting("format", of))
            raise refusal(Setting(name, value), beside, other)
    content = FORMATS[format].write(model, **given)
    if path is not None:
        write_whole(path, [content.encode() if isinstance(content, str) else content])
    return content
