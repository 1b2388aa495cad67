"""Predictions of many rows by many trees in compiled kernels."""

from spinney.trees.predict.compiled.flat_layout import TreeLayout, majority, tree_layout
from spinney.trees.predict.compiled.walk_rows import gather, leaves, votes
