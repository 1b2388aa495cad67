"""From a grown tree to a model tree: linear models, pruning, smoothing (M5).

Sources: Quinlan, "Learning with continuous classes" (1992), and Wang and Witten,
"Inducing model trees for continuous classes" (1997), as Weka's M5P carries them
out. Each step is one setting of the recipe:

leaves="linear"
    every node gets a linear model of the attributes that split the nodes below it: a
    numeric value, or an indicator of a subset of categories. A grown leaf has no splits
    below, so its model is the mean. Pruning and smoothing bring models to leaves.
pruning="adjusted-error"
    bottom-up, a node becomes a leaf if the error of its own model, times (n + 2v) / (n
    − v), is at most the adjusted error of its branches. n is the weight of its rows. v
    counts coefficients and intercepts, and one for each split below. Where n ≤ v the
    factor is 10.
smoothing=k
    on the way to the root each prediction p becomes (n p + k q) / (n + k), where n is
    the weight below and q the prediction of the node above. All models are linear, so
    the mixture replaces the model of the leaf.

The errors are root mean squares. Weights count as repetitions of a row. If their mean
is below 1, they are scaled to a mean of 1: weights that sum to 1 give the same tree as
weights that sum to n. All sums come from the source, so remote tables are treated like
tables in memory.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.segments import sums_by
from spinney._support.ties import TOLERANCE
from spinney.data import Attribute
from spinney.growth.model_trees.least_squares import CLOSE, Fits, Mask, all_fitted
from spinney.growth.model_trees.smoothing import smoothed, smoothed_by_own_terms
from spinney.growth.prune import Pruned, PruneStep, Steps
from spinney.growth.prune.walks import (
    RunningSum,
    Verdict,
    bottom_up,
    recorded,
)
from spinney.recipes import Recipe
from spinney.search import MAX_LISTED, RootStatistics, statistics_by_attribute
from spinney.sources import (
    ROOT,
    Counts,
    Products,
    TableRequest,
    TermRequest,
    as_formula_source,
    register_formulas,
    sum_products,
    tables_of,
)
from spinney.sources.training_data import TrainingData
from spinney.trees import (
    Groups,
    RenumberedNodes,
    Split,
    Term,
    Tree,
    cut,
    flat_models,
    ratio_of,
)
from spinney.trees.criteria import squared_error

# Nominal attributes have many splits: a node takes its nearest terms, so that its
# equations stay small. An attribute of more than MAX_LISTED values gives no terms, for
# models with such lists would outgrow the rows.
MAX_TERMS = 100
# As in M5P: the adjustment of errors, and a negligible error.
MULTIPLIER = 2.0
OVERFITTED = 10.0
NEGLIGIBLE = 1e-5

Depths = dict[int, int]
"""The numbers of terms, with the least depth at which each occurs in a split."""


def with_models(tree: Tree, rows: TrainingData, *, recipe: Recipe) -> Pruned:
    """Return a regression tree with the linear models of its recipe, pruned.

    The rows must be its training rows. The recorded steps are the steps of
    ``pruning="adjusted-error"``.
    """
    if not tree.schema.target.is_numeric or not recipe.fits_models:
        return Pruned(tree, Steps(()))
    fits = _fit(tree, rows.source, recipe)
    pruned = Pruned(cut(tree, ()), Steps(()))
    if recipe.pruning == "adjusted-error":
        pruned = pruned_by_errors(tree, fits)
    return replace(pruned, tree=_predicting(pruned.tree, fits, recipe))


def _predicting(tree: Tree, fits: Fits, recipe: Recipe) -> Tree:
    """Return a pruned tree whose nodes predict by smoothed models, or by a number.

    The fits are those of the tree before it was pruned.
    """
    nodes, arrays = tree.nodes, tree.arrays
    assert isinstance(nodes, RenumberedNodes)
    assert arrays.outputs is not None
    parent = arrays.parent.tolist()
    numbers = nodes.numbers.tolist()
    if recipe.max_terms is None:
        unsmoothed = list(map(fits.model, numbers))
        sizes = fits.sizes[nodes.numbers].tolist()
        models = smoothed(parent, unsmoothed, sizes, recipe.smoothing)
    else:
        origin = tree.schema.target.origin
        assert origin is not None
        models = smoothed_by_own_terms(
            parent, numbers, fits, recipe.smoothing, origin=origin
        )
    intercepts = np.array([[model.intercept] for model in models])
    with_terms = np.array([[bool(model.terms)] for model in models])
    flat = flat_models([model if model.terms else None for model in models])
    modelled = replace(
        arrays,
        outputs=np.where(with_terms, arrays.outputs, intercepts),
        models=flat if with_terms.any() else None,
    )
    return Tree(tree.schema, replace(nodes, tree=modelled))


def _root_statistics(tree: Tree, source: Counts) -> dict[int, RootStatistics]:
    """Return the statistics of all rows for the attributes that the tree splits on."""
    attributes = tuple(tree.arrays.asked)
    if not attributes:
        return {}
    (tables,) = tables_of(source, [TableRequest(ROOT, attributes)], tree.schema)
    return statistics_by_attribute(tables, tree.schema)


def terms_below(tree: Tree, roots: dict[int, RootStatistics]) -> list[tuple[Term, ...]]:
    """Return for each node the terms of the splits below it, nearest splits first.

    Nodes with the same terms share one tuple, which is compared by identity.
    """
    arrays, attributes = tree.arrays, tree.schema.attributes
    links, split_on = arrays.links(), arrays.attribute.tolist()
    parent, depths = arrays.parent.tolist(), links.depth.tolist()
    grouped = np.isnan(arrays.cut).tolist()
    index_of: dict[Term, int] = {}

    def index_terms(terms: Iterable[Term]) -> list[int]:
        return [index_of.setdefault(term, len(index_of)) for term in terms]

    numbers = {
        index: index_terms([Term(index, None, root.default_value)])
        for index, root in roots.items()
    }
    none: Depths = {}
    below = [none if index < 0 else {} for index in split_on]
    for node in np.flatnonzero(arrays.inner)[::-1].tolist():
        depth_of, index = below[node], split_on[node]
        indices = numbers[index]
        if grouped[node]:
            split = arrays.split(node)
            indices = index_terms(_group_terms(split, attributes[index], roots[index]))
        depth_of.update(dict.fromkeys(indices, depths[node]))
        if len(depth_of) > MAX_TERMS:
            terms = {t: term for term, t in index_of.items() if t in depth_of}
            nearest = sorted(depth_of, key=lambda t: (depth_of[t], *_order(terms[t])))
            below[node] = depth_of = {t: depth_of[t] for t in nearest[:MAX_TERMS]}
        if depth_of and node:
            above = below[parent[node]]
            for term, depth in depth_of.items():
                above[term] = min(depth, above.get(term, depth))
    return _sorted_terms(list(index_of), below)


def _sorted_terms(
    terms: Sequence[Term], below: Sequence[Depths]
) -> list[tuple[Term, ...]]:
    """Return the sorted terms of each node, given the depths of its terms."""
    order = sorted(range(len(terms)), key=lambda t: _order(terms[t]))
    rank_of = np.argsort(order).tolist()
    ranks = [tuple(sorted(map(rank_of.__getitem__, numbers))) for numbers in below]
    shared = {key: tuple(terms[order[rank]] for rank in key) for key in set(ranks)}
    return [shared[key] for key in ranks]


def _order(term: Term) -> tuple[int, int, tuple[int, ...]]:
    """Return the order of terms: columns, then larger sets of codes first."""
    codes = term.codes or ()
    return term.attribute, -len(codes), codes


def _group_terms(
    split: Split, attribute: Attribute, root: RootStatistics
) -> list[Term]:
    """Return a term for each group of codes but the first; none for many codes."""
    assert isinstance(split, Groups)
    if len(attribute.values) > MAX_LISTED:
        return []
    groups = [group for group in split.groups[1 : MAX_TERMS + 1] if group]
    typical = int(root.default_value)
    return [Term(split.attribute, group, float(typical in group)) for group in groups]


def _fit(tree: Tree, source: Counts, recipe: Recipe) -> Fits:
    """Return the model of every node; the mean if it has no splits below."""
    register_formulas(source, tree.schema)
    terms: Sequence[tuple[Term, ...]] = [()] * len(tree)
    if recipe.leaves == "linear":
        terms = terms_below(tree, _root_statistics(tree, source))
    fits, origin = Fits.of_means(tree), tree.schema.target.origin
    assert origin is not None
    products = _products(tree, source, terms)
    nodes, node_terms = list(products), [terms[node] for node in products]
    models = all_fitted(
        list(products.values()),
        node_terms,
        origin=origin,
        scale=fits.scale,
        max_terms=recipe.max_terms,
    )
    fits.squared_errors[nodes] = [model.squared_error for model in models]
    fits.n_parameters[nodes] = [model.n_parameters for model in models]
    linear = dict(zip(nodes, models, strict=True))
    return replace(fits, linear=linear, products=products)


def _products(
    tree: Tree, source: Counts, terms: Sequence[tuple[Term, ...]]
) -> dict[int, Products]:
    """Return the products of terms and target at each node that has terms.

    Rows are sent down a level at a time. If all children have the terms of their node,
    the source counts nothing for it: its sums are the sums of its children.
    """
    products: dict[int, Products] = {}
    children, to_sum = tree.nodes.children, list[int]()
    formulas_of = as_formula_source(source)
    level = [0] if terms[0] else []
    while level:
        to_count, next_level = list[int](), list[int]()
        for node in level:
            same_terms = all(terms[child] is terms[node] for child in children[node])
            (to_sum if same_terms else to_count).append(node)
        requests = [TermRequest(node, terms[node]) for node in to_count]
        counted = formulas_of.products(requests)
        products.update(zip(to_count, counted, strict=True))
        for node in level:
            inner = {b: c for b, c in enumerate(children[node]) if terms[c]}
            if inner:
                source.partition(node, tree.nodes.route(node), inner)
                next_level += inner.values()
        level = next_level
    for node in reversed(to_sum):
        products[node] = sum_products([products[child] for child in children[node]])
    return products


def pruned_by_errors(tree: Tree, fits: Fits) -> Pruned:
    """Return a tree whose inner nodes become leaves if their own model is no worse.

    A step's ``before`` and ``after`` are the adjusted errors of the node with its
    branches and as a leaf. Its risks are the training squared errors of the whole tree,
    before smoothing.
    """
    as_tree, as_leaf, pruned = adjusted_errors(tree, fits)

    def judge(node: int) -> Verdict:
        return float(as_tree[node]), float(as_leaf[node]), bool(pruned[node])

    def record() -> Iterator[PruneStep]:
        unit = float(fits.sizes[0] / tree.arrays.weights[0, 0])
        steps = bottom_up(tree, judge, RunningSum(tree, fits.squared_errors), unit=unit)
        yield from recorded(tree, steps, "adjusted error of the node")

    return Pruned(cut(tree, np.flatnonzero(pruned).tolist()), Steps(record()))


def adjusted_errors(tree: Tree, fits: Fits) -> tuple[Floats, Floats, Mask]:
    """Return adjusted errors with branches, adjusted errors as leaves, and the cuts.

    Nodes are decided bottom-up, a level at a time.
    """
    arrays = tree.arrays
    depth, inner = arrays.depth, arrays.inner
    parent = arrays.parent.astype(np.int64)
    moments = np.asarray(arrays.weights[0], np.float64)
    negligible = NEGLIGIBLE * float(np.sqrt(squared_error(moments)))
    # The errors and the parameters of each node, as pruned so far.
    sums = np.column_stack([fits.squared_errors, fits.n_parameters])
    as_leaf = adjusted(sums, weight=fits.sizes)
    as_tree, pruned = as_leaf.copy(), np.zeros(len(tree), np.bool_)
    for level in reversed(range(depth.max())):
        nodes = np.flatnonzero((depth == level) & inner)
        below = np.flatnonzero(depth == level + 1)
        branches = sums_by(parent[below], sums[below], len(tree))[nodes]
        branches[:, 1] += 1  # for the split: its attribute is chosen too
        as_tree[nodes] = adjusted(branches, weight=fits.sizes[nodes])
        cheap = as_leaf[nodes] <= as_tree[nodes] * (1 + CLOSE)
        pruned[nodes] = cheap | (as_leaf[nodes] < negligible)
        stays = ~pruned[nodes]
        sums[nodes[stays]] = branches[stays]
    return as_tree, as_leaf, pruned


def adjusted(sums: Floats, *, weight: Floats) -> Floats:
    """Return root mean squared errors, adjusted for the number of parameters.

    A line of ``sums`` has a squared error and a number of parameters.

    >>> sums, weight = np.array([[36.0, 2.0], [36.0, 4.0]]), np.array([4.0, 4.0])
    >>> adjusted(sums, weight=weight)      # 3 · (4 + 2 · 2) / (4 − 2), 3 · 10
    array([12., 30.])
    """
    error, n_parameters = sums.T
    has_freedom = weight > n_parameters * (1 + TOLERANCE)
    penalised = weight + MULTIPLIER * n_parameters
    freedom = np.where(has_freedom, weight - n_parameters, 1.0)
    factor = np.where(has_freedom, penalised / freedom, OVERFITTED)
    return np.asarray(np.sqrt(ratio_of(error, weight)) * factor)
