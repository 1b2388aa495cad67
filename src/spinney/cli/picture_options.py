"""Pictures of models, from the shell: where they go and what they look like."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.shell_options import check_output
from spinney.cli.shell_output import STANDARD_OUTPUT, say, write_data
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.output.picture import Picture

STYLE, HORIZONTAL, BARS = "--style", "--horizontal", "--bars"


def picture_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of pictures."""
    for option in (
        click.option(
            HORIZONTAL, is_flag=True, help="With --svg: the root at the left."
        ),
        click.option(
            BARS,
            is_flag=True,
            help="With --svg: how the rows of each question answer it, as bars.",
        ),
        click.option(
            STYLE, help="With --svg: compact, rules or teaching.  [default: compact]"
        ),
        click.option(
            "--svg", metavar="FILE", help="Draw it to this .svg, .html, .png or .pdf."
        ),
    ):
        command = option(command)
    return command


def check_picture(options: Mapping[str, Any]) -> None:
    """Refuse what cannot be drawn or written, before any work is done."""
    path, style = options["svg"], options["style"]
    flags = {HORIZONTAL: options["horizontal"], BARS: options["bars"]}
    for name, value in {STYLE: style, **flags}.items():
        if value and path is None:
            msg = f"{name} says nothing without --svg FILE"
            raise ParameterError(msg)
    if path is None:
        return
    from spinney._support.checks import check_named
    from spinney.output.picture import STYLES, check_suffix

    if style is not None:
        check_named("style", style, STYLES)
    if path != STANDARD_OUTPUT:
        check_suffix(path)
        check_output(path, force=options["force"], option="--svg")


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
    picture.save(path, force=options["force"])
    say(f"drawn to {path}")
