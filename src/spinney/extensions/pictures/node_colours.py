"""The colour and opacity of a node: its prediction, and how pure it is.

A colour is a class of the style sheet, drawn over the page with an opacity. So it is
pale on a white page and dim on a dark page, and text on it is legible on both.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.colours import COLOURS
from spinney.extensions.pictures.box_parts import MeanStrip, ShareBar
from spinney.trees import Node, Tree
from spinney.trees.criteria import variance

MIN_OPACITY, MAX_OPACITY = 0.07, 0.42
REST_COLOUR = len(COLOURS) - 1
BELOW, ABOVE = "k0", "k5"
REACH = 2.0  # standard deviations of all rows on either side of their mean


def opacity(strength: float) -> float:
    """Return the opacity of a colour on the page, for a strength from 0 to 1."""
    return MIN_OPACITY + (MAX_OPACITY - MIN_OPACITY) * min(max(strength, 0.0), 1.0)


def moments(tree: Tree, node: Node) -> tuple[float, float]:
    """Return mean and standard deviation of the rows at a node of a numeric target."""
    if not node.n_rows:
        return node.value, 0.0
    return mean_and_deviation(tree, node.weights)


def mean_and_deviation(tree: Tree, weights: Floats) -> tuple[float, float]:
    """Return mean and standard deviation of a number by its moments."""
    origin = tree.schema.target.origin or 0.0
    mean = float(origin + weights[1] / weights[0])
    return mean, float(np.sqrt(variance(weights)))


@dataclass(frozen=True)
class ClassColours:
    """A colour for each class; with many classes, the rarer ones share grey."""

    tree: Tree

    @cached_property
    def index(self) -> list[int]:
        """The colour of each class."""
        n_classes = self.tree.schema.n_classes
        if n_classes <= len(COLOURS):
            return list(range(n_classes))
        weights = self.tree.root.weights
        heaviest = sorted(range(n_classes), key=lambda c: (-weights[c], c))[
            :REST_COLOUR
        ]
        rank = {code: place for place, code in enumerate(sorted(heaviest))}
        return [rank.get(code, REST_COLOUR) for code in range(n_classes)]

    def hue(self, node: Node) -> str:
        """Return the colour of the prediction of a node."""
        return f"k{self.index[node.label]}"

    def opacity(self, node: Node) -> float:
        """Return the opacity of a node: the proportion of its label, beyond chance."""
        chance = 1 / max(self.tree.schema.n_classes, 2)
        proportion = float(self.tree.counted_shares(node)[node.label])
        return opacity((proportion - chance) / (1 - chance))

    def bar(self, shares: Floats) -> ShareBar:
        """Return shares of the classes as a bar."""
        present = np.flatnonzero(shares).tolist()
        return ShareBar([(f"k{self.index[c]}", float(shares[c])) for c in present])


@dataclass(frozen=True)
class NumberColours:
    """One colour below the mean of all rows and one above, stronger far from it."""

    tree: Tree

    @cached_property
    def middle(self) -> tuple[float, float]:
        """Mean and standard deviation of all rows."""
        return moments(self.tree, self.tree.root)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The ends of the scale.

        The ends are the least and the greatest prediction of a node, or nearer to the
        mean, so that a few extreme nodes leave colours for the others.
        """
        mean, deviation = self.middle
        values = self.tree.arrays.predicted
        low = max(float(np.min(values)), mean - REACH * deviation)
        high = min(float(np.max(values)), mean + REACH * deviation)
        return min(low, mean), max(high, mean)

    def place(self, number: float) -> float:
        """Return the position of a number on the scale, from 0 to 1."""
        low, high = self.ends
        place = (number - low) / (high - low) if high > low else 0.5
        return min(max(place, 0.0), 1.0)

    def hue_and_distance(self, number: float) -> tuple[str, float]:
        """Return the colour of a number, and its distance from the mean, 0 to 1."""
        (mean, _), (low, high) = self.middle, self.ends
        hue, end = (ABOVE, high) if number > mean else (BELOW, low)
        distance = abs(number - mean) / abs(end - mean) if end != mean else 0.0
        return hue, min(distance, 1.0)

    def colour(self, number: float) -> tuple[str, float]:
        """Return the colour and opacity of a number, by its distance from the mean."""
        hue, distance = self.hue_and_distance(number)
        return hue, opacity(distance)

    def hue(self, node: Node) -> str:
        """Return the colour of the prediction of a node."""
        return self.colour(node.value)[0]

    def opacity(self, node: Node) -> float:
        """Return the opacity of a node: its distance from the mean of all rows."""
        return self.colour(node.value)[1]

    def strip(self, mean: float, deviation: float) -> MeanStrip:
        """Return mean ± standard deviation on the scale of all rows."""
        return MeanStrip(
            low=self.place(mean - deviation),
            mean=self.place(mean),
            high=self.place(mean + deviation),
            hue=self.colour(mean)[0],
            middle=self.place(self.middle[0]),
        )


def tree_colours(tree: Tree) -> ClassColours | NumberColours:
    """Return the colours of a tree's nodes."""
    numeric = tree.schema.target.is_numeric
    return NumberColours(tree) if numeric else ClassColours(tree)
