"""The tables that programs are timed on.

Made numbers, three small tables of scikit-learn, and three large ones from a folder
(``--data`` or the variable ``SPINNEY_DATA``) whose ``schema.json`` is read by
:mod:`benchmarks.tables`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.tables import facts_of, markers_of

__all__ = [
    "DELAYED",
    "AbsentError",
    "Data",
    "bundled",
    "covertype",
    "frame_and_target",
    "made",
    "mixed",
]

# A fifth of the rows is held out.
HELD_OUT = 5

# The class of airlines_3m: a delay of more than so many minutes.
DELAYED = 15


class AbsentError(Exception):
    """A table that is not there; the message says where it was sought."""


@dataclass(frozen=True)
class Data:
    """Training rows and held-out rows.

    Parameters
    ----------
    cells, held_cells : array or data frame
        The attributes: numbers, or a data frame with categorical columns.
    labels, held_labels : array
        Classes as whole numbers from 0, or the numbers to learn.
    n_classes : int
        How many classes; 0 where the label is a number.
    part : Data, optional
        Where ``cells`` are all rows of a table: those to judge by, of which some are
        held out.
    """

    cells: Any
    labels: np.ndarray
    held_cells: Any
    held_labels: np.ndarray
    n_classes: int
    part: "Data | None" = None

    @property
    def n_bytes(self) -> int:
        """How large the attributes are."""
        if isinstance(self.cells, np.ndarray):
            return int(self.cells.nbytes)
        return int(self.cells.memory_usage(index=False).sum())


def made(n_rows: int, n_columns: int, n_classes: int, seed: int = 0) -> Data:
    """Make numeric rows whose label a tree can learn in part; 0 classes: a number."""
    random = np.random.default_rng(seed)
    cells = random.normal(size=(n_rows + n_rows // HELD_OUT, n_columns))
    cells = cells.astype(np.float32)
    score = 1.5 * cells[:, 0] + cells[:, 1] * cells[:, 2] + np.sin(3 * cells[:, 3])
    score += 0.5 * (cells[:, 4] > 0.3) * cells[:, 5] + random.normal(size=len(cells))
    labels: np.ndarray = score.astype(np.float64)
    if n_classes:
        edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
        labels = np.searchsorted(edges, score)
    return Data(
        cells[:n_rows].copy(),
        labels[:n_rows],
        cells[n_rows:].copy(),
        labels[n_rows:],
        n_classes,
    )


def bundled(name: str) -> Data:
    """Return a table that scikit-learn brings along."""
    from sklearn import datasets

    cells, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    return _parted(cells.astype(np.float32), labels)


def covertype(folder: Path | None, most_rows: int | None) -> Data:
    """Return covertype as numbers, its 0/1 columns too; all rows are timed."""
    frame, facts = _read(folder, "covertype", most_rows)
    labels = _codes(frame.pop(facts["target"]))
    cells = np.ascontiguousarray(frame.to_numpy(dtype=np.float32))
    part = _parted(cells, labels)
    return Data(
        cells, labels, part.held_cells, part.held_labels, part.n_classes, part=part
    )


def mixed(name: str, folder: Path | None, most_rows: int | None) -> Data:
    """Return a table with nominal columns; a number to learn becomes two classes."""
    frame, target = frame_and_target(name, folder, most_rows)
    if target.dtype.kind == "f":
        target = (target > DELAYED).astype(np.int64)
    return _parted(frame, target)


def frame_and_target(
    name: str, folder: Path | None, most_rows: int | None
) -> tuple[Any, np.ndarray]:
    """Return all rows, as a data frame of categories and floats, and their target.

    Classes are whole numbers from 0; a number to learn is a float.
    """
    frame, facts = _read(folder, name, most_rows)
    import pandas

    target = frame.pop(facts["target"])
    if facts["task"] == "regression":
        labels = target.to_numpy(dtype=np.float64)
    else:
        labels = _codes(target)
    for column in frame.columns:
        kind = facts["types"][column]
        if kind == "numeric":
            frame[column] = frame[column].astype(np.float64)
            continue
        levels = facts["levels"][column] if kind == "ordinal" else None
        texts = frame[column].astype(object)
        texts = texts.where(texts.isna(), texts.astype(str))
        frame[column] = pandas.Categorical(
            texts, categories=levels, ordered=kind == "ordinal"
        )
    return frame.drop(columns=facts["ignore"]), labels


def _read(folder: Path | None, name: str, most_rows: int | None) -> tuple[Any, Any]:
    """Return a table of the folder, at most so many of its rows, and its facts."""
    if folder is None:
        msg = f"{name} is left out: name the folder that has it, --data or SPINNEY_DATA"
        raise AbsentError(msg)
    facts = facts_of(folder).get(name)
    if facts is None or not (folder / facts["file"]).is_file():
        msg = f"{name} is left out: it is not in {folder}"
        raise AbsentError(msg)
    try:
        import pandas
    except ImportError:
        msg = f"{name} is left out: reading it needs pandas (pip install -e '.[bench]')"
        raise AbsentError(msg) from None
    markers = ["", *markers_of(facts)]
    frame = pandas.read_csv(
        folder / facts["file"], na_values=markers, keep_default_na=False
    )
    if most_rows is not None and most_rows < len(frame):
        chosen = np.random.default_rng(0).permutation(len(frame))[:most_rows]
        frame = frame.iloc[np.sort(chosen)].reset_index(drop=True)
    return frame, facts


def _codes(labels: Any) -> np.ndarray:
    """Return classes as whole numbers from 0, in the order of their values."""
    _, codes = np.unique(np.asarray(labels), return_inverse=True)
    return codes.astype(np.int64)


def _parted(cells: Any, labels: np.ndarray) -> Data:
    """Hold out a fifth of the rows, drawn by a fixed seed."""
    order = np.random.default_rng(0).permutation(len(labels))
    n_held = len(labels) // HELD_OUT
    held, kept = np.sort(order[:n_held]), np.sort(order[n_held:])
    if hasattr(cells, "iloc"):
        held_cells = cells.iloc[held].reset_index(drop=True)
        kept_cells = cells.iloc[kept].reset_index(drop=True)
    else:
        held_cells, kept_cells = cells[held], cells[kept]
    n_classes = int(labels.max()) + 1
    return Data(kept_cells, labels[kept], held_cells, labels[held], n_classes)
