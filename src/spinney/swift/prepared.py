"""Coded rows, with what a search is to know."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import TOLERANCE, Floats
from spinney.data.schema import Schema
from spinney.kernels.layout import BINS, Cells, Labels, Rules
from spinney.kernels.scoring import ENTROPY, GINI, SQUARES
from spinney.recipes import Recipe
from spinney.swift.coded import cells_of, labels_of_classes, labels_of_numbers
from spinney.swift.suiting import CRITERIA

if TYPE_CHECKING:
    from spinney.sources.training_set import TrainingSet

__all__ = ["KINDS", "Prepared", "prepared"]

KINDS = dict(zip(CRITERIA, (GINI, ENTROPY, SQUARES), strict=True))

SMALL = 96
DEEP = 2**31 - 1

# The splits that lost are kept at nodes with so large a share of the rows, where every
# row weighs 1 (``kernels/rivals.py`` says why).
RIVALS = 2000


@dataclass(frozen=True, slots=True)
class Prepared:
    """Coded rows, with what a search is to know."""

    schema: Schema
    cells: Cells
    labels: Labels
    rules: Rules
    weights: Floats
    counts: NDArray[np.int64]


def prepared(
    training: "TrainingSet", recipe: Recipe, *, tries: int | None = None
) -> Prepared:
    """Code rows for the kernels."""
    schema = training.schema
    cells = cells_of(schema.attributes, training.columns)
    own = training.weights
    if own is not None and np.all(own == 1.0):
        own = None
    total = training.weight
    numbers: Floats | None = None
    if schema.target.origin is None:
        labels = labels_of_classes(training.classes, own, schema.n_classes)
        weights = np.bincount(training.classes, own, minlength=schema.n_classes)
        counts = np.bincount(training.classes, minlength=schema.n_classes)
    else:
        numbers = training.classes - schema.target.origin
        labels = labels_of_numbers(numbers, own)
        first = numbers if own is None else own * numbers
        parts = first[numbers > 0].sum(), first[~(numbers > 0)].sum()
        weights = np.array([total, *parts, first @ numbers])
        counts = np.array([len(numbers)])
    keeping = own is None and tries is None
    rules = Rules(
        KINDS[recipe.measure(numeric=schema.target.is_numeric).name],
        len(weights),
        DEEP if recipe.max_depth is None else recipe.max_depth,
        recipe.least_node * (1 - TOLERANCE),
        recipe.least_branch(total) * (1 - TOLERANCE),
        recipe.min_gain,
        len(schema.attributes) if tries is None else tries,
        SMALL,
        1.5 if own is None else 1.5 * float(own.min()),
        # Sums of numbers round: those of a branch are counted afresh.
        own is not None or numbers is not None,
        True,
        own is None or _is_whole(own),
        len(training.classes) // RIVALS if keeping else DEEP,
        max(BINS, int(cells.n_bins[cells.listed].sum())) if keeping else BINS,
    )
    return Prepared(
        schema,
        cells,
        labels,
        rules,
        weights.astype(np.float64),
        counts.astype(np.int64),
    )


def _is_whole(weights: Floats) -> bool:
    """Return whether weights add up exactly, so that siblings may be subtracted.

    Sums of numbers may round; what has no rows is told by the weights.
    """
    return bool(np.all(weights == np.floor(weights))) and weights.sum() <= 2.0**53
