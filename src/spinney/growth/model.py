"""A grown tree with all that a later reader needs: recipe, schema, origin."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spinney._support.arrays import Integers
from spinney.data import Fingerprint, Schema
from spinney.growth.tried_recipes import Tried
from spinney.recipes import Recipe
from spinney.trees import Tree

if TYPE_CHECKING:
    from spinney.extensions.streaming import Learned
    from spinney.growth.kept_rows import KeptRows
    from spinney.growth.prune import Sequence, Steps


@dataclass(frozen=True, slots=True)
class Member:
    """Which tree of a forest a tree is: its number, and how many there are.

    A forest keeps of each split what won, and not what lost.
    """

    number: int
    of: int


@dataclass(frozen=True, slots=True)
class Model:
    """A grown tree with its recipe and fingerprint, as a file stores it.

    ``steps`` say what pruning did while the model was made, and ``sequence`` holds
    the subtrees that it chose among by cost complexity, None of other prunings. A
    file keeps neither: ``steps`` is None where the record is not known. ``tried`` says
    which ways to grow were tried, where the recipe chose among several.
    ``validation_rows`` are the places in the table of rows that were reserved to prune
    by, if any were; a file does not keep them. ``member`` says which tree of a forest
    it is, where it is one. ``kept`` are the rows, where they were to be kept, or what
    was counted of them. ``learned`` says how rows fared that were learned one after
    another; a file does not keep it.
    """

    tree: Tree
    recipe: Recipe
    fingerprint: Fingerprint
    steps: "Steps | None" = field(default=None, compare=False, repr=False)
    sequence: "Sequence | None" = field(default=None, compare=False, repr=False)
    tried: tuple[Tried, ...] = field(default=(), compare=False, repr=False)
    validation_rows: Integers | None = field(default=None, compare=False, repr=False)
    member: Member | None = field(default=None, compare=False, repr=False)
    kept: "KeptRows | None" = field(default=None, compare=False, repr=False)
    learned: "Learned | None" = field(default=None, compare=False, repr=False)

    @property
    def schema(self) -> Schema:
        """The schema of the tree."""
        return self.tree.schema
