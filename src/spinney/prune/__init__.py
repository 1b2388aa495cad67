"""Pruning: from a tree to a smaller one, with a record of every step."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from spinney.counts import Floats
from spinney.errors import refuse_unknown
from spinney.model import PruneStep
from spinney.prune.error_based import collapsed, error_based
from spinney.prune.pre_pruning import pre_pruning
from spinney.prune.reduced_error import reduced_error
from spinney.prune.validation import validate
from spinney.recipe import Recipe
from spinney.sources.base import Source
from spinney.tree import Tree

__all__ = ["METHODS", "PruneStep", "Pruned", "pruned", "pruned_after_growing"]

METHODS = {"reduced-error": reduced_error, "pre-pruning": pre_pruning}

# By what recipes call them: methods that need no rows but those of the tree.
AFTER_GROWING = {"collapse": collapsed, "error-based": error_based}


class Pruned(NamedTuple):
    """The smaller tree and the steps that led to it."""

    tree: Tree
    steps: tuple[PruneStep, ...]


def pruned_after_growing(
    tree: Tree,
    source: Source,
    *,
    recipe: Recipe,
    class_weights: Floats | None = None,
) -> Pruned:
    """Prune a tree as its recipe says, by the rows that it was grown on.

    Errors are those of classes: a tree that predicts numbers stays as it is.
    """
    if recipe.pruning == "none" or tree.schema.target.is_numeric:
        return Pruned(tree, ())
    prune = AFTER_GROWING[recipe.pruning]
    return Pruned(*prune(tree, source, recipe=recipe, class_weights=class_weights))


def pruned(
    tree: Tree,
    columns: Sequence[NDArray[Any]],
    *,
    classes: NDArray[Any],
    method: str,
) -> Pruned:
    """Prune a tree against coded validation rows."""
    if not isinstance(method, str) or method not in METHODS:
        refuse_unknown("method", method, METHODS)
    return Pruned(*METHODS[method](tree, validate(tree, columns, classes)))
