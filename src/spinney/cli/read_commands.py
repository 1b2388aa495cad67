"""The commands that read a model: ``show``, ``rules``, ``explain`` and ``info``."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from spinney import registry
from spinney._support.json_text import escaped
from spinney.cli.picture_options import (
    check_picture,
    keep_picture,
    look_options,
    picture_options,
    tree_look,
)
from spinney.cli.shell_options import (
    check_output,
    examples,
    file_arguments,
    json_option,
    load,
    load_member,
    member_of,
    names_in,
    output_options,
    refuse_given,
    rows_options,
    text_options,
    tree_option,
    which_tree,
)
from spinney.cli.shell_output import (
    STANDARD_OUTPUT,
    as_json,
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
) -> None:
    """Print a tree, as text or as data; ``errors`` stand beside its nodes."""
    from spinney.output import to_text

    if json_:
        from spinney.output import to_json

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
            ),
            ascii_only=ascii_,
        )


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
@click.option("--max-depth", type=click.IntRange(min=0), help="Hide what lies deeper.")
@click.option(
    "--numbers",
    is_flag=True,
    help="Begin each line with the node's number, for explain --node and prune --node.",
)
@click.option(
    "--data",
    metavar="TABLE",
    help="Say beside each node how it does on these rows, as a leaf and split.",
)
@rows_options
@text_options
@picture_options
@click.option("--overwrite", is_flag=True, help="Overwrite the file of --svg.")
def show(model: str, max_depth: int | None, **options: Any) -> None:
    """Print the tree of MODEL, or its clusters, or draw them.

    Of a forest it shows what is important to it and its most typical tree, or with
    --tree any of its trees.
    """
    numbers, ascii_, json_ = (options[name] for name in ("numbers", "ascii_", "json_"))
    check_picture(options)
    _check_shown(options, max_depth)
    if options["data"] is None:
        refuse_given(names_in(rows_options), "says nothing without --data TABLE")
    loaded = load(model)
    loaded = member_of(loaded, model, options["tree"])
    if loaded.kind == "forest":
        from spinney.cli.forest_report import show_forest

        refuse_given(("data",), f"is of one tree: {which_tree(loaded, model)}")
        if options["svg"] is not None:
            keep_picture(loaded.plot(**tree_look(options, max_depth)), options)
            return
        show_forest(
            loaded, max_depth=max_depth, numbers=numbers, ascii_=ascii_, json_=json_
        )
        return
    if loaded.kind != "tree":
        refuse_given(
            {"max_depth", "numbers", "data"} | names_in(look_options),
            f"is of trees, and this file holds {loaded.kind}: leave it out",
        )
        if options["svg"] is not None:
            keep_picture(loaded.plot(), options)
            return
        if registry.is_known("report", loaded.kind):
            registry.load("report", loaded.kind)(loaded, ascii_=ascii_, json_=json_)
        else:
            write_text(lambda _: str(loaded))
        return
    errors = _errors(loaded, options)
    if options["svg"] is not None:
        picture = loaded.plot(**tree_look(options, max_depth), data=errors)
        keep_picture(picture, options)
        return
    show_tree(
        loaded,
        max_depth=max_depth,
        ascii_=ascii_,
        json_=json_,
        numbers=numbers,
        errors=errors,
    )


def _errors(model: "FittedTree", options: Mapping[str, Any]) -> "NodeErrors | None":
    """Return how the nodes of a tree do on the table that is named, if one is."""
    data, weight = options["data"], options["weight"]
    if data is None:
        return None
    table = model.read(data, **file_arguments(options), weight=weight)
    name = "the table" if data == STANDARD_OUTPUT else PurePath(data).name
    return model.node_errors(table, weight=weight, name=name)


def _check_shown(options: Mapping[str, Any], max_depth: int | None) -> None:
    """Refuse options of text for data and pictures, which have no use for them."""
    if options["json_"] and options["numbers"]:
        msg = "--numbers and --json exclude each other: JSON has the numbers"
        raise ParameterError(msg)
    if options["json_"] and max_depth is not None:
        msg = f"--max-depth {max_depth} and --json exclude each other: JSON is whole"
        raise ParameterError(msg)
    if options["svg"] is None:
        refuse_given(("overwrite",), "says nothing without --svg FILE")
    for name in ("json_", "numbers", "ascii_"):
        if options["svg"] is not None and options[name]:
            msg = f"--{name.rstrip('_')} and --svg exclude each other: leave one out"
            raise ParameterError(msg)


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
    help="Print C4.5's shorter rule set; DATA is the table MODEL was grown on.",
)
@click.option(
    "--confidence",
    type=float,
    help="Of the pessimistic error, with --simplify: 0.25 by default; less is shorter.",
)
@rows_options
@output_options
@text_options
def rules(model: str, simplify: str | None, **options: Any) -> None:
    """Print one rule for each leaf of MODEL, or its simplified rule set."""
    plain, output, overwrite = (
        options["ascii_"],
        options["output"],
        options["overwrite"],
    )
    check_output(output, overwrite=overwrite)
    loaded = load_member(model, options["tree"])
    if simplify is None:
        names = names_in(rows_options) | {"confidence"}
        refuse_given(names, "says nothing without --simplify DATA")
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
    help="The node whose arithmetic is wanted: 0 is the root; spinney show --numbers "
    "has the others.",
)
@click.option(
    "--attribute",
    metavar="COLUMN",
    help="List all ways to split on this attribute at the node: every cut, every "
    "subset, every branch, with counts and merit. Those of a number need --data.",
)
@click.option(
    "--data",
    metavar="DATA",
    help="The table MODEL was grown on: the node is counted there, with all "
    "competitors, exactly, and the numbers of its rows.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="How many ways --attribute lists, 100 by default: those that gain most.",
)
@click.option("--row", metavar="DATA", help="The table that holds a row to follow.")
@click.option(
    "--row-number",
    type=click.IntRange(min=1),
    help="Which row of that table, the first by default.",
)
@rows_options
@text_options
def explain(model: str, node: int | None, row: str | None, **options: Any) -> None:
    """Print the arithmetic of a node of MODEL, of one attribute, or a row's path.

    The node is the root, unless --node names another.
    """
    number, plain = options["row_number"], options["ascii_"]
    _check_explained(node, row, options)
    loaded = load_member(model, options["tree"])
    if row is None:
        explanation = _of_node(loaded, 0 if node is None else node, options)
        kind = "explain-node" if options["attribute"] is None else "explain-attribute"
    else:
        table = loaded.read(row, target=False, **file_arguments(options))
        explanation = loaded.explain(row=_one_row(table, row, number or 1))
        kind = "explain-row"
    if options["json_"]:
        write_data(as_json(kind, explanation.as_dict(), ascii_only=plain))
    else:
        write_text(lambda plain: explanation.text(ascii_only=plain), ascii_only=plain)


def _check_explained(
    node: int | None, row: str | None, options: Mapping[str, Any]
) -> None:
    """Refuse options of nodes beside those of rows, and options without their own."""
    of_node = {"node": node, "attribute": options["attribute"], "data": options["data"]}
    for name, value in of_node.items():
        if row is not None and value is not None:
            msg = f"--{name} {value} and --row {row!r} exclude each other: name one"
            raise ParameterError(msg)
    if row is None:
        refuse_given(("row_number",), "says nothing alone: name its table by --row")
    if options["data"] is None:
        refuse_given(("weight",), "says nothing without --data TABLE")
        if row is None:
            why = "says nothing without --data TABLE or --row TABLE"
            refuse_given(names_in(rows_options), why)
    if options["attribute"] is None:
        refuse_given(("limit",), "says nothing without --attribute COLUMN")


def _of_node(model: "FittedTree", node: int, options: Mapping[str, Any]) -> Any:
    """Return the arithmetic of a node, over the rows of a table if one is named."""
    given: dict[str, Any] = {"attribute": options["attribute"]}
    if options["limit"] is not None:
        given["limit"] = options["limit"]
    if options["data"] is not None:
        table, weights = _training_table(model, options["data"], options)
        given.update(data=table, sample_weight=weights)
    return model.explain(node, **given)


def _training_table(
    model: "FittedTree", data: str, options: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Return a table with all attributes of a model, and the weights of its rows."""
    from spinney.sources.rows import row_weights

    weight = options["weight"]
    table = model.read(data, whole=True, weight=weight, **file_arguments(options))
    return table, None if weight is None else row_weights(table[weight])


def _one_row(table: Any, data: str, number: int) -> Any:
    if number > table.n_rows:
        msg = f"--row-number {number}: {data!r} has {table.n_rows} rows; name one"
        raise ParameterError(msg)
    return table.take(slice(number - 1, number))


@click.command(
    epilog=examples(
        "spinney info melons.spinney",
        "spinney info melons.spinney --json",
        "spinney info forest.spinney --tree 3",
    ),
    short_help="Print what MODEL is, or the versions installed here.",
)
@click.argument("model", required=False)
@tree_option
@json_option
def info(model: str | None, *, tree: int | None, json_: bool) -> None:
    """Print what MODEL is and what it was grown on; without it, the versions here."""
    from spinney.models import about_installation, as_lines

    if model is not None:
        facts = member_of(load(model), model, tree).facts()
    elif tree is not None:
        msg = f"--tree {tree} says nothing without MODEL: name the file of a forest"
        raise ParameterError(msg)
    else:
        facts = about_installation()
    if json_:
        write_data(as_json("info", facts))
    else:
        write_text(lambda _: as_lines(facts, remedy="see --json"))


def simplified(model: "FittedTree", data: str, options: Mapping[str, Any]) -> "RuleSet":
    """Return the rule set of a model over the table that it was grown on."""
    from spinney.growth.prune import CONFIDENCE, check_confidence

    given = options["confidence"]
    confidence = check_confidence(CONFIDENCE if given is None else given)
    table, weights = _training_table(model, data, options)
    return model.ruleset(table, sample_weight=weights, confidence=confidence)
