"""The arithmetic of a node, recomputed from its stored counts.

Gains and merits are the stored ones, as a user-defined criterion may be unavailable.
With given rows, the counts are of these rows, for every attribute.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import log2
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import is_whole
from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import shown
from spinney._support.ties import TOLERANCE
from spinney.data import Target, Value
from spinney.errors import Setting, refusal
from spinney.growth import Member, Model, RecipeScore
from spinney.growth.plain import CountedNode
from spinney.output.explain.explanation_text import VALUES_SHOWN, node_text
from spinney.output.explain.why_chosen import least_gain, paid_above, why
from spinney.search import Search, average_gain, compete, is_significant, test_cost
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

MANY_ROWS = 1000  # compiled kernels may grow trees on so many


@dataclass(frozen=True, slots=True)
class BranchLine:
    """The counts of one branch and the impurity that follows from them.

    With a numeric target, ``weights`` are its mean and standard deviation, here and in
    the other lines.
    """

    text: str
    weights: tuple[float, ...]
    weight: float
    impurity: float | None


@dataclass(frozen=True, slots=True)
class ValueLine:
    """The counts of one value of a branch with several."""

    value: Value
    branch: int
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CandidateLines:
    """The best split on an attribute, with the figures of its merit.

    ``correction`` is the MDL penalty for choosing a threshold; ``gain`` and
    ``gain_ratio`` are before it, ``merit`` is after it. ``split_impurity`` is the mean
    impurity of the branches, weighted by their rows. A user's split is ``given``.
    ``bound`` is an upper bound of the gain, if a better subset may exist.
    """

    attribute: str
    branches: tuple[BranchLine, ...]
    values: tuple[ValueLine, ...]
    missing: tuple[float, ...]
    missing_weight: float
    missing_goes_to: str
    known_share: float
    known_impurity: float | None
    split_impurity: float | None
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
    """A surrogate split, with the condition of each branch."""

    attribute: str
    branches: tuple[str, ...]
    agreement: float
    adjusted: float


@dataclass(frozen=True, slots=True)
class RowNumbers:
    """The rows of the given table at a node, or in one of its branches.

    Rows are numbered from 1. ``parts`` is the fraction of the weight of each row, empty
    if all are 1.
    """

    text: str
    numbers: tuple[int, ...]
    parts: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class GivenRows:
    """The rows that a node was counted on, instead of stored counts.

    ``same`` says that they are the training rows; ``remark`` is any difference from the
    stored counts.
    """

    n_rows: int
    same: bool
    remark: str
    rows: tuple[RowNumbers, ...]


@dataclass(frozen=True, slots=True)
class NodeExplanation(InNotebooks):
    """The arithmetic of a node, and the reason for its split.

    ``forest`` is the weight of a forest's predictions in the labels of the split; if it
    is not 0, ``candidates`` has the chosen split only, counted on the original labels.
    ``tried`` has, at the root, the scores of candidate recipes. ``in_average`` are the
    attributes of the average gain, ``label_costs`` the expected cost of each label.
    ``self_information`` is −log₂ of the proportion of each class, None (infinite) for a
    class without rows. ``competitors`` says whether the candidates include the
    competitors. ``given`` is about given rows. ``member`` is the number of a forest's
    tree, which stores no competitors and counts missing values in their branch.
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
    default_branch: str | None = None
    forest: float = 0.0
    label_costs: tuple[float, ...] = ()
    tried: tuple[RecipeScore, ...] = ()
    self_information: tuple[float | None, ...] = ()
    competitors: bool = True
    given: GivenRows | None = None
    member: Member | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the arithmetic as text."""
        return node_text(self, ascii_only=ascii_only)


def checked_node(tree: Tree, number: int) -> Node:
    """Return the node of a number; refuse a number without a node."""
    if not is_whole(number) or not 0 <= number < len(tree):
        raise refusal(
            Setting("node", number),
            "is not a node",
            f"the tree has nodes 0 to {len(tree) - 1}",
        )
    return tree.nodes[number]


def search_of(model: Model) -> Search:
    """Return the search that found the splits of a tree, by its recipe."""
    tree = model.tree
    return Search.of(
        model.recipe,
        numeric=tree.schema.target.is_numeric,
        total=tree.root.weight,
        altered=_altered(tree),
    )


def explain_node(
    model: Model,
    number: int,
    *,
    counted: CountedNode | None = None,
    given: GivenRows | None = None,
) -> NodeExplanation:
    """Return the arithmetic of a node, by its stored counts or by those of given rows.

    ``counted`` is the node on the rows, and ``given`` describes them.
    """
    tree = model.tree
    node = checked_node(tree, number)
    search = search_of(model)
    if counted is not None:
        node, search = counted.node, counted.search
    recipe, criterion = model.recipe, search.criterion
    taught = bool(recipe.forest) and counted is None
    searched = [i for i, c in enumerate(node.candidates) if not c.given]
    competitors = [node.candidates[i] for i in searched]
    able = {searched[i] for i in compete(search, competitors, tree.schema)}
    able = {i for i in able if is_significant(node.candidates[i], recipe)}
    member = model.member if counted is None else None
    alone = taught or member is not None  # the competitors are not stored
    if alone and node.chosen is not None:
        able = {node.chosen}
    averaged = criterion.average and not alone
    average, in_average = average_gain(search, competitors, tree.schema)
    averaged = averaged and average < np.inf
    weighed = _weighed(node, search).tolist()
    return NodeExplanation(
        **facts_at(tree, node, number, search),
        label=tree.label(node),
        average_gain=average if averaged else None,
        in_average=tuple(
            tree.schema.attributes[competitors[index].attribute].name
            for index in (in_average if averaged else ())
        ),
        min_gain=(
            least_gain(model, criterion)
            if counted is None
            else search.recipe.min_gain  # in the weight unit of these rows
        ),
        candidates=tuple(
            candidate_lines(
                tree,
                node,
                candidate,
                search,
                competes=index in able,
                by_value=member is None,
            )
            for index, candidate in enumerate(node.candidates)
        ),
        chosen=(
            None
            if node.split is None
            else tree.schema.attributes[node.split.attribute].name
        ),
        why=why(model, node, criterion, able, recounted=counted is not None),
        surrogates=tuple(_surrogate_line(tree, s) for s in node.surrogates),
        default_branch=(
            None
            if node.default_branch is None
            else tree.branch_text(node, node.candidate, node.default_branch)
        ),
        forest=recipe.forest if taught else 0.0,
        label_costs=tree.label_costs(node),
        tried=model.recipe_scores if number == 0 else (),
        self_information=(
            () if tree.schema.target.is_numeric else self_information_of(weighed)
        ),
        competitors=counted is not None or _has_competitors(model, node),
        given=given,
        member=member,
    )


def facts_at(tree: Tree, node: Node, number: int, search: Search) -> dict[str, Any]:
    """Return the facts of a node for all explanations.

    ``node`` is the stored one of this ``number``, or the same on given rows.
    """
    target, criterion, altered = tree.schema.target, search.criterion, search.altered
    return {
        "node": int(number),
        "path": tuple(
            tree.condition(step, most=VALUES_SHOWN) for step in tree.path(number)[1:]
        ),
        "target": target.name,
        "classes": target.classes or ("mean", "sd"),
        "weights": figures_of(node.weights, target=target),
        "weight": node.weight,
        "n_rows": node.n_rows,
        "criterion": criterion.name,
        "impurity_name": criterion.impurity_name,
        "impurity": impurity_of(criterion, _weighed(node, search)),
        "altered": None if altered is None else tuple(altered.tolist()),
    }


def _weighed(node: Node, search: Search) -> Floats:
    """Return the class weights at a node, altered by costs for the criterion."""
    altered = search.altered
    return node.weights if altered is None else node.weights * altered


def _has_competitors(model: Model, node: Node) -> bool:
    """Return whether a node stores its competitors, as far as is known.

    Trees on smoothed labels or of forests do not, nor do nodes grown by compiled
    kernels. Otherwise a single split had no competitors.
    """
    tree = model.tree
    if model.recipe.forest or model.member is not None:
        return False
    alone = len(node.candidates) == 1 < len(tree.schema.attributes)
    return not alone or model.fingerprint.n_rows < MANY_ROWS


def self_information_of(weights: Sequence[float]) -> tuple[float | None, ...]:
    """Return −log₂ of the proportion of each class; None for a class without rows.

    >>> self_information_of([2, 1, 1, 0])
    (1.0, 2.0, 2.0, None)
    """
    total = sum(weights)
    return tuple(log2(total / weight) if weight > 0 else None for weight in weights)


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


def figures_of(weights: Floats, *, target: Target) -> tuple[float, ...]:
    """Return weights for display: one per class, or mean and standard deviation."""
    if target.origin is None:
        return tuple(float(weight) for weight in weights)
    if not weights[0]:
        return 0.0, 0.0
    mean = float(target.origin + weights[1] / weights[0])
    return mean, float(np.sqrt(variance(weights)))


def candidate_lines(
    tree: Tree,
    node: Node,
    candidate: Candidate,
    search: Search,
    *,
    competes: bool,
    by_value: bool = True,
) -> CandidateLines:
    """Return the figures of a split of a node, and the counts behind them.

    ``by_value`` says that values are counted, and not only branches.
    """
    criterion, altered = search.criterion, search.altered
    split, table = candidate.split, candidate.table.scaled(altered)
    counts = candidate.branches.scaled(altered)
    surrogates = search.policy.surrogates
    destination = (
        "the branch of a surrogate" if surrogates else "all branches, in proportion"
    )
    if split.missing is not None:
        destination = tree.branch_text(node, candidate, split.missing)
    attribute = tree.schema.attributes[split.attribute]
    shown_as = partial(figures_of, target=tree.schema.target)
    branches = tuple(
        BranchLine(
            tree.branch_text(node, candidate, branch, most=VALUES_SHOWN),
            shown_as(counts.weights[branch]),
            float(counts.sizes[branch]),
            impurity_of(criterion, counts.weights[branch]),
        )
        for branch in range(split.n_branches)
    )
    several = isinstance(split, Groups) and any(len(g) > 1 for g in split.groups)
    goes = split.branch_of(table.values)
    correction = _correction(candidate, criterion, altered)
    values = tuple(
        ValueLine(attribute.values[int(code)], int(goes[line]), shown_as(weights))
        for line, (code, weights) in enumerate(
            zip(table.values, table.weights, strict=True)
        )
        if several and by_value
    )
    return CandidateLines(
        attribute=attribute.name,
        branches=branches,
        values=values,
        missing=shown_as(table.missing) if table.missing_rows.any() else (),
        missing_weight=float(table.missing_size),
        missing_goes_to=destination,
        known_share=float(counts.known_share),
        known_impurity=impurity_of(criterion, counts.total),
        split_impurity=_split_impurity(branches),
        gain=candidate.gain + correction,
        correction=correction,
        split_information=float(split_information(counts)),
        gain_ratio=0.0 if counts.is_moments else float(gain_ratio(counts)),
        merit=candidate.merit,
        decreases=criterion.decreases,
        working=_working(criterion, candidate, counts, tree, branches),
        p_value=candidate.p_value,
        price=test_cost(split.attribute, tree.schema, paid_above(tree, node)),
        competes=competes,
        exact=candidate.exact,
        given=candidate.given,
        bound=candidate.bound,
        threshold=_threshold(split),
    )


def _split_impurity(branches: Sequence[BranchLine]) -> float | None:
    """Return the mean impurity of the branches, weighted by their rows."""
    total = sum(branch.weight for branch in branches)
    if not total or any(branch.impurity is None for branch in branches):
        return None
    return sum(b.weight / total * (b.impurity or 0.0) for b in branches)


def _correction(
    candidate: Candidate, criterion: Criterion, altered: Floats | None
) -> float:
    """Return the MDL penalty in the gain of a threshold."""
    if not criterion.bits or not isinstance(candidate.split, Threshold):
        return 0.0
    gain = float(criterion.gain(candidate.branches.scaled(altered)))
    return gain - candidate.gain if gain > candidate.gain + TOLERANCE else 0.0


def impurity_of(criterion: Criterion, weights: Floats) -> float | None:
    """Return the impurity of class weights, if the criterion has one."""
    return None if criterion.impurity is None else float(criterion.impurity(weights))


def _working(
    criterion: Criterion,
    candidate: Candidate,
    counts: CountTable,
    tree: Tree,
    branches: tuple[BranchLine, ...],
) -> tuple[str, ...]:
    """Return the criterion's own lines from counts to merit."""
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
    """Return CHAID's Bonferroni adjustment of p."""
    plain = float(criterion.merit(counts))
    if candidate.p_value is None or plain <= candidate.merit + TOLERANCE * plain:
        return []
    if candidate.merit == 0:
        return ["times the ways to group the values: at least 1, so p = 1"]
    exponent = plain - candidate.merit  # with many values the number exceeds floats
    ways = f"e^{exponent:.6g}" if exponent > 700 else f"{np.exp(exponent):.6g}"
    return [
        f"times {ways} ways to group the values: p = {candidate.p_value:.3g}, "
        f"−ln p = {candidate.merit:.3f}"
    ]


def _altered(tree: Tree) -> Floats | None:
    """Return the factors of class weights that follow from costs."""
    costs = tree.schema.target.costs
    return None if costs is None else altered_priors(tree.root.weights, costs)


def _threshold(split: Split) -> float | None:
    """Return the threshold of a number; None for others and for "is missing"."""
    if not isinstance(split, Threshold) or split.threshold == np.inf:
        return None
    return split.threshold
