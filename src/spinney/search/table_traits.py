"""Traits of attributes, as the search of count tables needs them."""

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
    """Traits of attributes: one line per attribute, or per table.

    Parameters
    ----------
    numeric : array of bool
        Whether the attribute is numeric, in buckets or not.
    kind : array of int
        The kind of its values in the search; buckets are ordinal or nominal.
    n_codes : array of int
        The number of all codes or buckets.
    typical : array of float
        The value to impute for a missing one: from all rows, or from the node for
        buckets.
    step : array of float
        The minimum distance of neighbouring numbers for a threshold between them.
    """

    numeric: NDArray[np.bool_]
    kind: Integers
    n_codes: Integers
    typical: Floats
    step: Floats

    @classmethod
    def unknown(cls, n_attributes: int) -> "AttributeTraits":
        """Return empty lines for ``n_attributes`` attributes."""
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
        """Return a copy with ``n_attributes`` lines; new lines are empty."""
        wider = AttributeTraits.unknown(n_attributes)
        for field in fields(AttributeTraits):
            values = getattr(self, field.name)
            getattr(wider, field.name)[: len(values)] = values
        return wider


def with_typical_at_nodes(
    traits: AttributeTraits, batch: TableBatch
) -> AttributeTraits:
    """Return the traits of tables with the typical bucket of each node.

    The typical bucket is the mode, or the bucket next to the mean.
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
