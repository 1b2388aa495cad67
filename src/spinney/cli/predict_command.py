"""The command ``predict``: a model over the rows of a table, some at a time."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import click

from spinney.cli.rows_output import JSON, format_option, rows_options, rows_output
from spinney.cli.shell_options import (
    GroupedCommand,
    examples,
    file_arguments,
    file_options,
    in_group,
    json_option,
    load,
    member_of,
    table_option,
    tree_option,
)
from spinney.cli.shell_output import is_seen, say, working
from spinney.errors import ParameterError

ALL = "all"
# Options that change what the shell reads or writes, of no use to a database.
NOT_THERE = (
    *("output", "probabilities", "leaf", "keep", "append", "spreadsheet"),
    *("output_format", "json_", "format_", "encoding"),
)
BATCH = 1 << 16  # rows that are in memory together


@click.command(
    cls=GroupedCommand,
    epilog=examples(
        "spinney predict melons.spinney new.csv -o out.csv",
        "spinney predict melons.spinney new.csv --keep id,date --probabilities",
        "spinney predict melons.spinney large.parquet --append -o out.parquet",
        "spinney predict forest.spinney new.csv --tree 3 --leaf",
        "spinney predict melons.spinney sqlite:///shop.db --table melons --into ripe",
        "cat new.csv | spinney predict melons.spinney - --json > out.json",
    ),
)
@in_group(
    "Data",
    click.argument("model"),
    click.argument("data"),
    tree_option,
    file_options,
    table_option,
)
@in_group(
    "Columns",
    click.option("--probabilities", is_flag=True, help="Add a column for each class."),
    click.option("--leaf", is_flag=True, help="Add the number of the leaf."),
    click.option(
        "--keep",
        multiple=True,
        metavar="A,B|all",
        help="Write these columns of DATA before the predictions, as they are there. "
        "Repeatable.",
    ),
    click.option("--append", is_flag=True, help="Short for --keep all."),
)
@in_group(
    "Output",
    rows_options,
    format_option,
    json_option,
    click.option(
        "--into",
        metavar="NAME",
        help="The table that the database DATA makes of its rows and predictions.",
    ),
)
def predict(model: str, data: str, **options: Any) -> None:
    """Predict the class, or the cluster, of each row of DATA by MODEL.

    DATA is a file, or - for standard input. Columns are found by name: further
    ones and any order are fine. A table of any size will do: rows are read, predicted
    and written some at a time. Or it is a database, which makes a table --into itself.
    """
    if options["into"] is not None or options["table"] is not None:
        _predict_into(model, data, options)
        return
    from spinney.cli.predictions_table import (
        Predictions,
        predicted_json,
        predicted_rows,
    )

    output = rows_output(options, json_=options["json_"])
    keep = _kept(options["keep"], append=options["append"])
    loaded = member_of(load(model), model, options["tree"])
    predictions = Predictions(
        loaded, probabilities=options["probabilities"], leaf=options["leaf"]
    )
    # Rows that go to the terminal show that there is work.
    hidden = output.path is not None or not is_seen()
    with (
        working("predicting") if hidden else nullcontext(),
        loaded.batches(
            data, n_rows=BATCH, keep=keep, **file_arguments(options)
        ) as batches,
    ):
        if output.format == JSON:
            output.write_json(predicted_json(predictions, batches))
            written = "predictions"
        else:
            n_rows = output.write(predicted_rows(predictions, batches))
            written = f"{n_rows} row{'s' * (n_rows != 1)}"
    if output.path is not None:
        say(f"{written} written to {output.path}")


def _predict_into(model: str, data: str, options: Mapping[str, Any]) -> None:
    """Let a database make the table of predictions."""
    from spinney import registry

    if options["into"] is None:
        msg = (
            "--table is that of a database, which writes to another: name it by --into"
        )
        raise ParameterError(msg)
    for name in NOT_THERE:
        if options[name]:
            shown = f"--{name.strip('_').replace('_', '-')}"
            msg = f"{shown} is for rows that are read: leave it out beside --into"
            raise ParameterError(msg)
    loaded = member_of(load(model), model, options["tree"])
    with working("predicting"):
        n_rows = registry.load("operation", "predict into")(
            loaded,
            data,
            options["into"],
            table=options["table"],
            overwrite=options["overwrite"],
        )
    say(f"{n_rows} row{'s' * (n_rows != 1)} written to the table {options['into']}")


def _kept(keep: tuple[str, ...], *, append: bool) -> tuple[str, ...] | str:
    """Return the columns to keep, or that all are."""
    if append and keep:
        msg = "--append is --keep all, and --keep is given, too: leave one out"
        raise ParameterError(msg)
    return ALL if append or ALL in keep else keep
