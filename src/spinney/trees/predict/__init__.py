"""Rows through finished trees: arrays, and who walks them."""

from spinney.trees.predict.flat_tree import (
    Entries,
    FlatTree,
    Questions,
    flatten,
    no_questions,
)
from spinney.trees.predict.predictor import FEWEST_STEPS, LaidOut, leaf_numbers, outputs

__all__ = [
    "FEWEST_STEPS",
    "Entries",
    "FlatTree",
    "LaidOut",
    "Questions",
    "flatten",
    "leaf_numbers",
    "no_questions",
    "outputs",
]
