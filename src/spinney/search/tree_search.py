"""What is the same at every node of a tree while its splits are sought."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spinney._support.arrays import Floats
from spinney.data import Schema
from spinney.recipes import Recipe
from spinney.search.missing_values import Policy, policy_named
from spinney.search.root_statistics import AtRoot
from spinney.trees import TableStack
from spinney.trees.criteria import Criterion


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """How the splits of one tree are sought and compared; made once per tree.

    Parameters
    ----------
    recipe : Recipe
        Limits, groupings and thresholds.
    criterion : Criterion
        That of the recipe for the tree's target.
    policy : Policy
        What the recipe makes of missing values.
    total : float
        The weight of all rows of the tree, for limits that are shares.
    class_weights : array, optional
        What the classes' weights in a source's tables are multiplied by.
    altered : array, optional
        What class weights are multiplied by besides, to find merits under costs.
    preference : sequence of int
        Attributes that win ties, first to last; the others follow in order.
    at_root : AtRoot
        What all rows say of each attribute.
    """

    recipe: Recipe
    criterion: Criterion
    policy: Policy
    total: float = 0.0
    class_weights: Floats | None = None
    altered: Floats | None = None
    preference: Sequence[int] = ()
    at_root: AtRoot = field(default_factory=AtRoot)

    @classmethod
    def of(cls, recipe: Recipe, *, numeric: bool, **more: Any) -> "Search":
        """Return the search of a recipe, for a numeric target or for classes."""
        criterion = recipe.measure(numeric=numeric)
        return cls(recipe, criterion, policy_named(recipe.missing), **more)

    def knowing(self, stack: TableStack, schema: Schema) -> "Search":
        """Return the search that knows what tables, as a source counts them, say.

        They are those of all rows, or of an attribute that only one node has.
        """
        return replace(
            self, at_root=self.at_root.with_tables(stack, schema, self.recipe)
        )
