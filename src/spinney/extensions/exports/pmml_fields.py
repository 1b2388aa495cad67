"""Fields and predicates of PMML: columns, cells that are made of others, questions."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial, reduce
from xml.etree.ElementTree import Element, SubElement

from spinney._support.text import value_text
from spinney.extensions.exports.portable import (
    Both,
    FormClause,
    FormQuestion,
    FormTerm,
    Input,
    Portable,
    Quotient,
    Sum,
    free_name,
    prediction_name,
    refuse_to_say,
)

# What XML 1.0 has no way to write.
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def element(tag: str, *children: Element, **attributes: str) -> Element:
    """Return an element; a name of Python's own is written with a line after it."""
    made = Element(tag, {name.rstrip("_"): text for name, text in attributes.items()})
    made.extend(children)
    return made


def all_of(predicates: Sequence[Element]) -> Element:
    """Return that all predicates hold."""
    return _compound("and", predicates) if predicates else element("True")


def first_known(predicates: Sequence[Element]) -> Element:
    """Return the first predicate that is not unknown."""
    return _compound("surrogate", predicates)


def _compound(operator: str, predicates: Sequence[Element]) -> Element:
    if len(predicates) == 1:
        return predicates[0]
    return element("CompoundPredicate", *predicates, booleanOperator=operator)


class Fields:
    """The fields of a model: those of columns, and further ones as they are needed."""

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
                refuse_to_say("pmml", f"{text!r}, which XML cannot hold", "rename it")
        if form.target.name in self.names:
            refuse_to_say("pmml", "a target that is also a column", "rename it")
        self.outputs = self._named_outputs()
        made: dict[type, Callable[..., Element]] = {
            Sum: self._sum,
            Quotient: self._quotient,
            Both: self._both,
        }
        # What rules ask is a predicate, and no field.
        rules = {n.questions[0].cell for n in form.nodes if n.questions}
        for cell, each in enumerate(form.made, len(form.columns)):
            if form.has_labels and cell in rules:
                self.names.append(each.name)
                continue
            kind = ("string", "categorical") if isinstance(each, Both) else NUMBER
            self.names.append(self._add(each.name, made[type(each)](each), kind))

    def _named_outputs(self) -> dict[str, str]:
        """Return the name of each output: no field has it, and none will have it."""
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
        """Return all columns, and the target where there is one."""
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
        """Return which columns a model takes, and what unknown values are."""
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
        """Return all further fields."""
        return element("TransformationDictionary", *self.derived)

    # Further fields

    def _add(self, wanted: str, made: Element, kind: tuple[str, str]) -> str:
        """Add a field, and return its name."""
        name = free_name(wanted, self.taken)
        self.taken.add(name)
        data, optype = kind
        self.derived.append(
            element("DerivedField", made, name=name, optype=optype, dataType=data)
        )
        return name

    def _once(
        self,
        key: object,
        wanted: str,
        make: Callable[[], Element],
        kind: tuple[str, str],
    ) -> str:
        """Return the name of a field that is made when it is first asked for."""
        if key not in self._known:
            self._known[key] = self._add(wanted, make(), kind)
        return self._known[key]

    def scaled(self, cell: int, scale: float) -> str:
        """Return the field of a number over its scale."""
        name = self.names[cell]
        if scale == 1:
            return name
        made = apply("/", field(name), constant(scale))
        return self._add(f"{name} in its scale", made, NUMBER)

    def term(self, term: FormTerm) -> str:
        """Return the field of what a linear model multiplies, never missing."""
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

    def _sum(self, made: Sum) -> Element:
        parts = [
            apply("*", field(self.names[cell]), constant(factor))
            for cell, factor in made.terms
        ]
        return finite(reduce(partial(apply, "+"), parts))

    def _quotient(self, made: Quotient) -> Element:
        first, second = (field(self.names[cell]) for cell in (made.first, made.second))
        asks = apply("notEqual", field(self.names[made.second]), constant(0.0))
        return apply("if", asks, finite(apply("/", first, second)))

    def _both(self, made: Both) -> Element:
        """Return "true" or "false", and nothing where a cell is missing."""
        known, held = [], []
        for clause in made.clauses:
            name, holds = self.names[clause.cell], clause.holds
            known.append(apply("isNotMissing", field(name)))
            if isinstance(holds, Mapping):
                yes = [constant(text) for text, goes in holds.items() if goes]
                held.append(apply("isIn", field(name), *yes))
                continue
            pairs = zip(("greaterThan", "lessOrEqual"), holds, strict=True)
            held += [
                apply(operator, field(name), constant(bound))
                for operator, bound in pairs
                if abs(bound) < float("inf")
            ]
        answer = apply("if", _and(held), constant("true"), constant("false"))
        return apply("if", _and(known), answer)

    # Predicates

    def sends(self, question: FormQuestion, node: int) -> Element:
        """Return that a question sends a row to a node; unknown where it knows not."""
        name = self.names[question.cell]
        if question.texts is None:
            if node not in question.nodes:
                return element("False")
            at = question.nodes.index(node)
            edges = (-float("inf"), *question.cuts, float("inf"))
            return interval(name, edges[at], edges[at + 1])
        texts = self._all_texts(question.cell)
        if len(question.texts) < len(texts):
            known = {text: text for text in question.texts}
            make = _mapping(name, known)
            kind = ("string", "categorical")
            key = (name, *sorted(known))
            name = self._once(key, f"known {name}", make, kind)
        return is_in(name, [text for text, to in question.texts.items() if to == node])

    def _all_texts(self, cell: int) -> list[str]:
        columns = self.form.columns
        if cell >= len(columns):
            return ["false", "true"]
        return [value_text(value) for value in columns[cell].values]

    def holds(self, clause: FormClause) -> Element:
        """Return that a clause of a rule holds."""
        name, holds = self.names[clause.cell], clause.holds
        if isinstance(holds, Mapping):
            held = is_in(name, [text for text, goes in holds.items() if goes])
        else:
            held = interval(name, *holds)
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
    """Return a constant."""
    made = element(
        "Constant", dataType="string" if isinstance(value, str) else "double"
    )
    made.text = value if isinstance(value, str) else repr(value)
    return made


def apply(function: str, *arguments: Element) -> Element:
    """Return what a function gives."""
    return element("Apply", *arguments, function=function)


def finite(number: Element) -> Element:
    """Return a number, and nothing where it is beyond the largest of floats."""
    size = apply("abs", deepcopy(number))
    asks = apply("lessOrEqual", size, constant(sys.float_info.max))
    return apply("if", asks, number)


def _and(conditions: Sequence[Element]) -> Element:
    return conditions[0] if len(conditions) == 1 else apply("and", *conditions)


def interval(name: str, low: float, high: float) -> Element:
    """Return that a number lies above a bound, and is at most the other."""
    pairs = (("greaterThan", low), ("lessOrEqual", high))
    bounds = [
        element("SimplePredicate", field=name, operator=operator, value=repr(bound))
        for operator, bound in pairs
        if abs(bound) < float("inf")
    ]
    if not bounds:
        return element("SimplePredicate", field=name, operator="isNotMissing")
    return all_of(bounds)


def is_in(name: str, texts: Sequence[str]) -> Element:
    """Return that a text is one of some."""
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
    """Return what makes a field of texts; of others nothing, or a value."""

    def make() -> Element:
        table = element("InlineTable")
        for text, out in texts.items():
            row = SubElement(table, "row")
            SubElement(row, "in").text = text
            SubElement(row, "out").text = out
        pair = element("FieldColumnPair", field=name, column="in")
        kind = "string" if otherwise is None else "double"
        made = element("MapValues", pair, table, outputColumn="out", dataType=kind)
        if otherwise is not None:
            made.set("mapMissingTo", otherwise)
            made.set("defaultValue", otherwise)
        return made

    return make


def _data_field(column: Input) -> Element:
    if not column.is_number:
        return _categories(column.name, map(value_text, column.values))
    made = element(
        "DataField", name=column.name, optype="continuous", dataType="double"
    )
    for number in column.missing:
        SubElement(made, "Value", value=repr(number), property="missing")
    return made


def _categories(name: str, texts: "map[str]") -> Element:
    made = element("DataField", name=name, optype="categorical", dataType="string")
    for text in texts:
        SubElement(made, "Value", value=text)
    return made
