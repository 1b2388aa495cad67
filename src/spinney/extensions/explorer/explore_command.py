"""The command ``explore``: an interactive page of a model."""

from pathlib import Path
from typing import Any

import click

from spinney.cli.shell_options import (
    examples,
    file_arguments,
    file_options,
    load,
    parameter_names,
    refuse_options,
)
from spinney.cli.shell_output import show_status
from spinney.errors import ParameterError
from spinney.extensions.pictures.page_output import page_options, page_path, write_page


@click.command(
    epilog=examples(
        "spinney explore melons.spinney --open",
        "spinney explore melons.spinney -o melons.html",
        "spinney explore melons.spinney --rows melons.csv -o melons.html",
        "spinney explore melons.spinney --data melons.csv -o melons.html",
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
@click.option(
    "--data",
    metavar="DATA",
    help="Show histograms and errors of this table, and put no row into the page.",
)
@page_options
@file_options
def explore(model: str, other: str | None, **options: Any) -> None:
    """Write an interactive page of MODEL that works offline.

    The page contains counts; --rows adds the rows of a table, --data only histograms of
    a table. Two models are shown side by side. Without -o the page is named after
    MODEL; with --open it is a temporary file.
    """
    from spinney.extensions.explorer.page_file import ExplorerPage, explorer_page

    path = page_path(Path(model).stem, options)
    models = [load(path) for path in (model, other) if path is not None]
    with show_status("preparing the page"):
        names = [Path(model).name, Path(other).name] if other else []
        table = _table_argument(models, options)
        page = ExplorerPage(explorer_page(models, **table, names=names))
    write_page(page, path, options, _page_contents(options))


def _table_argument(models: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the table of --rows or --data, read with the schema of one model."""
    named = [name for name in ("rows", "data") if options[name] is not None]
    if not named:
        why = "has no effect without --rows DATA or --data DATA"
        refuse_options(parameter_names(file_options), why)
        return {}
    if len(named) > 1:
        msg = "--rows and --data exclude each other: --data is for a page without rows"
        raise ParameterError(msg)
    from spinney.data import declarations_of
    from spinney.data.readers import read_table
    from spinney.extensions.explorer.row_data import read_with_key

    path, arguments = options[named[0]], file_arguments(options)
    if len(models) == 1:
        if named[0] == "rows":
            return {"rows": read_with_key(models[0], path, **arguments)[0]}
        return {"data": models[0].read(path, **arguments)}
    text_format = arguments.pop("text_format")
    table = read_table(
        path, declarations=declarations_of(text_format=text_format), **arguments
    )
    return {named[0]: table}


def _page_contents(options: dict[str, Any]) -> str:
    if options["data"] is not None:
        return f"counts of {options['data']}, no rows"
    rows = options["rows"]
    return "counts only, no rows" if rows is None else f"with the rows of {rows}"
