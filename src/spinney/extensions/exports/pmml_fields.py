"""Fields and predicates of PMML: columns, derived cells, splits."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial, reduce
from xml.etree.ElementTree import Element, SubElement

from spinney._support.text import value_text
from spinney.extensions.exports.portable import (
    FormCondition,
    FormConjunction,
    FormQuotient,
    FormSplit,
    FormSum,
    FormTerm,
    Input,
    Portable,
    free_name,
    prediction_name,
    refuse_unsupported,
)

# Characters that XML 1.0 cannot write.
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def element(tag: str, *children: Element, **attributes: str) -> Element:
    """Return an element; ``_`` is stripped from attribute names such as ``class_``."""
    result = Element(tag, {name.rstrip("_"): text for name, text in attributes.items()})
    result.extend(children)
    return result


def all_predicates(predicates: Sequence[Element]) -> Element:
    """Return the conjunction of predicates."""
    return _compound("and", predicates) if predicates else element("True")


def first_defined(predicates: Sequence[Element]) -> Element:
    """Return the first predicate that is not unknown."""
    return _compound("surrogate", predicates)


def _compound(operator: str, predicates: Sequence[Element]) -> Element:
    if len(predicates) == 1:
        return predicates[0]
    return element("CompoundPredicate", *predicates, booleanOperator=operator)


class Fields:
    """The fields of a model: columns, and derived fields that are added when needed."""

    def __init__(self, form: Portable) -> None:
        self.form = form
        self.derived: list[Element] = []
        self.names = [column.name for column in form.columns]
        self.taken = {*self.names, form.target.name}
        self._known: dict[object, str] = {}
        texts = [*self.taken, *(value_text(v) for v in form.target.classes)]
        for column in form.columns:
            texts += [value_text(value) for value in column.values]
        for text in texts:
            if FORBIDDEN.search(text):
                refuse_unsupported(
                    "pmml", f"{text!r}, which XML cannot represent", "rename it"
                )
        if form.target.name in self.names:
            refuse_unsupported("pmml", "a target that is also a column", "rename it")
        self.outputs = self._named_outputs()
        result: dict[type, Callable[..., Element]] = {
            FormSum: self._sum,
            FormQuotient: self._quotient,
            FormConjunction: self._conjunction,
        }
        # The conditions of rules are predicates, not fields.
        rules = {n.splits[0].cell for n in form.nodes if n.splits}
        for cell, each in enumerate(form.derived, len(form.columns)):
            if form.has_labels and cell in rules:
                self.names.append(each.name)
                continue
            kind = (
                ("string", "categorical")
                if isinstance(each, FormConjunction)
                else NUMBER
            )
            self.names.append(self._add(each.name, result[type(each)](each), kind))

    def _named_outputs(self) -> dict[str, str]:
        """Return the name of each output; fields cannot have these names."""
        labels = [*map(value_text, self.form.target.classes)]
        wanted = [f"predicted {self.form.target.name}"]
        wanted += [f"{short}({label})" for short in "pc" for label in labels]
        columns, outputs = [column.name for column in self.form.columns], {}
        for each in wanted:
            name = free_name(prediction_name(each, columns), self.taken)
            outputs[each] = name
            self.taken.add(name)
        return outputs

    # Columns

    def dictionary(self) -> Element:
        """Return the data dictionary: all columns, and the target if there is one."""
        fields = [*map(_data_field, self.form.columns)]
        target = self.form.target
        if target.is_numeric:
            fields.append(
                element(
                    "DataField", name=target.name, optype=NUMBER[1], dataType="double"
                )
            )
        elif self.form.centres is None:
            fields.append(_categories(target.name, map(value_text, target.classes)))
        return element("DataDictionary", *fields, numberOfFields=str(len(fields)))

    def mining_schema(self, *, target: bool = True) -> Element:
        """Return the mining schema: used columns and treatment of unknown values."""
        schema = element("MiningSchema")
        lacks = {} if self.form.centres is None else REFUSED
        for column in self.form.columns:
            treatment = (
                {} if column.is_number else {"invalidValueTreatment": "asMissing"}
            )
            SubElement(
                schema, "MiningField", {"name": column.name, **treatment, **lacks}
            )
        if target and self.form.centres is None:
            name = self.form.target.name
            SubElement(schema, "MiningField", {"name": name, "usageType": "target"})
        return schema

    def transformations(self) -> Element:
        """Return all derived fields."""
        return element("TransformationDictionary", *self.derived)

    # Derived fields

    def _add(self, wanted: str, result: Element, kind: tuple[str, str]) -> str:
        """Add a derived field, and return its name."""
        name = free_name(wanted, self.taken)
        self.taken.add(name)
        data, optype = kind
        self.derived.append(
            element("DerivedField", result, name=name, optype=optype, dataType=data)
        )
        return name

    def _once(
        self,
        key: object,
        wanted: str,
        make: Callable[[], Element],
        kind: tuple[str, str],
    ) -> str:
        """Return the name of a derived field, which is added on first use."""
        if key not in self._known:
            self._known[key] = self._add(wanted, make(), kind)
        return self._known[key]

    def scaled(self, cell: int, scale: float) -> str:
        """Return the field of a number divided by its scale."""
        name = self.names[cell]
        if scale == 1:
            return name
        result = apply("/", field(name), constant(scale))
        return self._add(f"{name} in its scale", result, NUMBER)

    def term(self, term: FormTerm) -> str:
        """Return the field of a term of a linear model; it is never missing."""
        name, lack = self.names[term.cell], term.missing
        wanted = f"{name} of models"
        if term.texts is None:

            def make() -> Element:
                asks = apply("isMissing", field(name))
                return apply("if", asks, constant(lack), field(name))

            return self._once((name, lack), wanted, make, NUMBER)
        numbers = {text: repr(number) for text, number in term.texts.items()}
        make_map = _mapping(name, numbers, otherwise=repr(lack))
        return self._once((name, lack, *numbers.items()), wanted, make_map, NUMBER)

    def _sum(self, result: FormSum) -> Element:
        parts = [
            apply("*", field(self.names[cell]), constant(factor))
            for cell, factor in result.terms
        ]
        return finite(reduce(partial(apply, "+"), parts))

    def _quotient(self, result: FormQuotient) -> Element:
        first, second = (
            field(self.names[cell]) for cell in (result.first, result.second)
        )
        asks = apply("notEqual", field(self.names[result.second]), constant(0.0))
        return apply("if", asks, finite(apply("/", first, second)))

    def _conjunction(self, result: FormConjunction) -> Element:
        """Return an expression: "true" or "false", or missing if a cell is missing."""
        known, held = [], []
        for clause in result.clauses:
            name, accepted = self.names[clause.cell], clause.accepted
            known.append(apply("isNotMissing", field(name)))
            if isinstance(accepted, Mapping):
                yes = [constant(text) for text, goes in accepted.items() if goes]
                held.append(apply("isIn", field(name), *yes))
                continue
            pairs = zip(("greaterThan", "lessOrEqual"), accepted, strict=True)
            held += [
                apply(operator, field(name), constant(bound))
                for operator, bound in pairs
                if abs(bound) < float("inf")
            ]
        answer = apply("if", _and(held), constant("true"), constant("false"))
        return apply("if", _and(known), answer)

    # Predicates

    def sends(self, split: FormSplit, node: int) -> Element:
        """Return the predicate that a split sends a row to a node."""
        name = self.names[split.cell]
        if split.texts is None:
            if node not in split.nodes:
                return element("False")
            at = split.nodes.index(node)
            edges = (-float("inf"), *split.cuts, float("inf"))
            return interval(name, edges[at], edges[at + 1])
        texts = self.form.texts(split.cell)
        if len(split.texts) < len(texts):
            same = {text: text for text in split.texts}
            make = _mapping(name, same)
            kind = ("string", "categorical")
            key = (name, *sorted(same))
            name = self._once(key, f"known {name}", make, kind)
        return is_in(name, [text for text, to in split.texts.items() if to == node])

    def condition(self, clause: FormCondition) -> Element:
        """Return a condition of a rule as a predicate."""
        name, accepted = self.names[clause.cell], clause.accepted
        if isinstance(accepted, Mapping):
            held = is_in(name, [text for text, goes in accepted.items() if goes])
        else:
            held = interval(name, *accepted)
        if not clause.missing:
            return held
        lacks = element("SimplePredicate", field=name, operator="isMissing")
        return _compound("or", [lacks, held])


NUMBER = ("double", "continuous")
REFUSED = {"missingValueTreatment": "returnInvalid"}


def field(name: str) -> Element:
    """Return a reference to a field."""
    return element("FieldRef", field=name)


def constant(value: float | str) -> Element:
    """Return an element with a constant."""
    result = element(
        "Constant", dataType="string" if isinstance(value, str) else "double"
    )
    result.text = value if isinstance(value, str) else repr(value)
    return result


def apply(function: str, *arguments: Element) -> Element:
    """Return an element that applies a function."""
    return element("Apply", *arguments, function=function)


def finite(number: Element) -> Element:
    """Return an expression: the number, or missing if it is not finite."""
    size = apply("abs", deepcopy(number))
    asks = apply("lessOrEqual", size, constant(sys.float_info.max))
    return apply("if", asks, number)


def _and(conditions: Sequence[Element]) -> Element:
    return conditions[0] if len(conditions) == 1 else apply("and", *conditions)


def interval(name: str, low: float, high: float) -> Element:
    """Return the PMML predicate low < number ≤ high."""
    pairs = (("greaterThan", low), ("lessOrEqual", high))
    bounds = [
        element("SimplePredicate", field=name, operator=operator, value=repr(bound))
        for operator, bound in pairs
        if abs(bound) < float("inf")
    ]
    if not bounds:
        return element("SimplePredicate", field=name, operator="isNotMissing")
    return all_predicates(bounds)


def is_in(name: str, texts: Sequence[str]) -> Element:
    """Return the predicate that a text is one of some texts."""
    if not texts:
        return element("False")
    if len(texts) == 1 or any(sign in text for text in texts for sign in '"\\'):
        return _compound(
            "or",
            [
                element("SimplePredicate", field=name, operator="equal", value=text)
                for text in texts
            ],
        )
    array = element("Array", type="string", n=str(len(texts)))
    array.text = " ".join(f'"{text}"' for text in texts)
    return element("SimpleSetPredicate", array, field=name, booleanOperator="isIn")


def _mapping(
    name: str, texts: Mapping[str, str], otherwise: str | None = None
) -> Callable[[], Element]:
    """Return a function that makes a mapping of texts, with a default if given."""

    def make() -> Element:
        table = element("InlineTable")
        for text, out in texts.items():
            row = SubElement(table, "row")
            SubElement(row, "in").text = text
            SubElement(row, "out").text = out
        pair = element("FieldColumnPair", field=name, column="in")
        kind = "string" if otherwise is None else "double"
        result = element("MapValues", pair, table, outputColumn="out", dataType=kind)
        if otherwise is not None:
            result.set("mapMissingTo", otherwise)
            result.set("defaultValue", otherwise)
        return result

    return make


def _data_field(column: Input) -> Element:
    if not column.is_number:
        return _categories(column.name, map(value_text, column.values))
    result = element(
        "DataField", name=column.name, optype="continuous", dataType="double"
    )
    for number in column.missing:
        SubElement(result, "Value", value=repr(number), property="missing")
    return result


def _categories(name: str, texts: "map[str]") -> Element:
    result = element("DataField", name=name, optype="categorical", dataType="string")
    for text in texts:
        SubElement(result, "Value", value=text)
    return result
