"""The kernels of clusters for ``spinney compile``."""

from typing import Any

import numpy as np

from spinney.cli.compile_jobs import ROWS, classes_to_grow, numbers_to_grow
from spinney.extensions.clustering.estimators import KMeans, KPrototypes


def compile_kernels() -> None:
    """Find clusters, so that the kernels are compiled and cached."""
    for kind in (np.float64, np.float32):
        numbers = numbers_to_grow(50 * ROWS, kind)
        KMeans(8, random_state=0).fit(numbers)
        columns: dict[str, Any] = {
            f"x{column}": numbers[:, column] for column in range(4)
        }
        KPrototypes(8, random_state=0).fit(
            {**columns, "sort": classes_to_grow(numbers)}
        )
