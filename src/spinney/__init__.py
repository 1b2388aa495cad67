"""Spinney grows decision trees that can be read and questioned.

>>> import spinney
>>> melons = {"texture": ["clear", "clear", "blurry"], "ripe": ["yes", "yes", "no"]}
>>> model = spinney.grow(melons, target="ripe", recipe="id3")
>>> print(model.rules())
IF texture = blurry THEN ripe = no  (support 1, confidence 100.0 %)
IF texture = clear THEN ripe = yes  (support 2, confidence 100.0 %)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spinney._version import __version__
from spinney.errors import (
    CellError,
    DataError,
    MissingExtraError,
    ModelFormatError,
    ParameterError,
    SpinneyError,
    SpinneyNote,
    SpinneyWarning,
)
from spinney.registry import is_known as _is_known
from spinney.registry import load as _load

if TYPE_CHECKING:
    from spinney.api import grow, grow_forest, load
    from spinney.data import TextFormat
    from spinney.data.readers import read_table
    from spinney.estimators import (
        ForestClassifier,
        ForestRegressor,
        TreeClassifier,
        TreeRegressor,
    )
    from spinney.extensions import plots
    from spinney.extensions.clustering.estimators import (
        KMeans,
        KPrototypes,
        MiniBatchKMeans,
        choose_k,
    )
    from spinney.extensions.clustering.explain_clusters import explain_clusters
    from spinney.extensions.clustering.find_clusters import find_clusters
    from spinney.extensions.evaluation import (
        evaluate,
        learning_curve,
        robustness,
        scalability,
        score,
    )
    from spinney.extensions.rulesets import RuleSet
    from spinney.models import association, look
    from spinney.recipes import Recipe
    from spinney.search.buckets import discretise
    from spinney.trees import CountTable, Node, Tree

__all__ = [
    "CellError",
    "CountTable",
    "DataError",
    "ForestClassifier",
    "ForestRegressor",
    "KMeans",
    "KPrototypes",
    "MiniBatchKMeans",
    "MissingExtraError",
    "ModelFormatError",
    "Node",
    "ParameterError",
    "Recipe",
    "RuleSet",
    "SpinneyError",
    "SpinneyNote",
    "SpinneyWarning",
    "TextFormat",
    "Tree",
    "TreeClassifier",
    "TreeRegressor",
    "__version__",
    "association",
    "choose_k",
    "discretise",
    "evaluate",
    "explain_clusters",
    "find_clusters",
    "grow",
    "grow_forest",
    "learning_curve",
    "load",
    "look",
    "plots",
    "read_table",
    "robustness",
    "scalability",
    "score",
]

# Heavy modules load when a name is first used, so that ``import spinney`` is quick.
_HOMES = {
    "CountTable": "spinney.trees.counts",
    "ForestClassifier": "spinney.estimators",
    "ForestRegressor": "spinney.estimators",
    "Node": "spinney.trees.node",
    "TextFormat": "spinney.data.text_formats",
    "Recipe": "spinney.recipes",
    "Tree": "spinney.trees.tree",
    "TreeClassifier": "spinney.estimators",
    "TreeRegressor": "spinney.estimators",
    "association": "spinney.models",
    "discretise": "spinney.search.buckets",
    "grow": "spinney.api",
    "grow_forest": "spinney.api",
    "load": "spinney.api",
    "look": "spinney.models",
    "read_table": "spinney.data.readers",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if not name.startswith("_") and _is_known("name", name):
        return _load("name", name)
    msg = f"module 'spinney' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
