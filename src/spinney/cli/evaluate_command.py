"""The command that evaluates recipes."""

from itertools import product
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.score_command import score, show_score
from spinney.cli.shell_options import (
    GroupedCommand,
    check_output,
    class_weight_of,
    class_weight_option,
    cost_matrix_of,
    costs_option,
    examples,
    in_group,
    load,
    notation_of,
    output_options,
    reading_options,
    refuse_given,
    text_options,
    weight_option,
)
from spinney.cli.shell_output import progress_bar, text_width, write_result
from spinney.cli.shell_settings import pairs_of, plain_value, setting_of
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.evaluation import Evaluation

RATE = click.FloatRange(0, 1)
CURVES = ("learning_curve", "scalability")
DAMAGES = ("noise", "missing_rate", "outliers")


@click.command(
    cls=GroupedCommand,
    epilog=examples(
        "spinney evaluate melons.csv --target ripe --ignore id --folds 5",
        "spinney evaluate iris.csv --target class --recipe c4.5 "
        "--recipe cart:max_depth=3",
        "spinney evaluate iris.csv --target class --holdout 0.3 --json > result.json",
        "spinney evaluate credit.csv --target class --costs costs.csv --measure cost",
        "spinney evaluate iris.csv --target class --recipe cart "
        "--recipe forest:n_estimators=50,trees=c4.5",
        "spinney evaluate iris.csv --target class --learning-curve",
        "spinney evaluate iris.csv --target class --noise 0 --noise 0.2 --outliers 0.2",
        "spinney evaluate iris.csv --target class --scalability",
        "spinney evaluate --model iris.spinney test.csv",
    ),
    short_help="Measure recipes on rows that they have not seen.",
)
@in_group(
    "Data",
    click.argument("data"),
    click.option("--target", metavar="COLUMN", help="What to predict.  [required]"),
    click.option(
        "--model",
        metavar="FILE",
        help="Measure this model instead of recipes; DATA has what it predicts.",
    ),
    reading_options,
    weight_option,
    class_weight_option,
    costs_option,
)
@in_group(
    "Recipes",
    click.option(
        "--recipe",
        "recipes",
        multiple=True,
        metavar="NAME[:SETTING=VALUE,...]",
        help="What to compare: auto, id3, c4.5, cart, chaid, m5, forest, or one of "
        "them with other settings. Repeatable.  [default: auto, c4.5 and cart, pruned; "
        "with --learning-curve auto]",
    ),
)
@in_group(
    "Rows",
    click.option(
        "--folds",
        metavar="NUMBER|loo",
        help="Of the cross-validation; loo leaves out one row at a time.  [default: "
        "10, or as many as there can be; loo below 30 rows]",
    ),
    click.option(
        "--repeats",
        type=click.IntRange(min=1),
        help="How often, each time with other rows.  [default: 1; with --scalability "
        "3]",
    ),
    click.option(
        "--holdout", type=float, help="Test on this share of the rows instead of folds."
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Of the random numbers."
    ),
)
@in_group(
    "Experiments",
    click.option("--learning-curve", is_flag=True, help="Train on ever more rows."),
    click.option(
        "--scalability",
        is_flag=True,
        help="The same for time and memory: how do they grow with the rows?",
    ),
    click.option(
        "--size",
        "sizes",
        multiple=True,
        metavar="ROWS|SHARE",
        help="A size of such a curve, such as 50 or 0.5. Repeatable.",
    ),
    click.option(
        "--noise",
        type=RATE,
        multiple=True,
        help="Inject noise into training rows at this rate. Repeatable.",
    ),
    click.option(
        "--missing-rate",
        type=RATE,
        multiple=True,
        help="Take training cells away at this rate. Repeatable.",
    ),
    click.option(
        "--outliers",
        type=RATE,
        multiple=True,
        help="Put numbers of training rows far out at this rate. Repeatable.",
    ),
    click.option(
        "--missing-in-test", is_flag=True, help="Take cells of test rows away too."
    ),
)
@in_group(
    "Output",
    click.option(
        "--measure",
        "--measures",
        "measures",
        multiple=True,
        help="A measure to show, such as accuracy, auc, brier or leaves; or several: "
        "quality, interpretability, speed, all. Repeatable.",
    ),
    output_options,
    text_options,
)
def evaluate(data: str, **options: Any) -> None:
    """Measure recipes on rows of DATA (a file, or -) that they were not trained on.

    Costs are reported; no tree is grown otherwise for them. With --model, no recipe but
    a grown model is measured, on all rows of DATA, as by spinney score.
    """
    if options["model"] is not None:
        _evaluate_model(data, options)
        return
    target = options["target"]
    if target is None:
        msg = "--target is missing: name the column to predict, or give --model FILE"
        raise ParameterError(msg)
    _check_options(options)
    check_output(options["output"], force=options["force"])
    evaluation = _evaluated(data, target, options)
    width, measures = text_width(options["output"]), options["measures"]
    write_result(
        "evaluate",
        evaluation,
        lambda plain: evaluation.text(ascii_only=plain, width=width, measures=measures),
        options,
    )


def _evaluate_model(data: str, options: dict[str, Any]) -> None:
    """Measure a grown model; refuse what only says how models are grown."""
    taken = {param.name for param in score.params} | {"model", "target", "data"}
    refuse_given(
        options.keys() - taken,
        "says nothing of a model that is grown: leave it out, or leave out --model",
    )
    model = load(options["model"])
    target = options["target"]
    if target is not None and target != model.schema.target.name:
        msg = (
            f"--target {target!r}: the model predicts {model.schema.target.name!r}: "
            "leave --target out"
        )
        raise ParameterError(msg)
    show_score(model, data, options)


def flag(name: str) -> str:
    """Return how an option is typed.

    >>> flag("learning_curve")
    '--learning-curve'
    """
    return f"--{name.replace('_', '-')}"


def _check_options(options: dict[str, Any]) -> None:
    """Refuse options that exclude each other, and measures that nobody knows."""
    from spinney.evaluation import measures_named

    held_out, all_measures = options["holdout"] is not None, options["json_"]
    for wrong, both in (
        (held_out and options["folds"], "--holdout and --folds"),
        *(
            (options[curve] and options[damage], f"{flag(curve)} and {flag(damage)}")
            for curve, damage in product(CURVES, DAMAGES)
        ),
        (all(options[curve] for curve in CURVES), " and ".join(map(flag, CURVES))),
        (all_measures and options["measures"], "--json, which has all, and --measure"),
    ):
        if wrong:
            msg = f"{both} exclude each other: leave one out"
            raise ParameterError(msg)
    if options["sizes"] and not any(options[curve] for curve in CURVES):
        msg = "--size says nothing alone: add --learning-curve or --scalability"
        raise ParameterError(msg)
    measures_named(options["measures"])
    if options["missing_in_test"] and not options["missing_rate"]:
        msg = "--missing-in-test says nothing alone: add --missing-rate"
        raise ParameterError(msg)


def _evaluated(data: str, target: str, options: dict[str, Any]) -> "Evaluation":
    from spinney.evaluation import evaluate, learning_curve, robustness, scalability

    arguments = study_arguments(options)
    arguments["cost_matrix"] = cost_matrix_of(options["costs"])
    # Where none is named, those that the functions have by themselves.
    named = [recipe_of(text) for text in options["recipes"]]
    recipes = [named] if named else []
    with progress_bar("growing") as progress:
        arguments["progress"] = progress
        if options["learning_curve"] or options["scalability"]:
            if options["sizes"]:
                arguments["sizes"] = [size_of(text) for text in options["sizes"]]
            curve = learning_curve if options["learning_curve"] else scalability
            return curve(data, target, *recipes, **arguments)
        if any(options[damage] for damage in DAMAGES):
            return robustness(
                data,
                target,
                *recipes,
                noise=options["noise"],
                missing=options["missing_rate"],
                outliers=options["outliers"],
                missing_in_test=options["missing_in_test"],
                **arguments,
            )
        return evaluate(data, target, *recipes, **arguments)


def study_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that all evaluations take, of the options that are there."""
    names = ("holdout", "weight", "encoding")
    kinds = ("nominal", "ordinal", "numeric", "ignore", "values")
    arguments = {name: options[name] for name in (*names, *kinds) if name in options}
    if options.get("folds") is not None:
        arguments["folds"] = plain_value(options["folds"])
    if options.get("repeats") is not None:
        arguments["repeats"] = options["repeats"]
    arguments["random_state"] = options["seed"]
    arguments["format"] = options["format_"]
    arguments["notation"] = notation_of(options)
    arguments["missing_values"] = options["missing"]
    class_weight = class_weight_of(options.get("class_weight", ()))
    if class_weight is not None:
        arguments["class_weight"] = class_weight
    return arguments


def recipe_of(text: str) -> Any:
    """Return a recipe's name, or a label with arguments of grow.

    >>> recipe_of("cart:max-depth=3,criterion=gain")
    ('cart:max-depth=3,criterion=gain', {'recipe': 'cart', 'max_depth': 3,
    'criterion': 'gain'})
    >>> recipe_of("cart:surrogates=0")[1]["recipe"].surrogates
    0
    """
    name, colon, rest = text.partition(":")
    if not colon:
        return name
    label = f"--recipe {text!r}"
    example = "SETTING=VALUE, as in cart:max_depth=3,min_gain=0.01"
    settings = pairs_of(rest.split(","), label, example)
    if "recipe" in settings:
        msg = f"{label}: the recipe is {name!r}, before the colon: leave out another"
        raise ParameterError(msg)
    try:
        return (text, _by_recipe({"recipe": name, **settings}))
    except ParameterError as error:
        msg = f"{label}: {error}"
        raise ParameterError(msg) from None


def _by_recipe(texts: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of grow from texts; a recipe has what only recipes take."""
    from spinney.models import RECIPE_PARAMETERS
    from spinney.recipes import COMMON_SETTINGS, SETTINGS, Recipe

    arguments = {
        name: setting_of(name, text) if name in SETTINGS else plain_value(text)
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


def size_of(text: str) -> float:
    """Return a size of a learning curve: a number of rows, or a share of them."""
    number = plain_value(text)
    if isinstance(number, (str, bool)):
        msg = f"--size {text!r} must be a number of rows, or a share such as 0.5"
        raise ParameterError(msg)
    return float(number) if isinstance(number, float) else int(number)
