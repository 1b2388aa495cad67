"""From a grown tree to a model tree: linear models, pruning, smoothing (M5).

Sources: Quinlan, "Learning with continuous classes" (1992), and Wang and Witten,
"Inducing model trees for continuous classes" (1997), as Weka's M5P carries them
out. Each step is one setting of the recipe:

leaves="linear"
    every node gets a linear model of the attributes that are asked below it: a
    number as it is, an indicator for a subset of categories. A grown leaf asks
    nothing below, so its model is the mean: pruning, or smoothing, brings models
    to leaves.
pruning="adjusted-error"
    from the leaves up, a node becomes a leaf if its own model's error, times
    (n + 2v) / (n − v), is at most that of the branches below it. n counts its rows
    by weight; v counts the coefficients and intercepts, below a node one more
    for its split. Where n ≤ v the factor is 10.
smoothing=k
    on the way to the root each prediction p becomes (n p + k q) / (n + k), where n
    is the weight below and q the prediction of the node above. As all are linear,
    the leaf's model itself is replaced by the mixture.

The errors are root mean squares. Weights are repetitions of a row, except that those
whose mean is below 1 cannot be: of them only the proportions count, as if the mean
were 1, so that weights which sum to 1 give the trees of weights which sum to n. All
sums come from the source, so a tree over a database is treated as one in memory.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from spinney._support.ties import TOLERANCE
from spinney.data import Attribute
from spinney.growth.model_trees.least_squares import CLOSE, Fitted, all_fitted
from spinney.growth.prune import Pruned, Steps
from spinney.growth.prune.walks import (
    Judged,
    Judgement,
    RunningSum,
    bottom_up,
    pruned_by,
)
from spinney.growth.source_parts import fits_models
from spinney.recipes import Recipe
from spinney.search import LISTED, RootStatistics, statistics_by_attribute
from spinney.sources import (
    ROOT,
    Counts,
    Products,
    Request,
    TermRequest,
    tables_of,
    take_formulas,
    with_formulas,
)
from spinney.trees import (
    FormerNodes,
    Groups,
    LinearModel,
    Split,
    Term,
    Tree,
    arrays_of,
    children_of_nodes,
    flat_models,
    mixed,
    route_of,
    spread_of,
    values_of_nodes,
)
from spinney.trees.criteria import squared_error

# Nominal attributes are asked about in many ways: the terms nearest to a node are
# kept, so that its equations stay small. An attribute of more than LISTED values
# gives no terms, for models with such lists would outgrow the rows.
MOST_TERMS = 100
# As M5P: how errors are adjusted, and an error too small to mind.
MULTIPLIER = 2.0
OVERFITTED = 10.0
NEGLIGIBLE = 1e-5

Terms = dict[Term, int]


def with_models(tree: Tree, source: Counts, *, recipe: Recipe) -> Pruned:
    """Return a tree for numbers with the models that its recipe asks for, pruned.

    The source must be the one that the tree was grown on. The steps are those of
    ``pruning="adjusted-error"``.
    """
    if not tree.schema.target.is_numeric or not fits_models(recipe):
        return Pruned(tree, Steps(()))
    take_formulas(source, tree.schema)
    linear = recipe.leaves == "linear"
    below = terms_below(tree, _at_root(tree, source)) if linear else [{} for _ in tree]
    # How many rows the weight 1 stands for.
    arrays = arrays_of(tree)
    weights = arrays.weight(tree.schema.target)
    scale = max(1.0, float(arrays.rows[0] / weights[0]))
    sizes = (weights * scale).tolist()
    fits = _fit(tree, source, below, scale=scale)
    steps: list[Judged] = []
    if recipe.pruning == "adjusted-error":
        steps = adjusted_steps(tree, fits, sizes)
    pruned = pruned_by(tree, steps, "adjusted error of the node")
    return replace(pruned, tree=_predicting(pruned.tree, fits, sizes, recipe.smoothing))


def _predicting(
    tree: Tree, fits: Sequence[Fitted], sizes: Sequence[float], constant: float
) -> Tree:
    """Return a pruned tree whose nodes predict by smoothed models.

    Where one has no terms, its node predicts a number. ``fits`` and ``sizes`` are of
    the tree before it was pruned.
    """
    nodes, arrays = tree.nodes, arrays_of(tree)
    assert isinstance(nodes, FormerNodes)
    assert arrays.outputs is not None
    former, parent = nodes.numbers.tolist(), arrays.parent.tolist()
    own, left = [fits[number].model for number in former], [sizes[n] for n in former]
    models = _smoothed(parent, own, left, constant)
    intercepts = np.array([[model.intercept] for model in models])
    with_terms = np.array([[bool(model.terms)] for model in models])
    flat = flat_models([model if model.terms else None for model in models])
    modelled = replace(
        arrays,
        outputs=np.where(with_terms, arrays.outputs, intercepts),
        models=flat if with_terms.any() else None,
    )
    return Tree(tree.schema, replace(nodes, tree=modelled, _made={}))


def _at_root(tree: Tree, source: Counts) -> dict[int, RootStatistics]:
    """Return what all rows say of the attributes that the tree asks about."""
    attribute = arrays_of(tree).attribute
    asked = np.unique(attribute[attribute >= 0]).tolist()
    if not asked:
        return {}
    (tables,) = tables_of(source, [Request(ROOT, tuple(asked))], tree.schema)
    return statistics_by_attribute(tables, tree.schema)


def terms_below(tree: Tree, at_root: dict[int, RootStatistics]) -> list[Terms]:
    """Return for each node the terms asked below it, with the depth of the asking."""
    arrays, attributes = arrays_of(tree), tree.schema.attributes
    links, asked = arrays.links(), arrays.attribute.tolist()
    parent, depths = arrays.parent.tolist(), links.depth.tolist()
    grouped = np.isnan(arrays.cut).tolist()
    numbers = {
        index: (Term(index, None, statistics.default_value),)
        for index, statistics in at_root.items()
    }
    terms: list[Terms] = [{} for _ in asked]
    for node in reversed(range(len(asked))):
        here, index = terms[node], asked[node]
        if index >= 0:
            own: Sequence[Term] = numbers[index]
            if grouped[node]:
                split = arrays.split(node, n_branches=int(links.count[node]))
                own = _groups_of(split, attributes[index], at_root[index])
            here.update(dict.fromkeys(own, depths[node]))
        if len(here) > MOST_TERMS:
            nearest = sorted(here, key=lambda term: (here[term], *_order(term)))
            terms[node] = here = {term: here[term] for term in nearest[:MOST_TERMS]}
        if here and node:
            above = terms[parent[node]]
            for term, depth in here.items():
                above[term] = min(depth, above.get(term, depth))
    return terms


def _order(term: Term) -> tuple[int, int, tuple[int, ...]]:
    """Return the order of terms: columns, then larger sets of codes first."""
    codes = term.codes or ()
    return term.attribute, -len(codes), codes


def _groups_of(
    split: Split, attribute: Attribute, at_root: RootStatistics
) -> list[Term]:
    """Return a term for each group of codes but the first, unless codes are many."""
    assert isinstance(split, Groups)
    if len(attribute.values) > LISTED:
        return []
    groups = [group for group in split.groups[1 : MOST_TERMS + 1] if group]
    typical = int(at_root.default_value)
    return [Term(split.attribute, group, float(typical in group)) for group in groups]


def _fit(
    tree: Tree, source: Counts, below: Sequence[Terms], *, scale: float
) -> list[Fitted]:
    """Return the model of every node; the mean where nothing is asked below it.

    Rows are sent down a level at a time, and what they sum up to is fitted at once.
    """
    origin = tree.schema.target.origin
    assert origin is not None
    fits, children = _means(tree, scale), children_of_nodes(tree)
    nodes, terms, products = list[int](), list[tuple[Term, ...]](), list[Products]()
    level = [0] if below[0] else []
    while level:
        own = [tuple(sorted(below[node], key=_order)) for node in level]
        requests = [TermRequest(*each) for each in zip(level, own, strict=True)]
        answers = with_formulas(source).products(requests)
        products += [answer.scaled(np.array([scale])) for answer in answers]
        nodes, terms, following = nodes + level, terms + own, list[int]()
        for node in level:
            inner = {b: c for b, c in enumerate(children[node]) if below[c]}
            if inner:
                source.partition(node, route_of(tree, node), inner)
            following += inner.values()
        level = following
    for node, fit in zip(
        nodes, all_fitted(products, terms, origin=origin), strict=True
    ):
        fits[node] = fit
    return fits


def _means(tree: Tree, scale: float) -> list[Fitted]:
    """Return the means of nodes as models; without rows that of the node above."""
    arrays = arrays_of(tree)
    spreads = scale * spread_of(np.asarray(arrays.weights, np.float64))
    errors = np.where(arrays.rows > 0, spreads, 0.0).tolist()
    values = values_of_nodes(tree).tolist()
    return [Fitted(e, 1, value) for e, value in zip(errors, values, strict=True)]


def adjusted_steps(
    tree: Tree, fits: Sequence[Fitted], sizes: Sequence[float]
) -> list[Judged]:
    """Return for each inner node whether its own model is no worse than its branches.

    A step's ``before`` and ``after`` are the adjusted errors of the node with its
    branches and as a leaf, its risks the squared errors of the whole tree on the
    training rows, before smoothing. ``sizes`` says how many rows each node counts for,
    and the errors of the fits are sums over as many.
    """
    scale = sizes[0] / float(arrays_of(tree).weight(tree.schema.target)[0])
    errors = RunningSum(tree, np.array([each.squared_error for each in fits]))
    # One more parameter for each split: its attribute is chosen too.
    parameters = RunningSum(
        tree,
        np.array([float(each.n_parameters) for each in fits]),
        arrays_of(tree).inner.astype(np.float64),
    )
    moments = np.asarray(arrays_of(tree).weights[0], np.float64)
    negligible = NEGLIGIBLE * float(np.sqrt(squared_error(moments)))

    def judge(node: int) -> Judgement:
        own, size = fits[node], sizes[node]
        as_leaf = adjusted(own.squared_error, own.n_parameters, weight=size)
        as_tree = adjusted(
            errors.as_tree(node), int(parameters.as_tree(node)), weight=size
        )
        pruned = as_leaf <= as_tree * (1 + CLOSE) or as_leaf < negligible
        parameters.decide(node, pruned=pruned)
        return as_tree, as_leaf, pruned

    return bottom_up(tree, judge, errors, unit=scale)


def adjusted(error: float, n_parameters: int, *, weight: float) -> float:
    """Return the root mean squared error, raised by the number of parameters.

    >>> adjusted(36.0, 2, weight=4)      # 3 · (4 + 2 · 2) / (4 − 2)
    12.0
    >>> adjusted(36.0, 4, weight=4)
    30.0
    """
    if not weight:
        return 0.0
    factor = OVERFITTED
    if weight > n_parameters * (1 + TOLERANCE):
        factor = (weight + MULTIPLIER * n_parameters) / (weight - n_parameters)
    return sqrt(error / weight) * factor


def _smoothed(
    parent: Sequence[int],
    models: Sequence[LinearModel],
    sizes: Sequence[float],
    constant: float,
) -> list[LinearModel]:
    """Return each node's model mixed with those above it.

    A prediction that comes to a node from below leaves the root as
    ``share · prediction + rest``. Both go down with the walk, for below a child of
    size n the prediction is (n p + k q) / (n + k), q being this node's.
    """
    if not constant:
        return list(models)
    shares, rests = [1.0], [LinearModel(0.0)]
    smooth = [models[0]]
    for node in range(1, len(models)):
        above, whole = parent[node], sizes[node] + constant
        of_above = shares[above] * constant / whole
        shares.append(shares[above] * sizes[node] / whole)
        rests.append(mixed([(1.0, rests[above]), (of_above, models[above])]))
        smooth.append(mixed([(1.0, rests[-1]), (shares[-1], models[node])]))
    return smooth
