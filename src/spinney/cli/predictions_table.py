"""Predictions as a table."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spinney._support.text import shown, value_text
from spinney.data import Value
from spinney.errors import ParameterError
from spinney.trees import labels_of

RISKY = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a model says of each row; shares and leaves where they are wanted."""

    target: str
    classes: tuple[Value, ...]
    labels: list[Value]
    shares: list[list[float]] | None
    leaves: list[int] | None


def predictions(
    model: Any, table: Any, *, probabilities: bool, leaf: bool
) -> Predictions:
    """Return what a model says of each row of a table."""
    target = model.schema.target
    if leaf and model.kind == "forest":
        msg = "--leaf: a forest has a leaf in each of its trees; leave it out"
        raise ParameterError(msg)
    shares = model.outputs(table)
    if target.is_numeric and probabilities:
        msg = f"--probabilities: {target.name!r} is a number and has no classes"
        raise ParameterError(msg)
    labels: list[Value] = (
        shares[:, 0].tolist()
        if target.is_numeric
        else [target.classes[code] for code in labels_of(shares, target.costs)]
    )
    return Predictions(
        target.name,
        target.classes,
        labels,
        shares.tolist() if probabilities else None,
        model.apply(table).tolist() if leaf else None,
    )


def as_rows(results: Predictions) -> dict[str, Any]:
    """Return plain data: shares are in the order of the classes."""
    rows: list[dict[str, Any]] = [{"label": label} for label in results.labels]
    for name, column in (("probabilities", results.shares), ("leaf", results.leaves)):
        if column is not None:
            for row, cell in zip(rows, column, strict=True):
                row[name] = cell
    return {"target": results.target, "classes": list(results.classes), "rows": rows}


def as_csv(results: Predictions, *, raw: bool, seen: bool) -> str:
    """Return CSV.

    Unless it is to be raw, text that a spreadsheet would take for a formula gets
    a quote, and a terminal (``seen``) gets no control characters.
    """
    header: list[Any] = [results.target]
    if results.shares is not None:
        header += [f"p({value_text(label)})" for label in results.classes]
    if results.leaves is not None:
        header.append("leaf")
    return lines_as_csv(header, _lines(results), raw=raw, seen=seen)


def lines_as_csv(
    header: list[Any], lines: Iterable[Sequence[Any]], *, raw: bool, seen: bool
) -> str:
    """Return a header and lines as CSV, guarded as :func:`as_csv` says."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for line in (_distinct(header), *lines):
        cells = [value_text(cell) if raw else _guarded(cell) for cell in line]
        writer.writerow(map(shown, cells) if seen and not raw else cells)
    return text.getvalue().removesuffix("\n")


def _lines(results: Predictions) -> list[list[Any]]:
    rows = range(len(results.labels))
    return [
        [
            results.labels[row],
            *(results.shares[row] if results.shares is not None else ()),
            *((results.leaves[row],) if results.leaves is not None else ()),
        ]
        for row in rows
    ]


def _distinct(names: list[str]) -> list[str]:
    """Return names with a line under those that were there before.

    >>> _distinct(["leaf", "p(1)", "p(1)", "leaf"])
    ['leaf', 'p(1)', 'p(1)_', 'leaf_']
    """
    distinct: list[str] = []
    for name in names:
        while name in distinct:
            name += "_"
        distinct.append(name)
    return distinct


def _guarded(cell: Value) -> str:
    text = value_text(cell)
    risky = isinstance(cell, str) and text.startswith(RISKY) and not _number(text)
    return f"'{text}" if risky else text


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def unseen_warning(name: str, values: Sequence[Value]) -> str:
    """Return the warning about values that the model has not seen."""
    examples = ", ".join(repr(value_text(value)) for value in values[:5])
    more = f" and {len(values) - 5} more" if len(values) > 5 else ""
    return (
        f"column {name!r} holds {examples}{more}, not seen when the model was grown: "
        "treated as missing"
    )
