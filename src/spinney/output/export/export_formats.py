"""The formats of an export, by name."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from spinney._support.atomic_file import write_whole
from spinney._support.checks import check_named
from spinney.growth import Model
from spinney.output.export.tree_json import to_json
from spinney.output.rules.leaf_rules import rules_of
from spinney.output.tree_text import to_text

if TYPE_CHECKING:
    import os

FORMATS: dict[str, Callable[[Model], str]] = {
    "text": lambda model: to_text(model.tree) + "\n",
    "numbered-text": lambda model: to_text(model.tree, numbers=True) + "\n",
    "rules": lambda model: rules_of(model.tree).text() + "\n",
    "json": to_json,
}


def exported(
    model: Model, format: str, *, path: "str | os.PathLike[str] | None" = None
) -> str:
    """Return a model in a format; write it to a path too, if one is given."""
    check_named("format", format, FORMATS)
    text = FORMATS[format](model)
    if path is not None:
        write_whole(path, [text.encode("utf-8")])
    return text
