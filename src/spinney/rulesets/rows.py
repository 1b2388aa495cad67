"""The training rows of a tree, given back to it: a model keeps none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import read_table
from spinney.data.schema import Schema
from spinney.data.table import Table
from spinney.errors import DataError, warn
from spinney.model import Model
from spinney.rules import Condition
from spinney.rulesets.paths import Bools, holds
from spinney.training import TrainingSet, check_target, check_total

__all__ = ["Rows", "check_origin", "rows_of"]


def rows_of(
    schema: Schema, table: Table, *, y: Any = None, sample_weight: Any = None
) -> TrainingSet:
    """Return the rows of a table that have a class and weigh more than 0.

    Parameters
    ----------
    schema : Schema
        That of the tree, by which cells are coded.
    table : Table
        All attributes, and the target unless y is given.
    y : array, optional
        The class of each row, or its number.
    sample_weight : array, optional
        The weight of each row.
    """
    name, numeric = schema.target.name, schema.target.is_numeric
    column = check_target(table, name) if y is None else read_table({name: y})[name]
    classes = schema.target.encode(column)
    if len(classes) != table.n_rows:
        msg = f"y has {len(classes)} labels and the table {table.n_rows} rows"
        raise DataError(msg)
    weights = _checked_weights(sample_weight, table.n_rows)
    kept = (~np.isnan(classes) if numeric else classes >= 0) & (weights > 0)
    if not kept.any():
        msg = (
            f"target {name!r}: no row weighs more than 0 and has one of the model's "
            "classes: give the table that it was grown on"
        )
        raise DataError(msg)
    return TrainingSet(
        schema,
        tuple(schema.encode(table.take(kept))),
        classes[kept].astype(np.float64 if numeric else np.int64),
        None if sample_weight is None else weights[kept],
    )


def _checked_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Return a weight for each row, or say why there is none."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        weights = np.array(np.nan)
    if weights.shape != (n_rows,) or not (weights >= 0).all():
        msg = f"sample_weight must be {n_rows} numbers, none of them below 0 or missing"
        raise DataError(msg)
    check_total(weights)
    return weights


def check_origin(model: Model, training: TrainingSet, *, simplify: bool) -> None:
    """Warn where the rules of a model over these rows may contradict its tree."""
    if not _is_grown_on(model, training):
        warn(
            "the table is not the one that the tree was grown on (other rows, "
            "values, weights or order): the rules fit this table instead"
        )
    if simplify and model.schema.target.costs is not None:
        warn(
            "the tree has costs of errors (cost_matrix, --costs), and simplified rules "
            "count errors: they may give other labels than the tree; its rules as they "
            "are, not simplified, keep its labels"
        )


def _is_grown_on(model: Model, training: TrainingSet) -> bool:
    """Return whether a model was grown on these rows, as far as it can tell.

    One that was grown in a database knows the number of its rows and their weight.
    """
    grown, here = model.fingerprint, training.fingerprint()
    if grown.digest:
        return grown.digest == here.digest
    return grown.n_rows == here.n_rows and bool(np.isclose(grown.weight, here.weight))


@dataclass(frozen=True, slots=True)
class Rows:
    """The training rows, ready to be matched."""

    schema: Schema
    columns: Sequence[NDArray[Any]]
    classes: Integers
    weights: Floats
    places: dict[str, int]

    @classmethod
    def of(cls, training: TrainingSet) -> "Rows":
        """Return the rows of a training set."""
        schema, weights = training.schema, training.weights
        return cls(
            schema,
            training.columns,
            np.asarray(training.classes, dtype=np.int64),
            np.ones(len(training.classes)) if weights is None else weights,
            {name: place for place, name in enumerate(schema.names)},
        )

    def satisfying(self, test: Condition) -> Bools:
        """Return which rows satisfy a test."""
        return holds(test, self.columns[self.places[test.attribute.name]])

    def matching(self, conditions: Iterable[Condition]) -> Bools:
        """Return which rows satisfy all conditions."""
        found = np.ones(len(self.classes), dtype=np.bool_)
        for condition in conditions:
            found &= self.satisfying(condition)
        return found

    def tally(self, rows: Bools) -> Floats:
        """Return the weight of each class among some rows."""
        n_classes = self.schema.n_classes
        found = np.bincount(self.classes[rows], self.weights[rows], minlength=n_classes)
        return np.asarray(found, dtype=np.float64)
