"""The kernels of clusters for ``spinney compile``."""

from typing import Any

import numpy as np

from spinney.cli.compile_jobs import ROWS, example_classes, example_numbers
from spinney.extensions.clustering.estimators import KMeans, KPrototypes


def compile_kernels() -> None:
    """Find clusters, so that the kernels are compiled and cached."""
    for kind in (np.float64, np.float32):
        numbers = example_numbers(50 * ROWS, kind)
        KMeans(8, random_state=0).fit(numbers)
        columns: dict[str, Any] = {
            f"x{column}": numbers[:, column] for column in range(4)
        }
        KPrototypes(8, random_state=0).fit(
            {**columns, "sort": example_classes(numbers)}
        )
