"""The report of a forest: its size, its importances, its most typical tree."""

from typing import TYPE_CHECKING, Any

from spinney._support.text import percent_text, shown
from spinney.cli.shell_output import (
    TREE_LINES,
    as_json,
    tree_width,
    write_data,
    write_text,
)

if TYPE_CHECKING:
    from spinney.growth.forest import Importances
    from spinney.models import FittedForest

MAX_IMPORTANCES = 20
IMPORTANCE_TITLE = "importance (mean decrease in impurity, normalised; SD over trees)"


def importances_data(importances: "Importances") -> list[dict[str, Any]]:
    """Return importances as plain data, the greatest first; groups list attributes."""
    from spinney.growth.forest import GroupedImportances

    groups: dict[str, dict[str, Any]] = {}
    if isinstance(importances, GroupedImportances):
        groups = {
            name: {"attributes": list(attributes), "association": association}
            for name, attributes, association in zip(
                importances.names, importances.groups, importances.least, strict=True
            )
        }
    return [
        {"attribute": name, "mean": mean, "spread": spread, **groups.get(name, {})}
        for name, mean, spread in importances.ranked()
    ]


def forest_text(facts: dict[str, Any], *, plain: bool) -> str:
    """Return the facts of a grown forest as text."""
    lines = [_size(facts)]
    oob = facts["out_of_bag"]
    if oob is not None and oob["score"] is not None:
        name = "R2" if plain and oob["measure"] == "R²" else oob["measure"]
        lines.append(f"out-of-bag {name} {oob['score']:.4f} on {oob['rows']} rows")
    for key, title in (
        ("importances", IMPORTANCE_TITLE),
        ("permutation_importances", "permutation importance (increase of the error)"),
        ("grouped_importances", "importance of groups of associated attributes"),
    ):
        if facts[key]:
            lines += ["", title, *importance_lines(facts[key], plain=plain)]
    if facts["interactions"]:
        lines += [
            "",
            "interactions (parent > child: number of splits, fraction of importance)",
        ]
        lines += [
            f"  {pair['above']} > {pair['below']}: {pair['splits']}, {pair['gain']:.4f}"
            for pair in facts["interactions"][:5]
        ]
    return "\n".join(lines)


def _size(facts: dict[str, Any]) -> str:
    size, recipes = facts["size"], facts.get("recipes")
    names = ""
    if recipes is not None:
        names = f" ({', '.join(recipe['name'] for recipe in recipes)} in turn)"
    return (
        f"{facts['target']}: {size['trees']} trees{names}, {size['leaves']} leaves, "
        f"height up to {size['height']}"
    )


def importance_lines(entries: list[dict[str, Any]], *, plain: bool) -> list[str]:
    """Return a line for each attribute or group: mean and standard deviation."""
    width = min(40, max(len(entry["attribute"]) for entry in entries))
    sign = "+-" if plain else "±"
    return [
        f"  {e['attribute']:<{width}}  {e['mean']:8.4f} {sign} {e['spread']:.4f}"
        for e in entries
    ]


def show_forest(
    model: "FittedForest",
    *,
    max_depth: int | None,
    numbers: bool,
    ascii_: bool,
    json_: bool,
    max_lines: int | None = TREE_LINES,
) -> None:
    """Print the size of a forest, its importances and its most typical tree."""
    from spinney.output import to_text

    facts = model.facts()
    importances = importances_data(model.importances())
    if json_:
        content = {**facts, "importances": importances}
        write_data(as_json("forest", content, ascii_only=ascii_))
        return
    typical = model.forest_.typical
    tree = None if typical is None else model.trees[typical.number].tree

    def text(plain: bool) -> str:  # noqa: FBT001 - what write_text calls with
        lines = [_size(facts), "", IMPORTANCE_TITLE]
        lines += importance_lines(importances[:MAX_IMPORTANCES], plain=plain)
        if len(importances) > MAX_IMPORTANCES:
            n_hidden = len(importances) - MAX_IMPORTANCES
            lines.append(f"  and {n_hidden} more: see --json")
        lines += ["", _typical(facts)]
        if tree is not None:
            lines.append(
                to_text(
                    tree,
                    max_depth=max_depth,
                    ascii_only=plain,
                    numbers=numbers,
                    width=tree_width(),
                    max_lines=max_lines,
                    rest=("--max-lines 0 prints all",),
                )
            )
        return "\n".join(lines)

    write_text(text, ascii_only=ascii_)


def _typical(facts: dict[str, Any]) -> str:
    """Return the most typical tree, its agreement, and the option for others."""
    typical, n = facts["typical"], facts["size"]["trees"]
    choose = f"--tree 0 to --tree {n - 1} show each tree"
    if typical is None:
        return f"this file has no most typical tree; {choose}"
    tree = facts["trees"][typical["number"]]
    agreement, rows = typical["agreement"], typical["rows"]
    agrees = f"agrees with the forest on {percent_text(agreement, 1)} of {rows} rows"
    if not facts["classes"]:
        agrees = f"R2 with the forest is {agreement:.4f} on {rows} rows"
    return (
        f"most typical: tree {tree['number']} ({shown(tree['recipe'])}, "
        f"{tree['leaves']} leaves): {agrees}; {choose}"
    )
