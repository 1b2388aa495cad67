"""A picture of clusters: a column each with its proportion of rows and its centroid.

A bar under a number shows its difference from the mean of all clusters, in standard
deviations between clusters: blue below, orange above.
"""

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.text import figure, number_text, percent_text, shown, weight_text
from spinney.data import Attribute
from spinney.extensions.clustering.clusters import Clusters
from spinney.extensions.pictures import STYLE_SHEET
from spinney.extensions.pictures.markup import Markup, element, joined
from spinney.extensions.pictures.node_colours import ABOVE, BELOW
from spinney.extensions.pictures.svg_elements import (
    group,
    line,
    picture,
    rectangle,
    words,
)
from spinney.extensions.pictures.text_width import shortened, text_width

MARGIN, LINE, COLUMN, BAR = 18.0, 34.0, 104.0, 80.0
NAME_WIDTH, CELL_WIDTH = 180.0, 92.0
CLUSTERS_SHOWN, ATTRIBUTES_SHOWN = 12, 40
MAX_DEVIATION = 2.0  # standard deviations of the longest bar


def to_cluster_svg(clusters: Clusters) -> str:
    """Return the profile of clusters as SVG."""
    attributes = clusters.schema.attributes[:ATTRIBUTES_SHOWN]
    n_shown = min(len(clusters), CLUSTERS_SHOWN)
    names = [shortened(shown(a.name), NAME_WIDTH, 12) for a in attributes]
    left = MARGIN + max((text_width(name, 12) for name in names), default=0.0) + 24
    width = left + COLUMN * n_shown + MARGIN
    height = MARGIN + LINE * (len(attributes) + 1) + MARGIN + 14
    parts = [
        words(f"{len(clusters)} clusters", "title"),
        element("style", STYLE_SHEET),
        rectangle(0, 0, width, height, kind="page", corner=6),
        *(_cluster_heading(clusters, k, left + COLUMN * k) for k in range(n_shown)),
    ]
    values, deviations = clusters.values, _deviations(clusters)
    for index, attribute in enumerate(attributes):
        top = MARGIN + LINE * (index + 1)
        parts.append(line(MARGIN, top, width - MARGIN, top, kind="axis"))
        name = words(names[index], x=MARGIN, y=top + 17, class_="plain")
        parts.append(group(shown(attribute.name), name))
        for cluster in range(n_shown):
            x, text = (
                left + COLUMN * cluster,
                _value_text(attribute, values[cluster, index]),
            )
            cut = shortened(text, CELL_WIDTH, 12)
            parts.append(group(text, words(cut, x=x, y=top + 17, class_="plain")))
            if attribute.kind == "numeric":
                parts.append(_deviation_bar(deviations[cluster, index], x, top + 22))
    parts.append(words(_footer(clusters), x=MARGIN, y=height - 12, class_="note"))
    return picture(parts, width, height)


def _cluster_heading(clusters: Clusters, cluster: int, x: float) -> Markup:
    proportion = clusters.sizes[cluster] / (float(clusters.sizes.sum()) or 1.0)
    rows = f"{weight_text(clusters.sizes[cluster])} ({percent_text(proportion)})"
    return joined(
        [
            words(f"cluster {cluster}", x=x, y=MARGIN + 8, class_="strong"),
            words(rows, x=x, y=MARGIN + 22, class_="note"),
            rectangle(x, MARGIN + 26, BAR, 4, kind="empty"),
            rectangle(x, MARGIN + 26, BAR * proportion, 4, kind="k7"),
        ]
    )


def _deviations(clusters: Clusters) -> Floats:
    """Return centroids minus their mean, in standard deviations between them."""
    deviations = np.zeros((len(clusters), len(clusters.schema.attributes)))
    kinds = [attribute.kind for attribute in clusters.schema.attributes]
    centroids = np.asarray(clusters.unscaled_centroids, np.float64)
    known = np.isfinite(centroids)
    # In units of the largest, so that no square overflows.
    filled = np.where(known, centroids, 0.0)
    unit = np.maximum(np.abs(filled).max(axis=0), np.finfo(np.float64).tiny)
    filled = filled / unit
    sizes = clusters.sizes / max(float(clusters.sizes.max()), np.finfo(float).tiny)
    weights = sizes[:, None] * known
    total = np.maximum(weights.sum(axis=0), np.finfo(np.float64).tiny)
    mean = (weights * filled).sum(axis=0) / total
    differences = np.where(known, filled - mean, 0.0)
    spread = np.sqrt((weights * differences**2).sum(axis=0) / total)
    numeric = [index for index, kind in enumerate(kinds) if kind == "numeric"]
    deviations[:, numeric] = np.divide(
        differences, spread, out=np.zeros_like(differences), where=spread > 0
    )
    return deviations


def _deviation_bar(deviation: float, x: float, y: float) -> Markup:
    size = min(abs(deviation) / MAX_DEVIATION, 1.0) * BAR / 2
    start = x + BAR / 2 - (size if deviation < 0 else 0.0)
    hue = BELOW if deviation < 0 else ABOVE
    empty = rectangle(x, y, BAR, 4, kind="empty")
    return joined([empty, rectangle(start, y, size, 4, kind=hue)])


def _value_text(attribute: Attribute, value: object) -> str:
    if attribute.kind != "numeric":
        return "–" if value is None else shown(value)  # type: ignore[arg-type]
    amount = float(value)  # type: ignore[arg-type]
    if np.isnan(amount):
        return "–"
    if attribute.unit is not None:
        return number_text(round(amount, 6), attribute.unit)
    return figure(amount, digits=4)


def _footer(clusters: Clusters) -> str:
    parts = [f"{clusters.method}, inertia {figure(clusters.inertia)}"]
    if (n_omitted := len(clusters) - CLUSTERS_SHOWN) > 0:
        parts.append(f"{n_omitted} more clusters")
    if (n_omitted := len(clusters.schema.attributes) - ATTRIBUTES_SHOWN) > 0:
        parts.append(f"{n_omitted} more columns")
    return "; ".join(parts)
