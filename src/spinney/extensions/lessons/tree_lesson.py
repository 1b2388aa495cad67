"""Slides of the growth of a tree: training set, candidate splits, best split, rules.

``explain`` prints the same figures. Nodes are in the order of their numbers. The
picture beside a best split shows the tree grown so far.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.text import (
    label_text,
    number_text,
    shown,
    value_text,
    weight_text,
)
from spinney.data import Table, Value
from spinney.extensions.lessons.lesson_slides import (
    Slide,
    paragraph,
    preformatted,
    table,
)
from spinney.extensions.pictures.markup import Markup, element
from spinney.output.explain import NodeExplanation, working_lines
from spinney.trees import Node

MAX_SPLITS = 24
MAX_ROWS = 40
MAX_ROW_NUMBERS = 60  # at a branch
CANDIDATES_SHOWN = 12


def tree_slides(
    model: Any,
    rows: Table | None = None,
    pruned: Any = None,
    *,
    positions: Integers | None = None,
) -> list[Slide]:
    """Return the slides of a fitted tree.

    Parameters
    ----------
    model : fitted tree
    rows : Table, optional
        The training table, as the model reads it, to show rows and their branches.
    pruned : fitted tree, optional
        The pruned tree, with its record of pruning.
    positions : array, optional
        The positions of the rows in their table, from 0; all rows by default.
    """
    lesson = _Lesson(model, rows, positions)
    slides = [lesson.training_slide(), *lesson.split_slides()]
    final = model if pruned is None else pruned
    if final.pruning_ is not None and len(final.pruning_):
        slides.append(_pruning_slide(final, None if pruned is None else model))
    return [*slides, _rules_slide(final)]


@dataclass(frozen=True)
class _Lesson:
    """A fitted tree with its training rows, if available."""

    model: Any
    rows: Table | None
    positions: Integers | None

    @cached_property
    def _weights(self) -> Any:
        """The weight of each row at each node, rows × nodes."""
        return None if self.rows is None else self.model.decision_path(self.rows)

    def training_slide(self) -> Slide:
        """Return the slide of the training set and its impurity."""
        root, tree = self.model.explain(node=0), self.model.tree
        n, target = tree.root.n_rows, shown(tree.schema.target.name)
        recipe, numeric = self.model.model_.recipe, tree.schema.target.is_numeric
        merit_name = recipe.measure(numeric=numeric).merit_name
        parts = [
            paragraph(
                f"The training set has {n} rows with known {target}. The tree splits "
                f"it into purer subsets. Split criterion: {merit_name}."
            )
        ]
        if self.rows is not None:
            parts.append(self._table(self.rows))
        parts += self._impurity(root)
        return Slide(f"The training set for {target}", tuple(parts))

    def split_slides(self) -> Iterator[Slide]:
        """Yield two slides for each split: candidate splits, and best split."""
        inner = [node for node in self.model.tree.nodes if not node.is_leaf]
        for place, node in enumerate(inner[:MAX_SPLITS]):
            explained = self.model.explain(node=node.number)
            where = " and ".join(explained.path) or "The root"
            yield Slide(f"{where}: candidate splits", self._candidates(explained))
            later = [other.number for other in inner[place + 1 :]]
            yield Slide(
                f"{where}: best split", self._best_split(node, explained, later)
            )
        if len(inner) > MAX_SPLITS:
            rest = len(inner) - MAX_SPLITS
            words = f"{rest} further splits are found in the same way."
            yield Slide("Further splits", (paragraph(words),))

    def _impurity(self, explained: NodeExplanation) -> list[Markup]:
        """Return the class counts at a node, and its impurity written out."""
        if explained.target and self.model.schema.target.is_numeric:
            return [preformatted(explained.text().split("\n\n")[1].split("\n"))]
        counts = dict(zip(explained.classes, explained.weights, strict=True))
        rows = [(shown(label), weight_text(w)) for label, w in counts.items()]
        listed = table((shown(explained.target), "rows"), rows)
        line = _worked_impurity(explained)
        return [listed, *([paragraph(line, kind="formula")] if line else [])]

    def _candidates(self, explained: NodeExplanation) -> tuple[Markup, ...]:
        """Return the counts and the arithmetic of each attribute."""
        cards = [
            element(
                "article",
                element("h3", shown(candidate.attribute)),
                _count_table(candidate, explained),
                *(paragraph(line) for line in working_lines(candidate, explained)),
            )
            for candidate in explained.candidates[:CANDIDATES_SHOWN]
        ]
        rest = len(explained.candidates) - len(cards)
        more = [paragraph(f"{rest} more attributes")] if rest > 0 else []
        impurity = self._impurity(explained) if explained.path else []
        return (*impurity, element("div", *cards, class_="cards"), *more)

    def _best_split(
        self, node: Node, explained: NodeExplanation, later: list[int]
    ) -> tuple[Markup, ...]:
        """Return the merits, the reason, the branches, and the tree so far."""
        ranked = sorted(explained.candidates, key=lambda c: -c.merit)[:CANDIDATES_SHOWN]
        best = max((c.merit for c in ranked), default=0.0) or 1.0
        marked = {"class_": "chosen"}
        bars = [
            element(
                "li",
                element("span", shown(candidate.attribute), class_="name"),
                _proportion_bar(max(candidate.merit, 0.0) / best),
                element("span", f"{candidate.merit:.3f}", class_="figure"),
                **(marked if candidate.attribute == explained.chosen else {}),
            )
            for candidate in ranked
        ]
        words = element(
            "div",
            element("ul", *bars, class_="merits"),
            paragraph(f"Splitting attribute {explained.why}"),
            self._branches(node),
        )
        so_far = self.model.prune(nodes=later) if later else self.model
        return (element("div", words, _tree_picture(so_far), class_="beside"),)

    def _branches(self, node: Node) -> Markup:
        """Return a table of branches with their rows, and whether they are leaves."""
        tree, lines = self.model.tree, []
        for number in node.children:
            child = tree.nodes[number]
            counts = weight_text(child.weight)
            result = "split again"
            if child.is_leaf:
                label = label_text(tree.label(child))
                result = f"leaf: {label} ({child.reason.value if child.reason else ''})"
            numbers = [self._row_numbers(number)] if self.rows is not None else []
            lines.append((tree.condition(child), counts, *numbers, result))
        numbers = ["row numbers"] if self.rows is not None else []
        return table(("branch", "rows", *numbers, "result"), lines)

    def _row_numbers(self, node: int) -> str:
        """Return the row numbers at a node, with the weight of divided rows."""
        weights = np.asarray(self._weights[:, [node]].todense()).ravel()
        rows = np.flatnonzero(weights > 0)
        texts = []
        for row in rows[:MAX_ROW_NUMBERS].tolist():
            part = "" if weights[row] == 1 else f" (× {weights[row]:.3g})"
            texts.append(f"{self._row_number(row)}{part}")
        rest = len(rows) - len(texts)
        return ", ".join(texts) + (f" … {rest} more" if rest > 0 else "")

    def _row_number(self, row: int) -> str:
        """Return the number of a row in its table, from 1."""
        return str(row + 1 if self.positions is None else self.positions[row] + 1)

    def _table(self, rows: Table) -> Markup:
        """Return the table of rows, with their numbers."""
        schema = self.model.schema
        names = [a.name for a in schema.attributes if a.name in rows.names]
        if schema.target.name in rows.names:
            names.append(schema.target.name)
        lines = []
        for row in range(min(rows.n_rows, MAX_ROWS)):
            cells = rows.row(row)
            texts = (_cell_text(cells[name], rows[name].unit) for name in names)
            lines.append((self._row_number(row), *texts))
        rest = rows.n_rows - len(lines)
        if rest > 0:
            lines.append(("…", *([f"{rest} more"] + [""] * (len(names) - 1))))
        return table(("", *map(shown, names)), lines)


def _pruning_slide(pruned: Any, grown: Any = None) -> Slide:
    """Return the steps of pruning, with the tree before it."""
    words = "Against overfitting, leaves replace subtrees that do not reduce the error."
    steps = preformatted(str(pruned.pruning_).split("\n"))
    before = [] if grown is None else [_tree_picture(grown)]
    return Slide("Pruning", (paragraph(words), steps, *before))


def _rules_slide(model: Any) -> Slide:
    """Return the final tree with its rules."""
    rules = list(model.rules())
    lines = [element("li", rule.text()) for rule in rules[:MAX_SPLITS]]
    if len(rules) > len(lines):
        lines.append(element("li", f"… and {len(rules) - len(lines)} more"))
    listed = element("ol", *lines, class_="rules")
    return Slide("The tree and its IF-THEN rules", (_tree_picture(model), listed))


def _tree_picture(model: Any) -> Markup:
    return element("figure", Markup(model.plot().svg))


def _worked_impurity(explained: NodeExplanation) -> str:
    """Return the entropy or Gini index of a node written out; else an empty text."""
    total = weight_text(explained.weight)
    proportions = [f"{weight_text(w)}/{total}" for w in explained.weights if w]
    if explained.altered is not None:
        return ""
    if explained.impurity_name == "entropy":
        terms = " + ".join(f"{p} · log₂ {p}" for p in proportions)
        return f"entropy (expected information) = −({terms}) = {explained.impurity:.3f}"
    if explained.impurity_name == "Gini index":
        terms = " + ".join(f"({p})²" for p in proportions)
        return f"Gini index = 1 − ({terms}) = {explained.impurity:.3f}"
    return ""


def _cell_text(value: Value | None, unit: str | None) -> str:
    if value is None:
        return ""
    return number_text(float(value), unit) if unit else shown(value_text(value))


def _count_table(candidate: Any, explained: NodeExplanation) -> Markup:
    """Return the branches of a candidate with their counts and impurities."""
    classes = [shown(label) for label in explained.classes]
    head = ("", *classes, "all", explained.impurity_name)
    rows = []
    for branch in candidate.branches:
        impurity = "" if branch.impurity is None else f"{branch.impurity:.3f}"
        counts = map(weight_text, (*branch.weights, branch.weight))
        rows.append((branch.text, *counts, impurity))
    if candidate.missing:
        counts = map(weight_text, (*candidate.missing, candidate.missing_weight))
        rows.append((f"missing: to {candidate.missing_goes_to}", *counts, ""))
    return table(head, rows)


def _proportion_bar(share: float) -> Markup:
    """Return a bar of a proportion of the full width."""
    bar = element("rect", width=f"{100 * share:.1f}", height="8", rx="1")
    size = {"viewBox": "0 0 100 8", "preserveAspectRatio": "none"}
    return element("svg", bar, class_="bar", aria_hidden="true", **size)
