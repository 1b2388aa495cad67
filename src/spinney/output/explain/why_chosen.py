"""The reason for the split of a node, or for a leaf, as one sentence."""

import numpy as np

from spinney._support.text import shown
from spinney._support.ties import TOLERANCE, equal_to_best
from spinney.growth import Model
from spinney.search import score
from spinney.trees import Candidate, Node, Threshold, Tree
from spinney.trees.criteria import Criterion


def paid_above(tree: Tree, node: Node) -> set[int]:
    """Return the attributes of the splits above a node."""
    return {step.candidate.attribute for step in tree.path(node.number)[:-1]}


def why(
    model: Model,
    node: Node,
    criterion: Criterion,
    competing: set[int],
    *,
    recounted: bool = False,
) -> str:
    """Return the reason for the split of a node, or for a leaf.

    ``competing`` are the indices of the candidates that compete. If the node was
    ``recounted`` on rows, its split need not be the best of them.
    """
    if node.chosen is None:
        assert node.reason is not None
        return f"leaf: {node.reason.value}"
    attributes = model.schema.attributes
    name = shown(attributes[node.candidate.attribute].name)
    if node.forced:
        given = node.candidate.given
        what = _split_text(model.tree, node, node.candidate) if given else name
        return (
            f"{what}: forced by the user{_instead(model, node, criterion, competing)}"
        )
    if model.recipe.grower.seeks_whole_trees and not recounted:
        what = _split_text(model.tree, node, node.candidate)
        instead = _instead(model, node, criterion, competing)
        return f"{what}: part of the best tree of its size{instead}"
    if model.recipe.grower.streams and not recounted:
        gained = f"{criterion.merit_name} {node.candidate.merit:.3f}"
        return f"{name}: proved best when the leaf was split; on the rows now {gained}"
    among = " among those of at least average gain" if criterion.average else ""
    if any(attribute.cost for attribute in attributes):
        among += " per attribute cost"
    paid = paid_above(model.tree, node)
    if model.recipe.forest:
        # On the original labels a competitor, which is not stored, may be better.
        merit = node.candidate.merit
        return (
            f"{name}: chosen{among} on labels smoothed by a forest; on the original "
            f"labels its {criterion.merit_name} is {merit:.3f}"
        )
    if model.member is not None and not recounted:
        # Only the forest knows the number of sampled attributes.
        merit = node.candidate.merit
        return (
            f"{name}: {criterion.merit_name} {merit:.3f}, the greatest{among} of the "
            "attributes sampled at this node"
        )
    best = score(node.candidate, model.schema, paid)
    equal = _equal(model.tree, node, criterion, competing, paid)
    if recounted and node.chosen not in equal:
        asks = f"{name}: the split of the node, {best:.3f}; on these rows"
        if not equal:
            return f"{asks} there would be no split"
        merit = score(node.candidates[equal[0]], model.schema, paid)
        others = _names(model.tree, node, equal)
        greatest = f"the greatest {criterion.merit_name}{among}, {merit:.3f}"
        return f"{asks} {others} would have {greatest}"
    sentence = f"{name}: the greatest {criterion.merit_name}{among}, {best:.3f}"
    equal = [at for at in equal if at != node.chosen]
    if equal:
        names = _names(model.tree, node, equal)
        sentence += (
            f"; tied with {names}; ties are broken by tie_break_order, "
            "then by column order"
        )
    return sentence


def _instead(
    model: Model, node: Node, criterion: Criterion, competing: set[int]
) -> str:
    """Return the best split of a node whose split was forced."""
    if model.recipe.forest:
        return ""  # the competitors are not stored
    least = least_gain(model, criterion) * (1 - TOLERANCE)
    competitors = {at for at in competing if node.candidates[at].gain >= least}
    paid = paid_above(model.tree, node)
    best = _equal(model.tree, node, criterion, competitors, paid)
    if not best:
        return "; without it, a leaf"
    if node.chosen in best:
        return ", and also the best split"
    first = node.candidates[best[0]]
    asks = _split_text(model.tree, node, first)
    most = max(score(node.candidates[at], model.schema, paid) for at in best)
    merit = f"{criterion.merit_name} {most:.3f}"
    others = ", or one that ties with it" if len(best) > 1 else ""
    return f"; without it, {asks} ({merit}){others}"


def _split_text(tree: Tree, node: Node, candidate: Candidate) -> str:
    """Return a binary split as its first condition, other splits as their attribute."""
    split = candidate.split
    if split.n_branches > 2:
        return shown(tree.schema.attributes[split.attribute].name)
    return tree.branch_text(node, candidate, int(isinstance(split, Threshold)))


def least_gain(model: Model, criterion: Criterion) -> float:
    """Return the minimum gain in the unit of the gains."""
    tree, recipe = model.tree, model.recipe
    if tree.schema.target.is_numeric:
        recipe = recipe.in_unit(criterion.gain_unit(tree.root.weights))
    return recipe.min_gain


def _equal(
    tree: Tree, node: Node, criterion: Criterion, competing: set[int], paid: set[int]
) -> list[int]:
    """Return the indices of competing candidates that tie for the best."""
    competitors = sorted(competing)
    if not competitors:
        return []
    scores = [
        score(node.candidates[competitor], tree.schema, paid)
        for competitor in competitors
    ]
    unit = criterion.merit_unit(node.weights)
    ties = equal_to_best(np.array(scores), criterion.tolerance, unit)
    return [
        competitor for competitor, tie in zip(competitors, ties, strict=True) if tie
    ]


def _names(tree: Tree, node: Node, candidates: list[int]) -> str:
    """Return the attribute names of candidates, as text."""
    attributes = (node.candidates[at].attribute for at in candidates)
    return ", ".join(shown(tree.schema.attributes[each].name) for each in attributes)
