"""A grown forest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from spinney._support.arrays import Integers
from spinney.data import Fingerprint, Schema
from spinney.growth.forest.compact_tree import completed, readable
from spinney.growth.forest.forest_settings import ForestSettings
from spinney.growth.model import Model
from spinney.recipes import Recipe
from spinney.trees import TreeArrays, joined
from spinney.trees.predict import FlatTree

if TYPE_CHECKING:
    from spinney.trees.predict.compiled import Flat


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees with all that a later reader needs.

    Parameters
    ----------
    schema : Schema
        What the numbers of attributes and classes mean.
    recipe : Recipe
        Of its trees.
    fingerprint : Fingerprint
        What it was grown on.
    settings : ForestSettings
        How bags, attributes and votes are drawn and counted.
    members : sequence of TreeArrays
        The trees, as compact arrays.
    shrinkage : float
        How much leaves are shrunk when they vote; see
        :mod:`spinney.growth.forest.choose_shrinkage`.
    """

    schema: Schema
    recipe: Recipe
    fingerprint: Fingerprint
    settings: ForestSettings
    members: tuple[TreeArrays, ...]
    shrinkage: float = 0.0

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.members)

    @property
    def n_nodes(self) -> int:
        """How many nodes all trees have."""
        return sum(map(len, self.members))

    @property
    def n_outputs(self) -> int:
        """How many numbers are predicted of a row: one per class, or one."""
        return self.schema.target.n_outputs

    @property
    def votes_by_share(self) -> bool:
        """Whether trees vote with what their leaves say, and not with one class."""
        return self.schema.target.is_numeric or self.settings.voting == "probability"

    @cached_property
    def needed(self) -> Integers:
        """The attributes that some tree asks about."""
        asked = [member.attribute[member.inner] for member in self.members]
        return np.unique(np.concatenate(asked)).astype(np.int64)

    @cached_property
    def flat(self) -> "Flat":
        """All trees in one layout, to send rows down; each leaf has its vote."""
        return self.flat_of(self.members)

    def flat_of(self, members: Sequence[TreeArrays]) -> "Flat":
        """Return some of the trees in one layout."""
        from spinney.trees.predict.compiled import flat_of, majority

        flat = flat_of(*self.side_by_side(members))
        return flat if self.votes_by_share else majority(flat)

    @cached_property
    def _all_trees(self) -> tuple[FlatTree, Integers]:
        whole, roots = joined(self.members)
        return self.flat_tree(whole), roots

    def side_by_side(self, members: Sequence[TreeArrays]) -> tuple[FlatTree, Integers]:
        """Return some of the trees in the same arrays, and their roots.

        Those of all trees are kept, so that a row does not wait for them again.
        """
        if members is self.members:
            return self._all_trees
        whole, roots = joined(members)
        return self.flat_tree(whole), roots

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs: not what follows from it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def flat_tree(self, member: TreeArrays) -> FlatTree:
        """Return one of the trees as arrays, its leaves shrunk as they vote."""
        target, shrinkages = self.schema.target, (self.shrinkage,)
        return FlatTree(completed(member, target, self.recipe, shrinkages))

    @property
    def trees(self) -> "Trees":
        """The trees, each made readable when it is asked for."""
        return Trees(self)


@dataclass(frozen=True, eq=False)
class Trees(Sequence[Model]):
    """The trees of a forest, made when somebody looks at them.

    ``trees[3].tree`` is a :class:`spinney.Tree`, walkable and measured.
    """

    forest: Forest

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.forest.members)

    @overload
    def __getitem__(self, number: int) -> Model: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Model, ...]: ...
    def __getitem__(self, number: int | slice) -> Model | tuple[Model, ...]:
        """Return a tree, or some."""
        if isinstance(number, slice):
            return tuple(self[each] for each in range(*number.indices(len(self))))
        forest = self.forest
        tree = readable(forest.members[number], forest.schema, forest.recipe)
        return Model(tree, forest.recipe, forest.fingerprint)

    def __iter__(self) -> Iterator[Model]:
        """Walk the trees, one at a time."""
        return (self[each] for each in range(len(self)))
