"""The making of a tree, step by step: rows, candidates, the choice, rows that part.

Every figure is one that ``explain`` prints. Nodes are taken in the order in which they
are numbered; the picture beside a choice has what has been grown so far.
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

__all__ = ["tree_slides"]

MOST_NODES = 24  # questions that a lesson goes through
MOST_ROWS = 40
MOST_NUMBERS = 60  # numbers of rows that are listed at a branch
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
        The table that it was grown on, as the model reads it: rows are shown, and by
        number where they go.
    pruned : fitted tree, optional
        What pruning made of it, with its record.
    positions : array, optional
        Where the rows stand in their table, from 0, if they are not all of it.
    """
    lesson = _Lesson(model, rows, positions)
    slides = [lesson.beginning(), *lesson.questions()]
    last = model if pruned is None else pruned
    if last.pruning_ is not None and len(last.pruning_):
        slides.append(_pruning(last, None if pruned is None else model))
    return [*slides, _end(last)]


@dataclass(frozen=True)
class _Lesson:
    """A fitted tree with the rows that it was grown on, if they are at hand."""

    model: Any
    rows: Table | None
    positions: Integers | None

    @cached_property
    def _weights(self) -> Any:
        """How much of each row comes to each node, rows × nodes."""
        return None if self.rows is None else self.model.decision_path(self.rows)

    # Slides

    def beginning(self) -> Slide:
        """Return what there is before the first question."""
        root, tree = self.model.explain(node=0), self.model.tree
        n, target = tree.root.n_rows, shown(tree.schema.target.name)
        parts = [
            paragraph(
                f"{n} rows, and for each of them {target} is known. The tree asks "
                f"questions that part them, until each part is of one kind. A question "
                f"is chosen by {root.criterion}."
            )
        ]
        if self.rows is not None:
            parts.append(self._table(self.rows))
        parts += self._impurity(root)
        return Slide(f"All rows: what is {target}?", tuple(parts))

    def questions(self) -> Iterator[Slide]:
        """Return two slides for each question: what might be asked, and what is."""
        inner = [node for node in self.model.tree.nodes if not node.is_leaf]
        for place, node in enumerate(inner[:MOST_NODES]):
            explained = self.model.explain(node=node.number)
            where = " and ".join(explained.path) or "The root"
            yield Slide(f"{where}: what might be asked", self._candidates(explained))
            later = [other.number for other in inner[place + 1 :]]
            yield Slide(f"{where}: the choice", self._choice(node, explained, later))
        if len(inner) > MOST_NODES:
            rest = len(inner) - MOST_NODES
            words = f"{rest} further questions are found in the same way."
            yield Slide("And so on", (paragraph(words),))

    # Parts of slides

    def _impurity(self, explained: NodeExplanation) -> list[Markup]:
        """Return the counts at a node, and how its impurity follows from them."""
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
                _counts(candidate, explained),
                *(paragraph(line) for line in working_lines(candidate, explained)),
            )
            for candidate in explained.candidates[:CANDIDATES_SHOWN]
        ]
        rest = len(explained.candidates) - len(cards)
        more = [paragraph(f"{rest} more attributes are weighed.")] if rest > 0 else []
        own = self._impurity(explained) if explained.path else []
        return (*own, element("div", *cards, class_="cards"), *more)

    def _choice(
        self, node: Node, explained: NodeExplanation, later: list[int]
    ) -> tuple[Markup, ...]:
        """Return why one wins, where rows go, and the tree so far."""
        ranked = sorted(explained.candidates, key=lambda c: -c.merit)[:CANDIDATES_SHOWN]
        best = max((c.merit for c in ranked), default=0.0) or 1.0
        bars = [
            element(
                "li",
                element("span", shown(each.attribute), class_="name"),
                _bar(max(each.merit, 0.0) / best),
                element("span", f"{each.merit:.3f}", class_="figure"),
                **({"class_": "chosen"} if each.attribute == explained.chosen else {}),
            )
            for each in ranked
        ]
        words = element(
            "div",
            element("ul", *bars, class_="merits"),
            paragraph(explained.why),
            self._branches(node),
        )
        return (element("div", words, self._so_far(later), class_="beside"),)

    def _branches(self, node: Node) -> Markup:
        """Return the branches: how many rows, which, and what becomes of them."""
        tree, lines = self.model.tree, []
        for number in node.children:
            child = tree.nodes[number]
            counts = weight_text(child.weight)
            ends = "another question"
            if child.is_leaf:
                label = label_text(tree.label(child))
                ends = f"leaf: {label} ({child.reason.value if child.reason else ''})"
            which = [self._numbers(number)] if self.rows is not None else []
            lines.append((tree.condition(child), counts, *which, ends))
        which = ["which"] if self.rows is not None else []
        return table(("branch", "rows", *which, "then"), lines)

    def _numbers(self, node: int) -> str:
        """Return the numbers of the rows at a node; of parts of rows, their weight."""
        weights = np.asarray(self._weights[:, [node]].todense()).ravel()
        there = np.flatnonzero(weights > 0)
        texts = []
        for row in there[:MOST_NUMBERS].tolist():
            part = "" if weights[row] == 1 else f" (× {weights[row]:.3g})"
            texts.append(f"{self._number(row)}{part}")
        rest = len(there) - len(texts)
        return ", ".join(texts) + (f" … {rest} more" if rest > 0 else "")

    def _number(self, row: int) -> str:
        """Return the number of a row in the table that it comes from."""
        return str(row + 1 if self.positions is None else self.positions[row] + 1)

    def _so_far(self, later: list[int]) -> Markup:
        """Return the tree as far as it has been grown."""
        return _picture(self.model.prune(nodes=later) if later else self.model)

    def _table(self, rows: Table) -> Markup:
        """Return the rows, with their numbers."""
        schema = self.model.schema
        names = [a.name for a in schema.attributes if a.name in rows.names]
        if schema.target.name in rows.names:
            names.append(schema.target.name)
        lines = []
        for row in range(min(rows.n_rows, MOST_ROWS)):
            cells = rows.row(row)
            texts = (_cell(cells[name], rows[name].unit) for name in names)
            lines.append((self._number(row), *texts))
        rest = rows.n_rows - len(lines)
        if rest > 0:
            lines.append(("…", *([f"{rest} more"] + [""] * (len(names) - 1))))
        return table(("", *map(shown, names)), lines)


def _pruning(pruned: Any, grown: Any = None) -> Slide:
    """Return what pruning did, step by step, to the tree before it."""
    words = "What was grown is looked at again: is a branch worth its leaves?"
    steps = preformatted(str(pruned.pruning_).split("\n"))
    before = [] if grown is None else [_picture(grown)]
    return Slide("Pruning", (paragraph(words), steps, *before))


def _end(model: Any) -> Slide:
    """Return the finished tree with its rules."""
    rules = list(model.rules())
    lines = [element("li", rule.text()) for rule in rules[:MOST_NODES]]
    if len(rules) > len(lines):
        lines.append(element("li", f"… and {len(rules) - len(lines)} more"))
    listed = element("ol", *lines, class_="rules")
    return Slide("The tree, and its rules", (_picture(model), listed))


def _picture(model: Any) -> Markup:
    return element("figure", Markup(model.plot().svg))


def _worked_impurity(explained: NodeExplanation) -> str:
    """Write the entropy or Gini value of a node out; empty of other impurities."""
    parts = [w for w in explained.weights if w]
    total = weight_text(explained.weight)
    shares = [f"{weight_text(w)}/{total}" for w in parts]
    if explained.altered is not None:
        return ""
    if explained.impurity_name == "entropy":
        terms = " + ".join(f"{share} · log₂ {share}" for share in shares)
        return f"entropy = −({terms}) = {explained.impurity:.3f}"
    if explained.impurity_name == "Gini index":
        terms = " + ".join(f"({share})²" for share in shares)
        return f"gini = 1 − ({terms}) = {explained.impurity:.3f}"
    return ""


def _cell(value: Value | None, unit: str | None) -> str:
    if value is None:
        return ""
    return number_text(float(value), unit) if unit else shown(value_text(value))


def _counts(candidate: Any, explained: NodeExplanation) -> Markup:
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


def _bar(share: float) -> Markup:
    """Return a bar as long as a share of its room."""
    bar = element("rect", width=f"{100 * share:.1f}", height="8", rx="1")
    size = {"viewBox": "0 0 100 8", "preserveAspectRatio": "none"}
    return element("svg", bar, class_="bar", aria_hidden="true", **size)
