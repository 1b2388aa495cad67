"""Smoothing: the model of a node, mixed with the models of the nodes above it.

At a child of size n a prediction p becomes (n p + k q) / (n + k), q being the
prediction of its parent, which is mixed with those above in the same way. All models
are linear, so the mixture is one model.

M5's mixture has the terms of all nodes of the path, fifty or more in a deep tree. If
terms are limited, the nodes above are fitted anew to the terms of the node itself, by
the sums that they have already: their model then has no terms that the node lacks::

    root   y ~ a + b + c + d      for the leaf: y ~ a + c   ┐
    node   y ~ a + b + c                        y ~ a + c   ├ mixed: y ~ a + c
    leaf   y ~ a + c                            y ~ a + c   ┘

A node without terms takes those of the nearest node above that has some.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from spinney.growth.model_trees.least_squares import MAX_COEFFICIENTS, Fits, Regressions
from spinney.sources import Products
from spinney.trees import LinearModel, Term, mixed

Weighted = tuple[float, LinearModel]
Terms = tuple[Term, ...]


def smoothed(
    parent: Sequence[int],
    models: Sequence[LinearModel],
    sizes: Sequence[float],
    constant: float,
) -> list[LinearModel]:
    """Return each node's model mixed with those above it.

    A prediction p at a node becomes ``share · p + rest`` at the root. Both are computed
    on the way down: at a child of size n it is (n p + k q) / (n + k), q being this
    node's prediction.
    """
    if not constant:
        return list(models)
    factors, rests = [1.0], [LinearModel(0.0)]
    smooth = [models[0]]
    for node in range(1, len(models)):
        above, whole = parent[node], sizes[node] + constant
        parent_factor = factors[above] * constant / whole
        factors.append(factors[above] * sizes[node] / whole)
        rests.append(mixed([(1.0, rests[above]), (parent_factor, models[above])]))
        smooth.append(mixed([(1.0, rests[-1]), (factors[-1], models[node])]))
    return smooth


def smoothed_by_own_terms(
    parent: Sequence[int],
    numbers: Sequence[int],
    fits: Fits,
    constant: float,
    *,
    origin: float,
) -> list[LinearModel]:
    """Return each node's model mixed with those above it, over its own terms.

    ``numbers`` are those of the nodes in the fits; ``origin`` is the target's.
    """
    if not constant:
        return [fits.model(number) for number in numbers]
    terms = list[Terms]()
    for node, number in enumerate(numbers):
        own = fits.model(number).terms
        terms.append(own or (terms[parent[node]] if node else ()))
    refits = _refits(
        dict.fromkeys(
            (numbers[above], terms[node])
            for node in range(len(numbers))
            for above in _path(parent, node)[1:]
        ),
        fits,
        origin,
    )
    mixtures = list[LinearModel]()
    for node, number in enumerate(numbers):
        parts, rest, model = list[Weighted](), 1.0, fits.model(number)
        for above in _path(parent, node)[1:]:
            share = float(fits.sizes[number] / (fits.sizes[number] + constant))
            parts.append((rest * share, model))
            rest, number = rest * (1 - share), numbers[above]
            model = refits[number, terms[node]]
        mixtures.append(mixed([*parts, (rest, model)]))
    return mixtures


def _path(parent: Sequence[int], node: int) -> list[int]:
    """Return the nodes from a node up to the root."""
    path = [node]
    while path[-1]:
        path.append(parent[path[-1]])
    return path


def _refits(
    requests: Iterable[tuple[int, Terms]], fits: Fits, origin: float
) -> dict[tuple[int, Terms], LinearModel]:
    """Return the models of nodes over these terms and no others."""
    models, linear = dict[tuple[int, Terms], LinearModel](), list[tuple[int, Terms]]()
    for node, terms in requests:
        if terms:
            linear.append((node, terms))
        else:
            models[node, terms] = LinearModel(float(fits.means[node]))
    width = 1 + max((len(terms) for _, terms in linear), default=0)
    batch_size = max(1, MAX_COEFFICIENTS // width**2)
    places = _places_of_terms(fits, [node for node, _ in linear])
    for first in range(0, len(linear), batch_size):
        batch = linear[first : first + batch_size]
        sums = [_part(fits.products[node], places[node], t) for node, t in batch]
        regressions = Regressions(sums, width, fits.scale)
        chosen = regressions.varying()
        fitted = regressions.with_terms(chosen, [terms for _, terms in batch], origin)
        models.update(zip(batch, [each.model for each in fitted], strict=True))
    return models


def _places_of_terms(fits: Fits, nodes: Iterable[int]) -> dict[int, Mapping[Term, int]]:
    """Return for each node the place of each of its terms in its sums."""
    lists = {node: fits.linear[node].terms for node in nodes}
    places = {  # many nodes share one list
        key: {term: place for place, term in enumerate(terms)}
        for key, terms in {id(terms): terms for terms in lists.values()}.items()
    }
    return {node: places[id(terms)] for node, terms in lists.items()}


def _part(products: Products, place_of: Mapping[Term, int], terms: Terms) -> Products:
    """Return the sums of some terms and the target; 0 of terms that are not there."""
    found = [index for index, term in enumerate(terms) if term in place_of]
    columns = [*(place_of[terms[index]] for index in found), -1]
    size = len(terms) + 1
    found.append(size - 1)
    means, spreads = np.zeros((1, size)), np.zeros((1, size, size))
    means[0, found] = products.means[0, columns]
    spreads[0][np.ix_(found, found)] = products.spreads[0][np.ix_(columns, columns)]
    return Products(products.weights, means, spreads)
