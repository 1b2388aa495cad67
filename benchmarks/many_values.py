"""Nominal columns of many values: what they cost forests and the default recipe.

    python -m benchmarks.many_values --data FOLDER [--only noise,informative,...]

Six kinds of tables, all with fixed seeds and the same stratified folds for everybody:

noise
    2,000 rows of five numbers that tell the target, and two nominal columns of k
    values that tell nothing; two classes, three classes, a number.
informative
    the same, where each value of the two columns shifts the target by an amount of its
    own.
strong
    the same with shifts three times as large.
develop
    tables of ``benchmarks.recipes.DEVELOP``, with two columns of noise planted.
small
    540 rows, nominal columns of 429, 296 and 71 values, three numbers of which one
    tells the target.
plain
    tables of DEVELOP as they are.

Columns of the printed table: Spinney's forest and its out-of-bag score, the default
recipe ``auto``, both without the nominal columns that were planted, LightGBM, which
takes categories as they are, and scikit-learn's forest on their codes. Accuracy in
percent, or R² of a number. LightGBM must be installed (the extra ``bench``).
"""

import argparse
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.forests.tables import folded
from benchmarks.recipes import DEVELOP, DEVELOP_NUMBERS, RESERVED, RESERVED_NUMBERS
from benchmarks.tables import facts_of
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import KFold, StratifiedKFold

import spinney

N_VALUES = (20, 100, 400, 800)
SHIFTS = {"noise": 0.0, "informative": 1.0, "strong": 3.0}
"""How much a value of a planted column shifts the target, in standard deviations."""
TARGETS = ("2 classes", "3 classes", "number")
KINDS = ("noise", "informative", "strong", "develop", "small", "plain")
PROGRAMS = (
    *("forest", "oob", "auto", "forest without", "auto without"),
    *("lightgbm", "sklearn"),
)


@dataclass(frozen=True)
class Planted:
    """A table, its target, and the columns that were planted.

    Parameters
    ----------
    name : str
        That of the table.
    frame : DataFrame
        The attributes.
    target : array
        Class codes, or numbers.
    planted : tuple of str
        Columns of many values.
    shared : str
        Tables of the same text are equal without the columns that were planted.
    """

    name: str
    frame: pd.DataFrame
    target: NDArray[Any]
    planted: tuple[str, ...] = ()
    shared: str = ""

    @property
    def numeric(self) -> bool:
        """Whether the target is a number."""
        return self.target.dtype.kind == "f"

    def without(self) -> "Planted":
        """Return the table without the columns that were planted."""
        return Planted(self.name, self.frame.drop(columns=[*self.planted]), self.target)


def noise_column(draw: np.random.Generator, n_rows: int, n_values: int) -> Any:
    """Return a nominal column of so many values, drawn without regard to anything."""
    codes = draw.integers(0, n_values, n_rows)
    return pd.Categorical.from_codes(codes, [f"v{code}" for code in range(n_values)])


def all_values(draw: np.random.Generator, n_rows: int, n_values: int) -> Any:
    """Return a nominal column in which each of so many values occurs."""
    column = noise_column(draw, n_rows, n_values)
    codes = draw.permutation([*range(n_values), *column.codes[n_values:]])
    return pd.Categorical.from_codes(codes, column.categories)


def made(kind: str, task: str, n_values: int, *, n_rows: int = 2000) -> Planted:
    """Return a made table of five numbers that count and two nominal columns."""
    draw = np.random.default_rng(7)
    numbers = draw.normal(size=(n_rows, 5))
    score = numbers @ [1.0, 0.8, 0.6, 0.5, 0.4] + 0.8 * numbers[:, 0] * numbers[:, 1]
    noise = draw.normal(size=n_rows)
    nominal = np.random.default_rng(n_values)
    columns = {f"c{i}": noise_column(nominal, n_rows, n_values) for i in range(2)}
    if SHIFTS[kind]:
        for column in columns.values():
            shifts = SHIFTS[kind] * nominal.normal(size=n_values)
            score = score + shifts[column.codes]
    score = score + noise
    target: NDArray[Any] = score
    if task != "number":
        n_classes = int(task[0])
        cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
        target = np.searchsorted(cuts, score)
    frame = pd.DataFrame({f"x{i}": numbers[:, i] for i in range(5)} | columns)
    name = f"{kind}, {task}, {n_values}"
    shared = f"{kind} {task}" if kind == "noise" else ""
    return Planted(name, frame, target, tuple(columns), shared)


def small_table() -> Planted:
    """Return a table of few rows and useful numbers, and three nominal columns."""
    draw, n_rows = np.random.default_rng(11), 540
    numbers = draw.normal(size=(n_rows, 4))
    columns = {f"c{k}": all_values(draw, n_rows, k) for k in (429, 296, 71)}
    shift = 0.5 * draw.normal(size=71)[columns["c71"].codes]
    score = 2 * numbers[:, 0] + 0.7 * numbers[:, 1] + shift + draw.normal(size=n_rows)
    frame = pd.DataFrame({f"x{i}": numbers[:, i] for i in range(4)} | columns)
    return Planted("small", frame, (score > 0).astype(np.int64), tuple(columns))


def table_of(folder: Path, name: str, n_values: int | None) -> Planted:
    """Return a table of the folder, with columns of noise if values are given."""
    facts = facts_of(folder)[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = folded(folder, name, facts, n_folds=5, most_rows=2000, seed=7)
    if n_values is None:
        return Planted(name, table.frame, table.target)
    draw = np.random.default_rng(n_values)
    columns = {
        f"planted{i}": noise_column(draw, len(table.frame), n_values) for i in range(2)
    }
    frame = pd.concat([table.frame, pd.DataFrame(columns)], axis=1)
    return Planted(f"{name}, {n_values}", frame, table.target, tuple(columns), name)


def tables_of(folder: Path, kinds: list[str]) -> Iterator[Planted]:
    """Give the tables of some kinds."""
    for kind in SHIFTS:
        if kind in kinds:
            for task in TARGETS:
                yield from (made(kind, task, n_values) for n_values in N_VALUES)
    if "develop" in kinds:
        for name in ("heart_c", "diabetes", "credit_g", "vehicle", "auto_mpg"):
            yield from (table_of(folder, name, n_values) for n_values in (20, 200))
    if "small" in kinds:
        yield small_table()
    if "plain" in kinds:
        for name in (*DEVELOP, *DEVELOP_NUMBERS):
            yield table_of(folder, name, None)
    if "reserved" in kinds:
        for name in (*RESERVED, *RESERVED_NUMBERS):
            yield table_of(folder, name, None)


Fit = Callable[[Planted, NDArray[np.int64], NDArray[np.int64]], tuple[Any, float]]


def fit_forest(table: Planted, inside: Any, outside: Any) -> tuple[Any, float]:
    """Return the predictions of Spinney's forest, and its out-of-bag score."""
    kind: Any = spinney.ForestRegressor if table.numeric else spinney.ForestClassifier
    model = kind(100, random_state=0, oob_score=True, n_jobs=2)
    model.fit(table.frame.iloc[inside], table.target[inside])
    return model.predict(table.frame.iloc[outside]), 100 * float(model.oob_score_)


def fit_auto(table: Planted, inside: Any, outside: Any) -> tuple[Any, float]:
    """Return what the default recipe says of rows."""
    kind: Any = spinney.TreeRegressor if table.numeric else spinney.TreeClassifier
    model = kind().fit(table.frame.iloc[inside], table.target[inside])
    return model.predict(table.frame.iloc[outside]), np.nan


def fit_lightgbm(table: Planted, inside: Any, outside: Any) -> tuple[Any, float]:
    """Return what LightGBM says of rows; categories are as they are."""
    import lightgbm

    kind: Any = lightgbm.LGBMRegressor if table.numeric else lightgbm.LGBMClassifier
    frame = table.frame.copy()
    frame.columns = [f"f{place}" for place in range(frame.shape[1])]
    model = kind(random_state=0, n_jobs=2, verbose=-1, deterministic=True)
    model.fit(frame.iloc[inside], table.target[inside])
    return model.predict(frame.iloc[outside]), np.nan


def fit_sklearn(table: Planted, inside: Any, outside: Any) -> tuple[Any, float]:
    """Return the predictions of scikit-learn's forest from codes; -1 is missing."""
    cells = np.column_stack(
        [
            c.cat.codes.to_numpy(float) if c.dtype.name == "category" else c.to_numpy()
            for _, c in table.frame.items()
        ]
    )
    kind: Any = RandomForestRegressor if table.numeric else RandomForestClassifier
    model = kind(100, random_state=0, n_jobs=2).fit(cells[inside], table.target[inside])
    return model.predict(cells[outside]), np.nan


FITS: dict[str, Fit] = {
    "forest": fit_forest,
    "auto": fit_auto,
    "lightgbm": fit_lightgbm,
    "sklearn": fit_sklearn,
}


def measured(table: Planted, fit: Fit, n_folds: int) -> tuple[float, float]:
    """Return the held-out score, and the mean out-of-bag score."""
    guesses, scores = np.zeros_like(table.target), []
    division: Any = KFold if table.numeric else StratifiedKFold
    folds = division(n_folds, shuffle=True, random_state=7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for inside, outside in folds.split(table.frame, table.target):
            guesses[outside], out_of_bag = fit(table, inside, outside)
            scores.append(out_of_bag)
    if not table.numeric:
        return 100 * float(np.mean(guesses == table.target)), float(np.mean(scores))
    wrong = np.mean((guesses - table.target) ** 2) / np.var(table.target)
    return 100 * (1 - float(wrong)), float(np.mean(scores))


def line_of(
    table: Planted, wanted: list[str], n_folds: int, known: dict[str, float]
) -> dict[str, float]:
    """Return the figures of a table; what equal tables share is worked out once."""
    line: dict[str, float] = {}
    for name in ("forest", "auto", "lightgbm", "sklearn"):
        if name in wanted or (name == "forest" and "oob" in wanted):
            line[name], out_of_bag = measured(table, FITS[name], n_folds)
            if name == "forest":
                line["oob"] = out_of_bag
        other = f"{name} without"
        if other in wanted and table.planted:
            key = f"{table.shared} {name}"
            if not table.shared or key not in known:
                known[key] = measured(table.without(), FITS[name], n_folds)[0]
            line[other] = known[key]
    return line


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--only", default=",".join(KINDS), help="kinds, by commas")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    wanted = options.programs.split(",")
    if "lightgbm" in wanted:
        try:
            import lightgbm  # noqa: F401
        except ImportError:
            parser.error(
                "LightGBM is not installed: pip install 'spinney[bench]', or name "
                "--programs without lightgbm"
            )
    began, known = time.perf_counter(), dict[str, float]()
    print(
        f"spinney {spinney.__version__}, {platform.system()} {platform.machine()}, "
        f"{options.folds} folds"
    )
    print(f"{'table':<30}" + "".join(f"{name:>15}" for name in wanted), " seconds")
    lines = []
    for table in tables_of(options.data, options.only.split(",")):
        start = time.perf_counter()
        line = line_of(table, wanted, options.folds, known)
        cells = [line.get(name, np.nan) for name in wanted]
        lines.append(cells)
        text = "".join(f"{cell:>15.2f}" for cell in cells).replace("nan", "  -")
        print(f"{table.name:<30}{text}{time.perf_counter() - start:>8.0f}", flush=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        means = np.nanmean(lines, axis=0)
    print(f"{'mean':<30}" + "".join(f"{mean:>15.2f}" for mean in means))
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
