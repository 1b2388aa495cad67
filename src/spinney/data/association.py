"""Association of columns of any kinds.

============  ==================  ===================  ==================
              numeric             ordinal              nominal
============  ==================  ===================  ==================
numeric       Pearson's r         Spearman's ρ         correlation ratio η
ordinal       Spearman's ρ        Spearman's ρ         η of the ranks
nominal       correlation ratio   η of the ranks       Cramér's V
============  ==================  ===================  ==================

r and ρ range from −1 to 1, the other measures from 0 to 1. An ordinal column is
replaced by its ranks; ρ is r of ranks, with mean ranks for ties. The *correlation
ratio* is √(variance between groups / total variance) for the groups of a nominal
column; on ranks, its square is Kruskal and Wallis's H over n − 1. *Cramér's V* is √(χ²
/ (n · (k − 1))), where k is the smaller number of values; without bias correction, V is
too high for columns of many values and few rows.

A pair uses the rows with both cells known, and their weights: a row of weight 2 is two
rows. If one of the columns has a single value in these rows, the association is NaN.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_number
from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import shown
from spinney._support.text_table import aligned, in_columns
from spinney._support.ties import TOLERANCE
from spinney.data.table import Column

PEARSON, SPEARMAN = "Pearson's r", "Spearman's rho"
RATIO, CRAMER = "correlation ratio", "Cramér's V"
N_PAIRS = 10  # pairs shown
THRESHOLD = 0.7


@dataclass(frozen=True, slots=True, eq=False)
class Association(InNotebooks):
    """The pairwise associations of columns; ``print`` shows a table.

    Parameters
    ----------
    names, kinds : tuples of str
        The columns and their kinds.
    values : array, columns × columns
        The association of each pair; NaN if a column has a single value.
    rows : array, columns × columns
        The number of rows with both cells known.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    values: Floats
    rows: Integers

    def measure(self, first: int, second: int) -> str:
        """Return the name of the measure for two columns."""
        return measure_of(self.kinds[first], self.kinds[second])

    def pairs(self, max_pairs: int | None = None) -> list[tuple[str, str, float, str]]:
        """Return pairs of columns with association and measure, strongest first."""
        pairs = [
            (first, second)
            for first, second in combinations(range(len(self.names)), 2)
            if not np.isnan(self.values[first, second])
        ]
        pairs.sort(key=lambda pair: (-abs(self.values[pair]), pair))
        return [
            (
                self.names[first],
                self.names[second],
                float(self.values[first, second]),
                self.measure(first, second),
            )
            for first, second in pairs[:max_pairs]
        ]

    def groups(self, threshold: float = THRESHOLD) -> list[tuple[int, ...]]:
        """Return groups of columns with pairwise associations of at least a threshold.

        Complete linkage: the two groups with the greatest minimum association are
        merged first. Each column is in one group, often alone.
        """
        from scipy.cluster.hierarchy import fcluster, linkage
        from scipy.spatial.distance import squareform

        check_number("threshold", threshold, most=1.0)
        n = len(self.names)
        if n < 2:
            return [(column,) for column in range(n)]
        distance = 1.0 - np.abs(np.nan_to_num(self.values))
        np.fill_diagonal(distance, 0.0)
        tree = linkage(squareform(distance, checks=False), "complete")
        labels = fcluster(tree, 1.0 - threshold + TOLERANCE, "distance")
        by_label: dict[int, list[int]] = {}
        for column, label in enumerate(labels.tolist()):
            by_label.setdefault(label, []).append(column)
        return [tuple(columns) for columns in by_label.values()]

    def least(self, columns: Sequence[int]) -> float | None:
        """Return the minimum association within a group; None for a single column."""
        found = [abs(self.values[pair]) for pair in combinations(columns, 2)]
        return float(min(found)) if found else None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data; None for an unknown association."""
        return {
            "columns": [
                {"name": name, "kind": kind}
                for name, kind in zip(self.names, self.kinds, strict=True)
            ],
            "values": [
                [None if np.isnan(value) else value for value in line]
                for line in self.values.tolist()
            ],
            "rows": self.rows.tolist(),
            "pairs": [
                {"columns": [first, second], "association": value, "measure": measure}
                for first, second, value, measure in self.pairs()
            ],
        }

    def text(self, *, ascii_only: bool = False, width: int | None = None) -> str:
        """Return the table, and the strongest pairs with their measures."""
        numbers = range(1, len(self.names) + 1)
        labels = [
            f"{n} {shown(name)}" for n, name in zip(numbers, self.names, strict=True)
        ]
        wide = max(map(len, labels), default=0)
        columns = [["", *labels]]
        columns[0] = [label.ljust(wide) for label in columns[0]]
        for n, line in zip(numbers, self.values.T, strict=True):
            columns.append([str(n), *map(_cell_text, line)])
        lines = in_columns(columns, width=width, indent=0)
        strongest = self.pairs(N_PAIRS)
        if strongest:
            rows = [
                (f"  {shown(first)}, {shown(second)}", f"{value:.4f}", measure)
                for first, second, value, measure in strongest
            ]
            lines += ["", "the strongest pairs", *aligned(rows, left=(0, 2))]
        text = "\n".join(lines)
        return text.replace("é", "e") if ascii_only else text


def _cell_text(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def measure_of(first: str, second: str) -> str:
    """Return the name of the measure for two kinds of columns.

    >>> measure_of("numeric", "nominal")
    'correlation ratio'
    """
    kinds = {first, second}
    if kinds == {"numeric"}:
        return PEARSON
    if "nominal" not in kinds:
        return SPEARMAN
    return CRAMER if kinds == {"nominal"} else RATIO


def association_of(
    columns: Sequence[Column], weights: Floats | None = None
) -> Association:
    """Return the pairwise associations of columns.

    >>> size = Column("size", "numeric", np.array([1.0, 2.0, 3.0, 5.0]))
    >>> price = Column("price", "numeric", np.array([2.0, 4.0, 6.0, 10.0]))
    >>> sort = Column("sort", "nominal", np.array([0, 0, 1, 1]), ("a", "b"))
    >>> association_of([size, price, sort]).values.round(3)
    array([[1.   , 1.   , 0.845],
           [1.   , 1.   , 0.845],
           [0.845, 0.845, 1.   ]])
    """
    n, n_rows = len(columns), len(columns[0].cells) if columns else 0
    row_weights = np.ones(n_rows) if weights is None else weights
    is_present = np.array(
        [_present_cells(column) & (row_weights > 0) for column in columns]
    )
    is_present = is_present.reshape(n, n_rows)
    present = is_present.astype(np.float64)
    rows = np.rint(present @ present.T).astype(np.int64)
    values = np.full((n, n), np.nan)
    numeric = np.array([column.kind == "numeric" for column in columns], bool)
    complete = np.flatnonzero(
        numeric & (is_present | (row_weights == 0)).all(axis=1)
    ).tolist()
    if complete and row_weights.any():
        cells = np.array([columns[index].cells[row_weights > 0] for index in complete])
        values[np.ix_(complete, complete)] = _pearson(
            cells, row_weights[row_weights > 0]
        )
    for first, second in combinations(range(n), 2):
        if not {first, second} <= set(complete):
            rows_of_pair = is_present[first] & is_present[second]
            pair = columns[first].take(rows_of_pair), columns[second].take(rows_of_pair)
            values[first, second] = values[second, first] = _pair_association(
                *pair, row_weights[rows_of_pair]
            )
    for index, column in enumerate(columns):
        distinct = np.unique(column.cells[is_present[index]])
        values[index, index] = 1.0 if len(distinct) > 1 else np.nan
    return Association(
        tuple(column.name for column in columns),
        tuple(column.kind for column in columns),
        values,
        rows,
    )


def _present_cells(column: Column) -> NDArray[np.bool_]:
    if column.kind == "numeric":
        return np.isfinite(column.cells)
    return np.asarray(column.cells >= 0)


def _pearson(cells: Floats, weights: Floats) -> Floats:
    """Return Pearson's r of all pairs of lines, without missing numbers.

    Numbers are standardised, so that sums of squares lose no digits.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        numbers = cells / np.abs(cells).max(axis=1, keepdims=True)
        numbers -= np.average(numbers, axis=1, weights=weights)[:, None]
        numbers /= np.sqrt(np.average(numbers**2, axis=1, weights=weights))[:, None]
    numbers[np.ptp(cells, axis=1) == 0] = np.nan
    r = (numbers * weights) @ numbers.T / weights.sum()
    return np.asarray(np.clip(r, -1.0, 1.0))


def _pair_association(one: Column, other: Column, weights: Floats) -> float:
    """Return the association of two columns without missing cells."""
    if not len(weights):
        return float("nan")
    if one.kind == other.kind == "nominal":
        return _cramer(one.cells, other.cells, weights)
    if "nominal" not in (one.kind, other.kind):
        cells = [each.cells for each in (one, other)]
        if "ordinal" in (one.kind, other.kind):
            cells = [_ranks(each, weights) for each in cells]
        return float(_pearson(np.array(cells, np.float64), weights)[0, 1])
    groups, numbers = (one, other) if one.kind == "nominal" else (other, one)
    if numbers.kind == "ordinal":
        return _ratio(groups.cells, _ranks(numbers.cells, weights), weights)
    return _ratio(groups.cells, numbers.cells, weights)


def _ranks(cells: NDArray[Any], weights: Floats) -> Floats:
    """Return ranks by weight; ties share their mean rank."""
    _, values = np.unique(cells, return_inverse=True)
    value_weights = np.bincount(values, weights)
    return np.asarray((value_weights.cumsum() - value_weights / 2)[values])


def _ratio(groups: NDArray[Any], numbers: Floats, weights: Floats) -> float:
    """Return the correlation ratio of numbers by group."""
    sizes = np.bincount(groups, weights)
    is_used = sizes > 0
    if np.count_nonzero(is_used) < 2 or np.ptp(numbers) == 0:
        return float("nan")
    numbers = numbers / np.abs(numbers).max()
    numbers = numbers - np.average(numbers, weights=weights)
    sums = np.bincount(groups, weights * numbers)
    between = float((sums[is_used] ** 2 / sizes[is_used]).sum())
    return float(np.sqrt(min(1.0, between / float(weights @ numbers**2))))


def _cramer(first: Integers, second: Integers, weights: Floats) -> float:
    """Return Cramér's V of two columns of codes."""
    from scipy.stats import chi2_contingency

    width = int(second.max()) + 1
    counts = np.bincount(
        first * width + second, weights, (int(first.max()) + 1) * width
    )
    table = counts.reshape(-1, width)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    n_fewer = min(table.shape)
    if n_fewer < 2:
        return float("nan")
    chi_square = float(chi2_contingency(table, correction=False).statistic)
    return float(np.sqrt(min(1.0, chi_square / (table.sum() * (n_fewer - 1)))))
