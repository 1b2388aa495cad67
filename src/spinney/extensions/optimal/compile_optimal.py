"""The kernels of optimal trees for ``spinney compile``."""

import numpy as np

from spinney.cli.compile_jobs import grow_example_tree


def compile_kernels() -> None:
    """Grow trees, so that the kernels are compiled and cached."""
    grow_example_tree(np.float64, "optimal")
