"""The settings of the split search, the same at every node of a tree."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.ties import TOLERANCE
from spinney.data import Schema
from spinney.recipes import Recipe
from spinney.search.missing_values import Policy, policy_named
from spinney.search.root_statistics import RootSummary
from spinney.search.value_order import MAX_ENUMERATED
from spinney.trees import TableBatch
from spinney.trees.criteria import Criterion


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The settings of the split search of one tree.

    Parameters
    ----------
    recipe : Recipe
        Limits, groupings and thresholds.
    criterion : Criterion
        The recipe's criterion for the tree's target.
    policy : Policy
        The recipe's policy for missing values.
    total : float
        The weight of all rows of the tree, for limits that are fractions of it.
    class_weights : array, optional
        Factors of class weights in the source's tables.
    altered : array, optional
        Further factors of class weights, for merits under costs (altered priors).
    preference : sequence of int
        Attributes in the order in which they win ties; the others follow in column
        order.
    root_summary : RootSummary
        Statistics of each attribute over all rows.
    """

    recipe: Recipe
    criterion: Criterion
    policy: Policy
    total: float = 0.0
    class_weights: Floats | None = None
    altered: Floats | None = None
    preference: Sequence[int] = ()
    root_summary: RootSummary = field(default_factory=RootSummary)

    @classmethod
    def of(cls, recipe: Recipe, *, numeric: bool, **more: Any) -> "Search":
        """Return the search of a recipe, for a numeric target or for classes."""
        criterion = recipe.measure(numeric=numeric)
        return cls(recipe, criterion, policy_named(recipe.missing_policy), **more)

    def with_root_tables(self, batch: TableBatch, schema: Schema) -> "Search":
        """Return the search with statistics of the given tables added.

        They are tables of all rows, or of an attribute that only one node has.
        """
        return replace(
            self, root_summary=self.root_summary.with_tables(batch, schema, self.recipe)
        )

    def finds_same_splits(self, other: "Search", schema: Schema) -> bool:
        """Return whether both searches find the same best split of any count table.

        Weight and statistics of all rows must be equal if the search depends on them.
        If thresholds are placed at values of all rows, equal splits may still have
        different thresholds.
        """
        recipe = self.recipe
        if recipe != other.recipe or [*self.preference] != [*other.preference]:
            return False
        for mine, theirs in (
            (self.class_weights, other.class_weights),
            (self.altered, other.altered),
        ):
            if (mine is None) != (theirs is None):
                return False
            if mine is not None and not np.array_equal(mine, theirs):  # type: ignore[arg-type]
                return False
        if self.total != other.total and self._depends_on_total(other, schema):
            return False
        return self.root_summary.is_equivalent(
            other.root_summary,
            typical=self.policy.imputes_typical,
            ranks=recipe.grouping == "ordered",
        )

    def _depends_on_total(self, other: "Search", schema: Schema) -> bool:
        """Return whether another total weight may lead to another split.

        The beam of branch and bound, and C4.5's limit on many-valued attributes, depend
        on it.
        """
        recipe, criterion = self.recipe, self.criterion
        numbers = [len(a.values) for a in schema.attributes if a.kind == "nominal"]
        if recipe.has_shares:
            return True
        if criterion.average:
            limits = [criterion.many_values * s.total for s in (self, other)]
            many = [[n >= m * (1 - TOLERANCE) for n in numbers] for m in limits]
            if many[0] != many[1]:
                return True
        return recipe.grouping == "binary" and max(numbers, default=0) > MAX_ENUMERATED
