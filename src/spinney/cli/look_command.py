"""The command ``look``: how a table was read, before anything is grown on it."""

from collections.abc import Mapping
from typing import Any

import click

from spinney.cli.engine_options import table_input
from spinney.cli.shell_options import (
    GroupedCommand,
    examples,
    in_group,
    reading_options,
    refuse_options,
    table_option,
    text_options,
    weight_option,
)
from spinney.cli.shell_output import as_json, line_width, write_data, write_text
from spinney.cli.shell_words import ShellWords


@click.command(
    cls=GroupedCommand,
    epilog=examples(
        "spinney look melons.csv --target ripe",
        "spinney look sales.csv --decimal , --dates dayfirst --skip 2",
        "spinney look votes.csv --missing-values '?' --json",
        "spinney look penguins.csv --association",
        "spinney look sqlite:///shop.db --table orders",
    ),
)
@click.argument("data")
@in_group(
    "Data",
    click.option(
        "--target",
        metavar="COLUMN",
        help="Column to predict: shows how it is read, and target leakage.",
    ),
    reading_options,
    table_option,
)
@in_group(
    "Association",
    click.option(
        "--association",
        is_flag=True,
        help="Show the association of each pair of columns instead: Pearson's r, "
        "Spearman's rho, Cramér's V or the correlation ratio.",
    ),
    weight_option,
)
@in_group("Output", text_options)
def look(data: str, **options: Any) -> None:
    """Show how the table DATA (a file, a database, or - for standard input) is read.

    Prints the kind, missing values, number of values and distribution of each column,
    then how the table was read, and possible problems.
    """
    from spinney.models import look_at

    if options["association"]:
        refuse_options(("target",), "cannot be used with --association: remove one")
        _show_associations(data, options)
        return
    refuse_options(("weight",), "needs --association")
    summary = look_at(table_input(data, options), target=options["target"])
    if options["json_"]:
        write_data(as_json("look", summary.as_dict(), ascii_only=options["ascii_"]))
        return
    words, width = ShellWords(look), line_width()
    write_text(
        lambda plain: summary.text(words, ascii_only=plain, width=width),
        ascii_only=options["ascii_"],
    )


def _show_associations(data: str, options: Mapping[str, Any]) -> None:
    """Print the association of each pair of columns."""
    from spinney.models import associated

    found = associated(table_input(data, options))
    if options["json_"]:
        write_data(
            as_json("association", found.as_dict(), ascii_only=options["ascii_"])
        )
        return
    width = line_width()
    write_text(
        lambda plain: found.text(ascii_only=plain, width=width),
        ascii_only=options["ascii_"],
    )
