"""A slow, obvious twin of the learner: plain loops over plain rows.

It shares no arithmetic with the package, and no NumPy. It is written from what
the documentation says, so that an error in the learner is not made here too.
``tests/twins/naive_splits.py`` has the words, and the splits of one attribute.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.twins import naive_surrogates
from tests.twins.naive_splits import (
    TOLERANCE,
    Candidate,
    Cell,
    Guide,
    Look,
    Row,
    Rows,
    Task,
    Way,
    best_candidate,
    class_weights_of,
    divide,
    first_of_best,
)

from spinney.data.schema import Schema
from spinney.recipes import Recipe


@dataclass
class Node:
    path: tuple[int, ...]
    rows: list[Row]
    weights: list[float]
    attributes: list[int]
    distribution: list[float]
    label: int
    candidates: list[Candidate] = field(default_factory=list)
    chosen: Candidate | None = None
    children: list["Node"] = field(default_factory=list)
    reason: str | None = None
    surrogates: list[naive_surrogates.Surrogate] = field(default_factory=list)
    default_branch: int | None = None


def reason_to_stop(node: Node, task: Task) -> str | None:
    recipe = task.recipe
    if not node.rows:
        return "EMPTY"
    if len({label for _, label, _ in node.rows}) == 1:
        return "PURE"
    if not node.attributes:
        return "EXHAUSTED"
    if recipe.max_depth is not None and len(node.path) >= recipe.max_depth:
        return "DEPTH"
    least = recipe.min_samples_split
    if 0 < least < 1:
        least = least * task.total
    elif least <= 2:
        least = 0
    return "ROWS_TO_SPLIT" if sum(node.weights) < least * (1 - TOLERANCE) else None


def decide(node: Node, task: Task) -> None:
    """Find the best split of a node, or why there is none."""
    recipe, preference = task.recipe, task.preference
    node.reason = reason_to_stop(node, task)
    if node.reason is not None:
        return
    places = node.attributes
    if task.look is not None:
        places = sorted(task.look(node.path, node.rows, places))
    guided = [task.guide(node.path, place) for place in places]
    pairs = zip(places, guided, strict=True)
    found = [best_candidate(node.rows, place, task, way) for place, way in pairs]
    node.candidates = [candidate for candidate in found if candidate]
    if not node.candidates:
        told = set() if recipe.missing_policy == "own-category" else {None}
        kinds = [len({row[0][place] for row in node.rows} - told) for place in places]
        node.reason = "IDENTICAL" if max(kinds) < 2 else "ROWS_IN_LEAF"
        return
    able = list(node.candidates)
    if recipe.criterion == "gain_ratio":
        able = of_average_gain(able, task)
    # A gain of nothing may come out a rounding below 0.
    least = recipe.min_gain or -1e-12
    able = [candidate for candidate in able if candidate.gain >= least]
    if not able:
        node.reason = "MIN_GAIN"
        return
    preferred = [c for place in preference for c in able if c.attribute == place]
    able = preferred + [c for c in able if c.attribute not in preference]
    node.chosen = able[first_of_best([candidate.merit for candidate in able])]


def of_average_gain(found: list[Candidate], task: Task) -> list[Candidate]:
    """Return the candidates of at least average gain, but for a thousandth.

    Thresholds whose gain went on the correction are no candidates. Nominal attributes
    with at least three values to ten rows compete but do not count in the average,
    unless all attributes are such.
    """
    attributes, recipe = task.schema.attributes, task.recipe
    many = [
        a.kind == "nominal" and len(a.values) >= 0.3 * task.total * (1 - TOLERANCE)
        for a in attributes
    ]
    if recipe.mdl_correction:
        found = [
            candidate
            for candidate in found
            if attributes[candidate.attribute].kind == "nominal"
            or candidate.gain > recipe.min_gain
        ]
    gains = [c.gain for c in found if all(many) or not many[c.attribute]]
    if not gains:
        return []
    average = sum(gains) / len(gains)
    return [c for c in found if c.gain >= average - 1e-3 - TOLERANCE]


def new_node(
    path: tuple, rows: list[Row], attributes: list[int], n_classes: int, parent: Any
) -> Node:
    """Return a node; its label is the heaviest class, the last of equals."""
    weights = class_weights_of(rows, n_classes)
    shares = [w / sum(weights) for w in weights] if rows else parent.distribution
    equal = [c for c, share in enumerate(shares) if share >= max(shares) - TOLERANCE]
    return Node(path, rows, weights, attributes, shares, equal[-1])


def branch_out(node: Node, task: Task) -> None:
    """Make the children of a node by its chosen split."""
    chosen, schema, recipe = node.chosen, task.schema, task.recipe
    if recipe.missing_policy == "surrogate":
        branches, rest = naive_surrogates.divide(node, task)
    else:
        branches, rest = divide(node.rows, chosen.attribute, chosen.way)
    used = isinstance(chosen.way.sides, tuple) and recipe.grouping == "multiway"
    used = used or not recipe.reuse_attributes
    left = [p for p in node.attributes if not used or p != chosen.attribute]
    for branch, (rows, share) in enumerate(zip(branches, chosen.shares, strict=True)):
        parts = [(c, label, weight * share) for c, label, weight in rest if share > 0]
        path = (*node.path, branch)
        node.children.append(new_node(path, rows + parts, left, schema.n_classes, node))


def grow(
    rows: Rows,
    schema: Schema,
    recipe: Recipe,
    *,
    class_weights: Sequence[float] | None = None,
    preference: Sequence[int] = (),
    guide: Guide = lambda path, place: None,
    look: Look | None = None,
) -> Node:
    """Return the root of the tree that the documentation promises."""
    scale = class_weights or [1.0] * schema.n_classes
    scaled = [(cells, label, weight * scale[label]) for cells, label, weight in rows]
    places = list(range(len(schema.attributes)))
    root = new_node((), scaled, places, schema.n_classes, None)
    observed = [sorted({r[0][p] for r in rows} - {None}) for p in places]
    task = Task(
        schema,
        recipe,
        sum(root.weights),
        preference,
        guide,
        observed,
        scale=scale,
        look=look,
    )
    decide(root, task)
    open_nodes = [root] if root.chosen else []
    n_leaves = 1
    while open_nodes:
        urgency = [sum(n.weights) * n.chosen.gain for n in open_nodes]
        node = open_nodes.pop(first_of_best(urgency))
        n_leaves += node.chosen.way.n_branches - 1
        if recipe.max_leaves is not None and n_leaves > recipe.max_leaves:
            n_leaves -= node.chosen.way.n_branches - 1
            node.chosen, node.reason = None, "LEAVES"
            continue
        branch_out(node, task)
        for child in node.children:
            decide(child, task)
        open_nodes += [child for child in node.children if child.chosen]
    return root


def way_of(split: Any) -> Way:
    """Return the way that a split of the package takes."""
    sides = split.threshold if hasattr(split, "threshold") else split.groups
    return Way(sides, split.missing)


def route(tree: Any, cells: Sequence[Cell]) -> dict[int, float]:
    """Return the part of a row that reaches each node of a finished tree."""
    reached = dict.fromkeys(range(len(tree.nodes)), 0.0)
    reached[0] = 1.0
    for node in tree.nodes:
        if not node.children:
            continue
        way = way_of(node.split)
        branch = way.branch_of(cells[node.split.attribute])
        for each in node.surrogates:
            asked = each.attribute, way_of(each.split), each.reversed
            if branch is None:
                branch = naive_surrogates.Surrogate(*asked).branch_of(cells)
        last = way.missing if node.default_branch is None else node.default_branch
        branch = last if branch is None else branch
        for place, child in enumerate(node.children):
            part = node.split.shares[place] if branch is None else place == branch
            reached[child] += reached[node.number] * part
    return reached
