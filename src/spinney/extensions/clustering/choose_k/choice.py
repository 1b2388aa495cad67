"""The number of clusters that a rule chose, and the curve that it chose from."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import figure, weight_text
from spinney._support.text_table import in_columns

MEASURES = ("silhouette", "calinski_harabasz", "davies_bouldin", "elbow", "gap")
"""What a line may tell of k clusters beside their inertia; each is a rule, too."""

MIXED_MEASURES = ("silhouette", "elbow")
"""Those that need no centroid of numbers."""

NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Line:
    """What was measured of k clusters; None where it was not, or means nothing.

    Parameters
    ----------
    k : int
    inertia : float
        The weighted sum of squared distances to the centroids.
    silhouette, calinski_harabasz, davies_bouldin : float, optional
        See :mod:`spinney.extensions.clustering.choose_k.cluster_measures`.
    elbow : float, optional
        How far the normalised curve of inertia is from the diagonal, see
        :mod:`spinney.extensions.clustering.choose_k.choice_rules`.
    gap, gap_error : float, optional
        The gap statistic and its standard error, see
        :mod:`spinney.extensions.clustering.choose_k.gap`.
    """

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
    """A number of clusters, and why; ``print`` shows the curve.

    Parameters
    ----------
    k : int
        The number of clusters.
    rule : str
        The rule that chose it, one of ``MEASURES``.
    why : str
        A sentence: which rule decided, by which numbers.
    curve : tuple of Line
        What was measured, one line for each k that was tried.
    measures : tuple of str
        Those of the curve.
    n_rows : int
        How many different rows of weight there are; equal rows are one.
    weight : float
        What all rows weigh: how many there are, where none has a weight.
    silhouette_rows : int, optional
        Of how many rows the silhouettes are, where that is a sample; else None.
    gap_rows, gap_tables : int, optional
        How many rows each reference table of the gap statistic has, and how many tables
        there are.
    n_starts, seed : int
        How many starts k-means had for each k, and what was drawn by.
    """

    k: int
    rule: str
    why: str
    curve: tuple[Line, ...]
    measures: tuple[str, ...]
    n_rows: int
    weight: float
    silhouette_rows: int | None
    gap_rows: int | None
    gap_tables: int | None
    n_starts: int
    seed: int

    @property
    def line(self) -> Line:
        """The line of the number of clusters that was chosen."""
        return next(line for line in self.curve if line.k == self.k)

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as plain data."""
        return asdict(self)

    def text(self, *, width: int | None = None) -> str:
        """Return the curve and the reason, in lines no wider than this if it is given.

        Where a line has no room for all measures, blocks of them follow each other.
        """
        names = ["inertia", *self.measures]
        if "gap" in names:
            names.append("gap_error")
        ks = self._cells("k")
        widest = max(map(len, ks))
        marked = [
            f"{'*' if line.k == self.k else ' '}  {k.rjust(widest)}"
            for line, k in zip(self.curve, ks, strict=True)
        ]
        columns = [["k", *marked], *([name, *self._cells(name)] for name in names)]
        lines = in_columns(columns, width=width, indent=0)
        notes = [self.why, *self._notes()]
        if width is not None:
            notes = [line for each in notes for line in wrap(each, width)]
        return "\n".join([*lines, "", *notes])

    def _cells(self, name: str) -> list[str]:
        """Return the texts of a column."""
        values = [getattr(line, name) for line in self.curve]
        return [str(k) for k in values] if name == "k" else _texts(values)

    def _notes(self) -> list[str]:
        """Return what the numbers are of."""
        starts = "1 start" if self.n_starts == 1 else f"{self.n_starts} starts"
        rows = "1 row" if self.weight == 1 else f"{weight_text(self.weight)} rows"
        notes = [
            f"{rows}, {self.n_rows} of them different; "
            f"{starts} for each k, seed {self.seed}"
        ]
        if self.silhouette_rows is not None:
            notes.append(f"silhouette: of a sample of {self.silhouette_rows} rows")
        if self.gap_rows is not None and self.gap_tables is not None:
            notes.append(
                f"gap: beside {self.gap_tables} reference tables of {self.gap_rows} "
                "rows each"
            )
        return notes


def _texts(values: Sequence[float | None]) -> list[str]:
    """Return numbers with as many decimals as give the largest of them six digits.

    >>> _texts([153.25, 2.5, None, float("inf")])
    ['153.250', '2.500', '-', 'infinite']
    """
    known = [value for value in values if value is not None and np.isfinite(value)]
    largest = max(map(abs, known), default=0.0)
    plain = 1e-4 <= largest < 1e9
    decimals = min(6, max(0, 5 - int(np.floor(np.log10(largest))))) if plain else 0
    texts = []
    for value in values:
        if value is None:
            texts.append(NOTHING)
        elif not np.isfinite(value):
            texts.append("infinite")
        else:
            texts.append(f"{value:.{decimals}f}" if plain else figure(value))
    return texts
