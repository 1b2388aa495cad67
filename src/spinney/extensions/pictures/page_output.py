"""Pages written by commands: the path, the file, the browser."""

import tempfile
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from spinney.cli.shell_options import check_output, combined_options, output_options
from spinney.cli.shell_output import STANDARD_OUTPUT, say, write_data
from spinney.errors import ParameterError

page_options = combined_options(
    click.option("--open", "open_", is_flag=True, help="Show the page in a browser."),
    output_options,
)


def page_path(stem: str, options: Mapping[str, Any]) -> str:
    """Return the path of a page; refuse a path that cannot or must not be written.

    Without -o the file is named after ``stem``; with --open it is a temporary file.
    """
    from spinney.extensions.pictures.offline_page import check_page_suffix

    output: str | None = options["output"]
    if output is None and options["open_"]:
        return str(Path(tempfile.mkdtemp(prefix="spinney-"), f"{stem}.html"))
    output = f"{stem}.html" if output is None else output
    if output == STANDARD_OUTPUT:
        if options["open_"]:
            msg = "-o '-' and --open exclude each other: name a file, or none"
            raise ParameterError(msg)
        return output
    check_page_suffix(output)
    check_output(output, overwrite=options["overwrite"])
    return output


def write_page(page: Any, path: str, options: Mapping[str, Any], content: str) -> None:
    """Write a page, report it, and open it in a browser with --open."""
    if path == STANDARD_OUTPUT:
        write_data(page.html.rstrip("\n"))
        return
    page.save(path, overwrite=options["overwrite"])
    say(f"written to {path} ({content})")
    if options["open_"] and not webbrowser.open(Path(path).resolve().as_uri()):
        say(f"no browser could be started: open {path} yourself")
