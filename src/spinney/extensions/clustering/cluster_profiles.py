"""Profiles of clusters: how each attribute differs from that of all rows.

A mark is the difference between a mean of the cluster's rows and that of all rows, in
standard deviations of all rows: of a number, of "has this value" or of "is missing".
The last two are 1 or 0, with mean p and standard deviation √(p (1 - p)). So all marks
are comparable.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.text import (
    figure,
    number_text,
    percent_text,
    shown,
    weight_text,
)
from spinney.data import Column, Table, Value
from spinney.extensions.clustering.scaling import scaled

SIGNIFICANT = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """A difference between a cluster and all rows.

    Parameters
    ----------
    attribute : str
    kind : {"number", "value", "missing"}
        The mean of a number, the proportion of a value, or that of missing cells.
    in_cluster, overall : float
        The mean or proportion in the cluster, and in all rows.
    difference : float
        in_cluster - overall in standard deviations of all rows; 0 if all rows are
        equal.
    weight_in_cluster, weight_overall : float
        The weights of the rows in the cluster and of all rows, without missing values
        except for ``"missing"``.
    value : str, float or bool, optional
        The value of a proportion.
    unit : str, optional
        The unit of dates.
    """

    attribute: str
    kind: Literal["number", "value", "missing"]
    in_cluster: float
    overall: float
    difference: float
    weight_in_cluster: float
    weight_overall: float
    value: Value | None = None
    unit: str | None = None

    def text(self) -> str:
        """Return the mark as text.

        >>> print(Mark("age", "number", 40.0, 25.0, 1.5, 8.0, 20.0).text())
        age: mean 40 (8 rows) vs. 25 (20 rows), +1.5 sd
        >>> print(Mark("sex", "value", 0.75, 0.5, 0.5, 8.0, 20.0, "f").text())
        sex = f: 6 of 8 (75 %) vs. 10 of 20 (50 %), +0.5 sd
        """
        name = shown(self.attribute)
        difference = f"{self.difference:+.3g} sd"
        if self.kind == "number":
            rows = f"{weight_text(self.weight_in_cluster)} rows"
            all_rows = f"{weight_text(self.weight_overall)} rows"
            return (
                f"{name}: mean {self._mean_text(self.in_cluster)} ({rows}) vs. "
                f"{self._mean_text(self.overall)} ({all_rows}), {difference}"
            )
        condition = f"{name} is missing"
        if self.kind == "value":
            assert self.value is not None
            condition = f"{name} = {shown(self.value)}"
        in_cluster = _proportion_text(self.in_cluster, self.weight_in_cluster)
        overall = _proportion_text(self.overall, self.weight_overall)
        return f"{condition}: {in_cluster} vs. {overall}, {difference}"

    def _mean_text(self, mean: float) -> str:
        if self.unit is None:
            return figure(float(f"{mean:.{SIGNIFICANT}g}"))
        return number_text(round(mean), self.unit)

    def __str__(self) -> str:
        return self.text()


def _proportion_text(proportion: float, weight: float) -> str:
    """Return a proportion with its counts."""
    rows = weight_text(round(proportion * weight, 6))
    return f"{rows} of {weight_text(weight)} ({percent_text(proportion)})"


def cluster_profiles(
    table: Table, codes: Integers, weights: Floats, n_clusters: int
) -> list[tuple[Mark, ...]]:
    """Return the marks of each cluster, the most unusual first.

    An attribute has one mark per cluster, the mean or the value whose proportion
    differs most, and a mark for missing cells if it has any. A cluster without known
    cells has only the mark for missing cells.

    >>> from spinney import read_table
    >>> table = read_table({"size": [1, 2, 7, 8], "hue": ["a", "b", "b", "b"]})
    >>> profiles = cluster_profiles(table, np.array([0, 0, 1, 1]), np.ones(4), 2)
    >>> for mark in profiles[0]:
    ...     print(mark)
    size: mean 1.5 (2 rows) vs. 4.5 (4 rows), -0.986 sd
    hue = a: 1 of 2 (50 %) vs. 1 of 4 (25 %), +0.577 sd
    """
    by_cluster: list[list[Mark]] = [[] for _ in range(n_clusters)]
    for column in table.columns:
        for cluster, marks in enumerate(_marks(column, codes, weights, n_clusters)):
            by_cluster[cluster] += marks
    # Marks that differ by rounding stay in the order of columns.
    return [
        tuple(sorted(marks, key=lambda mark: -round(abs(mark.difference), 9)))
        for marks in by_cluster
    ]


def _marks(
    column: Column, codes: Integers, weights: Floats, n_clusters: int
) -> list[list[Mark]]:
    """Return the marks of an attribute, by cluster."""
    missing = column.missing
    marks: list[list[Mark]] = [[] for _ in range(n_clusters)]
    present = ~missing & (weights > 0)
    if present.any():
        profile = _mean_marks if column.kind == "numeric" else _value_marks
        subset = column.take(present), codes[present], weights[present]
        for listed, mark in zip(marks, profile(*subset, n_clusters), strict=True):
            listed += [] if mark is None else [mark]
    if missing[weights > 0].any():
        in_cluster, overall, sizes = _means(
            missing.astype(float), codes, weights, n_clusters
        )
        differences = _in_deviations(
            in_cluster - overall, np.sqrt(overall * (1 - overall))
        )
        total = float(weights.sum())
        for listed, *means in zip(marks, in_cluster, differences, sizes, strict=True):
            mean, difference, size = map(float, means)
            if size:
                trait = (mean, overall, difference, size, total)
                listed.append(Mark(column.name, "missing", *trait))
    return marks


def _mean_marks(
    column: Column, codes: Integers, weights: Floats, n_clusters: int
) -> list[Mark | None]:
    """Return a mark for the mean of each cluster."""
    cells, power = scaled(column.cells[:, None])
    numbers = cells[:, 0]
    in_cluster, overall, sizes = _means(numbers, codes, weights, n_clusters)
    variance = weights @ (numbers - overall) ** 2 / weights.sum()
    # Equal numbers differ from their mean by a rounding at most.
    flat = numbers.min() == numbers.max()
    differences = _in_deviations(
        in_cluster - overall, 0.0 if flat else np.sqrt(variance)
    )
    mean, total = float(np.ldexp(overall, power)), float(weights.sum())
    means = np.ldexp(in_cluster, power).tolist()
    columns = zip(means, differences.tolist(), sizes.tolist(), strict=True)
    return [
        Mark(column.name, "number", m, mean, d, n, total, unit=column.unit)
        if n > 0
        else None
        for m, d, n in columns
    ]


def _value_marks(
    column: Column, codes: Integers, weights: Floats, n_clusters: int
) -> list[Mark | None]:
    """Return a mark for the value of each cluster whose proportion differs most.

    A more frequent value comes before an equally less frequent one.
    """
    n_values = len(column.levels)
    cells = codes * n_values + column.cells
    counts = np.bincount(cells, weights=weights, minlength=n_clusters * n_values)
    counts = counts.reshape(n_clusters, n_values)
    sizes, total = counts.sum(axis=1), float(weights.sum())
    overall = counts.sum(axis=0) / total
    marks: list[Mark | None] = []
    for row, size in zip(counts, sizes, strict=True):
        if not size > 0:
            marks.append(None)
            continue
        differences = row / size - overall
        ranking = np.abs(differences) + 1e-12 * (differences > 0)
        value = int(np.argmax(ranking >= ranking.max() - 1e-13))
        p = float(overall[value])
        deviation = np.sqrt(max(0.0, p * (1 - p)))
        marks.append(
            Mark(
                column.name,
                "value",
                float(row[value] / size),
                p,
                float(_in_deviations(differences[value], deviation)),
                float(size),
                total,
                value=column.levels[value],
            )
        )
    return marks


def _means(
    numbers: Floats, codes: Integers, weights: Floats, n_clusters: int
) -> tuple[Floats, float, Floats]:
    """Return the means of clusters, the overall mean, and the weights of clusters."""
    sizes = np.bincount(codes, weights=weights, minlength=n_clusters)
    overall = float(weights @ numbers / weights.sum())
    sums = np.bincount(codes, weights=weights * numbers, minlength=n_clusters)
    means = sums / np.where(sizes > 0, sizes, 1.0)
    return means, overall, np.asarray(sizes, dtype=np.float64)


def _in_deviations(differences: Any, deviation: Any) -> Any:
    """Return differences in standard deviations; 0 if the deviation is 0."""
    if not deviation > 0:
        return np.zeros_like(differences)
    return differences / deviation
