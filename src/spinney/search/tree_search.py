"""What is the same at every node of a tree while its splits are sought."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney.data import Schema
from spinney.recipes import Recipe
from spinney.search.buckets import cuts_of
from spinney.search.missing_values import Policy, policy_named
from spinney.search.root_statistics import RootStatistics, statistics_by_attribute
from spinney.trees import CountTable
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
    cuts : mapping of int to array
        The cuts between the buckets of numeric attributes.
    observed : mapping of int to array
        The values of attributes over all rows.
    at_root : mapping of int to RootStatistics
        What all rows say of each attribute.
    """

    recipe: Recipe
    criterion: Criterion
    policy: Policy
    total: float = 0.0
    class_weights: Floats | None = None
    altered: Floats | None = None
    preference: Sequence[int] = ()
    cuts: Mapping[int, Floats] = field(default_factory=dict)
    observed: Mapping[int, NDArray[Any]] = field(default_factory=dict)
    at_root: Mapping[int, RootStatistics] = field(default_factory=dict)

    @classmethod
    def of(cls, recipe: Recipe, *, numeric: bool, **more: Any) -> "Search":
        """Return the search of a recipe, for a numeric target or for classes."""
        criterion = recipe.measure(numeric=numeric)
        return cls(recipe, criterion, policy_named(recipe.missing), **more)

    def from_root(self, tables: Mapping[int, CountTable], schema: Schema) -> "Search":
        """Return the search that knows what all rows say of each attribute.

        ``tables`` are those of the root as the source counts them.
        """
        method, cuts = self.recipe.bucketing, {}
        if method is not None:
            cuts = {
                index: cuts_of(table, method, self.recipe.n_buckets)
                for index, table in tables.items()
                if schema.attributes[index].kind == "numeric"
            }
        return replace(
            self,
            cuts=cuts,
            observed={index: table.values for index, table in tables.items()},
            at_root=statistics_by_attribute(tables, schema),
        )
