"""The command ``score``: how good a model is on a table with the truth."""

from typing import Any

import click

from spinney.cli.shell_options import (
    examples,
    file_arguments,
    file_options,
    load,
    text_options,
    weight_option,
)
from spinney.cli.shell_output import as_json, line_width, write_data, write_text

__all__ = ["score"]


@click.command(
    epilog=examples(
        "spinney score melons.spinney test.csv",
        "spinney score melons.spinney test.csv --weight n --json",
    ),
    short_help="Measure a model on a table that holds the target.",
)
@click.argument("model")
@click.argument("data")
@weight_option
@file_options
@text_options
def score(model: str, data: str, **options: Any) -> None:
    """Measure MODEL on the rows of DATA, a table that holds the target.

    Of classes: accuracy and other measures, the confusion matrix, precision and
    recall of each class, and the cost of errors where the model knows one. Of
    numbers: R2, the root mean squared error and the mean absolute error. DATA is a
    file, or - for standard input; rows without a target are left out.
    """
    from spinney._support.text import signs_to_ascii
    from spinney.evaluation import score as measured

    found = measured(
        load(model), data, weight=options["weight"], **file_arguments(options)
    )
    if options["json_"]:
        data = as_json("score", found.as_dict(), ascii_only=options["ascii_"])
        write_data(data)
        return
    text = found.text(width=line_width())
    write_text(
        lambda plain: signs_to_ascii(text) if plain else text,
        ascii_only=options["ascii_"],
    )
