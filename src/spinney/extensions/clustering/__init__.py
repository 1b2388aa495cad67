"""Clusters of rows: k-means, k-prototypes, the choice of k and explanations."""

from typing import TYPE_CHECKING

from spinney._support.lazy_names import lazy_names

if TYPE_CHECKING:
    from spinney.extensions.clustering.trace import explain_k_means

__getattr__ = lazy_names(__name__, {"trace": ("explain_k_means",)})
