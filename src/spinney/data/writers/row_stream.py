"""Rows to be written: named columns, whose cells come some rows at a time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Batch = Sequence[Sequence[Any]]
"""Some rows: the cells of each column, values of Python, None where missing."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column to be written; ``type`` is what SQL, and so Parquet, calls its cells."""

    name: str
    type: str = "VARCHAR"


@dataclass(frozen=True, slots=True)
class RowStream:
    """Columns and their cells, which can be had once."""

    fields: tuple[Field, ...]
    batches: Iterable[Batch]

    @property
    def names(self) -> list[str]:
        """What the columns are called: names that all differ."""
        return distinct_names([field.name for field in self.fields])


def distinct_names(names: Iterable[str], *, by_case: bool = True) -> list[str]:
    """Return names with a line under those that were there before.

    >>> distinct_names(["leaf", "p(1)", "p(1)", "leaf", "Leaf"])
    ['leaf', 'p(1)', 'p(1)_', 'leaf_', 'Leaf']
    >>> distinct_names(["leaf", "Leaf"], by_case=False)
    ['leaf', 'Leaf_']
    """
    distinct: dict[str, str] = {}
    for name in names:
        while (key := name if by_case else name.casefold()) in distinct:
            name += "_"
        distinct[key] = name
    return list(distinct.values())
