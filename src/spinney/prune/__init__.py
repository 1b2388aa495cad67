"""Pruning: from a tree to a smaller one, with a record of every step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from spinney.errors import refuse_unknown
from spinney.prune.pre_pruning import pre_pruning
from spinney.prune.reduced_error import reduced_error
from spinney.prune.validation import PruneStep, validate
from spinney.tree import Tree

__all__ = ["METHODS", "PruneStep", "Pruned", "pruned"]

METHODS = {"reduced-error": reduced_error, "pre-pruning": pre_pruning}


@dataclass(frozen=True, slots=True)
class Pruned:
    """The smaller tree and the steps that led to it."""

    tree: Tree
    steps: tuple[PruneStep, ...]


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
