"""What errors cost, given as a mapping, an array or a file."""

import csv
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import as_real, is_real
from spinney._support.text import value_text
from spinney.data.readers.local_files import STANDARD_INPUT, readable
from spinney.data.table import Value
from spinney.errors import DataError, ParameterError, did_you_mean

__all__ = ["Costs", "cost_array", "read_costs"]

Costs = Mapping[Value, Mapping[Value, float]] | Sequence[Sequence[float]] | Floats


def cost_array(costs: Costs, classes: Sequence[Value]) -> Floats:
    """Return ``costs[label][true]`` as an array.

    Parameters
    ----------
    costs : mapping of mappings, or square array
        The cost of each label where the class is another (or the same). A mapping
        may leave out what is right, which then costs nothing; an array is in the
        order of the classes.
    classes : sequence
        The classes, in order.

    Examples
    --------
    >>> cost_array({"good": {"bad": 5}, "bad": {"good": 1}}, ["bad", "good"])
    array([[0., 1.],
           [5., 0.]])
    """
    if isinstance(costs, Mapping):
        found = _from_mapping(costs, [value_text(label) for label in classes])
    else:
        found = _from_array(costs, len(classes))
    odd = np.argwhere(~(np.isfinite(found) & (found >= 0)))
    if len(odd):
        label, true = (classes[place] for place in odd[0])
        msg = (
            f"cost_matrix: label {label!r} where {true!r} is true costs "
            f"{found[tuple(odd[0])]}: costs are numbers of at least 0"
        )
        raise ParameterError(msg)
    return found


def _from_array(costs: Any, n_classes: int) -> Floats:
    try:
        cells = np.array(costs, dtype=object)
    except (TypeError, ValueError):
        cells = np.array(None)
    if not all(map(is_real, cells.flat)):
        msg = f"cost_matrix={costs!r} holds more than numbers: give a square of them"
        raise ParameterError(msg)
    found: Floats = np.vectorize(as_real, otypes=[np.float64])(cells)
    if found.shape != (n_classes, n_classes):
        msg = (
            f"cost_matrix of shape {found.shape} does not fit {n_classes} classes: "
            "give a row a label and a column a true class"
        )
        raise ParameterError(msg)
    return found


def _from_mapping(costs: Mapping[Any, Any], names: list[str]) -> Floats:
    found = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(found, 0.0)
    for label, row in costs.items():
        if not isinstance(row, Mapping):
            msg = f"cost_matrix: {label!r} has {row!r}, no mapping of classes to costs"
            raise ParameterError(msg)
        for true, cost in row.items():
            place = _place(label, names), _place(true, names)
            found[place] = as_real(cost)
            if np.isnan(found[place]):
                msg = (
                    f"cost_matrix: label {label!r} where {true!r} is true costs "
                    f"{cost!r}, which is no number"
                )
                raise ParameterError(msg)
    absent = np.argwhere(np.isnan(found))
    if len(absent):
        label, true = (names[place] for place in absent[0])
        msg = (
            f"cost_matrix does not say what label {label!r} costs where {true!r} is "
            "true: every pair of different classes needs a cost"
        )
        raise ParameterError(msg)
    return found


def _place(label: Any, names: list[str]) -> int:
    text = value_text(label)
    if text not in names:
        msg = f"cost_matrix: there is no class {text!r}: {did_you_mean(text, names)}"
        raise ParameterError(msg)
    return names.index(text)


HEADER = ("actual", "predicted", "cost")


def read_costs(
    path: "str | os.PathLike[str]", *, encoding: str = "utf-8"
) -> dict[str, dict[str, float]]:
    """Read a cost matrix from a CSV file with columns actual, predicted and cost.

    Every pair of different classes must be there once; a pair of equal ones may be,
    and costs 0 if it is not.

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
        If the file is no such table; the message names the line and the remedy.
    """
    name = os.fspath(path)
    if name == STANDARD_INPUT:
        msg = "costs are not read from standard input: name their file"
        raise ParameterError(msg)
    with readable(name, format="csv", encoding=encoding) as local:
        lines = _lines(local, name)
    costs: dict[str, dict[str, float]] = {}
    for line, cells in lines[1:]:
        actual, predicted, cost = _cells(cells, lines[0][1], f"line {line} of {name!r}")
        if actual in costs.setdefault(predicted, {}):
            msg = (
                f"line {line} of {name!r}: actual {actual!r} and predicted "
                f"{predicted!r} were there before: give each pair once"
            )
            raise DataError(msg)
        costs[predicted][actual] = cost
    _check_pairs(costs, name)
    return costs


def _lines(path: Path, name: str) -> list[tuple[int, list[str]]]:
    """Return the numbers and cells of all lines that are not empty."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            lines = [(reader.line_num, cells) for cells in reader if cells]
        except csv.Error as error:
            msg = f"{name!r} is no CSV file ({error}): mend line {reader.line_num}"
            raise DataError(msg) from None
    header = [cell.strip().lower() for cell in lines[0][1]] if lines else []
    if sorted(header) != sorted(HEADER):
        found = f"has {', '.join(header)!r}" if header else "is empty"
        msg = f"{name!r} {found}: its first line must be {','.join(HEADER)!r}"
        raise DataError(msg)
    return [(lines[0][0], header), *lines[1:]]


def _cells(cells: list[str], header: list[str], place: str) -> tuple[str, str, float]:
    """Return the actual class, the predicted one and the cost of a line."""
    if len(cells) != len(header):
        msg = f"{place} has {len(cells)} cells: {len(header)} are needed"
        raise DataError(msg)
    named = dict(zip(header, cells, strict=True))
    for role in ("actual", "predicted"):
        if not named[role]:
            msg = f"{place} has no {role} class: name one"
            raise DataError(msg)
    try:
        cost = float(named["cost"])
    except ValueError:
        cost = math.nan
    if not 0 <= cost < math.inf or "_" in named["cost"]:
        msg = (
            f"{place} has the cost {named['cost']!r}: a number of at least 0 is needed"
        )
        raise DataError(msg)
    return named["actual"], named["predicted"], cost


def _check_pairs(costs: dict[str, dict[str, float]], name: str) -> None:
    """Refuse a matrix that does not price every error; fill in what is right."""
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
