"""The command ``explore``: a page in which a model is walked and questioned."""

import tempfile
import webbrowser
from pathlib import Path
from typing import Any

import click

from spinney.cli.shell_options import (
    check_output,
    examples,
    file_arguments,
    file_options,
    load,
    output_options,
)
from spinney.cli.shell_output import STANDARD_OUTPUT, say, write_data
from spinney.errors import ParameterError

KINDS = ("tree", "forest", "clusters")


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
@click.option("--open", "open_", is_flag=True, help="Show the page in a browser.")
@click.option(
    "--rows",
    metavar="DATA",
    help="Put the rows of this table into the page, behind the nodes they come to.",
)
@output_options
@file_options
def explore(model: str, other: str | None, **options: Any) -> None:
    """Write a page in which MODEL can be walked and questioned, without a network.

    It holds counts, and no rows unless --rows names them. Two models stand side by
    side. Without -o the page is named after MODEL, and with --open it is a temporary
    file.
    """
    output = _output(model, options)
    models = [load(path, *KINDS) for path in (model, other) if path is not None]
    page = models[0].explore(
        rows=_rows(models, options), beside=models[1] if other else None
    )
    if output == STANDARD_OUTPUT:
        write_data(page.html.rstrip("\n"))
        return
    page.save(output, force=options["force"])
    say(f"written to {output} ({_contents(options['rows'])})")
    if options["open_"] and not webbrowser.open(Path(output).resolve().as_uri()):
        say(f"no browser could be started: open {output} yourself")


def _output(model: str, options: dict[str, Any]) -> str:
    """Return where the page goes; refuse what cannot or must not be written."""
    from spinney.output.explorer import check_page_suffix

    output: str | None = options["output"]
    if output is None and options["open_"]:
        folder = tempfile.mkdtemp(prefix="spinney-")
        return str(Path(folder, f"{Path(model).stem}.html"))
    if output is None:
        output = str(Path(model).with_suffix(".html").name)
    if output == STANDARD_OUTPUT:
        if options["open_"]:
            msg = "-o '-' and --open exclude each other: name a file, or none"
            raise ParameterError(msg)
        return output
    check_page_suffix(output)
    check_output(output, force=options["force"])
    return output


def _rows(models: list[Any], options: dict[str, Any]) -> Any:
    """Return the table of --rows, as each model is to read it."""
    if options["rows"] is None:
        for name in ("format_", "encoding", "decimal", "thousands", "dates", "skip"):
            if options[name] is not None:
                msg = f"--{name.rstrip('_')} says nothing without --rows DATA"
                raise ParameterError(msg)
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
