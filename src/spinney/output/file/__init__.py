"""Model files: arrays and a header, checked whole before a node is made."""

from spinney.output.file.cluster_file import load_clusters, save_clusters
from spinney.output.file.forest_file import load_forest, save_forest
from spinney.output.file.kind import CLUSTERS, FOREST, format_name
from spinney.output.file.tree_file import load_model, save_model

__all__ = [
    "CLUSTERS",
    "FOREST",
    "format_name",
    "load_clusters",
    "load_forest",
    "load_model",
    "save_clusters",
    "save_forest",
    "save_model",
]
