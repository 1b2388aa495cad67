"""Many rows through many trees by compiled kernels; asking for this loads Numba."""

from spinney.trees.predict.compiled.flat_layout import Flat, flat_of, majority
from spinney.trees.predict.compiled.walk_rows import gather, leaves, votes

__all__ = ["Flat", "flat_of", "gather", "leaves", "majority", "votes"]
