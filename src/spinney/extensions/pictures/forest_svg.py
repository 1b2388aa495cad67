"""A picture of a forest: variable importances, and one tree below."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spinney._support.text import percent_text, shown
from spinney.extensions.pictures.box_parts import baseline, kind_width, line_height
from spinney.extensions.pictures.markup import Markup, joined
from spinney.extensions.pictures.svg_elements import group, line, rectangle, words
from spinney.extensions.pictures.text_width import shortened
from spinney.extensions.pictures.tree_svg import to_svg
from spinney.growth.forest import Forest, Importances

NAME_WIDTH, BAR, GAP = 180.0, 240.0, 8.0
MAX_SHOWN = 12
SECTION_GAP = 10.0
CAP = 3.0
KIND = "note"


def to_forest_svg(
    forest: Forest, importances: Importances, *, number: int, **look: Any
) -> str:
    """Return a forest as SVG: its importances, and the tree of this number.

    ``look`` are arguments of :func:`to_svg` for the tree.
    """
    above = ForestHead(
        shown(forest.schema.target.name),
        _forest_size(forest),
        tuple(importances.ranked()),
        _caption(forest, number),
    )
    return to_svg(forest.model(number), above=above, **look)


@dataclass(frozen=True)
class ForestHead:
    """The heading above the tree: a line for each of the most important attributes.

    A bar is the mean over the trees; a whisker is the standard deviation.
    """

    target: str
    size: str
    ranked: Sequence[tuple[str, float, float]]
    caption: str

    @property
    def title(self) -> str:
        """The title of the picture."""
        return f"Forest for {self.target}"

    @property
    def description(self) -> str:
        """The heading in words, for screen readers."""
        lines = [f"{shown(name)}: {mean:.3f}" for name, mean, _ in self._shown]
        size = f"{self.title}: {self.size}."
        return "\n".join([size, "Variable importances:", *lines, self.caption])

    @property
    def _shown(self) -> Sequence[tuple[str, float, float]]:
        return self.ranked[:MAX_SHOWN]

    @property
    def _title(self) -> str:
        return shortened(self.target, NAME_WIDTH, 13, bold=True)

    @property
    def _name_width(self) -> float:
        names = (shortened(shown(name), NAME_WIDTH, 11) for name, _, _ in self._shown)
        return max((kind_width(name, KIND) for name in names), default=0.0)

    @property
    def width(self) -> float:
        """The least width."""
        figures = kind_width("0.000 ± 0.000", KIND)
        bars = self._name_width + GAP + BAR + GAP + figures
        title = kind_width(self._title, "title") + GAP + kind_width(self.size, KIND)
        return max(bars, title, kind_width(self.caption, KIND))

    @property
    def height(self) -> float:
        """The height of all lines, and of the gap below them."""
        lines = 2 + len(self._shown) + (len(self.ranked) > MAX_SHOWN)
        return line_height("title") + lines * line_height(KIND) + 3 * SECTION_GAP

    def draw(self, x: float, y: float, width: float) -> Markup:
        """Return the heading as SVG."""
        at = y + baseline("title")
        size_x = x + kind_width(self._title, "title") + GAP
        parts = [
            group(self.target, words(self._title, x=x, y=at, class_="title")),
            words(self.size, x=size_x, y=at, class_=KIND),
        ]
        y += line_height("title")
        heading = "variable importance: decrease in impurity (normalised) ± SD"
        parts.append(words(heading, x=x, y=y + baseline(KIND), class_=KIND))
        y += line_height(KIND) + SECTION_GAP / 2
        # Bars and whiskers share a scale that ends where the longest whisker does.
        most = max((mean + spread for _, mean, spread in self._shown), default=0.0)
        for name, mean, spread in self._shown:
            parts.append(
                self._importance_line(name, mean, spread, x=x, y=y, most=most or 1.0)
            )
            y += line_height(KIND)
        n_hidden = len(self.ranked) - MAX_SHOWN
        if n_hidden > 0:
            rest = f"+ {n_hidden} more"
            right, base = x + self._name_width, y + baseline(KIND)
            parts.append(words(rest, x=right, y=base, class_=f"{KIND} end"))
            y += line_height(KIND)
        y += SECTION_GAP
        parts.append(line(x, y, x + width, y, kind="axis"))
        below = y + SECTION_GAP / 2 + baseline(KIND)
        return joined([*parts, words(self.caption, x=x, y=below, class_=KIND)])

    def _importance_line(
        self, name: str, mean: float, spread: float, *, x: float, y: float, most: float
    ) -> Markup:
        tall, start = line_height(KIND), x + self._name_width + GAP
        cut = shortened(shown(name), NAME_WIDTH, 11)
        base, middle = y + baseline(KIND), y + tall / 2
        low = start + BAR * max(mean - spread, 0.0) / most
        high = start + BAR * (mean + spread) / most
        figure = f"{mean:.3f} ± {spread:.3f}"
        return group(
            f"{shown(name)}: {figure}",
            words(cut, x=start - GAP, y=base, class_=f"{KIND} end"),
            rectangle(
                start, y + 3, BAR * mean / most, tall - 6, kind="k0", opacity=0.7
            ),
            line(low, middle, high, middle, kind="axis"),
            line(low, middle - CAP, low, middle + CAP, kind="axis"),
            line(high, middle - CAP, high, middle + CAP, kind="axis"),
            words(figure, x=start + BAR + GAP, y=base, class_=KIND),
        )


def _forest_size(forest: Forest) -> str:
    leaves = sum(member.n_leaves for member in forest.members) / len(forest)
    recipes = ", ".join(recipe.name for recipe in forest.recipes)
    return f"{len(forest)} trees of {leaves:.1f} leaves on average ({recipes})"


def _caption(forest: Forest, number: int) -> str:
    """Return the caption of the tree: its number, and the reason for it."""
    typical = forest.typical
    if typical is None or typical.number != number:
        return f"tree {number}, the most similar to the forest:"
    rows, agreement = f"{typical.rows} rows", typical.agreement
    text = f"agrees with the forest on {percent_text(agreement, 1)} of {rows}"
    if forest.schema.target.is_numeric:
        text = f"R² {agreement:.4f} with the forest on {rows}"
    return f"tree {number}, the most typical: {text}"
