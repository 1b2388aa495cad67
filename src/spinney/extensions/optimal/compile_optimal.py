"""The kernels of optimal trees for ``spinney compile``."""

import numpy as np

from spinney.cli.compile_jobs import grow_trees


def compile_kernels() -> None:
    """Grow trees, so that the kernels are compiled and cached."""
    grow_trees(np.float64, "optimal")
