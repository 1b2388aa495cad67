"""The command ``predict``: a model over the rows of a table."""

from typing import Any

import click

from spinney.cli.shell_options import (
    check_output,
    examples,
    file_arguments,
    file_options,
    json_option,
    load,
    output_options,
)
from spinney.cli.shell_output import STANDARD_OUTPUT, as_json, is_seen, write_data
from spinney.errors import warn

__all__ = ["predict"]


@click.command(
    epilog=examples(
        "spinney predict melons.spinney new.csv -o out.csv",
        "spinney predict melons.spinney new.csv --probabilities --leaf",
        "cat new.csv | spinney predict melons.spinney - --json > out.json",
    )
)
@click.argument("model")
@click.argument("data")
@click.option("--probabilities", is_flag=True, help="Add a column for each class.")
@click.option("--leaf", is_flag=True, help="Add the number of the leaf.")
@click.option("--raw", is_flag=True, help="Do not guard cells against spreadsheets.")
@file_options
@output_options
@json_option
def predict(model: str, data: str, **options: Any) -> None:
    """Predict the class, or the cluster, of each row of DATA by MODEL.

    DATA is a file, or - for standard input. Columns are found by name: further
    ones and any order are fine.
    """
    from spinney.cli.predictions_table import (
        as_csv,
        as_rows,
        predictions,
        unseen_warning,
    )

    output, force = options["output"], options["force"]
    check_output(output, force=force)
    loaded = load(model)
    table = loaded.read(data, **file_arguments(options))
    if loaded.kind == "clusters":
        from spinney.cli.cluster_report import predict_clusters

        predict_clusters(loaded, table, options, seen=_seen(output))
        return
    for name, values in loaded.unseen(table).items():
        warn(unseen_warning(name, values))
    results = predictions(
        loaded, table, probabilities=options["probabilities"], leaf=options["leaf"]
    )
    if options["json_"]:
        text = as_json("predict", as_rows(results))
    else:
        text = as_csv(results, raw=options["raw"], seen=_seen(output))
    write_data(text, output, force=force)


def _seen(output: str | None) -> bool:
    """Return whether the result goes straight to a terminal."""
    to_stdout = output is None or output == STANDARD_OUTPUT
    return to_stdout and is_seen()
