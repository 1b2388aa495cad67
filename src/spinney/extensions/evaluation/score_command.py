"""The command ``score``: how good a model is on a table with the truth."""

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
from spinney.cli.shell_output import text_width, working, write_result

__all__ = ["score", "show_score"]


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
@output_options
@text_options
def score(model: str, data: str, **options: Any) -> None:
    """Measure MODEL on the rows of DATA, a table that holds the target.

    Of classes: accuracy and other measures, the confusion matrix, precision and
    recall of each class, and the cost of errors where the model knows one. Of
    numbers: R2, the root mean squared error and the mean absolute error. Of trees the
    leaves with the most errors. DATA is a file, or - for standard input; rows without
    a target are left out.
    """
    show_score(load(model), data, options)


def show_score(model: Any, data: str, options: Mapping[str, Any]) -> None:
    """Measure a model and write what came out, as the options say."""
    from spinney._support.text import signs_to_ascii
    from spinney.extensions.evaluation import score as measured

    check_output(options["output"], overwrite=options["overwrite"])
    with working("measuring"):
        found = measured(
            model, data, weight=options["weight"], **file_arguments(options)
        )
    text = found.text(width=text_width(options["output"]))
    write_result(
        "score",
        found,
        lambda plain: signs_to_ascii(text) if plain else text,
        options,
    )
