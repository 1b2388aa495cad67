"""A grown tree with all that a later reader needs: recipe, schema, origin."""

from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING

from spinney.data.fingerprint import Fingerprint
from spinney.data.schema import Schema
from spinney.recipes import Recipe
from spinney.trees.tree import Tree

if TYPE_CHECKING:
    from spinney.prune import Sequence, Steps

__all__ = ["Model", "PruneStep"]


@dataclass(frozen=True, slots=True)
class PruneStep:
    """One node examined, and what changing it does.

    Parameters
    ----------
    node : int
        Its number in the tree before pruning.
    condition : str
        The branch that leads to it.
    before, after : float
        What the method goes by, named by ``measure``, without and with the change.
        The change is that the node becomes a leaf; for ``"pre-pruning"``, which
        comes from above, that it is split.
    pruned : bool
        Whether it became a leaf.
    action : str
        What error-based pruning did: "collapsed", "replaced", "raised" or "kept";
        empty for other methods.
    measure : str
        What ``before`` and ``after`` are.
    risk_before, risk_after : float
        The training error of the whole tree without and with the change: the weight
        of the rows in error, their cost, or the sum of squares. A row that a missing
        value divides counts by its parts, while ``score`` asks for its one label.
        NaN where it is not known: the counts do not tell how linear models err.
    """

    node: int
    condition: str
    before: float
    after: float
    pruned: bool
    action: str = ""
    measure: str = field(default="", compare=False)
    risk_before: float = field(default=nan, compare=False)
    risk_after: float = field(default=nan, compare=False)


@dataclass(frozen=True, slots=True)
class Model:
    """What is saved to a file and loaded from one.

    ``steps`` say what pruning did while the model was made, and ``sequence`` holds
    the subtrees that it chose among by cost complexity, None of other prunings. A
    file keeps neither: ``steps`` is None where the record is not known.
    """

    tree: Tree
    recipe: Recipe
    fingerprint: Fingerprint
    steps: "Steps | None" = field(default=None, compare=False, repr=False)
    sequence: "Sequence | None" = field(default=None, compare=False, repr=False)

    @property
    def schema(self) -> Schema:
        """The schema of the tree."""
        return self.tree.schema
