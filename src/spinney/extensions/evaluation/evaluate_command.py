"""The command that evaluates recipes."""

from itertools import product
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.engine_options import engine_options, opening_of, workers
from spinney.cli.shell_options import (
    GroupedCommand,
    check_output,
    class_weight_option,
    cost_matrix_of,
    costs_option,
    examples,
    in_group,
    load,
    output_options,
    reading_options,
    refuse_given,
    text_options,
    weight_option,
)
from spinney.cli.shell_output import progress_bar, text_width, write_result
from spinney.errors import ParameterError
from spinney.extensions.evaluation.score_command import score, show_score
from spinney.extensions.evaluation.study_options import (
    RATE,
    fold_options,
    recipes_option,
    size_of,
    size_option,
    study_arguments,
    variant_of,
)

if TYPE_CHECKING:
    from spinney.extensions.evaluation import Evaluation

CURVES = ("learning_curve", "scalability")
DAMAGES = ("noise", "missing_rate", "outliers")


@click.command(
    cls=GroupedCommand,
    epilog=examples(
        "spinney evaluate melons.csv --target ripe --ignore id --folds 5",
        "spinney evaluate iris.csv --target class --recipe c4.5 "
        "--recipe cart:max_depth=3",
        "spinney evaluate iris.csv --target class --holdout 0.3 --json > result.json",
        "spinney evaluate credit.csv --target class --cost-matrix costs.csv "
        "--measure cost",
        "spinney evaluate iris.csv --target class --recipe cart "
        "--recipe forest:n_estimators=50,trees=c4.5",
        "spinney evaluate iris.csv --target class --learning-curve",
        "spinney evaluate iris.csv --target class --noise 0 --noise 0.2 --outliers 0.2",
        "spinney evaluate iris.csv --target class --scalability",
        "spinney evaluate sqlite:///shop.db --table orders --target returned",
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
    engine_options,
    weight_option,
    class_weight_option,
    costs_option,
)
@in_group("Recipes", recipes_option)
@in_group(
    "Rows",
    fold_options,
    click.option(
        "--holdout", type=float, help="Test on this share of the rows instead of folds."
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
    size_option,
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
        "measures",
        multiple=True,
        help="A measure to show, such as accuracy, auc, brier or leaves; or several: "
        "quality, interpretability, speed, all. Repeatable.",
    ),
    output_options,
    text_options,
)
def evaluate(data: str, **options: Any) -> None:
    """Measure recipes on rows of DATA that they were not trained on.

    DATA is a file, a database, or - for standard input.

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
    check_output(options["output"], overwrite=options["overwrite"])
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
    from spinney.extensions.evaluation.measures import measures_named

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
    from spinney.extensions.evaluation import (
        evaluate,
        learning_curve,
        robustness,
        scalability,
    )

    arguments = {**study_arguments(options), **opening_of(options)}
    arguments["cost_matrix"] = cost_matrix_of(options["cost_matrix"])
    # Where none is named, those that the functions have by themselves.
    named = [variant_of(text) for text in options["recipes"]]
    recipes = [named] if named else []
    curves = options["learning_curve"] or options["scalability"]
    with workers(options), progress_bar("growing") as progress:
        arguments["progress"] = progress
        if curves:
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
                missing_rate=options["missing_rate"],
                outliers=options["outliers"],
                missing_in_test=options["missing_in_test"],
                **arguments,
            )
        return evaluate(data, target, *recipes, **arguments)
