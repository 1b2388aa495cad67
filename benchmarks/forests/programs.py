"""Programs that grow forests, each a function from a table in folds to its guesses."""

import math
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.forests.tables import Folded
from numpy.typing import NDArray

__all__ = [
    "Run",
    "Shared",
    "ranger_version",
    "run_ranger",
    "run_sklearn",
    "run_spinney",
]

Guesses = NDArray[Any]
SCRIPT = Path(__file__).with_name("ranger.R")


@dataclass(frozen=True)
class Shared:
    """The settings of all programs."""

    n_trees: int
    seed: int
    n_jobs: int


Run = Callable[[Folded, Shared], Guesses]


def run_spinney(
    table: Folded,
    shared: Shared,
    *,
    root_up: bool = False,
    indicators: bool = False,
    **settings: Any,
) -> Guesses:
    """Return the predictions of Spinney's forest for held-out rows.

    ``root_up`` rounds √p up, ``indicators`` makes a number of every nominal value.
    """
    from spinney import ForestClassifier, ForestRegressor

    rows = pd.DataFrame(_indicators(table.frame)) if indicators else table.frame
    if root_up:
        settings["max_features"] = math.ceil(math.sqrt(rows.shape[1]))
    kind: Any = ForestRegressor if table.numeric else ForestClassifier
    model = kind(
        shared.n_trees, random_state=shared.seed, n_jobs=shared.n_jobs, **settings
    )
    return _by_fold(table, rows, model)


def run_sklearn(table: Folded, shared: Shared, **settings: Any) -> Guesses:
    """Return the predictions of scikit-learn's forest from indicators.

    Missing numbers stay missing, a missing category is one more indicator.
    """
    from sklearn import ensemble

    kind: Any = (
        ensemble.RandomForestRegressor
        if table.numeric
        else ensemble.RandomForestClassifier
    )
    model = kind(
        shared.n_trees, random_state=shared.seed, n_jobs=shared.n_jobs, **settings
    )
    return _by_fold(table, _indicators(table.frame), model)


def _by_fold(table: Folded, rows: Any, model: Any) -> Guesses:
    """Return held-out predictions of a model that is fitted fold by fold."""
    found = np.zeros_like(table.target)
    for inside, held_out in table.folds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(rows[inside], table.target[inside])
            found[held_out] = model.predict(rows[held_out])
    return found


def _indicators(frame: pd.DataFrame) -> NDArray[np.float32]:
    """Return numbers: codes of ordinals, an indicator for each category and missing."""
    columns: list[Any] = []
    for name in frame:
        cells = frame[name]
        if cells.dtype.name != "category":
            columns.append(cells.to_numpy(float))
            continue
        codes = cells.cat.codes.to_numpy()
        if cells.cat.ordered:
            columns.append(np.where(codes < 0, np.nan, codes.astype(float)))
        else:
            columns += [codes == code for code in np.unique(codes)]
    return np.column_stack(columns).astype(np.float32)


@cache
def ranger_version() -> str | None:
    """Return the version of R's package ranger; None where there is none."""
    try:
        done = subprocess.run(
            ["Rscript", str(SCRIPT)], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def run_ranger(table: Folded, shared: Shared, factors: str = "ignore") -> Guesses:
    """Return what ranger says; ``factors`` is its ``respect.unordered.factors``."""
    columns: dict[str, Any] = {}
    for place, name in enumerate(table.frame):
        cells = table.frame[name]
        if cells.dtype.name != "category":
            columns[f"n{place}"] = cells.to_numpy()
        elif cells.cat.ordered:
            codes = cells.cat.codes.to_numpy()
            columns[f"n{place}"] = np.where(codes < 0, np.nan, codes.astype(float))
        else:
            columns[f"c{place}"] = cells.cat.codes.to_numpy()
    columns["number" if table.numeric else "target"] = table.target
    columns["fold"] = table.fold
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "rows.csv", Path(folder) / "found.csv"
        pd.DataFrame(columns).to_csv(given, index=False)
        subprocess.run(
            [
                "Rscript",
                str(SCRIPT),
                str(given),
                str(found),
                str(shared.n_trees),
                str(shared.seed),
                factors,
                str(shared.n_jobs),
            ],
            check=True,
            capture_output=True,
        )
        said = pd.read_csv(found)["found"].to_numpy()
    return np.asarray(said.astype(table.target.dtype))
