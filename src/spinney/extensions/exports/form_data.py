"""The portable form as plain data, for Python and JavaScript.

Their modules have this data as literals, and functions that are the same for every
model.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import Any

from spinney._support.text import value_text
from spinney.extensions.exports.portable import (
    Accepted,
    Centres,
    DerivedCell,
    FormConjunction,
    FormNode,
    FormSum,
    Input,
    Portable,
)

LiteralWriter = Callable[[Any], str]
"""A function that writes a value as a literal of a language."""

MAX_LISTED = 8

TIMES = {"day": "a date", "instant": "a date and time", "clock": "a time of day"}


class ByText(dict[str, Any]):
    """A mapping whose keys are users' texts, not our own names."""


def form_data(form: Portable) -> dict[str, Any]:
    """Return the constants of a model by name, as dictionaries and lists.

    >>> import spinney
    >>> from spinney.extensions.exports.portable_models import portable
    >>> shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
    >>> data = form_data(portable(spinney.grow(shop, "sold", recipe="id3")))
    >>> data["NODES"][0]
    {'ask': [['size', [2.5], [1, 2]]], 'divide': [[1, 0.5], [2, 0.5]]}
    >>> data["COLUMNS"], data["NODES"][1]
    ([['size', {'number': []}]], {'say': [1.0, 0.0]})
    """
    cells = form.cells
    if form.centres is not None:
        return {
            "COLUMNS": [[column.name, _column(column)] for column in form.columns],
            "CENTRES": _centres(form, form.centres),
        }
    return {
        "CLASSES": list(form.target.classes),
        "COSTS": form.cost_lines,
        "MAJORITY": form.majority,
        "COLUMNS": [[column.name, _column(column)] for column in form.columns],
        "FORMULAS": [
            [derived.name, _derived_cell(derived, cells)] for derived in form.derived
        ],
        "ROOTS": list(form.roots),
        "NODES": [_node(node, cells) for node in form.nodes],
    }


def form_text(
    form: Portable, statement: str, comment: str, literal: LiteralWriter
) -> str:
    """Return the statements that define all constants.

    Each node is on its own line, with its number.
    """
    data = form_data(form)
    nodes = [
        f"    {literal(node)},  {comment} {number}"
        for number, node in enumerate(data.pop("NODES", ()))
    ]
    texts = {name: literal(value) for name, value in data.items()}
    if nodes:
        texts["NODES"] = "\n".join(["[", *nodes, "]"])
    return "\n".join(statement.format(*pair) for pair in texts.items())


@cache
def read_parts(file: str) -> dict[str, str]:
    """Return the named parts of a template file; a line with its name precedes each."""
    text = (files(__package__) / file).read_text(encoding="utf-8")
    _, *parts = re.split(r"^//// (\w+)\n", text, flags=re.MULTILINE)
    return {n: part[:-1] for n, part in zip(parts[::2], parts[1::2], strict=True)}


@dataclass(frozen=True, slots=True)
class Language:
    """The literals, comments and functions of a language's module.

    A module has one of the ``parts`` "numeric", "classes", "labels" and "centres", with
    the public functions. ``times`` describes date and time types, which the part of
    that name reads.
    """

    statement: str
    comment: str
    literal: LiteralWriter
    times: str
    parts: Mapping[str, str]

    def text(self, form: Portable) -> str:
        """Return the text of a module: head, constants, functions."""
        about, names = ["missing", "about"], ["walk", "read", "make"]
        if form.centres is not None:
            about, names = ["missing"], ["centres", "read"]
        elif form.target.is_numeric:
            names.insert(0, "numeric")
        if any(column.time for column in form.columns):
            names.append("times")
        functions = [self.parts[name] for name in names]
        if form.centres is None and not form.target.is_numeric:
            predict = self.parts["labels" if form.has_labels else "classes"]
            functions.insert(0, predict + self.parts["shares"])
        constants = form_text(form, self.statement, self.comment, self.literal)
        first = head(
            form,
            self.comment,
            self.literal,
            allows_missing=True,
            times=lambda _: self.times,
        )
        comments = [self.parts[name] for name in about]
        return "\n".join([first, *comments, constants, *functions])


def head(
    form: Portable,
    comment: str,
    literal: LiteralWriter,
    *,
    allows_missing: bool = False,
    times: Callable[[str], str] = lambda _: "as {}",
) -> str:
    """Return the comment at the top: the target, and the columns of a row.

    ``allows_missing`` says whether rows may lack columns that only surrogates use.
    ``times`` describes the types of days, instants and clocks; ``{}`` is their unit.
    """
    lines = [f"{form.title(literal)}.", "", "A row has a value for each column:"]
    for column in form.columns:
        what = asked(column, literal, allows_missing=allows_missing, times=times)
        lines.append(f"  {literal(column.name)}: {what}")
    if form.centres is None:
        lines += ["A text that is not listed is treated as a missing value."]
    elif not form.centres.allows_missing:
        lines += ["None of them may be missing."]
    return "\n".join(f"{comment} {line}".rstrip() for line in lines)


def asked(
    column: Input,
    literal: LiteralWriter,
    *,
    allows_missing: bool,
    times: Callable[[str], str],
) -> str:
    """Return a line on the allowed cells of a column."""
    if column.is_number:
        text = "a number" if column.unit is None else f"a number of {column.unit}"
        if column.time is not None:
            text = f"{TIMES[column.time]}, {times(column.time).format(text)}"
        if column.missing:
            text += f", {' or '.join(map(repr, column.missing))} where missing"
    else:
        texts = [literal(value_text(value)) for value in column.values[:MAX_LISTED]]
        more = ["..."] if len(column.values) > MAX_LISTED else []
        text = "one of " + ", ".join(texts + more)
    return text + (" (may be left out)" if column.optional and allows_missing else "")


def _column(column: Input) -> dict[str, Any]:
    """Return the reading rules of a column, as plain data."""
    if column.is_number:
        data: dict[str, Any] = {"number": list(column.missing)}
        data |= {} if column.time is None else {"time": column.time}
    else:
        data = {"words": list(column.words), "small": column.folded}
    return {**data, "optional": True} if column.optional else data


def _derived_cell(derived: DerivedCell, cells: list[str]) -> dict[str, Any]:
    """Return the formula of a derived cell, as plain data."""
    if isinstance(derived, FormSum):
        return {"sum": [[cells[cell], factor] for cell, factor in derived.terms]}
    if isinstance(derived, FormConjunction):
        clauses = [
            [cells[c.cell], _accepted(c.accepted), c.missing] for c in derived.clauses
        ]
        return {"both": clauses}
    return {"ratio": [cells[derived.first], cells[derived.second]]}


def _accepted(accepted: Accepted) -> Any:
    """Return the texts that satisfy a condition, or its bounds, None if infinite."""
    if isinstance(accepted, Mapping):
        return ByText(accepted)
    return [bound if isfinite(bound) else None for bound in accepted]


def _centres(form: Portable, centres: Centres) -> dict[str, Any]:
    """Return the centres by column, as plain data."""
    cells = form.cells
    return {
        "clusters": len(form.target.classes),
        "numbers": [
            [cells[each.cell], each.scale, list(each.centres)]
            for each in centres.numbers
        ],
        "texts": [
            [cells[t.cell], ByText({text: list(a) for text, a in t.distances.items()})]
            for t in centres.texts
        ],
        "gamma": centres.gamma,
        "missing": centres.allows_missing,
    }


def _node(node: FormNode, cells: list[str]) -> dict[str, Any]:
    """Return the splits of a node and its default branch, or its outputs."""
    if node.line is not None:
        terms = [
            [cells[term.cell], term.factor, term.missing]
            + ([] if term.texts is None else [ByText(term.texts)])
            for term in node.line.terms
        ]
        return {"line": terms, "plus": node.line.intercept}
    if not node.splits:
        label = {} if node.label is None else {"label": node.label}
        return {"say": list(node.outputs), **label}
    asks = [
        [cells[q.cell], list(q.cuts), list(q.nodes)]
        if q.texts is None
        else [cells[q.cell], ByText(q.texts)]
        for q in node.splits
    ]
    if node.default_branch is not None:
        return {"ask": asks, "else": node.default_branch}
    return {"ask": asks, "divide": [list(part) for part in node.parts]}
