"""Export formats by name, including those of extensions."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spinney import registry
from spinney._support.atomic_file import write_whole
from spinney._support.checks import check_named
from spinney.errors import MissingExtraError, Setting, refusal
from spinney.output.file import saved_content
from spinney.output.json_model import model_json
from spinney.output.leaf_rules import rules_of
from spinney.output.tree_text import to_text

if TYPE_CHECKING:
    import os


@dataclass(frozen=True, slots=True)
class Format:
    """An export format.

    Parameters
    ----------
    name : str
        Its name for users.
    kinds : tuple of str
        The kinds of fitted models that it can express; all if empty.
    write : function of a fitted model and of the options
        Returns the text or bytes of the export.
    options : tuple of str
        The options of ``write``.
    """

    name: str
    kinds: tuple[str, ...]
    write: Callable[..., str | bytes]
    options: tuple[str, ...] = ()


def _json(model: Any) -> str:
    if model.kind == "rules":
        return str(model.to_json())
    return model_json(saved_content(model))


TREES = ("tree", "forest")
DRAWN = (*TREES, "clusters")
ALL = (*DRAWN, "rules")

FORMATS = {
    row.name: row
    for row in (
        Format("text", (), lambda m: f"{m.text() if m.kind == 'tree' else m}\n"),
        Format(
            "numbered-text", ("tree",), lambda m: to_text(m.tree, numbers=True) + "\n"
        ),
        Format("rules", ("tree",), lambda m: rules_of(m.tree).text() + "\n"),
        Format("json", (), _json),
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

    Formats are texts, except "png", "pdf" and "onnx", which are bytes. Options that are
    None are ignored.
    """
    if format not in FORMATS:
        check_named("format", format, (*FORMATS, *registry.names("export")))
    chosen: Format = FORMATS.get(format) or registry.load("export", format)
    if chosen.kinds and model.kind not in chosen.kinds:
        fitting = [f.name for f in _formats() if not f.kinds or model.kind in f.kinds]
        problem = (
            f"cannot express a model of the kind {model.kind!r}, only "
            f"{' and '.join(map(repr, chosen.kinds))}"
        )
        remedy = f"use {' or '.join(map(repr, fitting))}"
        raise refusal(Setting("format", format), problem, remedy)
    options = {name: value for name, value in options.items() if value is not None}
    for name, value in options.items():
        if name not in chosen.options:
            fitting = [f.name for f in _formats() if name in f.options]
            raise refusal(
                Setting(name, value),
                ("has no effect with ", Setting("format", format)),
                ("remove it, or use ", Setting("format", fitting[0])),
            )
    content = chosen.write(model, **options)
    if path is not None:
        write_whole(path, [content.encode() if isinstance(content, str) else content])
    return content


def _formats() -> Iterator[Format]:
    """Yield all installed formats."""
    yield from FORMATS.values()
    for name in registry.names("export"):
        with suppress(MissingExtraError):
            yield registry.load("export", name)
