"""Misclassification costs from a CSV file."""

import csv
import math
import os
from pathlib import Path

from spinney.data.readers.local_files import STANDARD_INPUT, readable
from spinney.data.reading_notes import ReadingNotes, report_notes
from spinney.errors import DataError, ParameterError

HEADER = ("actual", "predicted", "cost")


def read_costs(
    path: "str | os.PathLike[str]", *, encoding: str | None = None
) -> dict[str, dict[str, float]]:
    """Read a cost matrix from a CSV file with columns actual, predicted and cost.

    Every pair of different classes must occur once. Pairs of equal classes are
    optional, and cost 0 by default.

    Parameters
    ----------
    path : str or path
        The file, ``.gz`` or not.
    encoding : str
        Its encoding.

    Returns
    -------
    dict of dicts
        ``costs[predicted][actual]``.

    Raises
    ------
    DataError
        If the file is invalid; the message names the line and the remedy.
    """
    name = os.fspath(path)
    if name == STANDARD_INPUT:
        msg = "costs cannot be read from standard input: name a file"
        raise ParameterError(msg)
    notes = ReadingNotes()
    with readable(name, format="csv", encoding=encoding, notes=notes) as local:
        lines = _lines(local, name)
    report_notes(notes.all(), name)
    costs: dict[str, dict[str, float]] = {}
    for line, cells in lines[1:]:
        actual, predicted, cost = _cells(cells, lines[0][1], f"line {line} of {name!r}")
        if actual in costs.setdefault(predicted, {}):
            msg = (
                f"line {line} of {name!r}: actual {actual!r} and predicted "
                f"{predicted!r} occur twice: give each pair once"
            )
            raise DataError(msg)
        costs[predicted][actual] = cost
    _check_pairs(costs, name)
    return costs


def _lines(path: Path, name: str) -> list[tuple[int, list[str]]]:
    """Return the line numbers and cells of all lines that are not empty."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            lines = [(reader.line_num, cells) for cells in reader if cells]
        except csv.Error as error:
            msg = f"{name!r} is not a CSV file ({error}): fix line {reader.line_num}"
            raise DataError(msg) from None
    header = [cell.strip().lower() for cell in lines[0][1]] if lines else []
    if sorted(header) != sorted(HEADER):
        problem = f"has {', '.join(header)!r}" if header else "is empty"
        msg = f"{name!r} {problem}: its first line must be {','.join(HEADER)!r}"
        raise DataError(msg)
    return [(lines[0][0], header), *lines[1:]]


def _cells(cells: list[str], header: list[str], where: str) -> tuple[str, str, float]:
    """Return actual class, predicted class and cost of a line."""
    if len(cells) != len(header):
        msg = f"{where} has {len(cells)} cells: {len(header)} are needed"
        raise DataError(msg)
    named = dict(zip(header, cells, strict=True))
    for role in ("actual", "predicted"):
        if not named[role]:
            msg = f"{where} has no {role} class: name one"
            raise DataError(msg)
    try:
        cost = float(named["cost"])
    except ValueError:
        cost = math.nan
    if not 0 <= cost < math.inf or "_" in named["cost"]:
        msg = (
            f"{where} has the cost {named['cost']!r}: a number of at least 0 is needed"
        )
        raise DataError(msg)
    return named["actual"], named["predicted"], cost


def _check_pairs(costs: dict[str, dict[str, float]], name: str) -> None:
    """Refuse a matrix without a cost for every error; fill in 0 for correct labels."""
    labels = dict.fromkeys([*costs, *(true for row in costs.values() for true in row)])
    if len(labels) < 2:
        msg = f"{name!r} names {len(labels)} classes: costs need two or more"
        raise DataError(msg)
    for predicted in labels:
        row = costs.setdefault(predicted, {})
        for actual in labels:
            if predicted == actual:
                row.setdefault(actual, 0.0)
            elif actual not in row:
                msg = (
                    f"{name!r} has no line for actual {actual!r} and predicted "
                    f"{predicted!r}: every pair of different classes needs a cost"
                )
                raise DataError(msg)
