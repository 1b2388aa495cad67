"""The command ``explore``: a page in which a model is walked and questioned."""

from pathlib import Path
from typing import Any

import click

from spinney.cli.page_output import page_options, page_path, write_page
from spinney.cli.shell_options import (
    examples,
    file_arguments,
    file_options,
    load,
    names_in,
    refuse_given,
)
from spinney.cli.shell_output import working


@click.command(
    epilog=examples(
        "spinney explore melons.spinney --open",
        "spinney explore melons.spinney -o melons.html",
        "spinney explore melons.spinney --rows melons.csv -o melons.html",
        "spinney explore one.spinney other.spinney -o both.html",
    )
)
@click.argument("model")
@click.argument("other", required=False)
@click.option(
    "--rows",
    metavar="DATA",
    help="Put the rows of this table into the page, behind the nodes they come to.",
)
@page_options
@file_options
def explore(model: str, other: str | None, **options: Any) -> None:
    """Write a page in which MODEL can be walked and questioned, without a network.

    It holds counts, and no rows unless --rows names them. Two models stand side by
    side. Without -o the page is named after MODEL, and with --open it is a temporary
    file.
    """
    path = page_path(Path(model).stem, options)
    models = [load(path) for path in (model, other) if path is not None]
    with working("preparing the page"):
        page = models[0].explore(
            rows=_rows(models, options), beside=models[1] if other else None
        )
    write_page(page, path, options, _contents(options["rows"]))


def _rows(models: list[Any], options: dict[str, Any]) -> Any:
    """Return the table of --rows, as each model is to read it."""
    if options["rows"] is None:
        refuse_given(names_in(file_options), "says nothing without --rows DATA")
        return None
    from spinney.data import declarations_of
    from spinney.data.readers import read_table

    arguments = file_arguments(options)
    if len(models) == 1:
        return models[0].read(options["rows"], **arguments)
    notation = arguments.pop("notation")
    return read_table(
        options["rows"], declarations=declarations_of(notation=notation), **arguments
    )


def _contents(rows: str | None) -> str:
    return "counts only, no rows" if rows is None else f"with the rows of {rows}"
