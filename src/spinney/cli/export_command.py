"""The command ``export``: a model as a program, a text or a picture."""

from typing import Any

import click

from spinney.cli.shell_options import (
    check_output,
    examples,
    load,
    member_of,
    output_options,
    tree_option,
)
from spinney.cli.shell_output import STANDARD_OUTPUT, say, write_bytes


@click.command(
    epilog=examples(
        "spinney export melons.spinney --format python -o melons.py",
        "spinney export melons.spinney --format javascript -o melons.mjs",
        "spinney export melons.spinney --format c -o melons.c",
        "spinney export melons.spinney --format sql --dialect postgres --table orders",
        "spinney export melons.spinney --format sql --table orders --keep id,date",
        "spinney export forest.spinney --tree 3 --format dot | dot -Tsvg > tree.svg",
    ),
    short_help="Write MODEL as Python, JavaScript, C, SQL, ONNX, PMML and more.",
)
@click.argument("model")
@click.option(
    "--format",
    "format_",
    required=True,
    metavar="FORMAT",
    help="python, javascript, c, sql, onnx or pmml, which answer as MODEL does; json, "
    "which spinney reads back; text or html; of trees also numbered-text, rules, dot, "
    "svg, png, pdf and lesson.",
)
@click.option(
    "--dialect",
    metavar="NAME",
    help="Of sql: duckdb, by default, postgres, sqlite, spark or bigquery.",
)
@click.option(
    "--table",
    metavar="NAME",
    help='Of sql: the table to select rows from, "data" by default.',
)
@click.option(
    "--keep",
    multiple=True,
    metavar="A,B",
    help="Of sql: list these columns of the table, too, before those that MODEL reads. "
    "Repeatable.",
)
@tree_option
@output_options
def export(model: str, **options: Any) -> None:
    """Write MODEL in another language, to stdout or a file.

    Programs need nothing of Spinney. The first lines of each say which columns rows
    must have, and docs/exports.md what is equal to what.
    """
    from spinney.data import parse_column_names
    from spinney.models import ALL_KINDS
    from spinney.output import exported

    output, overwrite = options["output"], options["overwrite"]
    check_output(output, overwrite=overwrite)
    loaded = member_of(load(model, *ALL_KINDS), model, options["tree"])
    content = exported(
        loaded,
        options["format_"],
        dialect=options["dialect"],
        table=options["table"],
        keep=parse_column_names(options["keep"], ()) or None,
    )
    data = content.encode("utf-8") if isinstance(content, str) else content
    if output is None or output == STANDARD_OUTPUT:
        write_bytes(data)
    else:
        from spinney._support.atomic_file import write_whole

        write_whole(output, [data], overwrite=overwrite)
        say(f"saved to {output}")
