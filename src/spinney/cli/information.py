"""What a model is; what is installed."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from spinney._version import __version__
from spinney.wording import shown, weight_text

if TYPE_CHECKING:
    from spinney.schema import Target

__all__ = ["about_installation", "about_model", "as_lines"]

LIBRARIES = ("numpy", "scipy", "scikit-learn", "narwhals", "duckdb", "click", "rich")
OPTIONAL = ("pandas", "polars", "pyarrow")
COSTS_SHOWN = 20
WIDEST_NAME = 40  # longer ones are shown whole, but out of line


def about_model(model: Any) -> dict[str, Any]:
    """Return the facts of a model."""
    tree, origin = model.tree, model.model_.fingerprint
    recipe = model.model_.recipe
    return {
        "target": tree.schema.target.name,
        "classes": list(tree.schema.target.classes),
        "costs": _costs(tree.schema.target),
        "test_costs": {a.name: a.cost for a in tree.schema.attributes if a.cost}
        or None,
        "recipe": {
            name: getattr(recipe, name)
            for name in type(recipe).__dataclass_fields__
            if name not in ("given", "for_numbers")
        },
        "size": {
            "nodes": len(tree),
            "leaves": tree.n_leaves,
            "height": tree.height,
            "external_path_length": tree.external_path_length,
            "weighted_external_path_length": tree.weighted_external_path_length,
        },
        "grown_on": {
            "rows": origin.n_rows,
            "weight": origin.weight,
            "digest": origin.digest,
            "by": f"spinney {origin.version}",
        },
        "attributes": {
            attribute.name: attribute.kind for attribute in tree.schema.attributes
        },
    }


def _costs(target: "Target") -> list[dict[str, Any]] | None:
    """Return what labels cost, as the file of --costs has it; None if alike."""
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
    return {
        "spinney": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "libraries": {name: _version(name) for name in LIBRARIES},
        "optional": {name: _version(name) for name in OPTIONAL},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def as_lines(facts: dict[str, Any]) -> str:
    """Return facts as aligned lines."""
    lines: list[tuple[str, str]] = []
    for name, fact in facts.items():
        if name == "costs" and fact:
            lines += _cost_lines(fact)
        elif isinstance(fact, dict):
            lines.append((name, ""))
            lines += [(f"  {key}", _text(value)) for key, value in fact.items()]
        else:
            lines.append((name, _text(fact)))
    width = min(max(len(shown(name)) for name, _ in lines), WIDEST_NAME)
    return "\n".join(f"{shown(name):<{width}}  {text}".rstrip() for name, text in lines)


def _cost_lines(costs: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return a line a pair of classes, under what decides the labels."""
    lines = [("costs", "labels are those of least expected cost")]
    lines += [
        (f"  {shown(c['predicted'])} where {shown(c['actual'])}", _text(c["cost"]))
        for c in costs[:COSTS_SHOWN]
    ]
    if len(costs) > COSTS_SHOWN:
        lines.append((f"  and {len(costs) - COSTS_SHOWN} more", "see --json"))
    return lines


def _text(fact: Any) -> str:
    if isinstance(fact, list):
        return ", ".join(map(shown, fact))
    if isinstance(fact, float):
        return weight_text(fact)
    return "-" if fact is None or fact == "" else shown(fact)
