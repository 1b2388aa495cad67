"""Shell options of studies: recipes, folds and sizes."""

from typing import Any

import click

from spinney.cli.shell_options import (
    build_text_format,
    combined_options,
    parse_class_weight,
)
from spinney.cli.shell_settings import parse_pairs, parse_setting, parse_value
from spinney.errors import ParameterError

RATE = click.FloatRange(0, 1)

recipes_option = click.option(
    "--recipe",
    "recipes",
    multiple=True,
    metavar="NAME[:SETTING=VALUE,...]",
    help="Recipe to compare: auto, id3, c4.5, cart, chaid, m5, forest, with settings "
    "if given. Repeatable.  [default: auto, c4.5 and pruned cart; with "
    "--learning-curve auto]",
)

fold_options = combined_options(
    click.option(
        "--folds",
        metavar="NUMBER|loo",
        help="Folds of cross-validation; loo is leave-one-out.  [default: 10 or the "
        "most possible; loo below 30 rows]",
    ),
    click.option(
        "--repeats",
        type=click.IntRange(min=1),
        help="Repeats with other splits.  [default: 1; with --scalability 3]",
    ),
    click.option(
        "--random-state", type=int, default=0, show_default=True, help="Random seed."
    ),
)

size_option = click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="ROWS|FRACTION",
    help="Training size of the curve, such as 50 or 0.5. Repeatable.",
)


def study_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Return the common arguments of evaluations from the options."""
    names = ("holdout", "weight", "encoding")
    kinds = ("nominal", "ordinal", "numeric", "ignore", "values")
    arguments = {name: options[name] for name in (*names, *kinds) if name in options}
    if options.get("folds") is not None:
        arguments["folds"] = parse_value(options["folds"])
    if options.get("repeats") is not None:
        arguments["repeats"] = options["repeats"]
    arguments["random_state"] = options["random_state"]
    arguments["format"] = options["format_"]
    arguments["text_format"] = build_text_format(options)
    arguments["missing_values"] = options["missing_values"]
    class_weight = parse_class_weight(options.get("class_weight", ()))
    if class_weight is not None:
        arguments["class_weight"] = class_weight
    return arguments


def candidate_from_text(text: str) -> Any:
    """Return a recipe's name, or a label with arguments of grow.

    >>> candidate_from_text("cart:max-depth=3,criterion=gain")
    ('cart:max-depth=3,criterion=gain', {'recipe': 'cart', 'max_depth': 3,
    'criterion': 'gain'})
    >>> candidate_from_text("cart:surrogates=0")[1]["recipe"].surrogates
    0
    """
    name, colon, rest = text.partition(":")
    if not colon:
        return name
    label = f"--recipe {text!r}"
    example = "SETTING=VALUE, as in cart:max_depth=3,min_gain=0.01"
    settings = parse_pairs(rest.split(","), label, example)
    if "recipe" in settings:
        msg = f"{label} names a recipe twice: keep {name!r} before the colon"
        raise ParameterError(msg)
    try:
        return (text, _by_recipe({"recipe": name, **settings}))
    except ParameterError as error:
        msg = f"{label}: {error}"
        raise ParameterError(msg) from None


def _by_recipe(texts: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of grow from texts; settings of recipes become a recipe."""
    from spinney.models import RECIPE_PARAMETERS
    from spinney.recipes import COMMON_SETTINGS, SETTINGS, Recipe

    arguments = {
        name: parse_setting(name, text) if name in SETTINGS else parse_value(text)
        for name, text in texts.items()
    }
    changes = {name: arguments[name] for name in SETTINGS if name in arguments}
    forest = arguments["recipe"] == "forest"
    if changes.keys() <= set(RECIPE_PARAMETERS if forest else COMMON_SETTINGS):
        return arguments
    home = "trees" if forest else "recipe"
    recipe = Recipe.named(arguments.get(home, "cart")).changed(**changes)
    rest = {name: v for name, v in arguments.items() if name not in changes}
    return {**rest, home: recipe}


def parse_size(text: str) -> float:
    """Return a size of a learning curve: a number or a fraction of rows."""
    number = parse_value(text)
    if isinstance(number, (str, bool)):
        msg = f"--size {text!r} must be a number of rows, or a fraction such as 0.5"
        raise ParameterError(msg)
    return float(number) if isinstance(number, float) else int(number)
