"""k-prototypes: clusters of mixed rows."""

from spinney.extensions.clustering.prototypes.fit_k_prototypes import (
    LARGEST_GAMMA,
    MIXED_STARTS,
    nearest_prototypes,
)
from spinney.extensions.clustering.prototypes.mixed_coding import (
    mixed_cells,
    prototypes_of,
    values_of,
)
from spinney.extensions.clustering.prototypes.mixed_distances import (
    MixedCells,
    Prototypes,
)

__all__ = [
    "LARGEST_GAMMA",
    "MIXED_STARTS",
    "MixedCells",
    "Prototypes",
    "mixed_cells",
    "nearest_prototypes",
    "prototypes_of",
    "values_of",
]
