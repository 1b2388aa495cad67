"""The tables of everyday: from scikit-learn, from a folder, or made."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.speed.data import AbsentError, covertype, frame_and_target

__all__ = ["FILES", "TABLES", "Table", "with_missing"]

MISSING_SHARE = 0.05


@dataclass(frozen=True)
class Table:
    """A table: how it is read from the folder of tables, its size and its classes.

    ``n_classes`` is 0 where the target is a number. scikit-learn takes tables of
    ``numbers`` alone.
    """

    read: Callable[[Path | None], tuple[Any, np.ndarray]]
    n_rows: int
    n_classes: int
    numbers: bool = True


def bundled(name: str, _: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Return all rows of a table that scikit-learn brings along."""
    from sklearn import datasets

    cells, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    return cells, labels


def mixed(name: str, most_rows: int | None, folder: Path | None) -> tuple[Any, Any]:
    """Return a table of the folder, as a data frame with categories."""
    return frame_and_target(name, folder, most_rows)


def covertype_rows(n_rows: int, folder: Path | None) -> tuple[Any, np.ndarray]:
    """Return rows of covertype, all columns as numbers."""
    data = covertype(folder, n_rows)
    return data.cells, data.labels


def made(n_classes: int, _: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Make 50,000 rows of 20 numbers."""
    from sklearn import datasets

    shape = {"n_samples": 50_000, "n_features": 20, "n_informative": 10}
    if n_classes:
        return datasets.make_classification(**shape, random_state=0)
    return datasets.make_regression(**shape, noise=10.0, random_state=0)


def made_wide(n_values: int, _: Path | None) -> tuple[Any, np.ndarray]:
    """Make 200,000 rows of 8 columns, one of them nominal if it is to have values."""
    random = np.random.default_rng(0)
    cells = random.normal(size=(200_000, 8))
    names = random.integers(max(1, n_values), size=len(cells))
    score = cells[:, 0] + cells[:, 1] * cells[:, 2] + np.sin(names)
    labels = (score + random.normal(size=len(cells)) > 0).astype(np.int64)
    if not n_values:
        return cells, labels
    import pandas

    frame = pandas.DataFrame(cells[:, 1:]).add_prefix("x")
    frame["name"] = pandas.Categorical([f"v{name}" for name in names])
    return frame, labels


TABLES = {
    "iris": Table(partial(bundled, "iris"), 150, 3),
    "breast cancer": Table(partial(bundled, "breast_cancer"), 569, 2),
    "digits": Table(partial(bundled, "digits"), 1_797, 10),
    "credit_g": Table(partial(mixed, "credit_g", None), 1_000, 2, numbers=False),
    "adult": Table(partial(mixed, "adult", None), 48_842, 2, numbers=False),
    "covertype": Table(partial(covertype_rows, 50_000), 50_000, 7),
    "diabetes": Table(partial(bundled, "diabetes"), 442, 0),
    "adult, 800 rows": Table(partial(mixed, "adult", 800), 800, 2, numbers=False),
    "50,000 × 20": Table(partial(made, 2), 50_000, 2),
    "50,000 × 20, a number": Table(partial(made, 0), 50_000, 0),
    "200,000 × 8": Table(partial(made_wide, 0), 200_000, 2),
    "200,000 × 8, 500 names": Table(partial(made_wide, 500), 200_000, 2, numbers=False),
}


def with_missing(cells: Any) -> Any:
    """Return cells of which some are missing, drawn by a fixed seed."""
    gone = np.random.default_rng(0).random(cells.shape) < MISSING_SHARE
    return (
        np.where(gone, np.nan, cells)
        if isinstance(cells, np.ndarray)
        else cells.mask(gone)
    )


def credit_a(_: Path, folder: Path | None) -> Path:
    """Return the file of credit_a."""
    file = (folder or Path()) / "credit_a.csv"
    if folder is None or not file.is_file():
        where = f"it is not in {folder}" if folder else "name its folder, --data"
        msg = f"credit_a is left out: {where}"
        raise AbsentError(msg)
    return file


def made_credit(scratch: Path, _: Path | None) -> Path:
    """Write a table as credit_a is: 690 rows, six numbers, nine names, some missing."""
    random = np.random.default_rng(0)
    numbers = random.lognormal(size=(690, 6)).round(2)
    values = (2, 3, 3, 14, 9, 2, 2, 2, 3)
    codes = np.column_stack([random.integers(n, size=690) for n in values])
    score = numbers[:, 0] - numbers[:, 1] + 2 * codes[:, 5] + random.normal(size=690)
    file = scratch / "made_credit.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([*(f"A{n}" for n in range(1, 16)), "class"])
        for amounts, names, good in zip(numbers, codes, score > 1, strict=True):
            row = [*amounts, *(f"v{name}" for name in names)]
            kept = ["" if random.random() < 0.006 else cell for cell in row]
            writer.writerow([*kept, "+" if good else "-"])
    return file


def one_flower(scratch: Path, _: Path | None) -> Path:
    """Write a row of iris, and beside it the default tree of all of them."""
    from sklearn.datasets import load_iris

    import spinney

    iris = load_iris()
    names = [name.removesuffix(" (cm)") for name in iris.feature_names]
    columns = dict(zip(names, iris.data.T, strict=True))
    species = iris.target_names[iris.target]
    file = scratch / "one_flower.csv"
    spinney.grow(columns | {"species": species}, target="species").save(
        file.with_suffix(".csv.spinney")
    )
    cells = (str(cell) for cell in iris.data[0])
    file.write_text(f"{','.join(names)}\n{','.join(cells)}\n", encoding="utf-8")
    return file


FILES = {
    "credit_a": credit_a,
    "made like credit_a": made_credit,
    "one row of iris": one_flower,
}
