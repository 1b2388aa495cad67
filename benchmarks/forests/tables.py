"""Tables in folds, as every program is to see them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.tables import markers_of
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

__all__ = ["Folded", "folded", "names_of"]


@dataclass(frozen=True)
class Folded:
    """A table whose rows are divided into folds.

    Parameters
    ----------
    name : str
        That of the table.
    frame : DataFrame
        The attributes: floats, and categories, ordered where the attribute is ordinal.
    target : array
        Class codes, or numbers.
    fold : array of int
        The fold in which each row is held out.
    drawn_from : int
        How many rows the table has, of which some may have been drawn.
    """

    name: str
    frame: pd.DataFrame
    target: NDArray[Any]
    fold: NDArray[np.int64]
    drawn_from: int

    @property
    def numeric(self) -> bool:
        """Whether the target is a number."""
        return self.target.dtype.kind == "f"

    @property
    def folds(self) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """Which rows are for growing and which are held out, fold by fold."""
        for number in range(int(self.fold.max()) + 1):
            yield self.fold != number, self.fold == number


def names_of(every: dict[str, dict[str, Any]], task: str, least_rows: int) -> list[str]:
    """Return the tables of a task that are worth a cross-validation."""
    return [
        name
        for name, facts in every.items()
        if facts["task"] == task and facts["rows"] >= least_rows
    ]


def folded(
    folder: Path,
    name: str,
    facts: dict[str, Any],
    *,
    n_folds: int,
    most_rows: int,
    seed: int,
) -> Folded:
    """Read a table and divide its rows; of many rows some are drawn, by class."""
    # Only the marker that the facts name is missing: "NA" may be a category.
    text = pd.read_csv(
        folder / facts["file"],
        dtype=str,
        keep_default_na=False,
        na_values=["", *markers_of(facts)],
    )
    target, draw = facts["target"], np.random.default_rng(seed)
    text = text[text[target].notna()].reset_index(drop=True)
    n_rows = len(text)
    if facts["task"] == "classification":
        codes = text[target].astype("category").cat.codes.to_numpy().astype(np.int64)
        rows = _drawn(codes, most_rows, draw)
        text, labels = text.iloc[rows], codes[rows]
        division: Any = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    else:
        rows = np.sort(draw.permutation(n_rows)[:most_rows])
        text = text.iloc[rows]
        labels = text[target].astype(float).to_numpy()
        division = KFold(n_folds, shuffle=True, random_state=seed)
    fold = np.zeros(len(text), np.int64)
    for number, (_, held_out) in enumerate(division.split(text, labels)):
        fold[held_out] = number
    left_out = {target, *facts["ignore"]}
    frame = pd.DataFrame(
        {
            column: _cells(text[column], facts["types"][column], facts["levels"])
            for column in facts["header"]
            if column not in left_out
        }
    ).reset_index(drop=True)
    return Folded(name, frame, labels, fold, n_rows)


def _drawn(
    codes: NDArray[np.int64], most_rows: int, draw: np.random.Generator
) -> NDArray[np.int64]:
    """Return rows in their order, of each class the same share, at most so many."""
    if len(codes) <= most_rows:
        return np.arange(len(codes))
    share = most_rows / len(codes)
    drawn = []
    for code in range(int(codes.max()) + 1):
        own = np.flatnonzero(codes == code)
        drawn.append(draw.permutation(own)[: round(share * len(own))])
    return np.sort(np.concatenate(drawn))


def _cells(column: "pd.Series[Any]", kind: str, levels: dict[str, Any]) -> Any:
    """Return a column's cells as its kind has them."""
    if kind == "numeric":
        return column.astype(float)
    values = levels[column.name] if kind == "ordinal" else sorted(set(column.dropna()))
    known = [str(value) for value in values]
    return column.astype(pd.CategoricalDtype(known, ordered=kind == "ordinal"))
