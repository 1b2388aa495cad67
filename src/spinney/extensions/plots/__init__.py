"""Plots by Matplotlib: each a function that draws on Axes and returns them.

``pip install 'spinney[plot]'`` installs Matplotlib. Without ``axes`` a plot makes a
figure of its own, which notebooks and ``matplotlib.pyplot.show`` show.
"""

from typing import TYPE_CHECKING, Any

from spinney import registry
from spinney._support.lazy_names import lazy_names

if TYPE_CHECKING:
    from spinney.extensions.clustering.cluster_plots import by_k, clusters, iterations
    from spinney.extensions.plots.bucket_plot import buckets
    from spinney.extensions.plots.model_plots import importances, pruning_path, tree
    from spinney.extensions.plots.prediction_plots import calibration, confusion, roc
    from spinney.extensions.plots.region_plot import regions
    from spinney.extensions.plots.study_plots import learning_curve, robustness

__all__ = [
    "buckets",
    "by_k",
    "calibration",
    "clusters",
    "confusion",
    "importances",
    "iterations",
    "learning_curve",
    "pruning_path",
    "regions",
    "robustness",
    "roc",
    "tree",
]


def __getattr__(name: str) -> Any:
    """Return a plot of another extension, or of another package."""
    if name in __all__ and name not in registry.ENTRIES["plot"]:
        return _load(name)
    if registry.is_known("plot", name):
        return registry.load("plot", name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


_load = lazy_names(
    __name__,
    {
        "bucket_plot": ("buckets",),
        "model_plots": ("importances", "pruning_path", "tree"),
        "prediction_plots": ("calibration", "confusion", "roc"),
        "region_plot": ("regions",),
        "study_plots": ("learning_curve", "robustness"),
    },
)
