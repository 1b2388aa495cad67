"""Spinney beside its peers: the same data, one process, ratios.

    python -m benchmarks.speed [--rows 500000] [--tasks tree2,tree10] [--repeats 3]

Peers that are not installed are left out (``pip install -e '.[bench]'`` has them all).
Every program has two threads. The first fit of each is told apart as *cold*: it loads
libraries and, for Spinney, compiles. Ratios are of the median of the warm ones.
"""

import argparse
import importlib.util
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

THREADS = 2


@dataclass(frozen=True)
class Data:
    """Rows to learn from and rows held out."""

    cells: np.ndarray
    labels: np.ndarray
    held_cells: np.ndarray
    held_labels: np.ndarray
    n_classes: int


@dataclass
class Result:
    """What a program needed, and how good it was."""

    cold: float
    warm: list[float] = field(default_factory=list)
    quality: float = 0.0

    @property
    def median(self) -> float:
        """The median of the warm runs."""
        return statistics.median(self.warm)


def made(n_rows: int, n_columns: int, n_classes: int, seed: int = 0) -> Data:
    """Make numeric rows whose label a tree can learn in part; 0 classes: a number."""
    random = np.random.default_rng(seed)
    cells = random.normal(size=(n_rows + n_rows // 5, n_columns)).astype(np.float32)
    score = 1.5 * cells[:, 0] + cells[:, 1] * cells[:, 2] + np.sin(3 * cells[:, 3])
    score += 0.5 * (cells[:, 4] > 0.3) * cells[:, 5] + random.normal(size=len(cells))
    labels = score.astype(np.float64)
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


Fit = Callable[[Data], Callable[[np.ndarray], np.ndarray]]


def spinney_tree(depth: int | None) -> Fit:
    """Return how Spinney grows one tree."""

    def fit(data: Data) -> Callable[[np.ndarray], np.ndarray]:
        from spinney import TreeClassifier, TreeRegressor

        kind = TreeClassifier if data.n_classes else TreeRegressor
        model = kind(recipe="cart", missing="branch", max_depth=depth)
        return model.fit(data.cells, data.labels).predict

    return fit


def scikit_tree(depth: int | None) -> Fit:
    """Return how scikit-learn grows one tree."""

    def fit(data: Data) -> Callable[[np.ndarray], np.ndarray]:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        kind = DecisionTreeClassifier if data.n_classes else DecisionTreeRegressor
        return kind(max_depth=depth).fit(data.cells, data.labels).predict

    return fit


def lightgbm_tree(depth: int | None) -> Fit:
    """Return how LightGBM grows one binned tree."""

    def fit(data: Data) -> Callable[[np.ndarray], np.ndarray]:
        import lightgbm

        kind = lightgbm.LGBMClassifier if data.n_classes else lightgbm.LGBMRegressor
        model = kind(
            n_estimators=1,
            learning_rate=1.0,
            max_depth=depth or -1,
            num_leaves=2 ** (depth or 16),
            min_child_samples=1,
            n_jobs=THREADS,
            verbose=-1,
        )
        return model.fit(data.cells, data.labels).predict

    return fit


def xgboost_tree(depth: int | None) -> Fit:
    """Return how XGBoost grows one binned tree."""

    def fit(data: Data) -> Callable[[np.ndarray], np.ndarray]:
        import xgboost

        kind = xgboost.XGBClassifier if data.n_classes else xgboost.XGBRegressor
        model = kind(
            n_estimators=1,
            learning_rate=1.0,
            max_depth=depth or 0,
            tree_method="hist",
            n_jobs=THREADS,
        )
        return model.fit(data.cells, data.labels).predict

    return fit


def ydf_tree(depth: int | None) -> Fit:
    """Return how YDF grows one exact tree."""

    def fit(data: Data) -> Callable[[np.ndarray], np.ndarray]:
        import ydf

        task = ydf.Task.CLASSIFICATION if data.n_classes else ydf.Task.REGRESSION
        names = [f"x{place}" for place in range(data.cells.shape[1])]
        table = {name: data.cells[:, place] for place, name in enumerate(names)}
        table["y"] = data.labels
        learner = ydf.CartLearner(
            label="y",
            task=task,
            max_depth=-1 if depth is None else depth + 1,
            min_examples=1,
            validation_ratio=0.0,
            num_threads=THREADS,
        )
        model = learner.train(table, verbose=0)

        def predict(cells: np.ndarray) -> np.ndarray:
            told = model.predict({n: cells[:, place] for place, n in enumerate(names)})
            if not data.n_classes:
                return np.asarray(told)
            if told.ndim == 1:
                return (told > 0.5).astype(int)
            return np.asarray(model.label_classes(), dtype=int)[told.argmax(axis=1)]

        return predict

    return fit


PROGRAMS: dict[str, tuple[str, Callable[[int | None], Fit]]] = {
    "spinney": ("spinney", spinney_tree),
    "scikit-learn": ("sklearn", scikit_tree),
    "LightGBM": ("lightgbm", lightgbm_tree),
    "XGBoost": ("xgboost", xgboost_tree),
    "YDF": ("ydf", ydf_tree),
}

TASKS = {
    "tree2": ("one tree, 2 classes, depth 8", 2, 8),
    "tree10": ("one tree, 10 classes, depth 8", 10, 8),
    "numbers": ("one tree of numbers, depth 8", 0, 8),
}


def quality_of(data: Data, predicted: np.ndarray) -> float:
    """Return the accuracy on the rows held out, or R²."""
    if data.n_classes:
        return float(np.mean(predicted == data.held_labels))
    rest = data.held_labels - predicted
    return float(1 - (rest @ rest) / (np.var(data.held_labels) * len(rest)))


def run(fit: Fit, data: Data, repeats: int) -> Result:
    """Time a program."""
    began = time.perf_counter()
    predict = fit(data)
    result = Result(time.perf_counter() - began)
    result.quality = quality_of(data, predict(data.held_cells))
    for _ in range(repeats):
        began = time.perf_counter()
        fit(data)
        result.warm.append(time.perf_counter() - began)
    return result


def main() -> None:
    """Run the tasks and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(
        f"{platform.platform()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}, Python {platform.python_version()}, "
        f"{THREADS} threads"
    )
    for name in options.tasks.split(","):
        title, n_classes, depth = TASKS[name]
        data = made(options.rows, options.columns, n_classes)
        measure = "accuracy" if n_classes else "R²"
        print(f"\n{title}, {options.rows} rows × {options.columns} columns")
        print(f"{'':<14}{'cold s':>9}{'warm s':>9}{'× spinney':>11}{measure:>10}")
        own = 0.0
        for program in options.programs.split(","):
            module, maker = PROGRAMS[program]
            if importlib.util.find_spec(module) is None:
                print(f"{program:<14} not installed")
                continue
            result = run(maker(depth), data, options.repeats)
            own = own or result.median
            print(
                f"{program:<14}{result.cold:>9.2f}{result.median:>9.3f}"
                f"{result.median / own:>11.1f}{result.quality:>10.4f}",
                flush=True,
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\npeak memory of this process: {peak / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
