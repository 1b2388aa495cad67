"""A grown forest."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from spinney._support.arrays import Integers
from spinney.data import Fingerprint, Schema
from spinney.growth.forest.compact_tree import completed, readable
from spinney.growth.forest.forest_settings import ForestSettings
from spinney.growth.model import Member, Model
from spinney.recipes import Recipe
from spinney.trees import PackedTrees
from spinney.trees.predict import FlatTree

if TYPE_CHECKING:
    from spinney.trees.predict.compiled import TreeLayout


@dataclass(frozen=True, slots=True)
class TypicalTree:
    """The tree that agrees most with its forest, and the number of rows compared.

    ``agreement`` is the fraction of rows with the same predicted class. For a numeric
    target it is R² of the tree's predictions for those of the forest.
    """

    number: int
    agreement: float
    rows: int


@dataclass(frozen=True, eq=False)
class Forest:
    """A forest: its trees as compact arrays, their recipes, and how they vote.

    Parameters
    ----------
    schema : Schema
        The attributes and classes.
    recipes : tuple of Recipe
        The recipes of the trees, which take them in turn: tree t has ``recipe_of(t)``.
    fingerprint : Fingerprint
        The fingerprint of the training rows.
    settings : ForestSettings
        The settings of bags, attributes per node and votes.
    members : PackedTrees
        The trees, as compact arrays.
    shrinkage : float
        The shrinkage of leaves in votes; see
        :mod:`spinney.growth.forest.choose_shrinkage`.
    typical : TypicalTree, optional
        The tree to look at first, if known; see
        :mod:`spinney.growth.forest.typical_tree`.
    """

    schema: Schema
    recipes: tuple[Recipe, ...]
    fingerprint: Fingerprint
    settings: ForestSettings
    members: PackedTrees
    shrinkage: float = 0.0
    typical: TypicalTree | None = None

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.members)

    @property
    def numbers(self) -> range:
        """The numbers of all trees."""
        return range(len(self.members))

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all trees."""
        return len(self.members.whole)

    @property
    def n_outputs(self) -> int:
        """The number of outputs for a row: one per class, or one."""
        return self.schema.target.n_outputs

    @property
    def votes_by_probability(self) -> bool:
        """Whether trees vote with the outputs of leaves, and not with one class."""
        return self.schema.target.is_numeric or self.settings.voting == "probability"

    def recipe_of(self, number: int) -> Recipe:
        """Return the recipe of a tree."""
        return self.recipes[number % len(self.recipes)]

    @cached_property
    def needed(self) -> Integers:
        """The attributes that the trees need for predictions."""
        whole = self.members.whole
        return np.unique(whole.attribute[whole.inner]).astype(np.int64)

    @cached_property
    def full_layout(self) -> "TreeLayout":
        """All trees in one layout for predictions; each leaf has its vote."""
        return self._layout_of(self.numbers)

    def tree_layout(self, numbers: range) -> "TreeLayout":
        """Return the layout of some of the trees; the layout of all trees is cached."""
        return self.full_layout if numbers == self.numbers else self._layout_of(numbers)

    def _layout_of(self, numbers: range) -> "TreeLayout":
        from spinney.trees.predict.compiled import majority, tree_layout

        layout = tree_layout(*self.voting_trees(numbers))
        return layout if self.votes_by_probability else majority(layout)

    @cached_property
    def _all_voting_trees(self) -> tuple[FlatTree, Integers]:
        return self.packed_trees(self.numbers, (self.shrinkage,))

    def voting_trees(self, numbers: range) -> tuple[FlatTree, Integers]:
        """Return the shrunk trees in shared arrays, and their roots.

        The arrays of all trees are cached.
        """
        if numbers == self.numbers:
            return self._all_voting_trees
        return self.packed_trees(numbers, (self.shrinkage,))

    def packed_trees(
        self, numbers: range, shrinkages: tuple[float, ...] = (0.0,)
    ) -> tuple[FlatTree, Integers]:
        """Return some of the trees in the same arrays, and their roots.

        The outputs of different shrinkages are in adjacent columns.
        """
        trees = self.members[numbers.start : numbers.stop]
        recipes = [self.recipe_of(number) for number in numbers]
        target = self.schema.target
        arrays = completed(trees.whole, target, recipes, shrinkages)
        return FlatTree(arrays), trees.roots

    def flat_tree(self, number: int) -> FlatTree:
        """Return one tree as arrays, with shrunk leaves."""
        return self.packed_trees(range(number, number + 1), (self.shrinkage,))[0]

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, without cached properties."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def model(self, number: int) -> Model:
        """Return one of the trees as a model, with its leaves as they were grown.

        The model knows only the number of rows in its bag.
        """
        recipe, arrays = self.recipe_of(number), self.members[number]
        origin = replace(
            self.fingerprint,
            n_rows=int(arrays.rows[0]),
            weight=float(arrays.weight(self.schema.target)[0]),
            digest="",
        )
        member = Member(number, len(self))
        tree = readable(arrays, self.schema, recipe)
        return Model(tree, recipe, origin, member=member)

    @property
    def trees(self) -> "Trees[Model]":
        """The trees as models, each made on access."""
        return Trees(self, self.model)


Made = TypeVar("Made")


@dataclass(frozen=True, eq=False, repr=False)
class Trees(Sequence[Made], Generic[Made]):
    """The trees of a forest, each made by ``make`` from its number on access."""

    forest: Forest
    make: Callable[[int], Made]

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.forest)

    def __repr__(self) -> str:
        return f"<{len(self)} trees: [0] to [{len(self) - 1}]>"

    @overload
    def __getitem__(self, number: int) -> Made: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Made, ...]: ...
    def __getitem__(self, number: int | slice) -> Made | tuple[Made, ...]:
        """Return a tree, or some."""
        if isinstance(number, slice):
            return tuple(self.make(index) for index in self.forest.numbers[number])
        try:
            return self.make(self.forest.numbers[number])
        except IndexError:
            last = len(self) - 1
            msg = f"the forest has no tree {number}: its trees are 0 to {last}"
            raise IndexError(msg) from None

    def __iter__(self) -> Iterator[Made]:
        """Walk the trees, one at a time."""
        return map(self.make, self.forest.numbers)
