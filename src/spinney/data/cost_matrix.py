"""Misclassification costs, given as a mapping, an array or a file."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import as_real, is_real
from spinney._support.text import value_text
from spinney.data.table import Value
from spinney.errors import ParameterError, Setting, did_you_mean, refusal

Costs = Mapping[Value, Mapping[Value, float]] | Sequence[Sequence[float]] | Floats


def cost_array(costs: Costs, classes: Sequence[Value]) -> Floats:
    """Return ``costs[label][true]`` as an array.

    Parameters
    ----------
    costs : mapping of mappings, or square array
        The cost of predicting a label for each true class. A mapping may omit correct
        labels, which then cost 0; an array is in the order of the classes.
    classes : sequence
        The classes, in order.

    Examples
    --------
    >>> cost_array({"good": {"bad": 5}, "bad": {"good": 1}}, ["bad", "good"])
    array([[0., 1.],
           [5., 0.]])
    """
    if isinstance(costs, Mapping):
        matrix = _from_mapping(costs, [value_text(label) for label in classes])
    else:
        matrix = _from_array(costs, len(classes))
    invalid = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if len(invalid):
        label, true = (classes[code] for code in invalid[0])
        raise ParameterError(
            Setting("cost_matrix"),
            f": label {label!r} where {true!r} is true costs "
            f"{matrix[tuple(invalid[0])]}: costs are numbers of at least 0",
        )
    return matrix


def _from_array(costs: Any, n_classes: int) -> Floats:
    try:
        cells = np.array(costs, dtype=object)
    except (TypeError, ValueError):
        cells = np.array(None)
    if not all(map(is_real, cells.flat)):
        raise refusal(
            Setting("cost_matrix", costs),
            "holds more than numbers",
            "give a square of them",
        )
    matrix: Floats = np.vectorize(as_real, otypes=[np.float64])(cells)
    if matrix.shape != (n_classes, n_classes):
        msg = (
            f"cost_matrix of shape {matrix.shape} does not fit {n_classes} classes: "
            "give a row a label and a column a true class"
        )
        raise ParameterError(msg)
    return matrix


def _from_mapping(costs: Mapping[Any, Any], names: list[str]) -> Floats:
    matrix = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(matrix, 0.0)
    for label, row in costs.items():
        if not isinstance(row, Mapping):
            raise ParameterError(
                Setting("cost_matrix"),
                f": {label!r} has {row!r}, not a mapping of classes to costs",
            )
        for true, cost in row.items():
            pair = _code_of(label, names), _code_of(true, names)
            matrix[pair] = as_real(cost)
            if np.isnan(matrix[pair]):
                raise ParameterError(
                    Setting("cost_matrix"),
                    f": label {label!r} where {true!r} is true costs {cost!r}, which "
                    "is no number",
                )
    lacking = np.argwhere(np.isnan(matrix))
    if len(lacking):
        label, true = (names[code] for code in lacking[0])
        msg = (
            f"cost_matrix does not say what label {label!r} costs where {true!r} is "
            "true: every pair of different classes needs a cost"
        )
        raise ParameterError(msg)
    return matrix


def _code_of(label: Any, names: list[str]) -> int:
    text = value_text(label)
    if text not in names:
        raise ParameterError(
            Setting("cost_matrix"),
            f": there is no class {text!r}: {did_you_mean(text, names)}",
        )
    return names.index(text)
