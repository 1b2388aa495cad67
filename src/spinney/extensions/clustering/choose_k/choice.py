"""The chosen number of clusters, and the curve of measures by k."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import figure, weight_text
from spinney._support.text_table import in_columns

MEASURES = ("silhouette", "calinski_harabasz", "davies_bouldin", "elbow", "gap")
"""The measures of k clusters in addition to inertia; each is also a rule."""

MIXED_MEASURES = ("silhouette", "elbow")
"""The measures that need no numeric centroids."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The measures of k clusters; None if not measured or undefined."""

    k: int
    inertia: float
    silhouette: float | None = None
    calinski_harabasz: float | None = None
    davies_bouldin: float | None = None
    elbow: float | None = None
    gap: float | None = None
    gap_error: float | None = None


@dataclass(frozen=True, slots=True)
class Choice(InNotebooks):
    """The chosen number of clusters with the reason; ``print`` shows the curve.

    Parameters
    ----------
    k : int
        The number of clusters.
    rule : str
        The rule that chose it, one of ``MEASURES``.
    why : str
        A sentence with the rule and its numbers.
    curve : tuple of CurvePoint
        The measures of each k.
    measures : tuple of str The names of the measures. n_rows : int
        The number of distinct rows with weight.
    weight : float
        The total weight of the rows.
    silhouette_rows : int, optional
        The size of the sample for silhouettes; None if they are exact.
    gap_rows, gap_tables : int, optional
        The rows of a reference table of the gap statistic, and the number of tables.
    n_starts, seed : int
        The number of restarts for each k, and the seed.
    """

    k: int
    rule: str
    why: str
    curve: tuple[CurvePoint, ...]
    measures: tuple[str, ...]
    n_rows: int
    weight: float
    silhouette_rows: int | None
    gap_rows: int | None
    gap_tables: int | None
    n_starts: int
    seed: int

    @property
    def line(self) -> CurvePoint:
        """The measures of the chosen k."""
        return next(line for line in self.curve if line.k == self.k)

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as plain data."""
        return asdict(self)

    def text(self, *, width: int | None = None) -> str:
        """Return the curve and the reason, in blocks of columns if it is too wide."""
        names = ["inertia", *self.measures]
        if "gap" in names:
            names.append("gap_error")
        widest = len(str(self.curve[-1].k))
        marked = [
            f"{'*' if line.k == self.k else ' '}  {line.k:>{widest}}"
            for line in self.curve
        ]
        columns = [["k", *marked]]
        columns += [
            [name, *_number_texts([getattr(line, name) for line in self.curve])]
            for name in names
        ]
        lines = in_columns(columns, width=width, indent=0)
        notes = [self.why, *self._notes()]
        if width is not None:
            notes = [line for note in notes for line in wrap(note, width)]
        return "\n".join([*lines, "", *notes])

    def _notes(self) -> list[str]:
        """Return the numbers of rows and restarts."""
        starts = "1 restart" if self.n_starts == 1 else f"{self.n_starts} restarts"
        rows = "1 row" if self.weight == 1 else f"{weight_text(self.weight)} rows"
        notes = [
            f"{rows}, {self.n_rows} of them distinct; {starts} per k, seed {self.seed}"
        ]
        if self.silhouette_rows is not None:
            notes.append(f"silhouette: from a sample of {self.silhouette_rows} rows")
        if self.gap_rows is not None and self.gap_tables is not None:
            notes.append(
                f"gap: from {self.gap_tables} reference tables of {self.gap_rows} rows"
            )
        return notes


def _number_texts(values: Sequence[float | None]) -> list[str]:
    """Return numbers with so many decimals that the largest has six digits.

    >>> _number_texts([153.25, 2.5, None, float("inf")])
    ['153.250', '2.500', '-', 'infinite']
    """
    finite = [value for value in values if value is not None and np.isfinite(value)]
    largest = max(map(abs, finite), default=0.0)
    plain = 1e-4 <= largest < 1e9
    decimals = min(6, max(0, 5 - int(np.floor(np.log10(largest))))) if plain else 0
    texts = []
    for value in values:
        if value is None:
            texts.append("-")
        elif not np.isfinite(value):
            texts.append("infinite")
        else:
            texts.append(f"{value:.{decimals}f}" if plain else figure(value))
    return texts
