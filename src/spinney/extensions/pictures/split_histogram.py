"""A histogram of the split's number by class, with the threshold marked.

▂ ▅█▇│▂▁
─────┴─────
181     231
"""

from collections.abc import Sequence
from dataclasses import dataclass

from spinney._support.arrays import Floats
from spinney._support.text import number_text, short_weight, span_text
from spinney.data import Attribute
from spinney.extensions.pictures.box_parts import baseline, kind_width, line_height
from spinney.extensions.pictures.markup import Markup, element, joined, number
from spinney.extensions.pictures.node_colours import (
    ClassColours,
    NumberColours,
    mean_and_deviation,
)
from spinney.extensions.pictures.node_histograms import Histogram
from spinney.extensions.pictures.svg_elements import group, line, rectangle, words
from spinney.output.tree_text import counts_text
from spinney.trees import Tree

KIND = "note"
TALL, MARK, GAP = 44.0, 5.0, 1.0
MIN_WIDTH = 132.0
END_DIGITS = 4


@dataclass(frozen=True)
class HistogramBar:
    """A bin: its relative height, its coloured parts, and its counts."""

    height: float
    parts: Sequence[tuple[str, float, float]]  # colour, share, opacity
    tooltip: str


@dataclass(frozen=True)
class SplitHistogram:
    """Bars over an axis; ``cuts`` are positions on it, from 0 to 1.

    ``ends`` are the minimum and the maximum; ``top`` is the count of the highest bar.
    """

    bars: Sequence[HistogramBar]
    cuts: Sequence[float]
    ends: tuple[str, str]
    top: str = ""

    @property
    def width(self) -> float:
        """The least width."""
        ends = sum(kind_width(end, KIND) for end in self.ends)
        return self._margin + max(MIN_WIDTH, ends + 12)

    @property
    def _margin(self) -> float:
        """The room of the figures at the axis of counts."""
        return kind_width(self.top, KIND) + 5

    @property
    def height(self) -> float:
        """The height of the bars, the marks below them and the figures."""
        return TALL + MARK + line_height(KIND)

    def draw(self, x: float, y: float, width: float) -> Markup:
        """Return it as SVG."""
        parts = [
            words(self.top, x=x + self._margin - 4, y=y + 9, class_=f"{KIND} end"),
            words("0", x=x + self._margin - 4, y=y + TALL, class_=f"{KIND} end"),
        ]
        x, width = x + self._margin, width - self._margin
        base, wide = y + TALL, width / len(self.bars)
        parts.append(line(x, y, x, base, kind="axis"))
        for at, bar in enumerate(self.bars):
            if bar.height:
                parts.append(self._bar(bar, x + at * wide, base, wide))
        parts.append(line(x, base, x + width, base, kind="axis"))
        for cut in self.cuts:
            place = x + width * cut
            parts.append(line(place, y, place, base, kind="cut"))
            triangle = f"M{number(place)} {number(base)}"
            for across in (-MARK + 1, MARK - 1, 0):
                down = MARK if across else 0.0
                triangle += f"L{number(place + across)} {number(base + down)}"
            parts.append(element("path", d=triangle, class_="mark"))
        below, (first, last) = base + MARK + baseline(KIND) - 1, self.ends
        parts.append(words(first, x=x, y=below, class_=KIND))
        parts.append(words(last, x=x + width, y=below, class_=f"{KIND} end"))
        return joined(parts)

    @staticmethod
    def _bar(bar: HistogramBar, x: float, base: float, wide: float) -> Markup:
        inside, parts = max(wide - GAP, 0.6), []
        for colour, share, opacity in bar.parts:
            tall = max(TALL * bar.height * share, 0.4)
            base -= tall
            parts.append(rectangle(x, base, inside, tall, kind=colour, opacity=opacity))
        return group(bar.tooltip, *parts)


def split_histogram(
    tree: Tree,
    colours: ClassColours | NumberColours,
    attribute: Attribute,
    histogram: Histogram,
) -> SplitHistogram:
    """Return the histogram of a node's rows: by class, or by the mean of each bin."""
    is_numeric = isinstance(colours, NumberColours)
    sizes = histogram.weights[:, 0] if is_numeric else histogram.weights.sum(1)
    max_size = float(sizes.max()) or 1.0
    bars = []
    for at, (weights, size) in enumerate(zip(histogram.weights, sizes, strict=True)):
        tooltip = f"{_bin_text(*histogram.edges(at), attribute)}: "
        if size > 0:
            tooltip += counts_text(weights, tree.schema)
        parts = _parts(tree, colours, weights) if size > 0 else ()
        bars.append(HistogramBar(float(size) / max_size, parts, tooltip))
    reach = histogram.high - histogram.low
    inside = [cut for cut in histogram.cuts if histogram.low <= cut <= histogram.high]
    return SplitHistogram(
        bars,
        [(cut - histogram.low) / reach for cut in inside],
        (
            _edge_text(histogram.least, attribute),
            _edge_text(histogram.greatest, attribute),
        ),
        short_weight(max_size),
    )


def _parts(
    tree: Tree, colours: ClassColours | NumberColours, weights: Floats
) -> Sequence[tuple[str, float, float]]:
    if isinstance(colours, NumberColours):
        mean, _ = mean_and_deviation(tree, weights)
        hue, distance = colours.hue_and_distance(mean)
        return [(hue, 1.0, 0.3 + 0.7 * distance)]
    bar = colours.bar(weights / weights.sum())
    return [(colour, share, 1.0) for colour, share in bar.shares]


def _bin_text(low: float, high: float, attribute: Attribute) -> str:
    if attribute.unit is not None:
        return span_text(low, high, attribute.unit)
    return f"({_edge_text(low, attribute)}, {_edge_text(high, attribute)}]"


def _edge_text(edge: float, attribute: Attribute) -> str:
    """Return an edge in a few digits, for display."""
    if attribute.unit is not None:
        return number_text(edge, attribute.unit)
    return number_text(float(f"{edge:.{END_DIGITS}g}"))
