"""What Weka's M5P printed, and a model tree of ours in the same words."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import tables
from tests.helpers.recipes import by_recipe

import spinney
from spinney.trees import Node, Tree
from spinney.trees.split import Threshold

FIXTURES = Path(__file__).parents[1] / "oracle" / "fixtures" / "m5p"
TABLES = Path(__file__).parents[1] / "tables"
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "unpruned": {"pruning": "none"},
    "unsmoothed": {"smoothing": 0.0},
    "regression_tree": {"leaves": "mean"},
    "unpruned_unsmoothed": {"pruning": "none", "smoothing": 0.0},
    "regression_tree_unsmoothed": {"leaves": "mean", "smoothing": 0.0},
}

Models = list[tuple[float, dict[Any, float]]]


def summary(table: str, variant: str) -> dict[str, float]:
    text = (FIXTURES / "summary.json").read_text(encoding="utf-8")
    return json.loads(text)[table][variant]


def printed(table: str, variant: str) -> tuple[list[Any], Models] | None:
    """Return the lines and the models of a printed tree; None if none is stored.

    A line is (depth, what is asked, side, rows at a leaf or None); a model is its
    intercept and its coefficients by number, or by name and the set of values.
    """
    path = FIXTURES / f"{table}.{variant}.txt"
    if not path.exists():
        return None
    tree, *parts = path.read_text(encoding="utf-8").split("LM num:")
    lines = []
    for line in tree.splitlines():
        found = re.match(r"((?:\|   )*)(.+?) (<=|> ) (\S+) :(?: LM\d+ \((\d+)/)?", line)
        if found is not None:
            bars, name, side, cut, rows = found.groups()
            asked = (_term(name), float(cut) if "=" not in name else None)
            count = None if rows is None else int(rows)
            lines.append((len(bars) // 4, asked, side.strip(), count))
    return lines, [_model(part.split("Number of Rules")[0]) for part in parts]


def _term(name: str) -> Any:
    head, equals, values = name.partition("=")
    return (head, frozenset(values.split(","))) if equals else head


def _model(text: str) -> tuple[float, dict[Any, float]]:
    coefficients = {}
    intercept = 0.0
    for line in text.split("=\n", 1)[1].strip().splitlines():
        sign, number, rest = re.match(
            r"\s*([+-]?)\s*([\d.E-]+)(?: \* (.*))?", line
        ).groups()
        value = -float(number) if sign == "-" else float(number)
        if rest is None:
            intercept = value
        else:
            coefficients[_term(rest)] = value
    return intercept, coefficients


def ours(tree: Tree) -> tuple[list[Any], Models]:
    """Return a tree of ours as M5P would print it."""
    lines, models = [], []
    for node in tree.nodes[1:]:
        assert node.parent is not None
        rows = node.n_rows if node.is_leaf else None
        asked = _asked(tree, tree.nodes[node.parent])
        lines.append((node.depth - 1, asked, "<=" if node.branch == 0 else ">", rows))
    for leaf in tree.leaves:
        model = leaf.model
        if model is None:
            models.append((leaf.value, {}))
            continue
        names = [_named(tree, term.attribute, term.codes) for term in model.terms]
        coefficients = dict(zip(names, model.coefficients, strict=True))
        models.append((model.intercept, coefficients))
    return lines, models


def _named(tree: Tree, place: int, codes: tuple[int, ...] | None) -> Any:
    attribute = tree.schema.attributes[place]
    if codes is None:
        return attribute.name
    return attribute.name, frozenset(str(attribute.values[code]) for code in codes)


def _asked(tree: Tree, node: Node) -> Any:
    split = node.split
    assert split is not None
    if isinstance(split, Threshold):
        # Weka prints thresholds in three decimals, halves rounded up.
        cut = round(float(np.floor(split.threshold * 1000 + 0.5 + 1e-9)) / 1000, 3)
        return tree.schema.attributes[split.attribute].name, cut
    return _named(tree, split.attribute, split.groups[1]), None


def grown(table: str, variant: str, folder: Path | None = None) -> Any:
    """Grow a table of the fixtures; return the model, its table and the target."""
    settings = {"recipe": "m5", **VARIANTS[variant]}
    if table == "cpu_prp":
        path, target = TABLES / "cpu_prp.csv", "class"
        return (
            spinney.grow(path, target, numeric=[target], **by_recipe(**settings)),
            path,
            target,
        )
    assert folder is not None
    schema = tables.facts_of(folder)[table.removesuffix("_without_vendor")]
    ignored = ["vendor"] if table.endswith("_without_vendor") else []
    kinds = {n: k for n, k in schema["types"].items() if n not in ignored}
    model = spinney.grow(
        folder / schema["file"],
        schema["target"],
        nominal=[name for name, kind in kinds.items() if kind != "numeric"],
        numeric=[name for name, kind in kinds.items() if kind == "numeric"],
        ignore=ignored,
        missing_values=tables.markers_of(schema),
        **by_recipe(**settings),
    )
    return model, folder / schema["file"], schema["target"]


def figures(model: Any, path: Path, target: str) -> dict[str, float]:
    """Return what M5P prints of a tree on its training rows."""
    table = model.read(path)
    truth, found = table[target].cells, model.predict(table)
    return {
        "rules": model.tree.n_leaves,
        "correlation": float(np.corrcoef(truth, found)[0, 1]),
        "mean_absolute_error": float(np.abs(truth - found).mean()),
        "root_mean_squared_error": float(np.sqrt(((truth - found) ** 2).mean())),
    }
