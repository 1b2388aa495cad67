"""Any model file as the fitted model that it holds."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from spinney.models.fitted_forest import FittedForest
from spinney.models.fitted_model import FittedModel
from spinney.models.fitted_tree import FittedTree
from spinney.output.file import (
    CLUSTERS,
    FOREST,
    format_name,
    load_clusters,
    load_forest,
)
from spinney.output.file import load_model as load_tree

if TYPE_CHECKING:
    import os


KINDS = ("tree", "forest", "clusters")


def load_model(
    path: "str | os.PathLike[str]", *, kinds: Collection[str] = KINDS
) -> FittedModel:
    """Load the model of a file, by what it says that it holds.

    A tree always may be what it holds; a forest or clusters where ``kinds`` has them,
    and else they are refused in words.
    """
    written = format_name(path)
    if written == FOREST and "forest" in kinds:
        return FittedForest(load_forest(path))
    if written == CLUSTERS and "clusters" in kinds:
        from spinney.models.clusters import FittedClusters

        return FittedClusters(load_clusters(path))
    return FittedTree(load_tree(path))
