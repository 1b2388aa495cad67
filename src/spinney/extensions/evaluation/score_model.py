"""Scores of a model on a table: measures and the confusion matrix."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import counted_text, figure, shown, weight_text
from spinney._support.text_table import aligned, in_columns
from spinney.data import Column, Table, Target, TextFormat, Value
from spinney.errors import DataError, Setting, did_you_mean, refusal
from spinney.extensions.evaluation.leaf_errors import (
    LeafErrors,
    leaf_error_lines,
    leaf_errors,
    leaves_as_dicts,
)
from spinney.extensions.evaluation.measures import (
    MEASURES,
    Measured,
    class_measures,
    number_measures,
)
from spinney.sources.rows import check_roles, row_weights
from spinney.trees import labels_of


@dataclass(frozen=True, slots=True, eq=False)
class Score(InNotebooks):
    """The measures of a model on a table; ``print`` shows them as text.

    Parameters
    ----------
    target : str
    n_rows : int
        The rows with a target and a positive weight.
    weight : float
        The total weight of these rows.
    measures : dict
        The measures of :func:`spinney.evaluate` by name; None if undefined.
    classes : tuple
        The classes of the model, then new ones; empty for numbers.
    confusion : array, classes × classes
        The weight of the rows by true class, then by predicted class.
    n_without_target : int
        The dropped rows without a target.
    new_classes : tuple of pairs
        Classes unknown to the model, with their numbers of rows, which count as errors.
    leaves : tuple of LeafErrors
        The leaves of a tree that rows reach, most errors first.
    """

    target: str
    n_rows: int
    weight: float
    measures: Measured
    classes: tuple[Value, ...]
    confusion: Floats
    n_without_target: int
    new_classes: tuple[tuple[Value, int], ...]
    leaves: tuple[LeafErrors, ...] = ()

    @property
    def by_leaf(self) -> list[dict[str, Any]]:
        """The rows, errors and rule of each leaf, most errors first.

        For numbers, the RMSE and the leaf's proportion of all squared errors.
        """
        return leaves_as_dicts(self.leaves, numeric=not self.classes)

    @property
    def by_class(self) -> list[dict[str, Any]]:
        """The weight, precision, recall and F1 of each class; None if undefined."""
        lines = []
        n_predicted = self.confusion.sum(axis=0)
        for code, label in enumerate(self.classes):
            right, support = self.confusion[code, code], self.confusion[code].sum()
            lines.append(
                {
                    "class": label,
                    "support": float(support),
                    "predicted": float(n_predicted[code]),
                    "right": float(right),
                    "precision": _ratio(right, n_predicted[code]),
                    "recall": _ratio(right, support),
                    "f": _ratio(2 * right, support + n_predicted[code]),
                }
            )
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return the score as plain data."""
        facts: dict[str, Any] = {
            "target": self.target,
            "rows": self.n_rows,
            "weight": self.weight,
            "without_target": self.n_without_target,
            "measures": dict(self.measures),
        }
        if self.classes:
            facts["classes"] = list(self.classes)
            facts["never_seen"] = [label for label, _ in self.new_classes]
            facts["confusion"] = self.confusion.tolist()
            facts["by_class"] = self.by_class
        if self.leaves:
            facts["by_leaf"] = self.by_leaf
        return facts

    def text(self, *, width: int | None = None) -> str:
        """Return the score as text, in blocks if lines are too wide."""
        parts = ["\n".join([self._heading(), *self._notes()]), self._measures()]
        if self.classes:
            parts += [self._confusion_text(width), self._class_table_text()]
        leaves = leaf_error_lines(self.leaves, numeric=not self.classes, width=width)
        if leaves:
            parts.append("\n".join(leaves))
        return "\n\n".join(parts)

    def _heading(self) -> str:
        weighed = self.weight != self.n_rows
        weight = f" of weight {weight_text(self.weight)}" if weighed else ""
        rows = f"{self.n_rows} row{'s' * (self.n_rows != 1)}{weight}"
        if not self.classes:
            return f"{shown(self.target)}: {rows}"
        right = weight_text(float(np.trace(self.confusion)))
        return f"{shown(self.target)}: {rows}, {right} correctly classified"

    def _notes(self) -> list[str]:
        notes = []
        if self.n_without_target:
            n = self.n_without_target
            target = shown(self.target)
            notes.append(f"{n} row{'s' * (n != 1)} without {target!r} (dropped)")
        if self.new_classes:
            notes.append(
                "classes unknown to the model (counted as errors): "
                + counted_text(self.new_classes)
            )
        return notes

    def _measures(self) -> str:
        rows = [
            (
                name.replace("_", " ") if "accuracy" in name else MEASURES[name].title,
                "-" if value is None else _measure_text(value),
            )
            for name, value in self.measures.items()
        ]
        return "\n".join(aligned(rows, left=[0, 1]))

    def _confusion_text(self, width: int | None) -> str:
        """Return the confusion matrix, a line for each true class."""
        names = [shown(label) for label in self.classes]
        longest = max(map(len, (*names, "true")))
        columns = [[name.ljust(longest) for name in ("true", *names)]]
        for code, name in enumerate(names):
            cells = self.confusion[:, code]
            columns.append([name, *("." if not c else weight_text(c) for c in cells)])
        lines = in_columns(columns, width=width)
        return "\n".join(["confusion matrix (columns: predicted class)", *lines])

    def _class_table_text(self) -> str:
        lines = [["class", "rows", "correct", "precision", "recall", "F1"]]
        for line in self.by_class:
            ratios = (line[name] for name in ("precision", "recall", "f"))
            lines.append(
                [
                    shown(line["class"]),
                    weight_text(line["support"]),
                    weight_text(line["right"]),
                    *("-" if ratio is None else f"{ratio:.3f}" for ratio in ratios),
                ]
            )
        return "\n".join(aligned(lines, left=[0]))


def score(
    model: Any,
    data: Any,
    *,
    weight: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    text_format: TextFormat | Mapping[str, Any] | None = None,
) -> Score:
    """Score a model on the rows of a table with its target.

    Parameters
    ----------
    model : a tree or forest, grown, fitted or loaded
    data : table
        Anything that ``read_table`` takes; columns are matched by name.
    weight : str, optional
        The column of row weights.
    format, encoding, text_format : optional
        The format of a file, as for :func:`spinney.grow`.

    Returns
    -------
    Score
        ``print`` shows ``measures``, ``confusion``, ``by_class`` and ``by_leaf``.

    Examples
    --------
    >>> import spinney
    >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
    >>> model = spinney.grow(shop, "sold", recipe="c4.5")
    >>> score = spinney.score(model, {"size": [1, 4, 9], "sold": ["no", "no", "yes"]})
    >>> round(score.measures["accuracy"], 3), score.confusion.tolist()
    (0.667, [[1.0, 1.0], [0.0, 1.0]])
    """
    rows, weights, n_without_target = rows_with_target(
        model,
        data,
        weight=weight,
        format=format,
        encoding=encoding,
        text_format=text_format,
    )
    target = model.schema.target
    total = float(rows.n_rows if weights is None else weights.sum())
    measured = _measure_outputs(target, rows[target.name], model.outputs(rows), weights)
    leaves: tuple[LeafErrors, ...] = ()
    if model.kind == "tree":
        leaves = leaf_errors(model, rows, weight)
    return Score(
        target=target.name,
        n_rows=rows.n_rows,
        weight=total,
        n_without_target=n_without_target,
        leaves=leaves,
        **measured,
    )


def rows_with_target(
    model: Any, data: Any, *, weight: str | None = None, **reading: Any
) -> tuple[Table, Floats | None, int]:
    """Return the rows with a target, their weights, and the number without a target."""
    if getattr(model, "kind", "") not in ("tree", "forest"):
        raise refusal(
            Setting("model", model),
            "has no target to compare with",
            "pass a tree or a forest",
        )
    target = model.schema.target
    check_roles(target.name, weight)
    table = model.read(data, weight=weight, **reading)
    usable, weights = ~_column(table, target.name, "target").missing, None
    n_without_target = int(len(usable) - usable.sum())
    if weight is not None:
        weights = row_weights(_column(table, weight, "weight"))
        usable &= weights > 0
        weights = weights[usable]
    if not usable.any():
        msg = f"no row has a {target.name!r}{' and a weight' * bool(weight)}"
        raise DataError(msg, remedy="add some")
    return table.take(usable), weights, n_without_target


def _measure_outputs(
    target: Target, column: Column, outputs: Floats, weights: Floats | None
) -> dict[str, Any]:
    """Return measures, classes and the confusion matrix of outputs."""
    truth = target.encode(column)
    if target.is_numeric:
        return {
            "measures": number_measures(truth, outputs[:, 0], weights=weights),
            "classes": (),
            "confusion": np.zeros((0, 0)),
            "new_classes": (),
        }
    unknown, counts = np.unique(column.cells[truth < 0], return_counts=True)
    for code, cell in enumerate(unknown, len(target.classes)):
        truth = np.where((truth < 0) & (column.cells == cell), code, truth)
    labels = [column.levels[cell] for cell in unknown if column.levels]
    new_classes = tuple(zip(labels or unknown.tolist(), counts.tolist(), strict=True))
    classes = (*target.classes, *(label for label, _ in new_classes))
    predicted, costs = labels_of(outputs, target.costs), None
    if target.costs is not None:  # the cost of an unknown class is NaN
        added = (0, len(new_classes))
        costs = np.pad(np.array(target.costs), added, constant_values=np.nan)
    probabilities = np.pad(outputs, ((0, 0), (0, len(new_classes))))
    return {
        "measures": class_measures(
            truth, predicted, probabilities, weights=weights, costs=costs
        ),
        "classes": classes,
        "confusion": _confusion_matrix(truth, predicted, len(classes), weights),
        "new_classes": new_classes,
    }


def _column(table: Table, name: str, part: str) -> Column:
    """Return the column of the target or of the weights."""
    if name not in table.names:
        remedy = did_you_mean(name, table.names)
        msg = f"the table has no column {name!r}, the {part}: {remedy}"
        raise DataError(msg)
    return table[name]


def _confusion_matrix(
    truth: Integers, predicted: Integers, n_classes: int, weights: Floats | None
) -> Floats:
    """Return the weight of rows by true and predicted class."""
    pairs = truth.astype(np.int64) * n_classes + predicted
    counts = np.bincount(pairs, weights=weights, minlength=n_classes * n_classes)
    return counts.reshape(n_classes, n_classes).astype(np.float64)


def _ratio(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole > 0 else None


def _measure_text(value: float) -> str:
    """Return a measure with three decimals, or six digits if it is large or small."""
    plain = 0.01 <= abs(value) < 100 or abs(value) < 1e-9
    return f"{value:.3f}" if plain else figure(value)
