"""The command ``export``: a model as a program, a text or a picture."""

from typing import Any

import click

from spinney.cli.shell_options import (
    check_output,
    examples,
    load,
    output_options,
    select_tree,
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
    help="python, javascript, c, sql, onnx or pmml, which predict as MODEL does; json, "
    "which spinney reads back; text or html. Trees also: numbered-text, rules, dot, "
    "svg, png, pdf or lesson.",
)
@click.option(
    "--dialect",
    metavar="NAME",
    help="SQL dialect: duckdb, postgres, sqlite, spark or bigquery.  [default: duckdb]",
)
@click.option(
    "--table", metavar="NAME", help="Table in the SQL query.  [default: data]"
)
@click.option(
    "--keep",
    multiple=True,
    metavar="A,B",
    help="Columns that the SQL query selects before those of MODEL. Repeatable.",
)
@tree_option
@output_options
def export(model: str, **options: Any) -> None:
    """Write MODEL in another language, to stdout or a file.

    Programs run without Spinney. Their first lines list the columns that rows must
    have; docs/exports.md says which results are identical.
    """
    from spinney.data import parse_column_names
    from spinney.models import ALL_KINDS
    from spinney.output import exported

    output, overwrite = options["output"], options["overwrite"]
    check_output(output, overwrite=overwrite)
    loaded = select_tree(load(model, *ALL_KINDS), model, options["tree"])
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
