"""The one form that models take on their way into other languages.

A row is read into *cells*, one per column: a number, or the text of a value, or nothing
where it is missing. Formulas add cells to those of columns. A row goes down a tree as
in :mod:`spinney.trees.predict.flat_tree`: a node asks its questions in order until one
of them knows the next node; what none of them sends goes to ``otherwise``, or is
divided into ``parts``. A value that no question has is treated as a missing one, so a
writer needs no list of what the model has seen.

::

    cells        density 0.4      texture "clear"
    node 0       texture: {"blurry": 1, "clear": 2}        else parts 1 × 0.3, 2 × 0.7
    node 2       density: at most 0.3815 → 3, above → 4    else 4

All formats are written from this, and none of them knows a tree.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.text import value_text
from spinney.data import (
    Attribute,
    Conjunction,
    Difference,
    Linear,
    Ratio,
    Schema,
    Target,
    Value,
    marker_numbers,
    marker_values,
)
from spinney.errors import ParameterError, Setting, Text, refusal
from spinney.trees import Groups, LinearModel, Split, Surrogate, Threshold, labels_of
from spinney.trees.predict import FlatTree, flatten

__all__ = [
    "Both",
    "FormLine",
    "FormNode",
    "FormQuestion",
    "FormTerm",
    "Holds",
    "Input",
    "Made",
    "Portable",
    "Quotient",
    "Sum",
    "best_class",
    "portable",
    "refuse_to_say",
]


@dataclass(frozen=True, slots=True)
class Input:
    """A column that rows must have.

    Parameters
    ----------
    name : str
    is_number : bool
        Whether its cells are numbers, and not texts.
    values : tuple
        The values that the model knows, of a column of texts.
    unit : str, optional
        What its numbers count, where they stand for dates and times.
    optional : bool
        Whether a row may lack it: surrogates alone ask about it.
    missing : tuple of float
        The numbers that stand for a missing cell.
    words : pair of str
        What False and True read as, among the texts.
    folded : bool
        Whether texts match in small letters: "True" is true.
    """

    name: str
    is_number: bool
    values: tuple[Value, ...] = ()
    unit: str | None = None
    optional: bool = False
    missing: tuple[float, ...] = ()
    words: tuple[str, str] = ("false", "true")
    folded: bool = False


Holds = tuple[float, float] | Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Sum:
    """A cell that is a sum of others, each times a factor, added up in this order."""

    name: str
    terms: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    """A cell that is one number divided by another."""

    name: str
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Both:
    """A cell that is "true" where all clauses hold, else "false".

    A clause is a cell, and the interval (low, high] of a number or whether each text
    that is known satisfies it.
    """

    name: str
    clauses: tuple[tuple[int, Holds], ...]


Made = Sum | Quotient | Both
"""A cell that is made of others: missing where one of them is, or is not finite."""


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """Where a cell sends a row.

    A number goes to ``nodes[k]`` where k of the rising ``cuts`` lie below it; a text to
    its node in ``texts``.
    """

    cell: int
    cuts: tuple[float, ...] = ()
    nodes: tuple[int, ...] = ()
    texts: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class FormTerm:
    """What a linear model multiplies: a number, or the number of a known text."""

    cell: int
    factor: float
    missing: float
    texts: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class FormLine:
    """A linear model: the terms in their order, and then the intercept."""

    intercept: float
    terms: tuple[FormTerm, ...]


@dataclass(frozen=True, slots=True)
class FormNode:
    """A node: a leaf where it asks nothing.

    Where ``otherwise`` is None, a row that no question sends is divided into ``parts``.
    A leaf ``says`` class shares or one number, or has a ``line``.
    """

    questions: tuple[FormQuestion, ...] = ()
    otherwise: int | None = None
    parts: tuple[tuple[int, float], ...] = ()
    says: tuple[float, ...] = ()
    line: FormLine | None = None


@dataclass(frozen=True, slots=True)
class Portable:
    """A model that other languages can say.

    Parameters
    ----------
    columns : tuple of Input
        What rows must have; their cells come first.
    made : tuple of Made
        Further cells.
    nodes : tuple of FormNode
        Those of all trees, parents before their children.
    roots : tuple of int
        The first node of each tree. What trees say is averaged.
    majority : bool
        Whether trees vote with one class each, and not with class shares.
    target : Target
        The classes, their costs, or that a number is predicted.
    """

    columns: tuple[Input, ...]
    made: tuple[Made, ...]
    nodes: tuple[FormNode, ...]
    roots: tuple[int, ...]
    majority: bool
    target: Target

    @property
    def cells(self) -> list[str]:
        """The names of all cells."""
        return [each.name for each in (*self.columns, *self.made)]

    def title(self, written: Callable[[str], str]) -> str:
        """Return what it predicts, and by what; a language writes the name."""
        n, nodes = len(self.roots), len(self.nodes)
        by = "a tree" if n == 1 else f"{n} trees"
        return f"{written(self.target.name)}, predicted by {by} of {nodes} nodes"

    @property
    def divides(self) -> bool:
        """Whether a row may come to several leaves of a tree."""
        return any(node.questions and node.otherwise is None for node in self.nodes)

    @property
    def cost_lines(self) -> list[list[float]] | None:
        """What each label costs by true class, the greatest 1; None if all alike."""
        if self.target.costs is None:
            return None
        costs = np.asarray(self.target.costs, dtype=np.float64)
        lines: list[list[float]] = (costs / (costs.max() or 1.0)).tolist()
        return lines


def best_class(shares: Sequence[float], costs: Any = None) -> int:
    """Return the class of some shares, as models have it."""
    return int(labels_of(np.array([shares]), costs)[0])


def refuse_to_say(format: str, what: str, remedy: Text) -> NoReturn:
    """Raise the error for a part of a model that a format has no words for."""
    raise refusal(Setting("format", format), f"cannot say {what}", remedy)


def portable(model: Any) -> Portable:
    """Return a fitted tree or forest in the form that other languages can say.

    >>> import spinney
    >>> shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
    >>> form = portable(spinney.grow(shop, "sold", recipe="id3"))
    >>> form.columns[0].name, form.nodes[0].questions[0]
    ('size', FormQuestion(cell=0, cuts=(2.5,), nodes=(1, 2), texts=None))
    >>> form.nodes[2].says
    (0.0, 1.0)
    """
    if model.kind == "tree":
        tree: FlatTree = flatten(model.model_.tree)
        return _Writer(model.schema, tree).portable(np.zeros(1, np.int64))
    forest = model.forest_
    tree, roots = forest.side_by_side(forest.numbers)
    writer = _Writer(model.schema, tree)
    return writer.portable(roots, majority=not forest.votes_by_share)


class _Writer:
    """What turns the attributes and nodes of a tree into portable ones."""

    def __init__(self, schema: Schema, tree: FlatTree) -> None:
        self.schema, self.tree = schema, tree
        needed = tree.needed.tolist()
        self.behind = schema.behind(needed)
        formulas = [i for i in needed if schema.attributes[i].formula is not None]
        self.formulas = formulas
        self.cells = {index: at for at, index in enumerate((*self.behind, *formulas))}

    def portable(self, roots: Integers, *, majority: bool = False) -> Portable:
        optional = self.tree.optional.tolist()
        required = self.schema.behind(set(self.tree.needed.tolist()) - {*optional})
        attributes = self.schema.attributes
        return Portable(
            tuple(
                _column(attributes[i], self.schema.markers, optional=i not in required)
                for i in self.behind
            ),
            tuple(map(self._made, self.formulas)),
            tuple(map(self._node, range(len(self.tree.arrays)))),
            tuple(roots.tolist()),
            majority,
            self.schema.target,
        )

    def _texts(self, attribute: int) -> list[str]:
        """Return how the values of an attribute read; of each code one text."""
        return [value_text(value) for value in self.schema.attributes[attribute].values]

    def _made(self, index: int) -> Made:
        attribute = self.schema.attributes[index]
        name, formula = attribute.name, attribute.formula
        assert formula is not None
        cells = [self.cells[place] for place in formula.places]
        if isinstance(formula, Difference):
            return Sum(name, ((cells[0], 1.0), (cells[1], -1.0)))
        if isinstance(formula, Linear):
            factors = map(float, formula.coefficients)
            return Sum(name, tuple(zip(cells, factors, strict=True)))
        if isinstance(formula, Ratio):
            return Quotient(name, *cells)
        assert isinstance(formula, Conjunction)
        clauses: list[Any] = []
        for cell, clause in zip(cells, formula.clauses, strict=True):
            if clause.codes is None:
                clauses.append((cell, (float(clause.low), float(clause.high))))
                continue
            texts = enumerate(self._texts(clause.place))
            clauses.append((cell, {text: c in clause.codes for c, text in texts}))
        return Both(name, tuple(clauses))

    def _node(self, number: int) -> FormNode:
        arrays, links = self.tree.arrays, self.tree.links
        if arrays.attribute[number] < 0:
            line = None if arrays.models is None else arrays.models.model(number)
            says = tuple(self.tree.distribution[number].tolist())
            return FormNode(says=says, line=None if line is None else self._line(line))
        first, count = int(links.first[number]), int(links.count[number])
        children = links.children[first : first + count].tolist()
        questions = [self._question(arrays.split(number, n_branches=count), children)]
        for each in self._surrogates(number):
            own = children[::-1] if each.reversed else children
            questions.append(self._question(each.split, own))
        branch = int(arrays.final_branch[number])
        if branch >= 0:
            return FormNode(tuple(questions), otherwise=children[branch])
        assert arrays.shares is not None
        shares = arrays.shares[first : first + count].tolist()
        parts = zip(children, shares, strict=True)
        return FormNode(tuple(questions), parts=tuple(p for p in parts if p[1] > 0))

    def _surrogates(self, number: int) -> Iterator[Surrogate]:
        surrogates = self.tree.arrays.surrogates
        if surrogates is not None:
            first = int(surrogates.first[number])
            last = first + int(surrogates.count[number])
            yield from map(surrogates.surrogate, range(first, last))

    def _question(self, split: Split, children: list[int]) -> FormQuestion:
        cell = self.cells[split.attribute]
        if isinstance(split, Groups):
            texts = self._texts(split.attribute)
            pairs = zip(split.groups, children, strict=True)
            by_code = {code: child for group, child in pairs for code in group}
            return FormQuestion(
                cell, texts={texts[c]: by_code[c] for c in sorted(by_code)}
            )
        cuts = (split.threshold,) if isinstance(split, Threshold) else split.cuts
        if self.schema.attributes[split.attribute].kind == "ordinal":
            places = enumerate(self._texts(split.attribute))
            return FormQuestion(
                cell,
                texts={t: children[sum(p > cut for cut in cuts)] for p, t in places},
            )
        # No number lies above a cut of infinity, which asks whether it is known.
        finite = tuple(float(cut) for cut in cuts if cut != math.inf)
        return FormQuestion(cell, finite, tuple(children[: len(finite) + 1]))

    def _line(self, model: LinearModel) -> FormLine:
        terms = []
        for term, factor in zip(model.terms, model.coefficients, strict=True):
            numbers = None
            if self.schema.attributes[term.attribute].kind != "numeric":
                known = enumerate(self._texts(term.attribute))
                numbers = {
                    text: float(code if term.codes is None else code in term.codes)
                    for code, text in known
                }
            cell, missing = self.cells[term.attribute], float(term.missing)
            terms.append(FormTerm(cell, float(factor), missing, numbers))
        return FormLine(float(model.intercept), tuple(terms))


def _column(attribute: Attribute, markers: Collection[str], *, optional: bool) -> Input:
    """Return how the cells of a column are read."""
    name, unit = attribute.name, attribute.unit
    if attribute.kind == "numeric":
        missing = marker_numbers(markers, unit=unit)
        return Input(name, True, (), unit, optional, missing)
    texts = [value_text(value) for value in attribute.values]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        msg = (
            f"column {name!r} has several values that read {twice!r}, a number and a "
            "text: other languages cannot tell them apart; make them one type"
        )
        raise ParameterError(msg)
    dropped = {value_text(value) for value in marker_values(markers)}
    if dropped.intersection(texts):
        msg = f"column {name!r} has a value that stands for a missing one: ignore it"
        raise ParameterError(msg)
    kinds = {isinstance(value, bool) for value in attribute.values}
    if len(kinds) > 1:
        msg = f"column {name!r} mixes booleans and others: make them one type"
        raise ParameterError(msg)
    small = {text.lower(): text for text in reversed(texts)}
    no, yes = (w if w in texts else small.get(w, w) for w in ("false", "true"))
    folded = True in kinds
    return Input(
        name, False, attribute.values, unit, optional, words=(no, yes), folded=folded
    )
