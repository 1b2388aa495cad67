"""Growing nodes: which of their tables are counted, and what they become.

Siblings are asked about together. The largest of them is had by subtraction where
that is exact: the parent's tables less those of the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spinney.data import Schema
from spinney.growth.leaf_estimates import outputs_of
from spinney.recipes import Recipe
from spinney.search import Decision
from spinney.sources import Totals
from spinney.trees import Candidate, CountTable, Node, Route, Split, Tree, labels_of


@dataclass(slots=True, eq=False)
class Growing:
    """A node that grows: what is known of it so far; ``key`` is what it draws by."""

    number: int
    totals: Totals
    attributes: tuple[int, ...]
    depth: int = 0
    parent: "Growing | None" = None
    branch: int = 0
    path: tuple[str, ...] = ()
    whole: bool = True
    key: int = 0
    tables: dict[int, CountTable] | None = None
    decision: Decision = field(default_factory=lambda: Decision(()))
    forced: bool = False
    route: Route | None = None
    routed: CountTable | None = None
    children: "list[Growing]" = field(default_factory=list)

    @property
    def candidate(self) -> Candidate:
        """The winning split with its counts."""
        assert self.decision.chosen is not None
        return self.decision.candidates[self.decision.chosen]

    @property
    def is_open(self) -> bool:
        """Whether its best split is known."""
        return self.decision.chosen is not None


@dataclass(frozen=True, slots=True)
class Family:
    """Siblings whose tables are wanted: some counted, at most one subtracted."""

    counted: tuple[Growing, ...]
    subtracted: Growing | None = None

    @property
    def nodes(self) -> tuple[Growing, ...]:
        """All that get tables."""
        rest = () if self.subtracted is None else (self.subtracted,)
        return (*self.counted, *rest)


def steps_to(node: Growing) -> Iterator[tuple[Split, int]]:
    """Give the splits above a node with the branches taken, nearest first."""
    while node.parent is not None:
        assert node.parent.route is not None
        yield node.parent.route.described, node.branch
        node = node.parent


def plan(node: Growing, front: Sequence[Growing]) -> Family:
    """Choose which children to count, and which to have by subtraction.

    Subtraction is used only where it is exact: whole weights, no divided row.
    """
    if front and front[0].whole:
        largest = max(front, key=lambda child: int(child.totals.rows.sum()))
        others = [c for c in node.children if c is not largest and c.totals.rows.any()]
        n_others = sum(int(child.totals.rows.sum()) for child in others)
        if n_others < largest.totals.rows.sum():
            return Family(tuple(others), largest)
    return Family(tuple(front))


def remainder(family: Family) -> dict[int, CountTable]:
    """Return the parent's tables less those of the counted siblings."""
    node = family.subtracted
    assert node is not None
    assert node.parent is not None
    assert node.parent.tables is not None
    rest = {attribute: node.parent.tables[attribute] for attribute in node.attributes}
    for sibling in family.counted:
        assert sibling.tables is not None
        rest = {
            attribute: rest[attribute] - sibling.tables[attribute] for attribute in rest
        }
    return rest


def finish(root: Growing, schema: Schema, recipe: Recipe) -> Tree:
    """Turn growing nodes into finished ones, numbered in printing order."""
    order: list[Growing] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(reversed(node.children))
    numbers = {id(node): number for number, node in enumerate(order)}
    nodes: list[Node] = []
    for number, node in enumerate(order):
        parent = None if node.parent is None else numbers[id(node.parent)]
        weights = node.totals.weights
        if parent is not None and not node.totals.rows.any():
            outputs = nodes[parent].distribution
        else:
            outputs = outputs_of(
                weights,
                schema.target,
                recipe=recipe,
                everything=root.totals.weights,
            )
        nodes.append(
            Node(
                number=number,
                parent=parent,
                branch=node.branch,
                depth=node.depth,
                weights=weights,
                n_rows=int(node.totals.rows.sum()),
                distribution=outputs,
                label=int(labels_of(outputs, schema.target.costs)),
                candidates=node.decision.candidates,
                chosen=node.decision.chosen,
                children=tuple(numbers[id(child)] for child in node.children),
                reason=node.decision.reason,
                forced=node.forced,
                surrogates=() if node.route is None else node.route.surrogates,
                otherwise=None if node.route is None else node.route.otherwise,
            )
        )
    return Tree(schema, tuple(nodes))
