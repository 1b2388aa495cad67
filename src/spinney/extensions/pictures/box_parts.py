"""Parts of a node's box: lines of text, a bar of classes, a strip of means.

A part knows its size and draws itself at a position. All lengths are pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from spinney.extensions.pictures.markup import Markup, element, joined
from spinney.extensions.pictures.svg_elements import group, line, rectangle, words
from spinney.extensions.pictures.text_width import shortened, text_width

# Size and weight of the kinds of text, by their class in the style sheet.
KINDS = {"title": (13, True), "plain": (12, False), "strong": (12, True)}
KINDS |= {"note": (11, False), "label": (12, False)}
LINE = 1.36
PADDING_X, PADDING_Y = 10.0, 6.0
COLUMN_GAP = 14.0
MAX_WIDTH = 220.0
MIN_WIDTH = 54.0


class BoxPart(Protocol):
    """A part of a box."""

    @property
    def width(self) -> float:
        """The least width."""

    @property
    def height(self) -> float:
        """The height."""

    def draw(self, x: float, y: float, width: float) -> Markup:
        """Return the part as SVG, with its upper left corner at (x, y)."""


def kind_width(text: str, kind: str) -> float:
    """Return the width of a text of a kind."""
    size, bold = KINDS[kind]
    return text_width(text, size, bold=bold)


def line_height(kind: str) -> float:
    """Return the height of a line of a kind of text."""
    return KINDS[kind][0] * LINE


def baseline(kind: str) -> float:
    """Return the distance of the baseline of text from the top of the line."""
    return KINDS[kind][0] * 1.04


@dataclass(frozen=True)
class Words:
    """A centred line of text, shortened in its middle if it is too long."""

    text: str
    kind: str = "plain"
    max_width: float = MAX_WIDTH - 2 * PADDING_X

    @property
    def _shown(self) -> str:
        size, bold = KINDS[self.kind]
        return shortened(self.text, self.max_width, size, bold=bold)

    @property
    def width(self) -> float:
        """The least width."""
        return kind_width(self._shown, self.kind)

    @property
    def height(self) -> float:
        """The height of a line."""
        return line_height(self.kind)

    def draw(self, x: float, y: float, width: float) -> Markup:
        """Return the line as SVG; a tooltip has the whole text if it is cut."""
        at, kind = y + baseline(self.kind), f"{self.kind} middle"
        text = words(self._shown, x=x + width / 2, y=at, class_=kind)
        return text if self._shown == self.text else group(self.text, text)


@dataclass(frozen=True)
class Columns:
    """A line with a name at the left and a figure at the right.

    ``share`` is drawn behind the line as a pale bar, ``swatch`` as a coloured dot.
    """

    name: str
    figure: str
    kind: str = "note"
    share: float | None = None
    swatch: str | None = None

    @property
    def _shown(self) -> str:
        size, bold = KINDS[self.kind]
        max_width = MAX_WIDTH - 2 * PADDING_X - COLUMN_GAP - self._figure - self._indent
        return shortened(self.name, max_width, size, bold=bold)

    @property
    def _figure(self) -> float:
        return kind_width(self.figure, self.kind)

    @property
    def _indent(self) -> float:
        return 12.0 if self.swatch else 0.0

    @property
    def width(self) -> float:
        """The least width."""
        name = kind_width(self._shown, self.kind)
        return self._indent + name + COLUMN_GAP + self._figure

    @property
    def height(self) -> float:
        """The height of a line."""
        return line_height(self.kind)

    def draw(self, x: float, y: float, width: float) -> Markup:
        """Return it as SVG."""
        parts, tall = [], self.height
        if self.share is not None:
            wide = (width + 4) * self.share
            parts.append(rectangle(x - 2, y, wide, tall - 1.5, kind="merit", corner=2))
        if self.swatch:
            top = y + tall / 2 - 4
            parts.append(rectangle(x, top, 8, 8, kind=self.swatch, corner=2))
        at, kind = y + baseline(self.kind), self.kind
        parts.append(words(self._shown, x=x + self._indent, y=at, class_=kind))
        if self.figure:
            parts.append(words(self.figure, x=x + width, y=at, class_=f"{kind} end"))
        return group("" if self._shown == self.name else self.name, *parts)


@dataclass(frozen=True)
class ShareBar:
    """A bar of the classes at a node, in their order and colours."""

    shares: Sequence[tuple[str, float]]
    width: float = MIN_WIDTH - 2 * PADDING_X
    height: float = 11.0

    def draw(self, x: float, y: float, width: float) -> Markup:
        """Return it as SVG."""
        parts = [rectangle(x, y + 3, width, 6, kind="empty")]
        for colour, share in self.shares:
            parts.append(rectangle(x, y + 3, width * share, 6, kind=colour))
            x += width * share
        return joined(parts)


@dataclass(frozen=True)
class MeanStrip:
    """Mean ± standard deviation of the rows at a node, on the scale of all rows.

    Positions are from 0 to 1; ``middle`` is the mean of all rows.
    """

    low: float
    mean: float
    high: float
    hue: str
    middle: float = 0.5
    width: float = 64.0
    height: float = 13.0

    def draw(self, x: float, y: float, width: float) -> Markup:
        """Return it as SVG."""
        y += 7
        middle = x + width * self.middle
        begin, end = x + width * self.low, x + width * self.high
        wide = max(end - begin, 1.0)
        return joined(
            [
                line(x, y, x + width, y, kind="axis"),
                line(middle, y - 4, middle, y + 4, kind="axis"),
                rectangle(begin, y - 2, wide, 4, kind=self.hue, corner=2, opacity=0.5),
                element(
                    "circle", cx=x + width * self.mean, cy=y, r=3.5, class_=self.hue
                ),
            ]
        )


@dataclass(frozen=True)
class Separator:
    """A thin line across."""

    width: float = 0.0
    height: float = 7.0

    def draw(self, x: float, y: float, width: float) -> Markup:
        """Return it as SVG."""
        return line(x, y + 3, x + width, y + 3, kind="axis")


@dataclass(frozen=True)
class NodeBox:
    """The box of a node: its parts below each other.

    A leaf has round ends and a split has corners, so that they differ by more than
    their colours. A dashed box represents nodes that are not drawn.
    """

    shape: str
    parts: Sequence[BoxPart]
    hue: str = ""
    opacity: float = 0.0
    tooltip: str = ""
    width: float = field(init=False)
    height: float = field(init=False)

    def __post_init__(self) -> None:
        """Compute the size of the box from its parts."""
        widest = max(part.width for part in self.parts) + 2 * PADDING_X
        height = sum(part.height for part in self.parts) + 2 * PADDING_Y
        object.__setattr__(self, "width", max(widest, MIN_WIDTH))
        object.__setattr__(self, "height", height)

    def draw(self, x: float, y: float) -> Markup:
        """Return the box as SVG, with its upper left corner at (x, y)."""
        size, parts = (self.width, self.height), list[Markup]()
        corner = 3.0 if self.shape == "question" else min(self.height / 2, 15.0)
        if self.hue:
            parts.append(
                rectangle(
                    x, y, *size, kind=self.hue, corner=corner, opacity=self.opacity
                )
            )
        frame = f"frame {self.shape}"
        parts.append(rectangle(x, y, *size, corner=corner, kind=frame))
        y += PADDING_Y
        for part in self.parts:
            inside = self.width - 2 * PADDING_X
            parts.append(part.draw(x + PADDING_X, y, inside))
            y += part.height
        return group(self.tooltip, *parts)
