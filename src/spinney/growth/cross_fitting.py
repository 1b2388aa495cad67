"""Cross-fitted target encoding of nominal columns with many values.

If a column has many values, their best order by the target overfits the training rows:
with a row or two per value, the order is nearly the target itself. So the score of a
value is *cross-fitted*: a row gets the score of its value in the other folds, without
its own label. A column of noise then gains as much as a random number, and out-of-bag
rows stay unseen.

The score of a value is the mean of the target, or the class probabilities, over its
rows. It is shrunk towards the overall mean: the more, the less the values differ beyond
chance (empirical Bayes, with the variances of a one-way analysis of variance)::

    score of v  =  p + n / (n + s² / t²) · (mean of v − p)

    p, s²   mean of all rows, variance within values
    t²      variance between values: (mean square between − s²) / n0

With several classes, values are ordered along the direction in which the scores differ
most beyond chance.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.row_order import order_of, row_keys
from spinney._support.ties import TOLERANCE, first_best
from spinney.data import Attribute
from spinney.sources.rows import EncodedCells, TrainingSet

# With this few values every subset is tried, and overfitting is small.
MAX_VALUES_UNENCODED = 12
N_FOLDS = 5
# How many standard errors the scores of rows must agree with their labels by.
MIN_Z_SCORE = 3.0
# Below this many rows per value, the subsets of a single tree may overfit.
MIN_ROWS_PER_VALUE = 10
DIGITS = 12


def has_many_values(
    attribute: Attribute, *, max_values: int = MAX_VALUES_UNENCODED
) -> bool:
    """Return whether an attribute is nominal, with more than ``max_values`` values."""
    return attribute.kind == "nominal" and len(attribute.values) > max_values


@dataclass(frozen=True, slots=True)
class TargetEncoding:
    """The values of a column in the order of their scores.

    Parameters
    ----------
    order : array of int
        The codes of the values, by score.
    cells : EncodedCells
        For each row, the place of the value with the nearest score in the other folds.
    agreement : float
        The agreement of scores and labels of rows, in standard errors.
    """

    order: Integers
    cells: EncodedCells
    agreement: float

    @property
    def is_significant(self) -> bool:
        """Whether the order predicts rows of other folds."""
        return self.agreement >= MIN_Z_SCORE


def overfitting_columns(
    training: TrainingSet, requested: Collection[int] = ()
) -> tuple[list[int], list[int]]:
    """Return the attributes that a single tree might overfit.

    The scores of the first attributes do not hold in other folds. The scores of the
    second hold, but there are so few rows per value that subsets at a node may overfit,
    which only folds can show. Attributes that are ``requested`` are in neither list.
    """
    noise, sparse = [], []
    for index, fit in cross_fits(training):
        codes = training.columns[index]
        observed = codes[codes >= 0]
        if index in requested:
            continue
        if not fit.is_significant:
            noise.append(index)
        elif len(observed) < MIN_ROWS_PER_VALUE * len(np.unique(observed)):
            sparse.append(index)
    return noise, sparse


def with_constant_columns(
    training: TrainingSet, indices: Collection[int]
) -> TrainingSet:
    """Return rows in which some attributes are constant, so that no tree uses them."""
    columns = tuple(
        np.zeros_like(cells) if index in indices else cells
        for index, cells in enumerate(training.columns)
    )
    return replace(training, columns=columns)


def folds_of_rows(training: TrainingSet) -> Integers:
    """Return a fold for each row, by what is in the row.

    Copies of a row share a fold: else a row would see its own label. Rows are copies
    if they are equal where the attributes of few values and the numbers tell most rows
    apart. Where these do not, equal rows are ordinary, and are spread. Codes count by
    the text of their values, so that their order has no effect.
    """
    columns: list[NDArray[np.generic]] = [
        cells
        if attribute.kind == "numeric"
        else np.append(_text_ranks(attribute), -1)[cells]
        for attribute, cells in zip(
            training.schema.attributes, training.columns, strict=True
        )
    ]
    identifying = [
        cells
        for attribute, cells in zip(training.schema.attributes, columns, strict=True)
        if not has_many_values(attribute)
    ]
    order = order_of((*columns, training.classes), training.weights)
    folds = np.empty(len(order), np.int64)
    folds[order] = np.arange(len(order)) % N_FOLDS
    keys = row_keys((*columns, training.classes))
    n_distinct = len(np.unique(keys))
    n_identified = len(np.unique(row_keys(identifying))) if identifying else 1
    if n_distinct < len(keys) and 2 * n_identified > n_distinct:
        folds = np.unique(keys, return_inverse=True)[1] % N_FOLDS
    return folds


def _text_ranks(attribute: Attribute) -> Integers:
    texts = [(type(value).__name__, str(value)) for value in attribute.values]
    ranks = np.empty(len(texts), np.int64)
    ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    return ranks


def cross_fits(
    training: TrainingSet, *, max_values: int = MAX_VALUES_UNENCODED
) -> Iterator[tuple[int, TargetEncoding]]:
    """Yield nominal attributes of more than ``max_values`` values, with encodings."""
    wide = [
        index
        for index, attribute in enumerate(training.schema.attributes)
        if has_many_values(attribute, max_values=max_values)
    ]
    if wide:
        folds = folds_of_rows(training)
        yield from ((index, cross_fit(training, index, folds)) for index in wide)


def cross_fit(training: TrainingSet, index: int, folds: Integers) -> TargetEncoding:
    """Return an attribute's values in order, and each row's cross-fitted place."""
    cells = training.columns[index]
    observed = np.flatnonzero(cells >= 0)
    # In an order that does not depend on where rows stand.
    keys = (training.sample_weights, training.classes, folds, cells)
    observed = observed[np.lexsort([key[observed] for key in keys])]
    rows = _ObservedRows.of(training, index, observed, folds[observed])
    sums = _ValueSums.of(rows)
    variance_ratio, direction = sums.variance_ratio, sums.direction
    full = np.round(sums.shrunk(variance_ratio) @ direction, DIGITS)
    order = np.argsort(full, kind="stable")
    levels, sizes = np.unique(full, return_counts=True)
    ends = np.cumsum(sizes) - 1
    scores_of_rows, gains = np.zeros((2, len(observed)))
    for fold in range(N_FOLDS):
        inside = rows.fold == fold
        scores = _ValueSums.of(rows.subset(~inside)).shrunk(variance_ratio)
        fold_rows = rows.subset(inside)
        scores_of_rows[inside] = np.round(scores @ direction, DIGITS)[fold_rows.codes]
        gains[inside] = fold_rows.agreement(scores)
    codes = np.full(len(cells), -1, np.int64)
    codes[observed] = ends[_nearest(levels, scores_of_rows)]
    spread = float(np.sqrt(rows.weights @ gains**2))
    agreement = float(rows.weights @ gains) / spread if spread > 0 else 0.0
    return TargetEncoding(order, EncodedCells(codes, ends), agreement)


def _nearest(levels: Floats, numbers: Floats) -> Integers:
    """Return the level nearest to each number; of two the lower."""
    if len(levels) == 1:
        return np.zeros(len(numbers), np.int64)
    above = np.clip(np.searchsorted(levels, numbers), 1, len(levels) - 1)
    lower = numbers - levels[above - 1] <= levels[above] - numbers
    return np.asarray(above - lower)


@dataclass(frozen=True, slots=True)
class _ObservedRows:
    """The rows with a known value: codes, labels, folds and weights (mean 1).

    Labels are deviations from the mean, or classes; ``mean`` has the class proportions.
    """

    n_values: int
    codes: Integers
    labels: NDArray[Any]
    fold: Integers
    weights: Floats
    mean: Floats

    @classmethod
    def of(
        cls, training: TrainingSet, index: int, observed: Integers, fold: Integers
    ) -> "_ObservedRows":
        """Return the ``observed`` rows of an attribute."""
        n_values = len(training.schema.attributes[index].values)
        codes = training.columns[index][observed].astype(np.int64)
        weights = training.sample_weights[observed]
        weights = weights / (weights.mean() if len(weights) else 1.0)
        labels, target = training.classes[observed], training.schema.target
        if not target.is_numeric:
            mean = np.bincount(labels, weights, target.n_outputs) / max(1, len(labels))
            return cls(n_values, codes, labels, fold, weights, mean)
        if len(labels):
            labels = labels - np.average(labels, weights=weights)
        labels = labels / (float(np.abs(labels).max(initial=0.0)) or 1.0)
        return cls(n_values, codes, labels, fold, weights, np.zeros(1))

    @property
    def by_class(self) -> bool:
        """Whether the labels are classes."""
        return self.labels.dtype.kind != "f"

    def subset(self, mask: NDArray[np.bool_]) -> "_ObservedRows":
        """Return the rows of a mask."""
        return replace(
            self,
            codes=self.codes[mask],
            labels=self.labels[mask],
            fold=self.fold[mask],
            weights=self.weights[mask],
        )

    def agreement(self, scores: Floats) -> Floats:
        """Return the product of each row's label and the score of its value."""
        if self.by_class:
            return np.asarray(
                scores[self.codes, self.labels] - (scores @ self.mean)[self.codes]
            )
        return np.asarray(scores[self.codes, 0] * self.labels)


def _floats(numbers: NDArray[Any]) -> Floats:
    return np.asarray(numbers, np.float64)


@dataclass(frozen=True, slots=True)
class _ValueSums:
    """Sums by value of labels and weights, with the squares of all labels."""

    total: Floats
    size: Floats
    squares: Floats

    @classmethod
    def of(cls, rows: _ObservedRows) -> "_ValueSums":
        """Return the sums over some rows."""
        n, size = rows.n_values, np.bincount(rows.codes, rows.weights, rows.n_values)
        if not rows.by_class:
            total = np.bincount(rows.codes, rows.weights * rows.labels, n)
            squares = np.array([[rows.weights @ rows.labels**2]])
            return cls(_floats(total)[:, None], _floats(size), squares)
        n_classes, mean = len(rows.mean), rows.mean
        keys = rows.codes * n_classes + rows.labels
        total = np.bincount(keys, rows.weights, n * n_classes).reshape(n, n_classes)
        total_size = float(size.sum())
        squares = total_size * (np.diag(mean) - np.outer(mean, mean))
        return cls(_floats(total - size[:, None] * mean), _floats(size), squares)

    def shrunk(self, variance_ratio: float) -> Floats:
        """Return the shrunk mean of each value, as a deviation from the mean of all."""
        if variance_ratio <= 0:
            return np.zeros_like(self.total)
        size = self.size[:, None]
        zeros = np.zeros_like(self.total)
        return _floats(
            np.divide(self.total, size + 1 / variance_ratio, out=zeros, where=size > 0)
        )

    @property
    def _variances(self) -> tuple[Floats, Floats, int]:
        """Return squares between values beyond chance, variance within, n_groups."""
        size = self.size[:, None]
        n_groups = int(np.count_nonzero(size))
        means = np.divide(
            self.total, size, out=np.zeros_like(self.total), where=size > 0
        )
        between, freedom = self.total.T @ means, float(size.sum()) - n_groups
        within = self.squares / max(1.0, float(size.sum()) - 1)
        if freedom >= 1:
            within = (self.squares - between) / freedom
        return between - (n_groups - 1) * within, within, n_groups

    @property
    def variance_ratio(self) -> float:
        """The variance between values over the variance within: t² / s²."""
        between, within, n_groups = self._variances
        if n_groups < 2:
            return 0.0
        n_rows = float(self.size.sum())
        n0 = (n_rows - float(self.size @ self.size) / n_rows) / (n_groups - 1)
        excess = float(np.trace(between)) / (n_groups - 1) / n0
        noise = float(np.trace(within))
        if excess <= 0:
            return 0.0
        return excess / noise if noise > TOLERANCE * excess else np.inf

    @property
    def direction(self) -> Floats:
        """The direction in which the scores of values differ most beyond chance."""
        between, _, _ = self._variances
        if len(between) <= 2:
            return _floats(np.eye(len(between))[-1])
        directions = _floats(np.linalg.eigh(between)[1])
        main = directions[:, -1]
        # Of components that are equally large the first has the sign that counts.
        return np.asarray(main * np.sign(main[first_best(np.abs(main))]))
