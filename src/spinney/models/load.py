"""Any model file as the fitted model that it holds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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
    """Load the model of a file, by what it says that it holds, one of ``kinds``.

    Another is refused in words, as one of the first of them. The file is one that was
    saved, or an export to JSON; "rules" are the latter only, and "others" the kinds of
    other packages.
    """
    content = _content(path, kinds)
    if getattr(content, "kind", None) == "rules":
        rules: FittedModel = content
        return rules
    if isinstance(content, Model):
        return FittedTree(content)
    # Who has a tree does not wait for what forests and clusters need.
    from spinney.growth.forest import Forest

    if isinstance(content, Forest):
        from spinney.models.fitted_forest import FittedForest

        return FittedForest(content)
    fitted: FittedModel = registry.load("model", file.kind_name(content))(content)
    return fitted


def _content(path: "str | os.PathLike[str]", kinds: Sequence[str]) -> Any:
    """Return what a file holds."""
    if not file.is_json(path):
        return file.load_model(path, kinds=[kind for kind in kinds if kind in KINDS])
    from spinney.output import load_json

    return load_json(path, kinds)
