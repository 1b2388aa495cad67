"""Loads the fitted model of any model file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spinney import registry
from spinney.growth import Model
from spinney.models.fitted_model import FittedModel
from spinney.models.fitted_tree import FittedTree
from spinney.output import file

if TYPE_CHECKING:
    import os


KINDS = file.KINDS
ALL_KINDS = (*KINDS, "rules")


def load_model(
    path: "str | os.PathLike[str]", *, kinds: Sequence[str] = KINDS
) -> FittedModel:
    """Load the model of a file, which must be one of ``kinds``.

    The file is a saved model or an export to JSON; "rules" are JSON only, and "others"
    the kinds of other packages.
    """
    if file.is_json(path):
        from spinney.output import load_json

        content = load_json(path, kinds)
    else:
        files = [kind for kind in kinds if kind in KINDS]
        content = file.load_model(path, kinds=files)
    if getattr(content, "kind", None) == "rules":
        rules: FittedModel = content
        return rules
    if isinstance(content, Model):
        return FittedTree(content)
    # A tree loads without the modules of forests and clusters.
    from spinney.growth.forest import Forest

    if isinstance(content, Forest):
        from spinney.models.fitted_forest import FittedForest

        return FittedForest(content)
    fitted: FittedModel = registry.load("model", file.kind_name(content))(content)
    return fitted
