"""How important each attribute is to a forest, with its spread over the trees.

impurity
    the mean decrease in impurity: the gains of an attribute's splits, times the weights
    of their nodes, as fractions of all gains of the tree; averaged over the trees. It
    is measured in training, so high-cardinality attributes look better than they are.
permutation
    the increase of the out-of-bag error if the attribute's cells are permuted: of the
    error rate, or of the mean squared error (Breiman 2001, "Random forests", section
    10). An attribute that no tree uses has 0.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.in_notebooks import InNotebooks
from spinney._support.threads import run_each
from spinney._support.threads import thread_count as threads_of
from spinney.data import Column, Schema, association_of
from spinney.growth.forest.bags import ForestBags, tree_seeds
from spinney.growth.forest.forest import Forest
from spinney.growth.forest.voting import require_bootstrap
from spinney.trees import labels_of
from spinney.trees.predict import outputs

# Distinguishes the seed from those of bags and nodes, which are words of one sequence.
_PERMUTING = 1


@dataclass(frozen=True, slots=True, eq=False)
class Importances(InNotebooks):
    """The importance of each attribute, tree by tree.

    Parameters
    ----------
    names : tuple of str
        The attributes.
    by_tree : array, trees × attributes
        The importance of each in each tree.
    """

    names: tuple[str, ...]
    by_tree: Floats

    @property
    def mean(self) -> Floats:
        """The importance of each attribute: the mean over the trees."""
        return np.asarray(self.by_tree.mean(axis=0))

    @property
    def spread(self) -> Floats:
        """The standard deviation over the trees."""
        return np.asarray(self.by_tree.std(axis=0))

    def ranked(self) -> Iterator[tuple[str, float, float]]:
        """Yield name, mean and spread of each attribute in falling order."""
        order = np.argsort(-self.mean, kind="stable")
        for index in order:
            yield self.names[index], float(self.mean[index]), float(self.spread[index])

    def text(self) -> str:
        """Return a line for each attribute, the most important first."""
        width = max([len(name) for name in self.names], default=0)
        return "\n".join(
            f"{name:<{width}}  {mean:8.4f} ± {spread:.4f}"
            for name, mean, spread in self.ranked()
        )


@dataclass(frozen=True, slots=True, eq=False)
class GroupedImportances(Importances):
    """The importance of groups of associated attributes, tree by tree.

    ``names`` are the names of the groups, such as "length + width".

    Parameters
    ----------
    groups : tuple of tuples of str
        The attributes of each group.
    least : tuple of float
        The least association within each group; None for one attribute.
    """

    groups: tuple[tuple[str, ...], ...]
    least: tuple[float | None, ...]


def grouped_importances(
    importances: Importances,
    schema: Schema,
    cells: Sequence[NDArray[Any]],
    *,
    threshold: float,
    weights: Floats | None = None,
) -> GroupedImportances:
    """Return importances summed over groups of associated attributes."""
    attributes = zip(schema.attributes, cells, strict=True)
    columns = [Column(a.name, a.kind, codes, a.values) for a, codes in attributes]
    association = association_of(columns, weights)
    groups = association.groups(threshold)
    by_tree = [importances.by_tree[:, list(group)].sum(axis=1) for group in groups]
    named = tuple(tuple(schema.names[index] for index in group) for group in groups)
    return GroupedImportances(
        tuple(" + ".join(group) for group in named),
        np.stack(by_tree, axis=1),
        named,
        tuple(map(association.least, groups)),
    )


def impurity_importances(forest: Forest) -> Importances:
    """Return the mean decrease in impurity of each attribute."""
    target, n_attributes = forest.schema.target, len(forest.schema.attributes)
    by_tree = np.zeros((len(forest), n_attributes))
    for line, member in zip(by_tree, forest.members, strict=True):
        inner = member.inner
        gains = member.improvements(target)[inner]
        line[:] = np.bincount(member.attribute[inner], gains, minlength=n_attributes)
        total = line.sum()
        if total > 0:
            line /= total
    return Importances(forest.schema.names, by_tree)


def trees_by_similarity(importances: Importances) -> Integers:
    """Return the trees by the similarity of their importances to the forest's.

    >>> importances = Importances(("a", "b"), np.array([[0, 1], [0.5, 0.5], [1, 0]]))
    >>> trees_by_similarity(importances)
    array([1, 0, 2])
    """
    distance = np.abs(importances.by_tree - importances.mean).sum(axis=1)
    return np.argsort(distance, kind="stable")


def permutation_importances(
    forest: Forest,
    bags: ForestBags,
    *,
    n_jobs: int | None = None,
    done: Callable[[int], None] = lambda number: None,
) -> Importances:
    """Return the permutation importances in each tree, on its out-of-bag rows."""
    require_bootstrap(forest)
    lines = run_each(
        [partial(_by_permutation, forest, bags, number) for number in forest.numbers],
        max_threads=threads_of(n_jobs),
        done=done,
    )
    return Importances(forest.schema.names, np.array(lines))


def _by_permutation(forest: Forest, bags: ForestBags, number: int) -> Floats:
    """Return the permutation importances of one tree."""
    training, schema = bags.training, forest.schema
    result = np.zeros(len(schema.attributes))
    out = np.flatnonzero(bags.out_of_bag(number))
    if not len(out):
        return result
    columns = [cells[out] for cells in training.training_columns]
    truth, weights = training.classes[out], training.sample_weights[out]
    flat = forest.flat_tree(number)

    def error() -> float:
        votes = outputs(flat, columns, len(out))
        return float(np.average(_errors(votes, truth), weights=weights))

    before = error()
    _, seed = tree_seeds(forest.settings.seed, number)
    for attribute in forest.members[number].asked:
        words = np.random.SeedSequence((seed, _PERMUTING, attribute))
        order = np.random.Generator(np.random.PCG64(words)).permutation(len(out))
        cells = columns[attribute]
        columns[attribute] = cells[order]
        result[attribute] = error() - before
        columns[attribute] = cells
    return result


def _errors(votes: Floats, truth: NDArray[Any]) -> Floats:
    """Return the error of each row: 0 or 1, or the square of the difference."""
    if votes.shape[1] == 1:
        return np.asarray((votes[:, 0] - truth) ** 2)
    return np.asarray(labels_of(votes, None) != truth, dtype=np.float64)
