"""What clusters are, for ``info``."""

from typing import Any

from spinney.extensions.clustering import Clusters
from spinney.models.facts import origin_facts


def cluster_facts(clusters: Clusters) -> dict[str, Any]:
    """Return the facts of clusters."""
    columns = {a.name: a.kind for a in clusters.schema.attributes}
    values = clusters.values.tolist()
    return {
        "method": clusters.method,
        "settings": dict(clusters.settings),
        "clusters": len(clusters),
        "sizes": clusters.sizes.tolist(),
        "centroids": [
            {
                name: None if value != value else value  # NaN is unknown
                for name, value in zip(columns, line, strict=True)
            }
            for line in values
        ],
        "gamma": clusters.gamma if clusters.method == "k-prototypes" else None,
        "inertia": clusters.inertia,
        "iterations": clusters.n_iterations,
        "found_on": origin_facts(clusters.fingerprint),
        "columns": columns,
    }
