"""How much the leaves of a forest are shrunk, as rows out of the bag tell."""

from dataclasses import replace

import numpy as np

from spinney.counts import TOLERANCE, Floats, Integers
from spinney.forest.bags import Bags
from spinney.forest.forest import Forest
from spinney.forest.voting import taken, votes_out_of_bag

__all__ = ["MOST_ROWS", "SHRINKAGES", "best_shrinkage"]

# What is tried, in weights of an average row, and how many rows are asked about.
SHRINKAGES = (0.0, 3.0, 10.0, 30.0, 100.0)
MOST_ROWS = 5_000


def best_shrinkage(forest: Forest, bags: Bags, *, swiftly: bool) -> float:
    """Return the shrinkage of least loss on rows out of the bag, the least of equals.

    0 where every tree has seen every row. ``swiftly`` says that a compiler is at hand.
    """
    copies = bags.copies
    if copies is None:
        return 0.0
    # Evenly among the copies, whose order depends on what is in the rows: so neither
    # their order nor a weight in the place of copies changes anything.
    n_copies = len(copies.places)
    n_asked = min(MOST_ROWS, n_copies)
    asked = np.arange(n_asked) * n_copies // n_asked
    out = [bags.drawn(number, n_copies)[asked] == 0 for number in range(len(forest))]
    rows, training = copies.places[asked], bags.training
    unit = float(training.own_weights.sum()) / n_copies
    tried = tuple(unit * each for each in SHRINKAGES)
    # What a leaf says under each shrinkage stands side by side: rows go down once.
    total, trees = votes_out_of_bag(
        forest,
        forest.members,
        taken(training.columns, rows),
        np.stack(out, axis=1),
        shrinkages=tried,
        swiftly=swiftly,
    )
    known = trees > 0
    if not known.any():
        return 0.0
    weights = _weights(bags)[rows]
    if copies.weight is not None:  # a row comes as often as it weighs
        weights = weights / training.own_weights[rows]
    told = total.reshape(n_asked, len(tried), forest.n_outputs)
    loss = _square_error if training.schema.target.is_numeric else _log_loss
    found = np.average(
        loss(told[known], trees[known], training.classes[rows][known]),
        axis=0,
        weights=weights[known],
    )
    least = found.min()
    return tried[int(np.flatnonzero(found <= least + TOLERANCE * abs(least))[0])]


def _weights(bags: Bags) -> Floats:
    """Return what each row weighs, its class considered."""
    training, settings = bags.training, bags.settings
    if settings.class_weight == "balanced_subsample":
        bags = replace(bags, settings=replace(settings, class_weight="balanced"))
    scale = bags.class_weights()
    weights = training.own_weights
    return weights if scale is None else weights * scale[training.classes]


def _square_error(told: Floats, trees: Integers, truth: Floats) -> Floats:
    """Return the square of each row's error under each shrinkage."""
    return np.asarray((told[:, :, 0] / trees[:, None] - truth[:, None]) ** 2)


def _log_loss(told: Floats, trees: Integers, truth: Integers) -> Floats:
    """Return minus the logarithm of the share of each row's class.

    Half a tree more votes for all classes alike, so that no share is 0, and few trees
    are not believed when they agree.
    """
    own = np.take_along_axis(told, truth[:, None, None], axis=2)[:, :, 0]
    share = (own + 0.5 / told.shape[2]) / (trees[:, None] + 0.5)
    return np.asarray(-np.log(share))
