"""The command that evaluates recipes."""

from itertools import product
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.engine_options import dask_workers, engine_options, source_arguments
from spinney.cli.shell_options import (
    GroupedCommand,
    check_output,
    class_weight_option,
    costs_option,
    examples,
    in_group,
    load,
    output_options,
    read_cost_matrix,
    reading_options,
    refuse_options,
    text_options,
    weight_option,
)
from spinney.cli.shell_output import progress_bar, text_width, write_result
from spinney.errors import ParameterError
from spinney.extensions.evaluation.score_command import score, show_score
from spinney.extensions.evaluation.study_options import (
    RATE,
    candidate_from_text,
    fold_options,
    parse_size,
    recipes_option,
    size_option,
    study_arguments,
)

if TYPE_CHECKING:
    from spinney.extensions.evaluation import Evaluation

CURVES = ("learning_curve", "scalability")
PERTURBATIONS = ("noise", "missing_rate", "outliers")


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
    short_help="Evaluate recipes by cross-validation or hold-out.",
)
@in_group(
    "Data",
    click.argument("data"),
    click.option("--target", metavar="COLUMN", help="Column to predict.  [required]"),
    click.option(
        "--model",
        metavar="FILE",
        help="Score this model instead of recipes; DATA must have its target.",
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
        "--holdout", type=float, help="Fraction of rows in the test set, without folds."
    ),
)
@in_group(
    "Experiments",
    click.option(
        "--learning-curve", is_flag=True, help="Train on increasing numbers of rows."
    ),
    click.option(
        "--scalability",
        is_flag=True,
        help="Measure time and memory by the number of rows.",
    ),
    size_option,
    click.option(
        "--noise",
        type=RATE,
        multiple=True,
        help="Rate of class and attribute noise in training rows. Repeatable.",
    ),
    click.option(
        "--missing-rate",
        type=RATE,
        multiple=True,
        help="Rate of missing values in training rows. Repeatable.",
    ),
    click.option(
        "--outliers",
        type=RATE,
        multiple=True,
        help="Rate of outliers in training rows. Repeatable.",
    ),
    click.option(
        "--missing-in-test", is_flag=True, help="Remove values in test rows, too."
    ),
)
@in_group(
    "Output",
    click.option(
        "--measure",
        "measures",
        multiple=True,
        help="Measure to show, such as accuracy, auc, brier or leaves, or a group: "
        "quality, interpretability, speed, all. Repeatable.",
    ),
    output_options,
    text_options,
)
def evaluate(data: str, **options: Any) -> None:
    """Evaluate recipes on held-out rows of DATA.

    DATA is a file, a database, or - for standard input.

    Costs do not influence growing. --model scores a grown model on all rows of DATA, as
    spinney score does.
    """
    if options["model"] is not None:
        _evaluate_model(data, options)
        return
    target = options["target"]
    if target is None:
        msg = "--target is missing: name the column to predict, or use --model FILE"
        raise ParameterError(msg)
    _check_options(options)
    check_output(options["output"], overwrite=options["overwrite"])
    evaluation = _run_study(data, target, options)
    width, measures = text_width(options["output"]), options["measures"]
    write_result(
        "evaluate",
        evaluation,
        lambda plain: evaluation.text(ascii_only=plain, width=width, measures=measures),
        options,
    )


def _evaluate_model(data: str, options: dict[str, Any]) -> None:
    """Score a grown model; refuse options of growing."""
    allowed = {param.name for param in score.params} | {"model", "target", "data"}
    why = "does not apply to --model: remove one of them"
    refuse_options(options.keys() - allowed, why)
    model = load(options["model"])
    target = options["target"]
    if target is not None and target != model.schema.target.name:
        msg = (
            f"the model predicts {model.schema.target.name!r}, not --target "
            f"{target!r}: remove --target"
        )
        raise ParameterError(msg)
    show_score(model, data, options)


def flag(name: str) -> str:
    """Return an option as the user types it.

    >>> flag("learning_curve")
    '--learning-curve'
    """
    return f"--{name.replace('_', '-')}"


def _check_options(options: dict[str, Any]) -> None:
    """Refuse contradictory options, and unknown measures."""
    from spinney.extensions.evaluation.measures import measures_named

    has_holdout, all_measures = options["holdout"] is not None, options["json_"]
    for wrong, both in (
        (has_holdout and options["folds"], "--holdout and --folds"),
        *(
            (options[curve] and options[perturb], f"{flag(curve)} and {flag(perturb)}")
            for curve, perturb in product(CURVES, PERTURBATIONS)
        ),
        (all(options[curve] for curve in CURVES), " and ".join(map(flag, CURVES))),
        (all_measures and options["measures"], "--json, which has all, and --measure"),
    ):
        if wrong:
            msg = f"{both} exclude each other: remove one"
            raise ParameterError(msg)
    if options["sizes"] and not any(options[curve] for curve in CURVES):
        msg = "--size needs --learning-curve or --scalability"
        raise ParameterError(msg)
    measures_named(options["measures"])
    if options["missing_in_test"] and not options["missing_rate"]:
        msg = "--missing-in-test needs --missing-rate"
        raise ParameterError(msg)


def _run_study(data: str, target: str, options: dict[str, Any]) -> "Evaluation":
    from spinney.extensions.evaluation import (
        evaluate,
        learning_curve,
        robustness,
        scalability,
    )

    arguments = {**study_arguments(options), **source_arguments(options)}
    arguments["cost_matrix"] = read_cost_matrix(options["cost_matrix"])
    # Without --recipe, the defaults of the functions.
    named = [candidate_from_text(text) for text in options["recipes"]]
    recipes = [named] if named else []
    curves = options["learning_curve"] or options["scalability"]
    with dask_workers(options), progress_bar("growing") as progress:
        arguments["progress"] = progress
        if curves:
            if options["sizes"]:
                arguments["sizes"] = [parse_size(text) for text in options["sizes"]]
            curve = learning_curve if options["learning_curve"] else scalability
            return curve(data, target, *recipes, **arguments)
        if any(options[perturb] for perturb in PERTURBATIONS):
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
