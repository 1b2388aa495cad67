"""The command ``look``: how a table was read, before anything is grown on it."""

from typing import Any

import click

from spinney.cli.shell_options import (
    GroupedCommand,
    declarations,
    examples,
    in_group,
    reading_options,
    text_options,
)
from spinney.cli.shell_output import as_json, line_width, write_data, write_text
from spinney.cli.shell_words import ShellWords

__all__ = ["look"]


@click.command(
    cls=GroupedCommand,
    epilog=examples(
        "spinney look melons.csv",
        "spinney look sales.csv --decimal , --dates dayfirst --skip 2",
        "spinney look votes.csv --missing '?' --json",
    ),
)
@click.argument("data")
@in_group("Data", reading_options)
@in_group("Output", text_options)
def look(data: str, **options: Any) -> None:
    """Show how the table DATA (a file, or - for standard input) is read.

    Every column with its kind, its missing cells, its values and how its rows are
    spread; then what was done to read the table, and what is doubtful about it.
    """
    from spinney.data.readers import look_at

    summary = look_at(
        data,
        declarations(options),
        format=options["format_"],
        encoding=options["encoding"],
    )
    if options["json_"]:
        write_data(as_json("look", summary.as_dict(), ascii_only=options["ascii_"]))
        return
    words, width = ShellWords(look), line_width()
    write_text(
        lambda plain: summary.text(words, ascii_only=plain, width=width),
        ascii_only=options["ascii_"],
    )
