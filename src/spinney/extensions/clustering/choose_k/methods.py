"""What choosing a number of clusters asks of k-means and k-prototypes alike.

Rows are an array of k-means, ``MixedCells`` of k-prototypes; a ``Method`` makes a
``Clustering`` of them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.extensions.clustering.choose_k.choice import MEASURES
from spinney.extensions.clustering.choose_k.cluster_measures import (
    mean_widths,
    silhouettes,
)
from spinney.extensions.clustering.fit_k_means import KMeansMethod
from spinney.extensions.clustering.prototypes.fit_k_prototypes import (
    KPrototypesMethod,
    power_of_mixed,
    scaled_gamma,
    scaled_mixed,
)
from spinney.extensions.clustering.prototypes.mixed_distances import (
    MixedCells,
    distances_to_all,
)
from spinney.extensions.clustering.scaling import scaled

Method = KMeansMethod | KPrototypesMethod

MIXED_RULES = ("silhouette", "elbow")
"""The measures that need no centroid of numbers: the others of ``MEASURES`` do."""


def measures_of(method: Method) -> tuple[str, ...]:
    """Return the measures that there are of a method; each may choose k, too."""
    return MEASURES if isinstance(method, KMeansMethod) else MIXED_RULES


def scaled_rows(cells: Any) -> tuple[Any, int]:
    """Return rows whose squares are floats, and the power of two they are over.

    Mixed rows stay as they are: γ belongs to the scale of their numbers.
    """
    return (cells, 0) if isinstance(cells, MixedCells) else scaled(np.asarray(cells))


def silhouettes_of(
    cells: Any,
    labelings: Sequence[Integers],
    weights: Floats,
    *,
    gamma: float,
    n_jobs: int,
) -> list[float | None]:
    """Return the silhouettes of several clusterings of the same rows.

    Between two mixed rows there is the distance of k-prototypes, with a row in the
    place of the prototype; what either lacks adds nothing. Silhouettes are of its root:
    where all columns are numbers and known, that is the distance of k-means.
    """
    if not isinstance(cells, MixedCells):
        return silhouettes(cells, labelings, weights, n_jobs=n_jobs)
    # Clusters without rows are no clusters.
    codings = [np.unique(one, return_inverse=True)[1].ravel() for one in labelings]
    power = power_of_mixed(cells)
    small, own = scaled_mixed(cells, power), scaled_gamma(cells, gamma, power)
    return mean_widths(
        lambda part: distances_to_all(small, part, own), codings, weights, n_jobs=n_jobs
    )
