"""Trees as Weka prints them, and ours in the same words."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

from spinney.trees import Tree
from spinney.trees.split import Groups

FIXTURES = Path(__file__).parents[1] / "oracle" / "fixtures" / "j48"
LINE = re.compile(
    r"(?P<indent>(\|   )*)(?P<name>.+?) (?P<sign><=|>|=) (?P<value>.+?)"
    r"(: (?P<label>.*) \((?P<weight>[\d.]+)(/(?P<wrong>[\d.]+))?\))?"
)
# Settings of ours that mean what Weka was asked for.
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "unpruned": {"pruning": "collapse"},
    "no_raising": {"raising": False},
    "confidence_0.1": {"confidence": 0.1},
}

Steps = tuple[tuple[str, str, object], ...]
Leaves = dict[Steps, tuple[str, float, float]]


def value_of(text: str, sign: str) -> object:
    return text if sign == "=" else round(float(text), 5)


def printed_leaves(text: str) -> Leaves:
    """Return label, weight and wrong weight by path; leaves without rows left out."""
    leaves: Leaves = {}
    path: list[tuple[str, str, object]] = []
    for line in text.splitlines():
        found = LINE.fullmatch(line.rstrip())
        if found is None:
            continue
        del path[len(found["indent"]) // 4 :]
        value = value_of(found["value"], found["sign"])
        path.append((found["name"], found["sign"], value))
        if found["weight"] is not None and float(found["weight"]) > 0:
            wrong = float(found["wrong"] or 0)
            leaves[tuple(path)] = found["label"], float(found["weight"]), wrong
    return leaves


def our_leaves(tree: Tree) -> Leaves:
    """Return the same of a tree of ours."""
    leaves: Leaves = {}
    for leaf in tree.leaves:
        if leaf.weight < 0.005:
            continue
        path: list[tuple[str, str, object]] = []
        steps = tree.path(leaf.number)
        for node, child in pairwise(steps):
            attribute = tree.schema.attributes[node.split.attribute]
            if isinstance(node.split, Groups):
                (code,) = node.split.groups[child.branch]
                path.append((attribute.name, "=", str(attribute.values[code])))
            else:
                sign = "<=" if child.branch == 0 else ">"
                value = value_of(str(node.split.threshold), sign)
                path.append((attribute.name, sign, value))
        label = str(tree.schema.target.classes[leaf.label])
        wrong = leaf.weight - float(leaf.weights.max())
        leaves[tuple(path)] = label, leaf.weight, wrong
    return leaves


def assert_prints_alike(tree: Tree, text: str) -> None:
    """Assert that a tree has the leaves that Weka printed.

    A tie among classes may have another label: Weka takes the first class of the
    file's header, and we take the last in sorted order.
    """
    expected, found = printed_leaves(text), our_leaves(tree)
    assert set(found) == set(expected)
    for path, (label, weight, wrong) in found.items():
        their_label, their_weight, their_wrong = expected[path]
        assert abs(weight - their_weight) < 0.0051
        assert abs(wrong - their_wrong) < 0.0051
        if wrong < weight / 2 - 1e-9:
            assert label == their_label
