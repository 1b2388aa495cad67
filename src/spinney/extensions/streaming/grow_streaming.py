"""The tree of rows in memory as a stream of them gives it."""

from spinney.extensions.streaming.growing_stream import GrowingStream
from spinney.growth.growth_options import Options
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.trees import Tree


def grow_tree(rows: TrainingSet, recipe: Recipe, options: Options) -> Tree:
    """Return the tree of rows that are learned once, in their order."""
    del options  # what a stream cannot heed is refused before
    stream = GrowingStream(rows.schema, recipe)
    stream.learn(rows)
    return stream.tree()
