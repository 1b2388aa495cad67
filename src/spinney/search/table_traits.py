"""What the search asks of the attribute of each table of a stack."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import heaviest_by
from spinney.data import Schema
from spinney.recipes import Recipe
from spinney.search.root_statistics import AtRoot
from spinney.trees import TableStack

KINDS = ("numeric", "ordinal", "nominal")
NUMERIC, ORDINAL, NOMINAL = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class Traits:
    """The traits of the attribute of each table.

    Parameters
    ----------
    numeric : array of bool
        Whether it is a number, in buckets or not.
    kind : array of int
        That of its values as they are searched; of buckets, that of their numbers.
    n_codes : array of int
        How many codes or buckets it has in all.
    typical : array of float
        The value that stands for a missing one, where the policy asks all rows: theirs,
        but of buckets that of the node.
    step : array of float
        How far apart two numbers must be for a threshold between them.
    """

    numeric: NDArray[np.bool_]
    kind: Integers
    n_codes: Integers
    typical: Floats
    step: Floats

    @classmethod
    def of(
        cls, stack: TableStack, schema: Schema, recipe: Recipe, at_root: AtRoot
    ) -> "Traits":
        """Return the traits of each table of a stack, whose numbers are in buckets."""
        several = recipe.grouping == "multiway"
        attributes, index = np.unique(stack.attribute, return_inverse=True)
        lines = []
        for number in attributes.tolist():
            attribute, cuts = schema.attributes[number], at_root.cuts.get(number)
            kind, n_codes = KINDS.index(attribute.kind), len(attribute.values)
            if cuts is not None:
                kind, n_codes = NOMINAL if several else ORDINAL, len(cuts) + 1
            typical = at_root.statistics[number].default_value
            step = at_root.steps.get(number, 0.0) if kind == NUMERIC else 0.0
            lines.append((attribute.kind == "numeric", kind, n_codes, typical, step))
        columns = zip(*lines, strict=True) if lines else ((),) * 5
        types = (np.bool_, np.int64, np.int64, np.float64, np.float64)
        traits = cls(
            *(np.array(c, t)[index] for c, t in zip(columns, types, strict=True))
        )
        if not at_root.cuts:
            return traits
        return replace(traits, typical=_typical_at_nodes(stack, traits))

    def taken(self, tables: Integers) -> "Traits":
        """Return the traits of some tables."""
        return Traits(
            self.numeric[tables],
            self.kind[tables],
            self.n_codes[tables],
            self.typical[tables],
            self.step[tables],
        )


def _typical_at_nodes(stack: TableStack, traits: Traits) -> Floats:
    """Return the typical values, of buckets the commonest or the mean at the node."""
    typical = traits.typical.copy()
    share = stack.sizes / stack.known[stack.owner]
    mean = np.bincount(stack.owner, share * stack.values, minlength=len(stack))
    commonest = heaviest_by(stack.sizes, stack.start)
    for table in np.flatnonzero(traits.numeric & (stack.counts > 0)):
        if traits.kind[table] == NOMINAL:
            typical[table] = stack.values[commonest[table]]
        else:
            typical[table] = np.rint(float(f"{mean[table]:.12g}"))
    return typical
