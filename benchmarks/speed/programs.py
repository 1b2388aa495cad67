"""Spinney and its peers: which class, and which parameters, for one and the same task.

A program that is not installed is left out. All have two threads. Leaves may be of one
row in all of them, and depth counts questions.
"""

import importlib
import importlib.util
from dataclasses import dataclass, field
from importlib import metadata
from math import sqrt
from typing import Any

__all__ = [
    "NAMES",
    "THREADS",
    "Program",
    "forests",
    "nominal_trees",
    "small_forests",
    "trees",
    "versions",
]

THREADS = 2
NAMES = ("spinney", "scikit-learn", "LightGBM", "XGBoost", "YDF", "chefboost")

OWN = "benchmarks.speed.peers"


@dataclass(frozen=True)
class Program:
    """A program with its settings for a task.

    Parameters
    ----------
    name : str
        As it is printed.
    package : str
        What must be installed.
    module : str
        Where the classes are.
    classes : tuple
        The class for labels that are classes, and for those that are numbers.
    parameters : dict
        What it is made with.
    most_rows : int, optional
        It is left out where there are more.
    """

    name: str
    package: str
    module: str
    classes: tuple[str, str]
    parameters: dict[str, Any] = field(default_factory=dict)
    most_rows: int | None = None

    def absence(self, n_rows: int) -> str | None:
        """Return why it is left out, or None."""
        if importlib.util.find_spec(self.package) is None:
            return "not installed"
        module = importlib.import_module(self.module)
        if not hasattr(module, self.classes[0]):
            return f"{self.module} has no {self.classes[0]}"
        if self.most_rows is not None and n_rows > self.most_rows:
            return f"left out above {self.most_rows} rows"
        return None

    def model(self, n_classes: int) -> Any:
        """Make a model that has learnt nothing yet."""
        return self._class(n_classes)(**self.parameters)

    def prepared(self, cells: Any, labels: Any) -> Any:
        """Return the cells as the program takes them, if that is not to be timed."""
        prepare = getattr(self._class(1), "prepare", None)
        return cells if prepare is None else prepare(cells, labels)

    def _class(self, n_classes: int) -> Any:
        name = self.classes[0 if n_classes else 1]
        return getattr(importlib.import_module(self.module), name)


TREE = ("spinney", "spinney", ("TreeClassifier", "TreeRegressor"))
FOREST = ("spinney", "spinney", ("ForestClassifier", "ForestRegressor"))
SCIKIT_TREE = (
    "sklearn",
    "sklearn.tree",
    ("DecisionTreeClassifier", "DecisionTreeRegressor"),
)
SCIKIT_FOREST = (
    "sklearn",
    "sklearn.ensemble",
    ("RandomForestClassifier", "RandomForestRegressor"),
)
LIGHTGBM = ("lightgbm", "lightgbm", ("LGBMClassifier", "LGBMRegressor"))
XGBOOST = ("xgboost", "xgboost", ("XGBClassifier", "XGBRegressor"))
YDF = ("ydf", OWN, ("YdfClassifier", "YdfRegressor"))


def trees(depth: int | None, n_rows: int) -> list[Program]:
    """Return how each grows one tree of numbers; LightGBM and XGBoost bin them."""
    return [
        Program(
            "spinney",
            *TREE,
            {"recipe": "cart", "missing_policy": "branch"} | _depth(depth),
        ),
        Program("spinney, surrogates", *TREE, {"recipe": "cart"} | _depth(depth)),
        Program("scikit-learn", *SCIKIT_TREE, {"random_state": 0} | _depth(depth)),
        Program("LightGBM", *LIGHTGBM, _lightgbm(depth, n_rows, n_estimators=1)),
        Program("XGBoost", *XGBOOST, _xgboost(depth)),
        Program("YDF", *YDF, _ydf("CartLearner", depth, validation_ratio=0.0)),
    ]


def forests(
    n_trees: int, depth: int | None, n_rows: int, n_columns: int
) -> list[Program]:
    """Return how each grows a forest that looks at √p attributes in a node.

    Spinney also chooses how much leaves are shrunk; *unshrunk* they are as others have
    them. LightGBM and XGBoost have no draws with replacement: they take 63.2 % of the
    rows.
    """
    alike = {"n_estimators": n_trees, "max_features": "sqrt", "random_state": 0}
    alike |= {"n_jobs": THREADS} | _depth(depth)
    tried = max(1, int(sqrt(n_columns)))
    return [
        Program("spinney", *FOREST, alike),
        Program("spinney, unshrunk", *FOREST, alike | {"shrinkage": 0}),
        Program("scikit-learn", *SCIKIT_FOREST, alike),
        Program(
            "LightGBM",
            *LIGHTGBM,
            _lightgbm(
                depth,
                n_rows,
                n_estimators=n_trees,
                boosting_type="rf",
                bagging_freq=1,
                bagging_fraction=0.632,
                feature_fraction_bynode=tried / n_columns,
            ),
        ),
        Program(
            "XGBoost",
            *XGBOOST,
            _xgboost(
                depth,
                num_parallel_tree=n_trees,
                subsample=0.632,
                colsample_bynode=tried / n_columns,
            ),
        ),
        Program(
            "YDF",
            *YDF,
            _ydf(
                "RandomForestLearner",
                depth,
                num_trees=n_trees,
                num_candidate_attributes=tried,
                winner_take_all=False,
                compute_oob_performances=False,
            ),
        ),
    ]


def small_forests(n_rows: int, n_columns: int) -> list[Program]:
    """Return forests of 100 trees; scikit-learn also with the one thread it likes."""
    found = forests(100, None, n_rows, n_columns)
    place = [program.name for program in found].index("scikit-learn")
    alone = {**found[place].parameters, "n_jobs": 1}
    found.insert(place + 1, Program("scikit-learn, 1 thread", *SCIKIT_FOREST, alone))
    return found


def nominal_trees(n_rows: int) -> list[Program]:
    """Return how each grows one tree on a table with nominal values and missing ones.

    Only chefboost's splits have a branch for every nominal value, as C4.5's have.
    """
    ydf = _ydf("CartLearner", None, validation_ratio=0.0, min_examples=2)
    return [
        Program("spinney", *TREE, {"recipe": "c4.5"}),
        Program("YDF", *YDF, ydf),
        Program("YDF, its own table", "ydf", OWN, ("YdfPrepared", ""), ydf),
        Program("LightGBM", *LIGHTGBM, _lightgbm(None, n_rows, n_estimators=1)),
        Program("XGBoost", *XGBOOST, _xgboost(None, enable_categorical=True)),
        Program(
            "chefboost",
            "chefboost",
            OWN,
            ("Chefboost", ""),
            {"algorithm": "C4.5"},
            most_rows=2_000,
        ),
    ]


def versions() -> dict[str, str]:
    """Return the versions of what is installed."""
    names = ("spinney", "numpy", "numba", "scikit-learn", "lightgbm", "xgboost", "ydf")
    found = {}
    for name in (*names, "chefboost"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            if importlib.util.find_spec(name) is not None:
                found[name] = str(importlib.import_module(name).__version__)
    return found


def _depth(depth: int | None) -> dict[str, Any]:
    """Return the parameter for depth; nothing where there is no limit."""
    return {} if depth is None else {"max_depth": depth}


def _lightgbm(depth: int | None, n_rows: int, **more: Any) -> dict[str, Any]:
    """Return LightGBM's parameters.

    It needs a limit of leaves and sets memory aside for each: more than there are rows,
    or gigabytes of histograms, only make it slow.
    """
    return {
        "learning_rate": 1.0,
        "max_depth": -1 if depth is None else depth,
        "num_leaves": max(2, min(n_rows, 2 ** (16 if depth is None else depth))),
        "histogram_pool_size": 1024,
        "min_child_samples": 1,
        "random_state": 0,
        "n_jobs": THREADS,
        "verbose": -1,
        **more,
    }


def _xgboost(depth: int | None, **more: Any) -> dict[str, Any]:
    """Return XGBoost's parameters; 0 is no limit of depth."""
    return {
        "n_estimators": 1,
        "learning_rate": 1.0,
        "max_depth": depth or 0,
        "tree_method": "hist",
        "random_state": 0,
        "n_jobs": THREADS,
        **more,
    }


def _ydf(learner: str, depth: int | None, **more: Any) -> dict[str, Any]:
    """Return YDF's parameters; it counts the root as a level."""
    return {
        "learner": learner,
        "max_depth": -1 if depth is None else depth + 1,
        "min_examples": 1,
        "num_threads": THREADS,
        **more,
    }
