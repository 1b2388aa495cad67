"""Pictures of trees, from the shell: where they go and what they look like."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.shell_options import check_output, refuse_given
from spinney.cli.shell_output import STANDARD_OUTPUT, say, write_data

if TYPE_CHECKING:
    from spinney.models import FittedTree
    from spinney.output import NodeErrors

STYLE, HORIZONTAL = "--style", "--horizontal"


def picture_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of pictures."""
    for option in (
        click.option(
            HORIZONTAL, is_flag=True, help="With --svg: the root at the left."
        ),
        click.option(
            STYLE, help="With --svg: compact, rules or teaching.  [default: compact]"
        ),
        click.option(
            "--svg", metavar="FILE", help="Draw the tree to this .svg or .html file."
        ),
    ):
        command = option(command)
    return command


def check_picture(options: Mapping[str, Any]) -> None:
    """Refuse what cannot be drawn or written, before any work is done."""
    path, style = options["svg"], options["style"]
    if path is None:
        refuse_given(("style", "horizontal"), "says nothing without --svg FILE")
        return
    from spinney._support.checks import check_named
    from spinney.output.picture import STYLES, check_suffix

    if style is not None:
        check_named("style", style, STYLES)
    if path != STANDARD_OUTPUT:
        check_suffix(path)
        check_output(path, force=options["force"], option="--svg")


def draw(
    model: "FittedTree",
    options: Mapping[str, Any],
    *,
    depth: int | None = None,
    errors: "NodeErrors | None" = None,
) -> None:
    """Draw a tree to the file that is named, or to standard output."""
    path = options["svg"]
    picture = model.plot(
        style=options["style"] or "compact",
        horizontal=options["horizontal"],
        max_depth=depth,
        data=errors,
    )
    if path == STANDARD_OUTPUT:
        write_data(picture.svg)
        return
    picture.save(path, force=options["force"])
    say(f"drawn to {path}")
