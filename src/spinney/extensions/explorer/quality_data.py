"""How good a tree is, as the page shows it."""

from typing import Any

import numpy as np

from spinney.extensions.explorer.packed_numbers import packed
from spinney.growth import Quality
from spinney.growth.prune import EncodedRows
from spinney.trees import Tree, labels_of
from spinney.trees.predict import flatten, outputs


def quality_data(quality: Quality | None) -> dict[str, Any] | None:
    """Return the figures that were measured in growing; None without them."""
    if quality is None:
        return None
    return {**quality.figures(), "method": quality.method}


def tested_data(tree: Tree, rows: EncodedRows) -> dict[str, Any] | None:
    """Return what the predictions for a table achieve; None without a row.

    Classes have a confusion matrix: a line for each actual class, a column for each
    predicted one.
    """
    target, actual = tree.schema.target, rows.targets
    if not len(actual):
        return None
    predicted = outputs(flatten(tree), rows.columns, len(actual))
    if not target.is_numeric:
        size = len(target.classes)
        labels = labels_of(predicted, target.costs)
        cells = np.bincount(size * actual + labels, minlength=size * size)
        return {"matrix": packed(cells)}
    errors = actual - predicted.ravel()
    variance = float(np.var(actual))
    mean_square = float(np.mean(errors**2))
    r2 = 1.0 - mean_square / variance if variance else None
    return {"rmse": mean_square**0.5, "r2": r2}
