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
NAME_ROOM, CELL_ROOM = 180.0, 92.0
CLUSTERS_SHOWN, ATTRIBUTES_SHOWN = 12, 40
REACH = 2.0  # standard deviations of the longest bar


def to_cluster_svg(clusters: Clusters) -> str:
    """Return the profile of clusters as SVG."""
    attributes = clusters.schema.attributes[:ATTRIBUTES_SHOWN]
    n_shown = min(len(clusters), CLUSTERS_SHOWN)
    names = [shortened(shown(each.name), NAME_ROOM, 12) for each in attributes]
    left = MARGIN + max((text_width(name, 12) for name in names), default=0.0) + 24
    width = left + COLUMN * n_shown + MARGIN
    height = MARGIN + LINE * (len(attributes) + 1) + MARGIN + 14
    parts = [
        words(f"{len(clusters)} clusters", "title"),
        element("style", STYLE_SHEET),
        rectangle(0, 0, width, height, kind="page", corner=6),
        *(_head(clusters, one, left + COLUMN * one) for one in range(n_shown)),
    ]
    values, offs = clusters.values, _offs(clusters)
    for index, attribute in enumerate(attributes):
        top = MARGIN + LINE * (index + 1)
        parts.append(line(MARGIN, top, width - MARGIN, top, kind="axis"))
        name = words(names[index], x=MARGIN, y=top + 17, class_="plain")
        parts.append(group(shown(attribute.name), name))
        for one in range(n_shown):
            x, value = left + COLUMN * one, values[one, index]
            text = _text(attribute, value)
            cut = shortened(text, CELL_ROOM, 12)
            parts.append(group(text, words(cut, x=x, y=top + 17, class_="plain")))
            if attribute.kind == "numeric":
                parts.append(_bar(offs[one, index], x, top + 22))
    parts.append(words(_rest(clusters), x=MARGIN, y=height - 12, class_="note"))
    return picture(parts, width, height)


def _head(clusters: Clusters, one: int, x: float) -> Markup:
    share = clusters.sizes[one] / (float(clusters.sizes.sum()) or 1.0)
    rows = f"{weight_text(clusters.sizes[one])} ({percent_text(share)})"
    return joined(
        [
            words(f"cluster {one}", x=x, y=MARGIN + 8, class_="strong"),
            words(rows, x=x, y=MARGIN + 22, class_="note"),
            rectangle(x, MARGIN + 26, BAR, 4, kind="empty"),
            rectangle(x, MARGIN + 26, BAR * share, 4, kind="k7"),
        ]
    )


def _offs(clusters: Clusters) -> Floats:
    """Return centroids minus their mean, in standard deviations between them."""
    offs = np.zeros((len(clusters), len(clusters.schema.attributes)))
    kinds = [attribute.kind for attribute in clusters.schema.attributes]
    unscaled_centroids = np.asarray(clusters.unscaled_centroids, np.float64)
    known = np.isfinite(unscaled_centroids)
    # In units of the largest, so that no square overflows.
    filled = np.where(known, unscaled_centroids, 0.0)
    unit = np.maximum(np.abs(filled).max(axis=0), np.finfo(np.float64).tiny)
    filled = filled / unit
    sizes = clusters.sizes / max(float(clusters.sizes.max()), np.finfo(float).tiny)
    weights = sizes[:, None] * known
    total = np.maximum(weights.sum(axis=0), np.finfo(np.float64).tiny)
    mean = (weights * filled).sum(axis=0) / total
    apart = np.where(known, filled - mean, 0.0)
    spread = np.sqrt((weights * apart**2).sum(axis=0) / total)
    numeric = [index for index, kind in enumerate(kinds) if kind == "numeric"]
    offs[:, numeric] = np.divide(
        apart, spread, out=np.zeros_like(apart), where=spread > 0
    )
    return offs


def _bar(off: float, x: float, y: float) -> Markup:
    size = min(abs(off) / REACH, 1.0) * BAR / 2
    start = x + BAR / 2 - (size if off < 0 else 0.0)
    hue = BELOW if off < 0 else ABOVE
    empty = rectangle(x, y, BAR, 4, kind="empty")
    return joined([empty, rectangle(start, y, size, 4, kind=hue)])


def _text(attribute: Attribute, value: object) -> str:
    if attribute.kind != "numeric":
        return "–" if value is None else shown(value)  # type: ignore[arg-type]
    amount = float(value)  # type: ignore[arg-type]
    if np.isnan(amount):
        return "–"
    if attribute.unit is not None:
        return number_text(round(amount, 6), attribute.unit)
    return figure(amount, digits=4)


def _rest(clusters: Clusters) -> str:
    parts = [f"{clusters.method}, inertia {figure(clusters.inertia)}"]
    more = len(clusters) - CLUSTERS_SHOWN
    if more > 0:
        parts.append(f"{more} more clusters")
    more = len(clusters.schema.attributes) - ATTRIBUTES_SHOWN
    if more > 0:
        parts.append(f"{more} more columns")
    return "; ".join(parts)
