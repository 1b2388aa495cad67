"""What the shell says of a forest: its size, what is important to it, a tree of it."""

from typing import TYPE_CHECKING, Any

from spinney._support.text import percent_text, shown
from spinney.cli.shell_output import as_json, write_data, write_text

if TYPE_CHECKING:
    from spinney.growth.forest import Importances
    from spinney.models import FittedForest

MOST_LINES = 60  # of the tree that is shown, if no depth is asked for
MOST_IMPORTANT = 20


def importances_data(importances: "Importances") -> list[dict[str, Any]]:
    """Return importances as plain data, the greatest first; of groups what is in them.

    A group has the name of its attributes together.
    """
    from spinney.growth.forest import GroupedImportances

    within: dict[str, dict[str, Any]] = {}
    if isinstance(importances, GroupedImportances):
        groups, least_of = importances.groups, importances.least
        parts = zip(importances.names, groups, least_of, strict=True)
        within = {
            name: {"attributes": list(group), "association": least}
            for name, group, least in parts
        }
    return [
        {"attribute": name, "mean": mean, "spread": spread, **within.get(name, {})}
        for name, mean, spread in importances.ranked()
    ]


def forest_text(facts: dict[str, Any], *, plain: bool) -> str:
    """Return the facts of a forest that was just grown, for people."""
    lines = [_size(facts)]
    test = facts["out_of_bag"]
    if test is not None and test["score"] is not None:
        name = "R2" if plain and test["measure"] == "R²" else test["measure"]
        lines.append(f"out of bag: {name} {test['score']:.4f} on {test['rows']} rows")
    for key, title in (
        ("importances", "importance (share of gain, and its spread over trees)"),
        ("permutation_importances", "importance by permutation (growth of the error)"),
        ("grouped_importances", "importance of attributes that go together, added up"),
    ):
        if facts[key]:
            lines += ["", title, *importance_lines(facts[key], plain=plain)]
    if facts["interactions"]:
        lines += ["", "asked below one another (above > below: splits, share of gain)"]
        lines += [
            f"  {pair['above']} > {pair['below']}: {pair['splits']}, {pair['gain']:.4f}"
            for pair in facts["interactions"][:5]
        ]
    return "\n".join(lines)


def _size(facts: dict[str, Any]) -> str:
    size, recipes = facts["size"], facts.get("recipes")
    turns = ""
    if recipes is not None:
        turns = f" ({', '.join(recipe['name'] for recipe in recipes)} in turn)"
    return (
        f"{facts['target']}: {size['trees']} trees{turns}, {size['leaves']} leaves, "
        f"height up to {size['height']}"
    )


def importance_lines(entries: list[dict[str, Any]], *, plain: bool) -> list[str]:
    """Return a line for each attribute, or group: mean and spread."""
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
) -> None:
    """Print what a forest is, what is important to it, and its most typical tree."""
    from spinney.output import fitting_depth, to_text

    facts = model.facts()
    importances = importances_data(model.importances())
    if json_:
        content = {**facts, "importances": importances}
        write_data(as_json("forest", content, ascii_only=ascii_))
        return
    typical = model.forest_.typical
    tree = None if typical is None else model.trees[typical.number].tree
    if tree is not None and max_depth is None:
        max_depth = fitting_depth(tree, MOST_LINES)

    def text(plain: bool) -> str:  # noqa: FBT001 - what write_text calls with
        title = "importance (share of gain, and its spread over trees)"
        lines = [_size(facts), "", title]
        lines += importance_lines(importances[:MOST_IMPORTANT], plain=plain)
        if len(importances) > MOST_IMPORTANT:
            more = len(importances) - MOST_IMPORTANT
            lines.append(f"  and {more} more: see --json")
        lines += ["", _typical(facts)]
        if tree is not None:
            lines.append(
                to_text(tree, max_depth=max_depth, ascii_only=plain, numbers=numbers)
            )
        return "\n".join(lines)

    write_text(text, ascii_only=ascii_)


def _typical(facts: dict[str, Any]) -> str:
    """Return which tree is the most typical, by what, and how to see others."""
    typical, n = facts["typical"], facts["size"]["trees"]
    others = f"--tree 0 to --tree {n - 1} show each"
    if typical is None:
        return f"which tree is typical is not kept in this file; {others}"
    tree = facts["trees"][typical["number"]]
    share, rows = typical["agreement"], typical["rows"]
    agrees = f"it says what the forest says of {percent_text(share, 1)} of {rows} rows"
    if not facts["classes"]:
        agrees = f"its numbers have R2 {share:.4f} for the forest's, over {rows} rows"
    return (
        f"the most typical is tree {tree['number']} ({shown(tree['recipe'])}, "
        f"{tree['leaves']} leaves): {agrees}; {others}"
    )
