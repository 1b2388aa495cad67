"""Fast predictions for single rows.

A table of one row is read, checked and sent down the trees like one of a million, which
takes some hundred steps of NumPy. Here what does not depend on the row is kept: the
codes of values (:class:`spinney.data.readers.RowReader`) and the trees as lists
(:class:`spinney.trees.predict.RowWalk`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Value
from spinney.data.readers import RowReader
from spinney.errors import ParameterError
from spinney.trees import labels_of
from spinney.trees.predict import RowWalk


@dataclass(frozen=True, eq=False, repr=False)
class RowPredictor:
    """A model to be called with one row: ``predictor(row)`` is what it predicts.

    A row is a mapping of values by the names of columns, or a sequence of values in the
    order that the columns had in the table that the model was grown on. What is
    predicted of it is what ``predict`` says of the table of that row, read by the names
    of its columns: None and NaN are missing, a value never seen is treated as such,
    and what a table would be refused for, a row is. Only columns that the model asks
    about are looked at.

    Parameters
    ----------
    reader : RowReader
        From rows to cells.
    walk : RowWalk
        The trees as lists.
    votes : nodes × outputs
        What each node of the trees says.
    plain_outputs : function of coded columns and a number of rows
        What the model predicts of a table: for rows that a missing value divides or
        that are sent by surrogates or formulas.

    Examples
    --------
    >>> import spinney
    >>> melons = {"texture": ["clear", "clear", "blurry", "blurry"],
    ...           "density": [0.7, 0.3, 0.8, 0.2], "ripe": ["yes", "no", "no", "no"]}
    >>> predictor = spinney.grow(melons, "ripe", recipe="cart").predictor()
    >>> predictor({"texture": "clear", "density": 0.6})
    'yes'
    >>> predictor.probabilities(["clear", 0.4])
    {'no': 1.0, 'yes': 0.0}
    """

    reader: RowReader
    walk: RowWalk
    votes: Floats
    plain_outputs: Callable[[Any, int], Floats]

    def __call__(self, row: Any) -> Value:
        """Return the class of a row, or its number."""
        outputs, target = self.outputs(row), self.reader.schema.target
        if target.is_numeric:
            return float(outputs[0])
        return target.classes[int(labels_of(outputs[None], target.costs)[0])]

    def probabilities(self, row: Any) -> dict[Value, float]:
        """Return the probability of each class, of the leaves or the trees' vote."""
        target = self.reader.schema.target
        if target.is_numeric:
            msg = (
                "a model of numbers has no class probabilities: call it for the number"
            )
            raise ParameterError(msg)
        return dict(zip(target.classes, self.outputs(row).tolist(), strict=True))

    def outputs(self, row: Any) -> Floats:
        """Return the prediction for a row: class probabilities, or one number."""
        cells = self.reader.cells(row)
        leaves = self.walk.leaves(cells)
        if leaves is None:
            return np.asarray(self.plain_outputs(self.reader.coded(cells), 1)[0])
        if len(leaves) > 1:  # added up in the order of the trees, as all rows are
            return np.asarray(self.votes[leaves].cumsum(axis=0)[-1] / len(leaves))
        model = self.walk.models.get(leaves[0])
        if model is not None:
            return np.array([model.value(cells)])
        return np.asarray(self.votes[leaves[0]])

    def __repr__(self) -> str:
        target, trees = self.reader.schema.target, len(self.walk.roots)
        return f"<RowPredictor of {target.name!r}: {trees} tree{'s' * (trees > 1)}>"
