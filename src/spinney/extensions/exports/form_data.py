"""The portable form as plain data, for languages that walk it as it is.

A module of Python or JavaScript is this data, written as a literal, and a few functions
that are the same for every model.
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
    Both,
    Centres,
    FormNode,
    Holds,
    Input,
    Made,
    Portable,
    Sum,
)

Written = Callable[[Any], str]
"""How a language writes a value: a text, a number, a list, a mapping."""

MOST_LISTED = 8

TIMES = {"day": "a date", "instant": "a date and time", "clock": "a time of day"}


class ByText(dict[str, Any]):
    """A mapping whose keys are texts of users, and not names of ours."""


def form_data(form: Portable) -> dict[str, Any]:
    """Return a model as dictionaries and lists, one entry for each constant.

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
        "FORMULAS": [[made.name, _made(made, cells)] for made in form.made],
        "ROOTS": list(form.roots),
        "NODES": [_node(node, cells) for node in form.nodes],
    }


def form_text(form: Portable, statement: str, comment: str, written: Written) -> str:
    """Return all constants, each as a statement of its name and value.

    Nodes stand on a line each, with their numbers.
    """
    data = form_data(form)
    nodes = [
        f"    {written(node)},  {comment} {number}"
        for number, node in enumerate(data.pop("NODES", ()))
    ]
    texts = {name: written(value) for name, value in data.items()}
    if nodes:
        texts["NODES"] = "\n".join(["[", *nodes, "]"])
    return "\n".join(statement.format(*pair) for pair in texts.items())


@cache
def parts_of(file: str) -> dict[str, str]:
    """Return the parts of a file beside this one, each below a line with its name."""
    text = (files(__package__) / file).read_text(encoding="utf-8")
    _, *parts = re.split(r"^//// (\w+)\n", text, flags=re.MULTILINE)
    return {n: part[:-1] for n, part in zip(parts[::2], parts[1::2], strict=True)}


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes a module: its signs, its comments and its functions.

    Of the ``parts`` "numeric", "classes", "labels" and "centres" a model has one, the
    functions that a user calls. ``times`` says what dates and times may be given as,
    and the part of that name reads them.
    """

    statement: str
    comment: str
    written: Written
    times: str
    parts: Mapping[str, str]

    def text(self, form: Portable) -> str:
        """Return a module: what it is about, constants, functions."""
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
        constants = form_text(form, self.statement, self.comment, self.written)
        first = head(
            form, self.comment, self.written, may_lack=True, times=lambda _: self.times
        )
        comments = [self.parts[name] for name in about]
        return "\n".join([first, *comments, constants, *functions])


def head(
    form: Portable,
    comment: str,
    written: Written,
    *,
    may_lack: bool = False,
    times: Callable[[str], str] = lambda _: "as {}",
) -> str:
    """Return what a person reads first: what is predicted, and what rows must hold.

    ``may_lack`` says whether rows may be without columns that surrogates alone ask,
    ``times`` as what they hold days, instants and clocks; ``{}`` is a number of these.
    """
    lines = [f"{form.title(written)}.", "", "A row has a value for each column:"]
    for column in form.columns:
        what = asked(column, written, may_lack=may_lack, times=times)
        lines.append(f"  {written(column.name)}: {what}")
    if form.centres is None:
        lines += ["A text that is not listed is treated as a missing value."]
    elif not form.centres.may_lack:
        lines += ["None of them may be missing."]
    return "\n".join(f"{comment} {line}".rstrip() for line in lines)


def asked(
    column: Input, written: Written, *, may_lack: bool, times: Callable[[str], str]
) -> str:
    """Return what the cells of a column must be, in one line."""
    if column.is_number:
        text = "a number" if column.unit is None else f"a number of {column.unit}"
        if column.time is not None:
            text = f"{TIMES[column.time]}, {times(column.time).format(text)}"
        if column.missing:
            text += f", {' or '.join(map(repr, column.missing))} where missing"
    else:
        texts = [written(value_text(value)) for value in column.values[:MOST_LISTED]]
        more = ["..."] if len(column.values) > MOST_LISTED else []
        text = "one of " + ", ".join(texts + more)
    return text + (" (may be left out)" if column.optional and may_lack else "")


def _column(column: Input) -> dict[str, Any]:
    """Return how the cells of a column are read."""
    if column.is_number:
        data: dict[str, Any] = {"number": list(column.missing)}
        data |= {} if column.time is None else {"time": column.time}
    else:
        data = {"words": list(column.words), "small": column.folded}
    return {**data, "optional": True} if column.optional else data


def _made(made: Made, cells: list[str]) -> dict[str, Any]:
    """Return how a further cell is made of others."""
    if isinstance(made, Sum):
        return {"sum": [[cells[cell], factor] for cell, factor in made.terms]}
    if isinstance(made, Both):
        clauses = [[cells[c.cell], _holds(c.holds), c.missing] for c in made.clauses]
        return {"both": clauses}
    return {"ratio": [cells[made.first], cells[made.second]]}


def _holds(holds: Holds) -> Any:
    """Return which texts satisfy a clause, or the bounds, None where there is none."""
    if isinstance(holds, Mapping):
        return ByText(holds)
    return [bound if isfinite(bound) else None for bound in holds]


def _centres(form: Portable, centres: Centres) -> dict[str, Any]:
    """Return where centres lie, column by column."""
    cells = form.cells
    return {
        "clusters": len(form.target.classes),
        "numbers": [
            [cells[each.cell], each.scale, list(each.centres)]
            for each in centres.numbers
        ],
        "texts": [
            [cells[t.cell], ByText({text: list(a) for text, a in t.apart.items()})]
            for t in centres.texts
        ],
        "gamma": centres.gamma,
        "missing": centres.may_lack,
    }


def _node(node: FormNode, cells: list[str]) -> dict[str, Any]:
    """Return what a node asks and where others go, or what it says."""
    if node.line is not None:
        terms = [
            [cells[term.cell], term.factor, term.missing]
            + ([] if term.texts is None else [ByText(term.texts)])
            for term in node.line.terms
        ]
        return {"line": terms, "plus": node.line.intercept}
    if not node.questions:
        label = {} if node.label is None else {"label": node.label}
        return {"say": list(node.says), **label}
    asks = [
        [cells[q.cell], list(q.cuts), list(q.nodes)]
        if q.texts is None
        else [cells[q.cell], ByText(q.texts)]
        for q in node.questions
    ]
    if node.default_branch is not None:
        return {"ask": asks, "else": node.default_branch}
    return {"ask": asks, "divide": [list(part) for part in node.parts]}
