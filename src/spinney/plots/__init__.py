"""Plots by Matplotlib: each a function that draws on Axes and returns them.

``pip install 'spinney[plot]'`` installs Matplotlib. Without ``axes`` a plot makes a
figure of its own, which notebooks and ``matplotlib.pyplot.show`` show.
"""

from spinney.plots.bucket_plot import buckets
from spinney.plots.cluster_plots import by_k, clusters, iterations
from spinney.plots.model_plots import importances, pruning_path, tree
from spinney.plots.prediction_plots import calibration, confusion, roc
from spinney.plots.region_plot import regions
from spinney.plots.study_plots import learning_curve, robustness

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
