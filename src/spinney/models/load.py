"""Any model file as the fitted model that it holds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spinney.growth import Model
from spinney.growth.forest import Forest
from spinney.models.fitted_forest import FittedForest
from spinney.models.fitted_model import FittedModel
from spinney.models.fitted_tree import FittedTree
from spinney.output import file

if TYPE_CHECKING:
    import os


KINDS = ("tree", "forest", "clusters")


def load_model(
    path: "str | os.PathLike[str]", *, kinds: Sequence[str] = KINDS
) -> FittedModel:
    """Load the model of a file, by what it says that it holds, one of ``kinds``.

    Another is refused in words, as one of the first of them.
    """
    content = file.load_model(path, kinds=kinds)
    if isinstance(content, Model):
        return FittedTree(content)
    if isinstance(content, Forest):
        return FittedForest(content)
    from spinney.models.clusters import FittedClusters

    return FittedClusters(content)
