"""Options of pictures of models: their file and their style."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from spinney import registry
from spinney.cli.shell_options import (
    check_output,
    combined_options,
    parameter_names,
    refuse_options,
)
from spinney.cli.shell_output import STANDARD_OUTPUT, say, write_data

if TYPE_CHECKING:
    from spinney.extensions.pictures import Picture

style_options = combined_options(
    click.option(
        "--style",
        help="Style of the picture: compact, rules or teaching.  [default: compact]",
    ),
    click.option(
        "--bars",
        is_flag=True,
        help="Draw the distribution at each split as bars; numbers as histograms of "
        "--data.",
    ),
    click.option(
        "--horizontal", is_flag=True, help="Draw the root of the tree at the left."
    ),
    click.option("--title", help="Title of the picture.  [default: the target]"),
    click.option(
        "--palette",
        metavar="NAME|COLOURS",
        help="okabe-ito, grey, pastel, or colours: '#0072b2,#e69f00'.  "
        "[default: okabe-ito]",
    ),
    click.option(
        "--digits",
        type=click.IntRange(min=1),
        help="Significant digits of numbers; splits have more if rows need them.",
    ),
    click.option(
        "--leaves-at-bottom", is_flag=True, help="Draw all leaves on the last level."
    ),
)
picture_options = combined_options(
    click.option(
        "--svg", metavar="FILE", help="Draw to this file: .svg, .html, .png or .pdf."
    ),
    style_options,
)


def check_picture(options: Mapping[str, Any]) -> None:
    """Refuse a picture that cannot be drawn or written, before any work is done."""
    path, style = options["svg"], options["style"]
    if path is None:
        refuse_options(parameter_names(style_options), "needs --svg FILE")
        return
    from spinney._support.checks import check_named  # it imports NumPy

    pictures = registry.load("operation", "picture")
    if style is not None:
        check_named("style", style, pictures.STYLES)
    if path != STANDARD_OUTPUT:
        pictures.check_suffix(path)
        check_output(path, overwrite=options["overwrite"], option="--svg")


def tree_style(options: Mapping[str, Any], depth: int | None) -> dict[str, Any]:
    """Return the arguments of ``model.plot``."""
    return {
        "style": options["style"] or "compact",
        "horizontal": options["horizontal"],
        "max_depth": depth,
        "bars": options["bars"],
        "title": options["title"],
        "palette": options["palette"] or "okabe-ito",
        "digits": options["digits"],
        "leaves_at_bottom": options["leaves_at_bottom"],
    }


def write_picture(picture: "Picture", options: Mapping[str, Any]) -> None:
    """Write a picture to the file of --svg, or to standard output."""
    path = options["svg"]
    if path == STANDARD_OUTPUT:
        write_data(picture.svg)
        return
    picture.save(path, overwrite=options["overwrite"])
    say(f"drawn to {path}")
