"""The commands that read a model: ``show``, ``rules``, ``explain`` and ``info``."""

import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from spinney import registry
from spinney._support.json_text import escaped
from spinney.cli.picture_options import (
    check_picture,
    picture_options,
    style_options,
    tree_style,
    write_picture,
)
from spinney.cli.shell_options import (
    check_output,
    examples,
    file_arguments,
    json_option,
    load,
    load_single_tree,
    max_lines_option,
    output_options,
    parameter_names,
    refuse_options,
    rows_options,
    select_tree,
    text_options,
    tree_choice_text,
    tree_option,
)
from spinney.cli.shell_output import (
    STANDARD_OUTPUT,
    TREE_LINES,
    as_json,
    tree_width,
    write_data,
    write_text,
)
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.extensions.rulesets import RuleSet
    from spinney.models import FittedTree
    from spinney.output import NodeErrors


def show_tree(
    model: "FittedTree",
    *,
    max_depth: int | None,
    ascii_: bool,
    json_: bool,
    numbers: bool = False,
    errors: "NodeErrors | None" = None,
    max_lines: int | None = None,
    path: str | None = None,
) -> None:
    """Print a tree as text or JSON, with the ``errors`` of its nodes if given.

    Text has 40 lines unless ``max_lines`` or a depth is given; 0 is for all. ``path``
    is the file of the model.
    """
    from spinney.output import to_json, to_text

    if json_:
        text = to_json(model.model_, errors).rstrip("\n")
        write_data(escaped(text, ascii_only=ascii_))
    else:
        write_text(
            lambda plain: to_text(
                model.tree,
                max_depth=max_depth,
                ascii_only=plain,
                numbers=numbers,
                errors=errors,
                width=tree_width(),
                max_lines=_tree_lines(max_lines, max_depth),
                rest=_rest_commands(path),
            ),
            ascii_only=ascii_,
        )


def _tree_lines(max_lines: int | None, max_depth: int | None) -> int | None:
    """Return the most lines of a tree; None if it is printed whole or to a depth."""
    if max_lines is None:
        return TREE_LINES if max_depth is None else None
    return max_lines or None


def _rest_commands(path: str | None) -> list[str]:
    """Return the commands for what a text of a tree hides, the longest first."""
    short = "--max-lines 0 prints all"
    if path is None:
        return [f"{short}; -o MODEL saves the tree for spinney explore", short]
    file = shlex.quote(path)
    show = f"`spinney show {file} --max-lines 0`"
    return [f"{show}, `spinney explore {file}`", show, short]


@click.command(
    epilog=examples(
        "spinney show melons.spinney",
        "spinney show melons.spinney --max-depth 2 --ascii",
        "spinney show melons.spinney --numbers",
        "spinney show melons.spinney --json | jq '.nodes[0]'",
        "spinney show melons.spinney --svg melons.svg --style teaching",
        "spinney show melons.spinney --data more.csv",
        "spinney show forest.spinney --tree 3",
        "spinney show forest.spinney --svg forest.svg --bars",
    )
)
@click.argument("model")
@tree_option
@click.option("--max-depth", type=click.IntRange(min=0), help="Hide deeper nodes.")
@max_lines_option
@click.option(
    "--numbers",
    is_flag=True,
    help="Begin lines with node numbers, for explain --node and prune --node.",
)
@click.option(
    "--data",
    metavar="TABLE",
    help="Show the error of each node on these rows, as a leaf and as a subtree.",
)
@rows_options
@text_options
@picture_options
@click.option("--overwrite", is_flag=True, help="Replace an existing file of --svg.")
def show(model: str, max_depth: int | None, **options: Any) -> None:
    """Print or draw the tree of MODEL, or its clusters.

    A forest is shown by its importances and its most typical tree; --tree shows any of
    its trees.
    """
    numbers, ascii_, json_ = (options[name] for name in ("numbers", "ascii_", "json_"))
    check_picture(options)
    _check_shown(options)
    if options["data"] is None:
        refuse_options(parameter_names(rows_options), "needs --data TABLE")
    loaded = select_tree(load(model), model, options["tree"])
    if loaded.kind == "forest":
        from spinney.cli.forest_report import show_forest

        refuse_options(("data",), f"needs one tree: {tree_choice_text(loaded, model)}")
        if options["svg"] is not None:
            write_picture(loaded.plot(**tree_style(options, max_depth)), options)
            return
        show_forest(
            loaded,
            max_depth=max_depth,
            numbers=numbers,
            ascii_=ascii_,
            json_=json_,
            max_lines=_tree_lines(options["max_lines"], max_depth),
        )
        return
    if loaded.kind != "tree":
        refuse_options(
            {"max_depth", "max_lines", "numbers", "data"}
            | parameter_names(style_options),
            f"needs a tree, but this file holds {loaded.kind}: remove it",
        )
        if options["svg"] is not None:
            write_picture(loaded.plot(), options)
            return
        if registry.is_known("report", loaded.kind):
            registry.load("report", loaded.kind)(loaded, ascii_=ascii_, json_=json_)
        else:
            write_text(lambda _: str(loaded))
        return
    errors = None
    if options["data"] is not None:
        errors = _node_errors(loaded, options)
    if options["svg"] is not None:
        picture = loaded.plot(**tree_style(options, max_depth), data=errors)
        write_picture(picture, options)
        return
    show_tree(
        loaded,
        max_depth=max_depth,
        ascii_=ascii_,
        json_=json_,
        numbers=numbers,
        errors=errors,
        max_lines=options["max_lines"],
        path=model,
    )


def _node_errors(model: "FittedTree", options: Mapping[str, Any]) -> "NodeErrors":
    """Return the errors of the nodes of a tree on the table of --data."""
    data, weight = options["data"], options["weight"]
    table = model.read(data, **file_arguments(options), weight=weight)
    name = "the table" if data == STANDARD_OUTPUT else PurePath(data).name
    return model.node_errors(table, weight=weight, name=name)


def _check_shown(options: Mapping[str, Any]) -> None:
    """Refuse options of text with JSON and pictures."""
    if options["json_"]:
        why = "cannot be used with --json, which has all nodes and their numbers"
        refuse_options(("numbers", "max_depth", "max_lines"), why)
    if options["svg"] is None:
        refuse_options(("overwrite",), "needs --svg FILE")
        return
    why = "cannot be used with --svg: remove one"
    refuse_options(("json_", "numbers", "ascii_", "max_lines"), why)


@click.command(
    epilog=examples(
        "spinney rules melons.spinney",
        "spinney rules melons.spinney --json",
        "spinney rules melons.spinney --simplify melons.csv",
        "spinney rules melons.spinney --simplify melons.csv --json -o rules.json",
        "spinney rules forest.spinney --tree 3",
    )
)
@click.argument("model")
@tree_option
@click.option(
    "--simplify",
    metavar="DATA",
    help="Print C4.5's shorter rule set; DATA is the training table.",
)
@click.option(
    "--confidence",
    type=float,
    help="Confidence level for --simplify; lower gives shorter rules.  [default: 0.25]",
)
@rows_options
@output_options
@text_options
def rules(model: str, simplify: str | None, **options: Any) -> None:
    """Print one rule for each leaf of MODEL, or its simplified rule set."""
    plain, output = options["ascii_"], options["output"]
    overwrite = options["overwrite"]
    check_output(output, overwrite=overwrite)
    loaded = load_single_tree(model, options["tree"])
    if simplify is None:
        names = parameter_names(rows_options) | {"confidence"}
        refuse_options(names, "needs --simplify DATA")
        result: Any = loaded.rules()
        as_data = as_json("rules", {"rules": result.as_dicts()}, ascii_only=plain)
    else:
        result = simplified(loaded, simplify, options)
        as_data = escaped(result.to_json().rstrip("\n"), ascii_only=plain)
    if options["json_"]:
        write_data(as_data, output, overwrite=overwrite)
    elif output is None or output == STANDARD_OUTPUT:
        write_text(lambda plain: result.text(ascii_only=plain), ascii_only=plain)
    else:
        write_data(result.text(ascii_only=plain), output, overwrite=overwrite)


@click.command(
    epilog=examples(
        "spinney explain melons.spinney --node 0",
        "spinney explain melons.spinney --node 3 --data melons.csv",
        "spinney explain melons.spinney --attribute density --data melons.csv",
        "spinney explain melons.spinney --row new.csv --row-number 3",
        "spinney explain forest.spinney --tree 3 --node 0",
    )
)
@click.argument("model")
@tree_option
@click.option(
    "--node",
    type=int,
    help="Number of the node: 0 is the root; spinney show --numbers lists the others.",
)
@click.option(
    "--attribute",
    metavar="COLUMN",
    help="List all candidate splits on this attribute at the node, with counts and "
    "merit; numeric attributes need --data.",
)
@click.option(
    "--data",
    metavar="DATA",
    help="Training table: counts the node there, with all competitors and the numbers "
    "of its rows.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="Maximum number of candidate splits that --attribute lists.  [default: 100]",
)
@click.option("--row", metavar="DATA", help="Table with the row to follow.")
@click.option(
    "--row-number",
    type=click.IntRange(min=1),
    help="Number of the row in that table.  [default: 1]",
)
@rows_options
@text_options
def explain(model: str, node: int | None, row: str | None, **options: Any) -> None:
    """Print the arithmetic of a node of MODEL, of one attribute, or a row's path.

    The node is the root, unless --node names another.
    """
    plain = options["ascii_"]
    _check_explained(row, options)
    loaded = load_single_tree(model, options["tree"])
    if row is None:
        explanation = _explain_node(loaded, node or 0, options)
        kind = "explain-node" if options["attribute"] is None else "explain-attribute"
    else:
        table = loaded.read(row, target=False, **file_arguments(options))
        number = options["row_number"] or 1
        if number > table.n_rows:
            msg = f"--row-number {number}: {row!r} has only {table.n_rows} rows"
            raise ParameterError(msg)
        explanation = loaded.explain(row=table.take(slice(number - 1, number)))
        kind = "explain-row"
    if options["json_"]:
        write_data(as_json(kind, explanation.as_dict(), ascii_only=plain))
    else:
        write_text(lambda plain: explanation.text(ascii_only=plain), ascii_only=plain)


def _check_explained(row: str | None, options: Mapping[str, Any]) -> None:
    """Refuse options of nodes with a row, and options that need another one."""
    if row is not None:
        why = "cannot be used with --row: remove one"
        refuse_options(("node", "attribute", "data"), why)
    else:
        refuse_options(("row_number",), "needs --row TABLE")
    if options["data"] is None:
        refuse_options(("weight",), "needs --data TABLE")
        if row is None:
            why = "needs --data TABLE or --row TABLE"
            refuse_options(parameter_names(rows_options), why)
    if options["attribute"] is None:
        refuse_options(("limit",), "needs --attribute COLUMN")


def _explain_node(model: "FittedTree", node: int, options: Mapping[str, Any]) -> Any:
    """Return the arithmetic of a node, on the rows of --data if given."""
    arguments = {name: options[name] for name in ("attribute", "limit")}
    if options["data"] is not None:
        table, weights = _training_table(model, options["data"], options)
        arguments.update(data=table, sample_weight=weights)
    return model.explain(node, **arguments)


def _training_table(
    model: "FittedTree", data: str, options: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Return a table with all attributes of a model, and the weights of its rows."""
    from spinney.sources.rows import row_weights

    weight = options["weight"]
    table = model.read(data, whole=True, weight=weight, **file_arguments(options))
    return table, None if weight is None else row_weights(table[weight])


@click.command(
    epilog=examples(
        "spinney info melons.spinney",
        "spinney info melons.spinney --json",
        "spinney info forest.spinney --tree 3",
    ),
    short_help="Print the facts of MODEL, or the installed versions.",
)
@click.argument("model", required=False)
@tree_option
@json_option
def info(model: str | None, *, tree: int | None, json_: bool) -> None:
    """Print the facts of MODEL and its training set; without it, installed versions."""
    from spinney.models import about_installation, as_lines

    if model is not None:
        facts = select_tree(load(model), model, tree).facts()
    elif tree is not None:
        msg = f"--tree {tree} needs MODEL: name the file of a forest"
        raise ParameterError(msg)
    else:
        facts = about_installation()
    if json_:
        write_data(as_json("info", facts))
    else:
        write_text(lambda _: as_lines(facts, remedy="see --json"))


def simplified(model: "FittedTree", data: str, options: Mapping[str, Any]) -> "RuleSet":
    """Return the simplified rule set of a model, by its training table."""
    from spinney.growth.prune import CONFIDENCE, check_confidence

    level = options["confidence"]
    confidence = check_confidence(CONFIDENCE if level is None else level)
    table, weights = _training_table(model, data, options)
    return model.ruleset(table, sample_weight=weights, confidence=confidence)
