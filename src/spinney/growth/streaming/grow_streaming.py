"""The tree of rows at hand as a stream of them gives it."""

from spinney.growth.streaming.growing_stream import GrowingStream
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.trees import Tree


def grow(rows: TrainingSet, recipe: Recipe) -> Tree:
    """Return the tree of rows that are learned once, in their order."""
    stream = GrowingStream(rows.schema, recipe)
    stream.learn(rows)
    return stream.tree()
