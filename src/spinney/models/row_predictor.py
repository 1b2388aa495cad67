"""Fast predictions for single rows.

A table of one row takes some hundred steps of NumPy, as one of a million rows does.
Here everything that does not depend on the row is prepared once: the codes
of values (:class:`spinney.data.readers.RowReader`) and the trees as lists
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
    """A model for single rows: ``predictor(row)`` is its prediction.

    A row is a mapping of column names to values, or a sequence of values in the order
    of the training table. The prediction is that of ``predict`` on a table of this
    row: None, NaN and unseen values are missing, and the same errors are raised. Only
    columns that the model splits on are read.

    Parameters
    ----------
    reader : RowReader
        From rows to cells.
    walk : RowWalk
        The trees as lists.
    votes : nodes × outputs
        The prediction of each node.
    plain_outputs : function of coded columns and a number of rows
        The prediction for a table: for rows that a missing value divides, or that
        surrogates or formulas route.

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
            msg = "a regression model has no class probabilities: call the predictor"
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
