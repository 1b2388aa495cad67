"""A tree of ours beside one that rpart printed, node by node.

rpart numbers the children of node k as 2k and 2k + 1, and calls left what it likes;
so a branch of ours is matched to the child that takes the same values. Its tree is the
top of ours: it also gives up splits whose complexity is at most ``cp``.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import spinney
from spinney.trees import Node, Tree
from spinney.trees.split import Split, Surrogate, Threshold

FIXTURES = Path(__file__).parent / "fixtures" / "rpart"
TABLES = Path(__file__).parents[1] / "tables"


@dataclass(frozen=True)
class Printed:
    """What rpart printed."""

    data: Mapping[str, Any]

    @classmethod
    def named(cls, name: str) -> "Printed":
        text = (FIXTURES / f"{name}.json").read_text(encoding="utf-8")
        return cls(json.loads(text))

    @cached_property
    def nodes(self) -> dict[int, dict[str, Any]]:
        """Each node's line of the frame."""
        frame = self.data["frame"]
        lines = zip(*frame.values(), strict=True)
        return {line[0]: dict(zip(frame, line, strict=True)) for line in lines}

    def splits(self, node: int, role: str) -> list[dict[str, Any]]:
        lines = self.data["splits"]
        return [s for s in lines if s["node"] == node and s["role"] == role]

    def primary(self, node: int) -> dict[str, Any] | None:
        return next(iter(self.splits(node, "primary")), None)


def columns_of(
    table: Path, names: Sequence[str], *, missing: str = ""
) -> dict[str, list[str]]:
    """Return columns of a file in this order; a missing cell is empty."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {n: ["" if r[n] == missing else r[n] for r in rows] for n in names}


def grown(columns: Mapping[str, list[str]], target: str, **options: Any) -> Tree:
    """Grow CART's tree on columns; rows without a target are left out."""
    kept = [place for place, cell in enumerate(columns[target]) if cell]
    rows = {name: [cells[p] for p in kept] for name, cells in columns.items()}
    return spinney.grow(rows, target, recipe="cart", **options).tree


@dataclass(frozen=True)
class SplitCondition:
    """What a split asks, whoever wrote it: the side of each value.

    ``left`` is the branch that values up to ``cut`` take, or the values of branch 0.
    """

    variable: str
    cut: float | None
    sides: tuple[frozenset[str], ...]

    @classmethod
    def of_ours(cls, tree: Tree, asked: Split | Surrogate) -> "SplitCondition":
        swapped = isinstance(asked, Surrogate) and asked.reversed
        split = asked.split if isinstance(asked, Surrogate) else asked
        attribute = tree.schema.attributes[split.attribute]
        if isinstance(split, Threshold):
            low, high = frozenset(["low"]), frozenset(["high"])
            cut = split.threshold
            if attribute.kind == "ordinal":
                cut += 1  # rpart counts levels from 1
            return cls(attribute.name, cut, (high, low) if swapped else (low, high))
        groups = [
            frozenset(str(attribute.values[code]) for code in group)
            for group in split.groups
        ]
        return cls(attribute.name, None, tuple(groups))

    @classmethod
    def of_rpart(cls, line: Mapping[str, Any]) -> "SplitCondition":
        if "cut" in line:
            low, high = frozenset(["low"]), frozenset(["high"])
            sides = (low, high) if line["below"] == "left" else (high, low)
            return cls(line["variable"], line["cut"], sides)
        sides = tuple(frozenset(line[side]) for side in ("left", "right"))
        return cls(line["variable"], None, sides)

    def matches(self, other: "SplitCondition") -> bool:
        """Return whether both divide values the same way, left and right aside."""
        if self.variable != other.variable or set(self.sides) != set(other.sides):
            return False
        if self.cut is None or other.cut is None:
            return self.cut == other.cut
        # Fixtures hold 12 digits, and thresholds have as many.
        return abs(self.cut - other.cut) <= 1e-9 * max(1.0, abs(self.cut))


@dataclass(frozen=True)
class Pair:
    """One node in both trees; ``turned`` where our branch 0 is rpart's right."""

    ours: Node
    number: int
    line: dict[str, Any]
    primary: dict[str, Any] | None
    same: bool
    turned: bool


def walk(tree: Tree, printed: Printed) -> Iterator[Pair]:
    """Give the nodes that both trees have, as far down as the splits are the same."""
    todo = [(tree.root, 1)]
    while todo:
        node, number = todo.pop()
        line, primary = printed.nodes[number], printed.primary(number)
        if primary is None or node.split is None:
            yield Pair(node, number, line, primary, primary is None, False)
            continue
        ours = SplitCondition.of_ours(tree, node.split)
        theirs = SplitCondition.of_rpart(primary)
        turned = ours.sides[0] != theirs.sides[0]
        same = ours.matches(theirs)
        yield Pair(node, number, line, primary, same, turned)
        if same:
            for branch, child in enumerate(tree.children(node)):
                todo.append((child, 2 * number + (branch != turned)))
