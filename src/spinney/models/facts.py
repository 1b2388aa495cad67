"""Facts about a fitted model, for ``info``; what is installed."""

from collections.abc import Collection
from dataclasses import asdict, fields
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.text import shown, value_text, weight_text
from spinney._support.text_table import aligned
from spinney._version import __version__
from spinney.trees import TreeImportances, importances_of

if TYPE_CHECKING:
    from spinney.data import Fingerprint, Target
    from spinney.growth import Model, Quality
    from spinney.growth.forest import Forest
    from spinney.recipes import Recipe
    from spinney.trees import TreeArrays

LIBRARIES = ("numpy", "scipy", "scikit-learn", "narwhals", "duckdb", "click", "rich")
OPTIONAL = ("pandas", "polars", "pyarrow", "matplotlib")
COSTS_SHOWN = 20
TREES_SHOWN = 10
BARS = 10
WIDEST_NAME = 40  # longer ones are shown whole, but out of line


def forest_facts(forest: "Forest") -> dict[str, Any]:
    """Return the facts of a forest."""
    settings, target = forest.settings, forest.schema.target
    scale: Any = settings.class_weight
    if scale is not None and not isinstance(scale, str):
        scale = {value_text(target.classes[c]): weight for c, weight in scale.items()}
    return {
        "target": target.name,
        "classes": list(target.classes),
        "forest": {
            **_fields(settings),
            "class_weight": scale,
            "shrinkage": forest.shrinkage,
        },
        **_recipes(forest),
        "size": _forest_size(forest),
        "typical": None if forest.typical is None else asdict(forest.typical),
        "trees": _trees(forest),
        "grown_on": origin_facts(forest.fingerprint),
        "attributes": {a.name: a.kind for a in forest.schema.attributes},
    }


def _recipes(forest: "Forest") -> dict[str, Any]:
    """Return the recipe of all trees, or those that they take in turn."""
    recipes = [_recipe(recipe) for recipe in forest.recipes]
    return {"recipe": recipes[0]} if len(recipes) == 1 else {"recipes": recipes}


def _trees(forest: "Forest") -> list[dict[str, Any]]:
    """Return the recipe and the size of each tree, by its number."""
    return [
        {
            "number": number,
            "recipe": forest.recipe_of(number).name,
            "nodes": len(member),
            "leaves": member.n_leaves,
            "height": int(member.depth.max()),
        }
        for number, member in enumerate(forest.members)
    ]


def _forest_size(forest: "Forest") -> dict[str, Any]:
    """Return the size of all trees together; height and mean path are of one."""
    paths = [_paths(member, forest.schema.target) for member in forest.members]
    return {
        "trees": len(forest),
        "nodes": forest.n_nodes,
        "leaves": sum(member.n_leaves for member in forest.members),
        "height": max(int(member.depth.max()) for member in forest.members),
        "external_path_length": sum(total for total, _, _ in paths),
        "weighted_external_path_length": sum(weighted for _, weighted, _ in paths),
        "mean_path_length": fmean(mean for _, _, mean in paths),
    }


def _paths(member: "TreeArrays", target: "Target") -> tuple[int, float, float]:
    """Return a tree's external path length, weighted by rows, and of a mean row."""
    leaf, weight = ~member.inner, member.weight(target)
    depth = member.depth[leaf]
    weighted = float(depth @ weight[leaf])
    return int(depth.sum()), weighted, weighted / float(weight[0])


def _fields(settings: Any, *, without: Collection[str] = ()) -> dict[str, Any]:
    names = (field.name for field in fields(settings))
    return {name: getattr(settings, name) for name in names if name not in without}


def _recipe(recipe: "Recipe") -> dict[str, Any]:
    return _fields(recipe, without=("given", "tries"))


def origin_facts(origin: "Fingerprint") -> dict[str, Any]:
    """Return which rows a model was made of, and by which version."""
    return {
        "rows": origin.n_rows,
        "weight": origin.weight,
        "digest": origin.digest,
        "by": f"spinney {origin.version}",
    }


def tree_facts(model: "Model") -> dict[str, Any]:
    """Return the facts of a tree."""
    tree = model.tree
    return {
        "target": tree.schema.target.name,
        "classes": list(tree.schema.target.classes),
        "quality": _quality(model.quality),
        "importances": {
            name: {"importance": importance, "gain": gain}
            for name, importance, gain in importances_of(tree).ranked()
        },
        "costs": _costs(tree.schema.target),
        "test_costs": {a.name: a.cost for a in tree.schema.attributes if a.cost}
        or None,
        "recipe": _recipe(model.recipe),
        **({} if model.member is None else {"member": asdict(model.member)}),
        "size": {
            "nodes": len(tree),
            "leaves": tree.n_leaves,
            "height": tree.height,
            "external_path_length": tree.external_path_length,
            "weighted_external_path_length": tree.weighted_external_path_length,
            "mean_path_length": tree.mean_path_length,
            "rules": tree.n_leaves,
            "conditions_per_rule": fmean(tree.rule_lengths),
        },
        "grown_on": origin_facts(model.fingerprint),
        "attributes": {
            attribute.name: attribute.kind for attribute in tree.schema.attributes
        },
    }


def _quality(quality: "Quality | None") -> dict[str, Any] | None:
    """Return how well a tree predicts, in words and in figures."""
    return None if quality is None else {"summary": str(quality), **quality.figures()}


def _costs(target: "Target") -> list[dict[str, Any]] | None:
    """Return what labels cost, one entry per pair of classes; None if alike."""
    if target.costs is None:
        return None
    return [
        {"actual": actual, "predicted": predicted, "cost": cost}
        for predicted, line in zip(target.classes, target.costs, strict=True)
        for actual, cost in zip(target.classes, line, strict=True)
        if cost or predicted != actual
    ]


def about_installation() -> dict[str, Any]:
    """Return the versions that matter when something goes wrong."""
    import platform

    return {
        "spinney": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "libraries": {name: _version(name) for name in LIBRARIES},
        "optional": {name: _version(name) for name in OPTIONAL},
    }


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def as_lines(facts: dict[str, Any], *, remedy: str) -> str:
    """Return facts as aligned lines; ``remedy`` says where to see all of a cut list."""
    lines: list[tuple[str, str]] = []
    for name, fact in facts.items():
        if name == "costs" and fact:
            lines += _cost_lines(fact, remedy)
        elif name == "centroids":
            continue  # show has them
        elif name == "quality" and fact:
            lines.append((name, fact["summary"]))
        elif name == "importances":
            lines += _importance_lines(fact, remedy)
        elif name == "recipes":
            lines += _recipe_lines(fact)
        elif name == "trees":
            lines += _tree_lines(fact, remedy)
        elif isinstance(fact, dict):
            lines.append((name, ""))
            lines += [(f"  {key}", _text(value)) for key, value in fact.items()]
        else:
            lines.append((name, _text(fact)))
    rows = [(shown(name), text) for name, text in lines]
    return "\n".join(aligned(rows, left=(0, 1), widest=WIDEST_NAME))


def _recipe_lines(recipes: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the settings of recipes that trees take in turn, side by side."""
    lines = [("recipes", "each tree takes one, in turn")]
    for name in recipes[0]:
        texts = [_text(recipe[name]) for recipe in recipes]
        same = len(set(texts)) == 1
        lines.append((f"  {name}", texts[0] if same else ", ".join(texts)))
    return lines


def _importance_lines(
    fact: dict[str, dict[str, float]], remedy: str
) -> list[tuple[str, str]]:
    """Return a bar for each of the most important columns."""
    gains = np.array([each["gain"] for each in fact.values()])
    bars = TreeImportances(tuple(fact), gains).bars()
    lines = [("importances", "share of the decrease of the criterion")]
    lines += [
        (f"  {name}", f"{share:>7}  {bar}") for name, share, bar, _ in bars[:BARS]
    ]
    if len(bars) > BARS:
        lines.append((f"  and {len(bars) - BARS} more", remedy))
    return lines if bars else []


def _tree_lines(trees: list[dict[str, Any]], remedy: str) -> list[tuple[str, str]]:
    """Return a line for each of the first trees, by their numbers."""
    lines = [("trees", "recipe and size, by number")]
    lines += [
        (
            f"  {t['number']}",
            f"{t['recipe']}, {t['leaves']} leaves, height {t['height']}",
        )
        for t in trees[:TREES_SHOWN]
    ]
    if len(trees) > TREES_SHOWN:
        lines.append((f"  and {len(trees) - TREES_SHOWN} more", remedy))
    return lines


def _cost_lines(costs: list[dict[str, Any]], remedy: str) -> list[tuple[str, str]]:
    """Return one line per pair of classes, under what decides the labels."""
    lines = [("costs", "labels are those of least expected cost")]
    lines += [
        (f"  {shown(c['predicted'])} where {shown(c['actual'])}", _text(c["cost"]))
        for c in costs[:COSTS_SHOWN]
    ]
    if len(costs) > COSTS_SHOWN:
        lines.append((f"  and {len(costs) - COSTS_SHOWN} more", remedy))
    return lines


def _text(fact: Any) -> str:
    if isinstance(fact, list):
        return ", ".join(map(shown, fact))
    if isinstance(fact, float):
        return weight_text(fact)
    return "-" if fact is None or fact == "" else shown(fact)
