"""Traits of the attributes of the tables in a batch, as the search needs them."""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import heaviest_by
from spinney.trees import TableBatch

KINDS = ("numeric", "ordinal", "nominal")
NUMERIC, ORDINAL, NOMINAL = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class AttributeTraits:
    """Traits of attributes: one line for each, or for each table the line of its own.

    Parameters
    ----------
    numeric : array of bool
        Whether it is a number, in buckets or not.
    kind : array of int
        The kind of its values as they are searched; buckets are ordinal or nominal.
    n_codes : array of int
        How many codes or buckets it has in all.
    typical : array of float
        The value to impute for a missing one: that of all rows, but the node's own for
        buckets.
    step : array of float
        The minimum distance of two numbers with a threshold between them.
    """

    numeric: NDArray[np.bool_]
    kind: Integers
    n_codes: Integers
    typical: Floats
    step: Floats

    @classmethod
    def unknown(cls, n_attributes: int) -> "AttributeTraits":
        """Return empty lines for so many attributes."""
        return cls(
            np.zeros(n_attributes, np.bool_),
            np.zeros(n_attributes, np.int64),
            np.zeros(n_attributes, np.int64),
            np.zeros(n_attributes),
            np.zeros(n_attributes),
        )

    def take(self, lines: Integers) -> "AttributeTraits":
        """Return some of the lines."""
        columns = (
            getattr(self, field.name)[lines] for field in fields(AttributeTraits)
        )
        return AttributeTraits(*columns)

    def resized(self, n_attributes: int) -> "AttributeTraits":
        """Return a copy with lines for so many attributes, the new ones empty."""
        wider = AttributeTraits.unknown(n_attributes)
        for field in fields(AttributeTraits):
            values = getattr(self, field.name)
            getattr(wider, field.name)[: len(values)] = values
        return wider


def with_typical_at_nodes(
    traits: AttributeTraits, batch: TableBatch
) -> AttributeTraits:
    """Return the traits of tables with the typical bucket of each node.

    It is the commonest bucket, or the one next to the mean.
    """
    typical = traits.typical.copy()
    share = batch.sizes / batch.known_weight[batch.owner]
    mean = np.bincount(batch.owner, share * batch.values, minlength=len(batch))
    commonest = heaviest_by(batch.sizes, batch.start)
    for table in np.flatnonzero(traits.numeric & (batch.counts > 0)):
        if traits.kind[table] == NOMINAL:
            typical[table] = batch.values[commonest[table]]
        else:
            typical[table] = np.rint(float(f"{mean[table]:.12g}"))
    return replace(traits, typical=typical)
