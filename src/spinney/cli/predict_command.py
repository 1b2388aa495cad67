"""The command ``predict``: predictions for the rows of a table, in batches."""

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
    refuse_options,
    select_tree,
    table_option,
    tree_option,
)
from spinney.cli.shell_output import is_terminal, say, show_status
from spinney.errors import ParameterError

ALL = "all"
# Options that do not apply if a database writes the predictions.
LOCAL_OPTIONS = (
    *("output", "probabilities", "leaf", "keep", "append", "spreadsheet"),
    *("output_format", "json_", "format_", "encoding"),
)
BATCH = 1 << 16  # rows


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
    click.option(
        "--probabilities",
        is_flag=True,
        help="Add a column with the probability of each class.",
    ),
    click.option("--leaf", is_flag=True, help="Add the number of the leaf."),
    click.option(
        "--keep",
        multiple=True,
        metavar="A,B|all",
        help="Write these columns of DATA before the predictions, unchanged. "
        "Repeatable.",
    ),
    click.option("--append", is_flag=True, help="Same as --keep all."),
)
@in_group(
    "Output",
    rows_options,
    format_option,
    json_option,
    click.option(
        "--into",
        metavar="NAME",
        help="Table that the database DATA writes its rows and predictions to.",
    ),
)
def predict(model: str, data: str, **options: Any) -> None:
    """Predict the class, number or cluster of each row of DATA by MODEL.

    DATA is a file, or - for standard input. Columns are found by name, in any order.
    Rows are read, predicted and written in batches, so a table can have any size. If
    DATA is a database, --into NAME stores the predictions there.
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
    keep = options["keep"]
    if options["append"]:
        refuse_options(("keep",), "cannot be used with --append: remove one")
    if options["append"] or ALL in keep:
        keep = ALL
    loaded = select_tree(load(model), model, options["tree"])
    predictions = Predictions(
        loaded, probabilities=options["probabilities"], leaf=options["leaf"]
    )
    # Rows on the terminal show progress themselves.
    hidden = output.path is not None or not is_terminal()
    with (
        show_status("predicting") if hidden else nullcontext(),
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
    """Write the predictions in the database."""
    from spinney import registry

    if options["into"] is None:
        msg = "--table needs --into NAME, the table for the predictions: add it"
        raise ParameterError(msg)
    refuse_options(LOCAL_OPTIONS, "cannot be used with --into: remove it")
    loaded = select_tree(load(model), model, options["tree"])
    with show_status("predicting"):
        n_rows = registry.load("operation", "predict into")(
            loaded,
            data,
            options["into"],
            table=options["table"],
            overwrite=options["overwrite"],
        )
    say(f"{n_rows} row{'s' * (n_rows != 1)} written to the table {options['into']}")
