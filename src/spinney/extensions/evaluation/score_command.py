"""The command ``score``: the measures of a model on a table with its target."""

from collections.abc import Mapping
from typing import Any

import click

from spinney.cli.shell_options import (
    check_output,
    examples,
    file_arguments,
    file_options,
    load,
    output_options,
    text_options,
    weight_option,
)
from spinney.cli.shell_output import show_status, text_width, write_result


@click.command(
    epilog=examples(
        "spinney score melons.spinney test.csv",
        "spinney score melons.spinney test.csv --weight n --json",
    ),
    short_help="Score a model on a table with its target.",
)
@click.argument("model")
@click.argument("data")
@weight_option
@file_options
@output_options
@text_options
def score(model: str, data: str, **options: Any) -> None:
    """Score MODEL on the rows of DATA, a table with its target.

    Classification: accuracy and other measures, the confusion matrix, precision and
    recall of each class, and the mean cost if the model has costs. Regression: R2, RMSE
    and MAE. Trees: the leaves with the most errors. DATA is a file, or - for standard
    input; rows without a target are dropped.
    """
    show_score(load(model), data, options)


def show_score(model: Any, data: str, options: Mapping[str, Any]) -> None:
    """Score a model on a table and print the measures."""
    from spinney._support.text import signs_to_ascii
    from spinney.extensions.evaluation import score as score_rows

    check_output(options["output"], overwrite=options["overwrite"])
    with show_status("measuring"):
        result = score_rows(
            model, data, weight=options["weight"], **file_arguments(options)
        )
    text = result.text(width=text_width(options["output"]))
    write_result(
        "score",
        result,
        lambda plain: signs_to_ascii(text) if plain else text,
        options,
    )
