"""Rows through finished trees: arrays, and who walks them."""

from spinney.trees.predict.flat_tree import Entries, FlatTree, flatten
from spinney.trees.predict.predictor import FEWEST_STEPS, LaidOut, leaf_numbers, outputs

__all__ = [
    "FEWEST_STEPS",
    "Entries",
    "FlatTree",
    "LaidOut",
    "flatten",
    "leaf_numbers",
    "outputs",
]
