"""A grown tree with all that a later reader needs: recipe, schema, origin."""

from dataclasses import dataclass, field

from spinney.recipe import Recipe
from spinney.schema import Schema
from spinney.tree import Tree

__all__ = ["Fingerprint", "Model", "PruneStep"]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a model was grown on: enough to tell whether a table is the same one.

    Parameters
    ----------
    n_rows : int
        Rows of weight greater than 0 with a known class.
    weight : float
        Their weight.
    digest : str
        SHA-256 of the schema and the coded rows, in their order. Empty where the
        rows stayed in a database.
    version : str
        The version of Spinney that grew the tree.
    """

    n_rows: int
    weight: float
    digest: str
    version: str


@dataclass(frozen=True, slots=True)
class PruneStep:
    """One node examined: the tree, or the node, before and after a change.

    Parameters
    ----------
    node : int
        Its number in the tree before pruning.
    condition : str
        The branch that leads to it.
    before, after : float
        The accuracy of the whole tree on validation rows; in error-based pruning
        the errors of the node, those of training rows where it is collapsed, else
        the estimated ones. Where nothing was changed, ``after`` is what the best
        change would have made of it. A row that a missing value divides counts
        by its parts.
    pruned : bool
        Whether it became a leaf.
    action : str
        What error-based pruning did: "collapsed", "replaced", "raised" or "kept".
    """

    node: int
    condition: str
    before: float
    after: float
    pruned: bool
    action: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """What is saved to a file and loaded from one.

    ``steps`` say what pruning did while the model was made; a file does not keep
    them.
    """

    tree: Tree
    recipe: Recipe
    fingerprint: Fingerprint
    steps: tuple[PruneStep, ...] = field(default=(), compare=False, repr=False)

    @property
    def schema(self) -> Schema:
        """The schema of the tree."""
        return self.tree.schema
