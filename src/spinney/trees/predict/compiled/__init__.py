"""Many rows through many trees by compiled kernels; asking for this loads Numba."""

from spinney.trees.predict.compiled.flat_layout import TreeLayout, majority, tree_layout
from spinney.trees.predict.compiled.walk_rows import gather, leaves, votes
