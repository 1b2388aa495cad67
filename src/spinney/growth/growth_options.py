"""Options of growing beside the recipe, as the learner needs them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spinney._support.arrays import Floats
from spinney.data import Attribute, Schema
from spinney.growth.prune.by_validation import EncodedRows
from spinney.search import NodeSampling
from spinney.trees import SplitCondition


@dataclass(frozen=True, slots=True)
class PlannedSplit:
    """The split of a node in a complete plan; a branch without a plan is a leaf."""

    condition: SplitCondition
    branches: "tuple[PlannedSplit | None, ...]"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of growing beside the recipe.

    Parameters
    ----------
    class_weights : array, optional
        The factor of each class weight.
    preference : sequence of int
        Attributes in the order in which they win ties; the others follow in column
        order.
    forced : mapping of path to attribute or SplitCondition
        The attribute to split on at a node, or its whole split. The path is a tuple of
        the conditions above the node, ``()`` for the root.
    costs : array, optional
        ``costs[label][true]``: labels have the least expected cost, and splits are
        searched under altered priors.
    prices : mapping of int to float
        The test costs of attributes.
    constructed : sequence of Attribute
        Attributes with formulas, placed after the attributes of the source.
    sampling : NodeSampling, optional
        The random choices at each node of a forest's tree.
    validation : EncodedRows, optional
        The validation set, for pruning.
    plan : PlannedSplit, optional
        The splits of the whole tree, if a search has found them.
    on_level : function of int, optional
        Called by the plain learner with the depth of each level that it has searched.
    """

    class_weights: Floats | None = None
    preference: Sequence[int] = ()
    forced: Mapping[tuple[str, ...], int | SplitCondition] = field(default_factory=dict)
    costs: Floats | None = None
    prices: Mapping[int, float] = field(default_factory=dict)
    constructed: Sequence[Attribute] = ()
    sampling: NodeSampling | None = None
    validation: EncodedRows | None = None
    plan: PlannedSplit | None = None
    on_level: Callable[[int], object] | None = None

    def with_costs(self, schema: Schema) -> Schema:
        """Return a schema with the costs of errors and of tests."""
        if self.costs is None and not self.prices:
            return schema
        attributes = tuple(
            replace(attribute, cost=self.prices.get(index, 0.0))
            for index, attribute in enumerate(schema.attributes)
        )
        target = schema.target
        if self.costs is not None:
            target = replace(target, costs=tuple(map(tuple, self.costs.tolist())))
        return replace(schema, attributes=attributes, target=target)

    @property
    def every_class_has_cost(self) -> bool:
        """Whether errors of each class have a cost, so that its rows have weight."""
        return self.costs is None or bool(self.costs.sum(axis=0).min() > 0)

    def has_only_weights(self, schema: Schema) -> bool:
        """Return whether only weights and costs are set, and there are no formulas."""
        if self.preference or self.forced or self.prices or self.constructed:
            return False
        return bool(schema.attributes) and schema.n_columns == len(schema.attributes)
