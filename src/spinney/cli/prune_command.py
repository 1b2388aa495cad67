"""The command ``prune``."""

from typing import TYPE_CHECKING, Any

import click

from spinney.cli.shell_options import (
    GroupedCommand,
    check_model_output,
    costs_option,
    examples,
    file_arguments,
    file_options,
    in_group,
    jobs_option,
    load_tree,
    output_options,
    parameter_names,
    read_cost_matrix,
    refuse_options,
    rows_options,
    text_options,
)
from spinney.cli.shell_output import as_json, say, show_progress, write_data, write_text

if TYPE_CHECKING:
    from spinney.models import FittedTree


@click.command(
    cls=GroupedCommand,
    epilog=examples(
        "spinney prune melons.spinney --validation more.csv -o smaller.spinney",
        "spinney prune melons.spinney --pruning cost-complexity --data melons.csv",
        "spinney prune melons.spinney --pruning cost-complexity --validation more.csv",
        "spinney prune melons.spinney --pruning cost-complexity --alpha 1.5",
        "spinney prune credit.spinney --validation more.csv --cost-matrix costs.csv",
        "spinney prune melons.spinney --pruning error-based --data melons.csv",
        "spinney prune melons.spinney --pruning mdl --json",
        "spinney prune melons.spinney --node 3 --node 7 -o smaller.spinney",
    ),
)
@in_group(
    "Rows",
    click.argument("model"),
    click.option(
        "--validation", metavar="TABLE", help="Validation set whose error decides."
    ),
    click.option(
        "--data",
        metavar="TABLE",
        help="Training table: for folds that choose alpha, or to raise branches.",
    ),
    rows_options,
    costs_option,
)
@in_group(
    "Pruning",
    click.option(
        "--pruning",
        help="reduced-error (default), pre-pruning, cost-complexity, pessimistic, "
        "error-based, collapse, mdl, manual (default with --node) or simplify.",
    ),
    click.option(
        "--node",
        type=int,
        multiple=True,
        help="Collapse this node; spinney show --numbers lists them. Repeatable.",
    ),
    click.option("--alpha", type=float, help="Cost of a leaf, in training errors."),
    click.option("--folds", type=int, help="Number of folds.  [default: 10]"),
    click.option(
        "--rule",
        help="Choice of the subtree: 1-se, half-se or minimum.  [default: 1-se; with "
        "--validation minimum]",
    ),
    click.option(
        "--confidence",
        type=float,
        help="Confidence level of error-based pruning.  [default: the recipe's]",
    ),
    click.option(
        "--raising/--no-raising",
        default=None,
        help="Let error-based pruning raise branches; needs --data.",
    ),
    click.option(
        "--random-state", type=int, help="Random seed of the folds.  [default: 0]"
    ),
    jobs_option,
)
@in_group(
    "Output",
    output_options,
    text_options,
)
def prune(model: str, **options: Any) -> None:
    """Prune MODEL, and report the error of each step."""
    check_model_output(options)
    if options["validation"] is None and options["data"] is None:
        why = "needs --validation TABLE or --data TABLE"
        refuse_options(parameter_names(file_options), why)
    loaded = load_tree(model)
    by_folds = options["pruning"] == "cost-complexity" and options["data"] is not None
    with show_progress("pruning", counted=by_folds) as progress:
        smaller = loaded.prune(
            options["pruning"],
            validation=_table(loaded, options, "validation", whole=False),
            data=_table(loaded, options, "data", whole=True),
            nodes=options["node"] or None,
            weight=options["weight"],
            alpha=options["alpha"],
            folds=options["folds"],
            rule=options["rule"],
            confidence=options["confidence"],
            raising=options["raising"],
            cost_matrix=read_cost_matrix(options["cost_matrix"]),
            random_state=options["random_state"],
            n_jobs=options["n_jobs"],
            progress=progress,
        )
    # The report is made before the file: a run that fails leaves none behind.
    facts = _facts(loaded, smaller)
    texts = {
        plain: _report(loaded, smaller, ascii_only=plain) for plain in (False, True)
    }
    if options["output"] is None:
        say("nothing was saved; -o FILE saves the pruned model")
    else:
        smaller.save(options["output"], overwrite=options["overwrite"])
        say(f"saved to {options['output']}")
    if options["json_"]:
        write_data(as_json("prune", facts, ascii_only=options["ascii_"]))
    else:
        write_text(texts.__getitem__, ascii_only=options["ascii_"])


def _table(
    model: "FittedTree", options: dict[str, Any], name: str, *, whole: bool
) -> Any:
    """Return the table of an option; None without it."""
    if options[name] is None:
        return None
    return model.read(
        options[name],
        **file_arguments(options),
        whole=whole,
        weight=options["weight"],
    )


def _facts(before: "FittedTree", after: "FittedTree") -> dict[str, Any]:
    steps, sequence = after.pruning_, after.sequence_
    assert steps is not None
    return {
        "leaves": {"before": before.tree.n_leaves, "after": after.tree.n_leaves},
        "training_risk": {"before": _risk(before), "after": _risk(after)},
        "steps": steps.as_dicts(),
        **({} if sequence is None else {"sequence": sequence.as_dicts()}),
    }


def _risk(model: "FittedTree") -> float | None:
    """Return the training loss of a tree; None with linear models in the leaves."""
    from math import isnan

    from spinney.growth.prune import leaf_risks, sums_below

    risk = float(sums_below(model.tree, leaf_risks(model.tree))[0])
    return None if isnan(risk) else risk


def _report(before: "FittedTree", after: "FittedTree", *, ascii_only: bool) -> str:
    from spinney._support.text import weight_text

    assert after.pruning_ is not None
    parts = [after.pruning_.text(ascii_only=ascii_only)]
    if after.sequence_ is not None:
        parts.append(str(after.sequence_))
    lines = [f"leaves: {before.tree.n_leaves}, now {after.tree.n_leaves}"]
    risks = _risk(before), _risk(after)
    if risks[0] is not None and risks[1] is not None:
        was, now = weight_text(risks[0]), weight_text(risks[1])
        lines.append(f"training risk: {was}, now {now}")
    parts.append("\n".join(lines))
    return "\n\n".join(parts)
