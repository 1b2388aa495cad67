"""The formats of an export, by name; the registry has those of extensions."""

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
    """A format of an export.

    Parameters
    ----------
    name : str
        What the user types.
    kinds : tuple of str
        The kinds of fitted models that it can say; any if it names none.
    write : function of a fitted model of such a kind, and of the options
        Returns the text, or the bytes of a picture.
    options : tuple of str
        What else can be said of it.
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
        Format("text", (), lambda m: f"{m}\n"),
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

    Formats are texts, but for "png", "pdf" and "onnx", which are bytes. Options that
    are None have not been given.
    """
    if format not in FORMATS:
        check_named("format", format, (*FORMATS, *registry.names("export")))
    own: Format = FORMATS.get(format) or registry.load("export", format)
    if own.kinds and model.kind not in own.kinds:
        others = [
            repr(f.name) for f in _formats() if model.kind in (f.kinds or [model.kind])
        ]
        problem = (
            f"cannot say a model of the kind {model.kind!r}, but "
            f"{' and '.join(map(repr, own.kinds))}"
        )
        remedy = f"take {' or '.join(others)}"
        raise refusal(Setting("format", format), problem, remedy)
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in own.options:
            of = next(row.name for row in _formats() if name in row.options)
            beside = ("says nothing with ", Setting("format", format))
            other = ("leave it out, or take ", Setting("format", of))
            raise refusal(Setting(name, value), beside, other)
    content = own.write(model, **given)
    if path is not None:
        write_whole(path, [content.encode() if isinstance(content, str) else content])
    return content


def _formats() -> Iterator[Format]:
    """Give all formats that are installed."""
    yield from FORMATS.values()
    for name in registry.names("export"):
        with suppress(MissingExtraError):
            yield registry.load("export", name)
