"""Predictions of finished trees, whose arrays route the rows."""

from spinney.trees.predict.flat_tree import BLOCK, Entries, FlatTree, flatten
from spinney.trees.predict.predictor import LazyFlatTree, leaf_numbers, outputs
from spinney.trees.predict.row_walk import RowWalk, row_walk_of
