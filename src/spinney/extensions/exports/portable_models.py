"""Fitted models of every kind in the one form of ``portable``.

Codes become texts here, and attributes cells; what a model does with them stays.
"""

import math
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

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
    marker_numbers,
    marker_values,
)
from spinney.errors import ParameterError
from spinney.extensions.exports.portable import (
    LARGEST,
    Both,
    CentreNumber,
    Centres,
    CentreText,
    FormClause,
    FormLine,
    FormNode,
    FormQuestion,
    FormTerm,
    Input,
    Made,
    Portable,
    Quotient,
    Sum,
    best_class,
    free_name,
)
from spinney.trees import Groups, LinearModel, Split, Surrogate, Threshold
from spinney.trees.predict import FlatTree, flatten


def portable(model: Any) -> Portable:
    """Return a fitted model in the form that other languages can say.

    >>> import spinney
    >>> shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
    >>> form = portable(spinney.grow(shop, "sold", recipe="id3"))
    >>> form.columns[0].name, form.nodes[0].questions[0]
    ('size', FormQuestion(cell=0, cuts=(2.5,), nodes=(1, 2), texts=None))
    >>> form.nodes[2].says
    (0.0, 1.0)
    """
    if model.kind == "tree":
        return _of_trees(model.schema, flatten(model.model_.tree), np.zeros(1, np.intp))
    if model.kind == "rules":
        return _of_rules(model)
    if model.kind == "clusters":
        return _of_clusters(model.clusters_)
    forest = model.forest_
    tree, roots = forest.voting_trees(forest.numbers)
    return _of_trees(
        model.schema, tree, roots, majority=not forest.votes_by_probability
    )


def _of_trees(
    schema: Schema, tree: FlatTree, roots: Integers, *, majority: bool = False
) -> Portable:
    writer = _Writer(schema, tree.needed.tolist(), tree.optional.tolist())
    nodes = [writer.node(tree, number) for number in range(len(tree.arrays))]
    form = Portable(
        writer.columns,
        writer.made,
        tuple(nodes),
        tuple(roots.tolist()),
        majority,
        schema.target,
    )
    is_alone = len(roots) == 1 and not form.divides
    return _with_votes(form) if majority and is_alone else form


def _with_votes(form: Portable) -> Portable:
    """Return trees that divide no row with the votes of their leaves for shares."""
    voting = [
        replace(node, says=_vote(node.says)) if node.says else node
        for node in form.nodes
    ]
    return replace(form, nodes=tuple(voting), majority=False)


def _vote(shares: Sequence[float]) -> tuple[float, ...]:
    """Return 1 for the class that a leaf votes for, and 0 for the others.

    >>> _vote([0.2, 0.7, 0.1])
    (0.0, 1.0, 0.0)
    """
    best = best_class(shares)
    return tuple(float(code == best) for code in range(len(shares)))


def _of_rules(ruleset: Any) -> Portable:
    """Return the rules as a chain of nodes, each with a leaf: 0 asks, 1 says, 2 asks.

    A rule that asks nothing takes all rows that are left.
    """
    schema: Schema = ruleset.schema
    writer = _Writer(schema, [*range(len(schema.attributes))])
    made, nodes = [*writer.made], list[FormNode]()
    shares = ruleset.shares.tolist()
    codes = [*(rule.code for rule in ruleset.rules), ruleset.default_code]
    for rule, says in zip(ruleset.rules, shares, strict=False):
        if not rule.conditions:
            codes[-1], shares[-1] = rule.code, says
            break
        asks = FormQuestion(
            len(writer.columns) + len(made),
            texts={"true": len(nodes) + 1, "false": len(nodes) + 2},
        )
        nodes.append(FormNode((asks,), len(nodes) + 2))
        nodes.append(FormNode(says=tuple(says), label=rule.code))
        clauses = tuple(map(writer.clause, rule.conditions))
        made.append(Both(writer.new_name(f"rule {rule.order + 1}"), clauses))
    nodes.append(FormNode(says=tuple(shares[-1]), label=codes[-1]))
    return Portable(
        writer.columns, tuple(made), tuple(nodes), (0,), False, schema.target
    )


def _of_clusters(clusters: Any) -> Portable:
    schema: Schema = clusters.schema
    if clusters.centroids.dtype != np.float64:
        msg = (
            "these clusters were found in single precision, and other languages "
            "measure distances in double: find them in columns of float64"
        )
        raise ParameterError(msg)
    writer = _Writer(schema, [*range(len(schema.attributes))])
    kinds = [attribute.kind for attribute in schema.attributes]
    places, codes = clusters.centroids.T.tolist(), clusters.codes.T.tolist()
    scales, numbers, texts = clusters.scale.tolist(), [], []
    for cell, kind in enumerate(kinds):
        if kind == "numeric":
            line, scale = places.pop(0), scales.pop(0)
            if not any(map(math.isnan, line)):  # what no row knows, does not count
                numbers.append(CentreNumber(cell, scale, tuple(line)))
        else:
            apart = writer.apart(cell, codes.pop(0), ordinal=kind == "ordinal")
            texts.append(CentreText(cell, apart))
    sizes = [abs(place) for each in numbers for place in each.centres]
    if sizes and (max(sizes) > LARGEST or 0 < max(sizes) < 1 / LARGEST):
        msg = "these clusters lie beyond 2**400, or within 2**-400: scale the columns"
        raise ParameterError(msg)
    mixed = clusters.is_mixed
    centres = Centres(tuple(numbers), tuple(texts), float(clusters.gamma), mixed)
    return Portable(writer.columns, (), (), (), False, schema.target, centres)


class _Writer:
    """What turns the attributes and nodes of a model into portable ones."""

    def __init__(
        self, schema: Schema, needed: Sequence[int], optional: Sequence[int] = ()
    ) -> None:
        self.schema = schema
        behind, attributes = schema.input_columns(needed), schema.attributes
        formulas = [i for i in needed if attributes[i].formula is not None]
        self.cells = {index: at for at, index in enumerate((*behind, *formulas))}
        required = schema.input_columns(set(needed) - {*optional})
        self.columns = tuple(
            _column(attributes[i], schema.markers, optional=i not in required)
            for i in behind
        )
        self.made = tuple(map(self._made, formulas))

    def new_name(self, name: str) -> str:
        """Return a name that no column and no formula has."""
        return free_name(name, {each.name for each in (*self.columns, *self.made)})

    def clause(self, condition: Any) -> FormClause:
        """Return what a condition of a rule asks of its cell."""
        attribute, missing = condition.attribute, condition.missing is True
        index = self.schema.position(attribute.name)
        cell, low, high = self.cells[index], condition.low, condition.high
        if attribute.kind == "numeric":
            # Cells are finite: above the largest of floats there is none.
            return FormClause(cell, (min(low, sys.float_info.max), high), missing)
        texts = enumerate(self._texts(index))
        if condition.values is not None:
            allowed = {*condition.values}
            return FormClause(cell, {t: code in allowed for code, t in texts}, missing)
        return FormClause(cell, {t: low < code <= high for code, t in texts}, missing)

    def apart(
        self, attribute: int, codes: Sequence[int], *, ordinal: bool
    ) -> dict[str, tuple[float, ...]]:
        """Return how unlike the codes of centres each value of an attribute is."""
        texts = self._texts(attribute)
        most = max(1, len(texts) - 1)
        return {
            text: tuple(
                0.0 if of < 0 else abs(c - of) / most if ordinal else float(c != of)
                for of in codes
            )
            for c, text in enumerate(texts)
        }

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
        clauses = list[FormClause]()
        for cell, clause in zip(cells, formula.clauses, strict=True):
            if clause.codes is None:
                clauses.append(
                    FormClause(cell, (float(clause.low), float(clause.high)))
                )
                continue
            texts = enumerate(self._texts(clause.place))
            clauses.append(
                FormClause(cell, {text: c in clause.codes for c, text in texts})
            )
        return Both(name, tuple(clauses))

    def node(self, tree: FlatTree, number: int) -> FormNode:
        """Return a node of a tree."""
        arrays, links = tree.arrays, tree.links
        if arrays.attribute[number] < 0:
            line = None if arrays.models is None else arrays.models.model(number)
            says = tuple(tree.distribution[number].tolist())
            return FormNode(says=says, line=None if line is None else self._line(line))
        first, count = int(links.first[number]), int(links.count[number])
        children = links.children[first : first + count].tolist()
        questions = [self._question(arrays.split(number), children)]
        for each in _surrogates(arrays.surrogates, number):
            own = children[::-1] if each.reversed else children
            questions.append(self._question(each.split, own))
        branch = int(arrays.fallback_branch[number])
        if branch >= 0:
            return FormNode(tuple(questions), default_branch=children[branch])
        assert arrays.shares is not None
        shares = arrays.shares[first : first + count].tolist()
        parts = zip(children, shares, strict=True)
        return FormNode(tuple(questions), parts=tuple(p for p in parts if p[1] > 0))

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
        if self.schema.attributes[split.attribute].kind != "numeric":
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


def _surrogates(surrogates: Any, number: int) -> Iterator[Surrogate]:
    if surrogates is not None:
        first = int(surrogates.first[number])
        last = first + int(surrogates.count[number])
        yield from map(surrogates.surrogate, range(first, last))


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
