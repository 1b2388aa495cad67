"""The importance of each column to one tree."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import figure, percent_text, shown
from spinney._support.text_table import aligned
from spinney.trees.tree import Tree

MAX_SUMMARY = 5  # columns in one line
BAR = 20  # signs of the longest bar
MAX_NAME = 36


@dataclass(frozen=True, slots=True, eq=False)
class TreeImportances(InNotebooks):
    """The mean decrease of the criterion by the splits on each column of a tree.

    ``print`` shows the columns that the tree splits on as bars. An attribute with a
    formula gives an equal part of its gain to each of its columns.

    Parameters
    ----------
    names : tuple of str
        The columns.
    gains : array
        The gain of the splits on each column: each counts by the fraction of the
        training weight at its node, so they add up to the decrease of the criterion
        from the root to the leaves.

    Examples
    --------
    >>> import spinney
    >>> shop = {"size": [1, 2, 3, 4] * 2, "new": ["no"] * 6 + ["yes", "no"],
    ...         "sold": ["no", "no", "yes", "yes", "no", "no", "no", "yes"]}
    >>> model = spinney.grow(shop, "sold", recipe="cart")
    >>> print(model.importances())
    size  60.0 %  ████████████████████  gain 0.2812
    new   40.0 %  █████████████         gain 0.1875
    >>> model.importances().values.round(3)
    array([0.6, 0.4])
    """

    names: tuple[str, ...]
    gains: Floats

    @property
    def values(self) -> Floats:
        """The fractions of the sum of all gains; 0 if no split gained anything."""
        total = self.gains.sum()
        return np.asarray(self.gains / total if total > 0 else self.gains)

    def ranked(self) -> Iterator[tuple[str, float, float]]:
        """Give name, importance and gain of each column, the greatest first."""
        values = self.values
        for index in np.argsort(-values, kind="stable").tolist():
            yield self.names[index], float(values[index]), float(self.gains[index])

    def summary(self) -> str:
        """Return the most important columns in one line; "" if there are none.

        >>> TreeImportances(("x", "y", "z"), np.array([1.0, 3.0, 0.0])).summary()
        'importance: y 75 %, x 25 %'
        """
        used = [line for line in self.ranked() if line[1] > 0]
        parts = [f"{_short(n)} {percent_text(v)}" for n, v, _ in used[:MAX_SUMMARY]]
        if len(used) > MAX_SUMMARY:
            parts.append(f"{len(used) - MAX_SUMMARY} more")
        return f"importance: {', '.join(parts)}" if parts else ""

    def bars(self) -> list[tuple[str, str, str, str]]:
        """Return name, percentage, bar and gain of each column with a gain."""
        used = [line for line in self.ranked() if line[1] > 0]
        return [
            (
                _short(name),
                percent_text(value, 1),
                "█" * max(1, round(BAR * value / used[0][1])),
                f"gain {figure(gain, digits=4)}",
            )
            for name, value, gain in used
        ]

    def text(self) -> str:
        """Return a line for each column with a gain, the most important first."""
        return "\n".join(aligned(self.bars(), left=(0, 2, 3))) or "no splits"


def _short(name: str) -> str:
    """Return the name of a column, cut if it is long."""
    text = shown(name)
    return text if len(text) <= MAX_NAME else f"{text[: MAX_NAME - 1]}…"


def importances_of(tree: Tree) -> TreeImportances:
    """Return the importance of each column to a tree."""
    schema, gained = tree.schema, tree.gains
    columns = gained[: schema.n_columns].copy()
    for attribute in range(schema.n_columns, len(gained)):
        behind = schema.input_columns([attribute])
        columns[behind] += gained[attribute] / len(behind)
    weight = float(tree.arrays.weight(schema.target)[0])
    names = tuple(attribute.name for attribute in schema.attributes[: len(columns)])
    return TreeImportances(names, columns / (weight or 1.0))
