"""Conversion of fitted models of every kind to the portable form.

Codes become texts and attributes become cells; predictions stay the same.
"""

import math
import sys
from collections.abc import Collection, Sequence
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
    CentreNumber,
    Centres,
    CentreText,
    DerivedCell,
    FormCondition,
    FormConjunction,
    FormLinearModel,
    FormNode,
    FormQuotient,
    FormSplit,
    FormSum,
    FormTerm,
    Input,
    Portable,
    best_class,
    free_name,
)
from spinney.trees import Groups, LinearModel, Split, Threshold
from spinney.trees.predict import FlatTree, flatten


def portable(model: Any) -> Portable:
    """Return a fitted model in the portable form.

    >>> import spinney
    >>> shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
    >>> form = portable(spinney.grow(shop, "sold", recipe="id3"))
    >>> form.columns[0].name, form.nodes[0].splits[0]
    ('size', FormSplit(cell=0, cuts=(2.5,), nodes=(1, 2), texts=None))
    >>> form.nodes[2].outputs
    (0.0, 1.0)
    """
    if model.kind == "tree":
        return _portable_trees(
            model.schema, flatten(model.model_.tree), np.zeros(1, np.intp)
        )
    if model.kind == "rules":
        return _portable_rules(model)
    if model.kind == "clusters":
        return _portable_clusters(model.clusters_)
    forest = model.forest_
    tree, roots = forest.voting_trees(forest.numbers)
    return _portable_trees(
        model.schema, tree, roots, majority=not forest.votes_by_probability
    )


def _portable_trees(
    schema: Schema, tree: FlatTree, roots: Integers, *, majority: bool = False
) -> Portable:
    writer = _FormBuilder(schema, tree.needed.tolist(), tree.optional.tolist())
    nodes = [writer.node(tree, number) for number in range(len(tree.arrays))]
    form = Portable(
        writer.columns,
        writer.derived,
        tuple(nodes),
        tuple(roots.tolist()),
        majority,
        schema.target,
    )
    if not majority or len(roots) > 1 or form.divides:
        return form
    # A single tree without divided rows has its leaves' votes as probabilities.
    voting = [replace(n, outputs=_vote(n.outputs)) if n.outputs else n for n in nodes]
    return replace(form, nodes=tuple(voting), majority=False)


def _vote(shares: Sequence[float]) -> tuple[float, ...]:
    """Return 1 for the class of a leaf's vote, and 0 for the others.

    >>> _vote([0.2, 0.7, 0.1])
    (0.0, 1.0, 0.0)
    """
    best = best_class(shares)
    return tuple(float(code == best) for code in range(len(shares)))


def _portable_rules(ruleset: Any) -> Portable:
    """Return the rules as a chain of nodes, each followed by the leaf of its rule.

    A rule without conditions takes all remaining rows.
    """
    schema: Schema = ruleset.schema
    writer = _FormBuilder(schema, [*range(len(schema.attributes))])
    derived, nodes = [*writer.derived], list[FormNode]()
    shares = ruleset.shares.tolist()
    codes = [*(rule.code for rule in ruleset.rules), ruleset.default_code]
    for rule, outputs in zip(ruleset.rules, shares, strict=False):
        if not rule.conditions:
            codes[-1], shares[-1] = rule.code, outputs
            break
        asks = FormSplit(
            len(writer.columns) + len(derived),
            texts={"true": len(nodes) + 1, "false": len(nodes) + 2},
        )
        nodes.append(FormNode((asks,), len(nodes) + 2))
        nodes.append(FormNode(outputs=tuple(outputs), label=rule.code))
        clauses = tuple(map(writer.clause, rule.conditions))
        derived.append(
            FormConjunction(writer.new_name(f"rule {rule.order + 1}"), clauses)
        )
    nodes.append(FormNode(outputs=tuple(shares[-1]), label=codes[-1]))
    return Portable(
        writer.columns, tuple(derived), tuple(nodes), (0,), False, schema.target
    )


def _portable_clusters(clusters: Any) -> Portable:
    schema: Schema = clusters.schema
    if clusters.centroids.dtype != np.float64:
        msg = (
            "these clusters were found in single precision, and other languages "
            "measure distances in double: find them in columns of float64"
        )
        raise ParameterError(msg)
    writer = _FormBuilder(schema, [*range(len(schema.attributes))])
    kinds = [attribute.kind for attribute in schema.attributes]
    places, codes = clusters.centroids.T.tolist(), clusters.codes.T.tolist()
    scales, numbers, texts = clusters.scale.tolist(), [], []
    for cell, kind in enumerate(kinds):
        if kind == "numeric":
            line, scale = places.pop(0), scales.pop(0)
            if not any(
                map(math.isnan, line)
            ):  # columns without known cells do not count
                numbers.append(CentreNumber(cell, scale, tuple(line)))
        else:
            distances = writer.distances(cell, codes.pop(0), ordinal=kind == "ordinal")
            texts.append(CentreText(cell, distances))
    sizes = [abs(place) for each in numbers for place in each.centres]
    if sizes and (max(sizes) > LARGEST or 0 < max(sizes) < 1 / LARGEST):
        msg = "these clusters lie beyond 2**400, or within 2**-400: scale the columns"
        raise ParameterError(msg)
    mixed = clusters.is_mixed
    centres = Centres(tuple(numbers), tuple(texts), float(clusters.gamma), mixed)
    return Portable(writer.columns, (), (), (), False, schema.target, centres)


class _FormBuilder:
    """Builds the columns, cells and nodes of the portable form."""

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
        self.derived = tuple(map(self._derived_cell, formulas))

    def new_name(self, name: str) -> str:
        """Return a name that differs from all columns and formulas."""
        return free_name(name, {each.name for each in (*self.columns, *self.derived)})

    def clause(self, condition: Any) -> FormCondition:
        """Return a condition of a rule on its cell."""
        attribute, missing = condition.attribute, condition.missing is True
        index = self.schema.position(attribute.name)
        cell, low, high = self.cells[index], condition.low, condition.high
        if attribute.kind == "numeric":
            # Cells are finite, so none exceeds the largest float.
            return FormCondition(cell, (min(low, sys.float_info.max), high), missing)
        texts = enumerate(self._texts(index))
        if condition.values is not None:
            allowed = {*condition.values}
            return FormCondition(
                cell, {t: code in allowed for code, t in texts}, missing
            )
        return FormCondition(
            cell, {t: low < code <= high for code, t in texts}, missing
        )

    def distances(
        self, attribute: int, codes: Sequence[int], *, ordinal: bool
    ) -> dict[str, tuple[float, ...]]:
        """Return the distance of each value of an attribute from each centre."""
        texts = self._texts(attribute)
        span = max(1, len(texts) - 1)
        return {
            text: tuple(
                0.0
                if code < 0
                else abs(c - code) / span
                if ordinal
                else float(c != code)
                for code in codes
            )
            for c, text in enumerate(texts)
        }

    def _texts(self, attribute: int) -> list[str]:
        """Return the text of each code of an attribute."""
        return [value_text(value) for value in self.schema.attributes[attribute].values]

    def _derived_cell(self, index: int) -> DerivedCell:
        attribute = self.schema.attributes[index]
        name, formula = attribute.name, attribute.formula
        assert formula is not None
        cells = [self.cells[place] for place in formula.attribute_indices]
        if isinstance(formula, Difference):
            return FormSum(name, ((cells[0], 1.0), (cells[1], -1.0)))
        if isinstance(formula, Linear):
            factors = map(float, formula.coefficients)
            return FormSum(name, tuple(zip(cells, factors, strict=True)))
        if isinstance(formula, Ratio):
            return FormQuotient(name, *cells)
        assert isinstance(formula, Conjunction)
        clauses = list[FormCondition]()
        for cell, clause in zip(cells, formula.clauses, strict=True):
            if clause.codes is None:
                clauses.append(
                    FormCondition(cell, (float(clause.low), float(clause.high)))
                )
                continue
            texts = enumerate(self._texts(clause.place))
            clauses.append(
                FormCondition(cell, {text: c in clause.codes for c, text in texts})
            )
        return FormConjunction(name, tuple(clauses))

    def node(self, tree: FlatTree, number: int) -> FormNode:
        """Return a node of a tree."""
        arrays, links = tree.arrays, tree.links
        if arrays.attribute[number] < 0:
            line = None if arrays.models is None else arrays.models.model(number)
            outputs = tuple(tree.distribution[number].tolist())
            return FormNode(
                outputs=outputs, line=None if line is None else self._line(line)
            )
        first, count = int(links.first[number]), int(links.count[number])
        children = links.children[first : first + count].tolist()
        splits = [self._split(arrays.split(number), children)]
        if arrays.surrogates is not None:
            start = int(arrays.surrogates.first[number])
            for index in range(start, start + int(arrays.surrogates.count[number])):
                surrogate = arrays.surrogates.surrogate(index)
                targets = children[::-1] if surrogate.reversed else children
                splits.append(self._split(surrogate.split, targets))
        branch = int(arrays.fallback_branch[number])
        if branch >= 0:
            return FormNode(tuple(splits), default_branch=children[branch])
        assert arrays.shares is not None
        shares = arrays.shares[first : first + count].tolist()
        parts = zip(children, shares, strict=True)
        return FormNode(tuple(splits), parts=tuple(p for p in parts if p[1] > 0))

    def _split(self, split: Split, children: list[int]) -> FormSplit:
        cell = self.cells[split.attribute]
        if isinstance(split, Groups):
            texts = self._texts(split.attribute)
            pairs = zip(split.groups, children, strict=True)
            by_code = {code: child for group, child in pairs for code in group}
            return FormSplit(
                cell, texts={texts[c]: by_code[c] for c in sorted(by_code)}
            )
        cuts = (split.threshold,) if isinstance(split, Threshold) else split.cuts
        if self.schema.attributes[split.attribute].kind != "numeric":
            places = enumerate(self._texts(split.attribute))
            return FormSplit(
                cell,
                texts={t: children[sum(p > cut for cut in cuts)] for p, t in places},
            )
        # The infinite threshold of a known-or-missing split: no number exceeds it.
        finite = tuple(float(cut) for cut in cuts if cut != math.inf)
        return FormSplit(cell, finite, tuple(children[: len(finite) + 1]))

    def _line(self, model: LinearModel) -> FormLinearModel:
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
        return FormLinearModel(float(model.intercept), tuple(terms))


def _column(attribute: Attribute, markers: Collection[str], *, optional: bool) -> Input:
    """Return the portable column of an attribute."""
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
        msg = f"column {name!r} has a missing-value marker as value: ignore the column"
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
