"""The arithmetic of a node, recomputed from the counts that the node keeps.

Gains and merits are those that decided, for a user's own criterion may be gone.
"""

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import is_whole
from spinney._support.text import shown
from spinney._support.ties import TOLERANCE
from spinney.data import Target, Value
from spinney.errors import Setting, refusal
from spinney.growth import Model, Tried
from spinney.output.explain.explanation_text import node_text
from spinney.output.explain.why_chosen import least_gain, paid_above, why
from spinney.search import Search, average_gain, compete, is_significant, price
from spinney.trees import (
    Candidate,
    CountTable,
    Groups,
    Node,
    Split,
    Surrogate,
    Threshold,
    Tree,
    altered_priors,
    describe,
)
from spinney.trees.criteria import Criterion, gain_ratio, split_information, variance


@dataclass(frozen=True, slots=True)
class BranchLine:
    """The counts of one branch and the impurity that follows from them.

    Where the target is a number, ``weights`` are its mean and standard deviation,
    here and in the other lines.
    """

    text: str
    weights: tuple[float, ...]
    weight: float
    impurity: float | None


@dataclass(frozen=True, slots=True)
class ValueLine:
    """The counts of one value, where a branch holds several."""

    value: Value
    branch: int
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CandidateLines:
    """One attribute's best split, with every figure of its merit.

    ``correction`` is what the gain of a threshold pays for having been chosen among
    others; ``gain`` and ``gain_ratio`` are those before it, ``merit`` is after it. A
    split that a user has written is ``given``. ``bound`` is a gain that no subset
    exceeds, where a better one than this may exist.
    """

    attribute: str
    branches: tuple[BranchLine, ...]
    values: tuple[ValueLine, ...]
    missing: tuple[float, ...]
    missing_weight: float
    missing_goes_to: str
    known_share: float
    known_impurity: float | None
    gain: float
    correction: float
    split_information: float
    gain_ratio: float
    merit: float
    decreases: bool
    working: tuple[str, ...]
    competes: bool
    exact: bool
    threshold: float | None
    p_value: float | None = None
    price: float = 0.0
    given: bool = False
    bound: float | None = None


@dataclass(frozen=True, slots=True)
class SurrogateLine:
    """A question that stands in for the node's own, as it reads for each branch."""

    attribute: str
    branches: tuple[str, ...]
    agreement: float
    adjusted: float


@dataclass(frozen=True, slots=True)
class NodeExplanation:
    """What is known of a node, and why it is as it is.

    Where ``forest`` is more than 0, that share of the labels by which the node was
    split was a forest's guess. Then ``candidates`` holds the question that was chosen
    and not its rivals, and its figures are those of the rows as they are.
    At the root ``tried`` says by which recipes the tree might have been grown.
    ``in_average`` are the attributes whose gains are in the average, if there is one.
    ``label_costs`` are what each label is expected to cost over the rows of the node,
    where errors have costs.
    """

    node: int
    path: tuple[str, ...]
    target: str
    classes: tuple[Value, ...]
    weights: tuple[float, ...]
    weight: float
    n_rows: int
    label: Value
    criterion: str
    impurity_name: str
    impurity: float | None
    altered: tuple[float, ...] | None
    average_gain: float | None
    in_average: tuple[str, ...]
    min_gain: float
    candidates: tuple[CandidateLines, ...]
    chosen: str | None
    why: str
    surrogates: tuple[SurrogateLine, ...] = ()
    otherwise: str | None = None
    forest: float = 0.0
    label_costs: tuple[float, ...] = ()
    tried: tuple[Tried, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the arithmetic as it reads."""
        return node_text(self, ascii_only=ascii_only)

    def __str__(self) -> str:
        return self.text()


def explain_node(model: Model, number: int) -> NodeExplanation:
    """Return the arithmetic of a node."""
    tree = model.tree
    if not is_whole(number) or not 0 <= number < len(tree):
        raise refusal(
            Setting("node", number),
            "is no node",
            f"the tree has nodes 0 to {len(tree) - 1}",
        )
    node = tree.nodes[number]
    recipe, numeric = model.recipe, tree.schema.target.is_numeric
    search = Search.of(recipe, numeric=numeric, total=tree.root.weight)
    criterion = search.criterion
    sought = [at for at, each in enumerate(node.candidates) if not each.given]
    rivals = [node.candidates[at] for at in sought]
    able = {sought[at] for at in compete(search, rivals, tree.schema)}
    able = {p for p in able if is_significant(node.candidates[p], recipe)}
    if recipe.forest and node.chosen is not None:
        able = {node.chosen}
    altered = _altered(tree)
    averaged = criterion.average and not recipe.forest
    average, counted = average_gain(search, rivals, tree.schema)
    averaged = averaged and average < np.inf
    target = tree.schema.target
    shown_as = partial(_figures, target=target)
    surrogates = search.policy.surrogates
    absent = "where surrogates send it" if surrogates else "every branch, by shares"
    return NodeExplanation(
        node=int(number),
        path=tuple(tree.condition(step) for step in tree.path(number)[1:]),
        target=target.name,
        classes=target.classes or ("mean", "sd"),
        weights=shown_as(node.weights),
        weight=node.weight,
        n_rows=node.n_rows,
        label=tree.label(node),
        criterion=criterion.name,
        impurity_name=criterion.impurity_name,
        impurity=_impurity(
            criterion, node.weights if altered is None else node.weights * altered
        ),
        altered=None if altered is None else tuple(altered.tolist()),
        average_gain=average if averaged else None,
        in_average=tuple(
            tree.schema.attributes[rivals[index].attribute].name
            for index in (counted if averaged else ())
        ),
        min_gain=least_gain(model, criterion),
        candidates=tuple(
            _candidate_lines(
                tree,
                node,
                candidate,
                criterion,
                altered,
                competes=index in able,
                absent=absent,
            )
            for index, candidate in enumerate(node.candidates)
        ),
        chosen=(
            None
            if node.split is None
            else tree.schema.attributes[node.split.attribute].name
        ),
        why=why(model, node, criterion, able),
        surrogates=tuple(_surrogate_line(tree, each) for each in node.surrogates),
        otherwise=(
            None
            if node.otherwise is None
            else tree.branch_text(node, node.candidate, node.otherwise)
        ),
        forest=recipe.forest,
        label_costs=tree.label_costs(node),
        tried=model.tried if number == 0 else (),
    )


def _surrogate_line(tree: Tree, surrogate: Surrogate) -> SurrogateLine:
    attribute = tree.schema.attributes[surrogate.attribute]
    return SurrogateLine(
        attribute.name,
        tuple(
            describe(surrogate.split, attribute, surrogate.own_branch(branch))
            for branch in range(2)
        ),
        surrogate.agreement,
        surrogate.adjusted,
    )


def _figures(weights: Floats, *, target: Target) -> tuple[float, ...]:
    """Return what is shown of weights: one per class, or mean and deviation."""
    if target.origin is None:
        return tuple(float(weight) for weight in weights)
    if not weights[0]:
        return 0.0, 0.0
    mean = float(target.origin + weights[1] / weights[0])
    return mean, float(np.sqrt(variance(weights)))


def _candidate_lines(
    tree: Tree,
    node: Node,
    candidate: Candidate,
    criterion: Criterion,
    altered: Floats | None,
    *,
    competes: bool,
    absent: str,
) -> CandidateLines:
    split, table = candidate.split, candidate.table.scaled(altered)
    counts = candidate.branches.scaled(altered)
    attribute = tree.schema.attributes[split.attribute]
    shown_as = partial(_figures, target=tree.schema.target)
    branches = tuple(
        BranchLine(
            tree.branch_text(node, candidate, branch),
            shown_as(counts.weights[branch]),
            float(counts.sizes[branch]),
            _impurity(criterion, counts.weights[branch]),
        )
        for branch in range(split.n_branches)
    )
    grouped = isinstance(split, Groups) and any(len(g) > 1 for g in split.groups)
    goes = split.branch_of(table.values)
    correction = _correction(tree, candidate, criterion)
    values = tuple(
        ValueLine(attribute.values[int(code)], int(goes[line]), shown_as(weights))
        for line, (code, weights) in enumerate(
            zip(table.values, table.weights, strict=True)
        )
        if grouped
    )
    return CandidateLines(
        attribute=attribute.name,
        branches=branches,
        values=values,
        missing=shown_as(table.missing) if table.missing_rows.any() else (),
        missing_weight=float(table.missing_size),
        missing_goes_to=(
            absent
            if split.missing is None
            else tree.branch_text(node, candidate, split.missing)
        ),
        known_share=float(counts.known_share),
        known_impurity=_impurity(criterion, counts.total),
        gain=candidate.gain + correction,
        correction=correction,
        split_information=float(split_information(counts)),
        gain_ratio=0.0 if counts.is_moments else float(gain_ratio(counts)),
        merit=candidate.merit,
        decreases=criterion.decreases,
        working=_working(criterion, candidate, counts, tree, branches),
        p_value=candidate.p_value,
        price=price(candidate, tree.schema, paid_above(tree, node)),
        competes=competes,
        exact=candidate.exact,
        given=candidate.given,
        bound=candidate.bound,
        threshold=_threshold(split),
    )


def _correction(tree: Tree, candidate: Candidate, criterion: Criterion) -> float:
    """Return what the gain of a threshold paid for having been chosen."""
    if not criterion.bits or not isinstance(candidate.split, Threshold):
        return 0.0
    gain = float(criterion.gain(candidate.branches.scaled(_altered(tree))))
    return gain - candidate.gain if gain > candidate.gain + TOLERANCE else 0.0


def _impurity(criterion: Criterion, weights: Floats) -> float | None:
    return None if criterion.impurity is None else float(criterion.impurity(weights))


def _working(
    criterion: Criterion,
    candidate: Candidate,
    counts: CountTable,
    tree: Tree,
    branches: tuple[BranchLine, ...],
) -> tuple[str, ...]:
    """Return the lines from counts to the merit that the criterion has of its own."""
    if criterion.working is not None:
        names = [branch.text for branch in branches]
        classes = [shown(label) for label in tree.schema.target.classes]
        lines = criterion.working(counts, names, classes)
        return (*lines, *_adjustment(criterion, candidate, counts))
    if criterion.decreases:
        return ()
    return (f"{criterion.merit_name} = {candidate.merit:.3f}",)


def _adjustment(
    criterion: Criterion, candidate: Candidate, counts: CountTable
) -> list[str]:
    """Say what CHAID's choice of groups does to p."""
    plain = float(criterion.merit(counts))
    if candidate.p_value is None or plain <= candidate.merit + TOLERANCE * plain:
        return []
    if candidate.merit == 0:
        return ["times the ways to group the values: at least 1, so p = 1"]
    ways = float(np.exp(plain - candidate.merit))
    return [
        f"times {ways:.6g} ways to group the values: p = {candidate.p_value:.3g}, "
        f"−ln p = {candidate.merit:.3f}"
    ]


def _altered(tree: Tree) -> Floats | None:
    """Return what the weights of classes are multiplied by, as errors cost."""
    costs = tree.schema.target.costs
    return None if costs is None else altered_priors(tree.root.weights, costs)


def _threshold(split: Split) -> float | None:
    """Return the threshold of a number; None for others and for ∞, is it known."""
    if not isinstance(split, Threshold) or split.threshold == np.inf:
        return None
    return split.threshold
