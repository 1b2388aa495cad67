"""What all training rows together say of an attribute."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.ties import heaviest
from spinney.data import Attribute, Schema
from spinney.trees import CountTable


@dataclass(frozen=True, slots=True, eq=False)
class RootStatistics:
    """What all training rows together say of one attribute.

    Parameters
    ----------
    default_value : float
        The mean of a number in 12 digits; the commonest code, or of ordered codes
        that next to their mean. 0 where no value is known.
    ranks : array of int
        The place of each code in the order of the mean of a numeric target, lowest
        first. Rows whose value is missing count at the commonest code; codes
        without rows have the mean of all. Empty for a number.
    """

    default_value: float
    ranks: Integers


def statistics_of(table: CountTable, attribute: Attribute) -> RootStatistics:
    """Return what the root's table says of its attribute.

    >>> table = CountTable.of_moments([[1, 9, 81], [2, 2, 2]])
    >>> at_root = statistics_of(table, Attribute("sort", "nominal", ("a", "b", "c")))
    >>> at_root.default_value, at_root.ranks.tolist()
    (1.0, [2, 0, 1])
    """
    if not len(table.values):
        return RootStatistics(0.0, np.arange(len(attribute.values)))
    sizes = table.sizes
    if attribute.kind == "nominal":
        typical = float(table.values[heaviest(sizes)])
    else:
        mean = float((sizes / sizes.sum()) @ table.values)
        typical = float(f"{mean:.12g}")
        if attribute.kind == "ordinal":
            typical = float(np.rint(typical))
    ranks = np.arange(len(attribute.values))
    if table.is_moments and attribute.kind == "nominal":
        filled = table.with_missing_at(heaviest(sizes))
        weight, first, _ = filled.total
        means = np.full(len(ranks), first / weight)
        means[table.values] = filled.weights[:, 1] / filled.weights[:, 0]
        ranks[np.argsort(means, kind="stable")] = np.arange(len(ranks))
    return RootStatistics(typical, ranks)


def statistics_by_attribute(
    tables: Mapping[int, CountTable], schema: Schema
) -> dict[int, RootStatistics]:
    """Return what the root's tables say, by the attributes' places."""
    return {
        index: statistics_of(table, schema.attributes[index])
        for index, table in tables.items()
    }
