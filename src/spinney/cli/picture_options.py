"""Pictures of models, from the shell: where they go and what they look like."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from spinney import registry
from spinney.cli.shell_options import all_of, check_output, names_in, refuse_given
from spinney.cli.shell_output import STANDARD_OUTPUT, say, write_data

if TYPE_CHECKING:
    from spinney.extensions.pictures import Picture

look_options = all_of(
    click.option(
        "--style",
        help="Of the picture: compact, rules or teaching.  [default: compact]",
    ),
    click.option(
        "--bars",
        is_flag=True,
        help="In the picture: how the rows of each question answer it, as bars; of "
        "numbers as histograms of --data.",
    ),
    click.option(
        "--horizontal", is_flag=True, help="In the picture: the root at the left."
    ),
)
picture_options = all_of(
    click.option(
        "--svg", metavar="FILE", help="Draw it to this .svg, .html, .png or .pdf."
    ),
    look_options,
)


def check_picture(options: Mapping[str, Any]) -> None:
    """Refuse what cannot be drawn or written, before any work is done."""
    path, style = options["svg"], options["style"]
    if path is None:
        refuse_given(names_in(look_options), "says nothing without --svg FILE")
        return
    from spinney._support.checks import check_named  # it imports NumPy

    pictures = registry.load("operation", "picture")
    if style is not None:
        check_named("style", style, pictures.STYLES)
    if path != STANDARD_OUTPUT:
        pictures.check_suffix(path)
        check_output(path, overwrite=options["overwrite"], option="--svg")


def tree_look(options: Mapping[str, Any], depth: int | None) -> dict[str, Any]:
    """Return how a tree is drawn."""
    return {
        "style": options["style"] or "compact",
        "horizontal": options["horizontal"],
        "max_depth": depth,
        "bars": options["bars"],
    }


def keep_picture(picture: "Picture", options: Mapping[str, Any]) -> None:
    """Write a picture to the file that is named, or to standard output."""
    path = options["svg"]
    if path == STANDARD_OUTPUT:
        write_data(picture.svg)
        return
    picture.save(path, overwrite=options["overwrite"])
    say(f"drawn to {path}")
