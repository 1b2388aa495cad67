"""The questions that a learner asks of data.

Every source answers ``Counts``: start at the root; build count tables for these nodes
and attributes; send the rows of this node to its children. Rows belong to nodes by
weight: a row whose value is missing may be in several nodes with a part of its weight
in each.

Four parts may lack. ``Bins`` are for numbers of very many values, of which not every
line is needed to find the best cut; without them all are counted. ``NodeBatches`` say
in which order nodes are asked about; without them a level at a time. ``Surrogates`` are
for other attributes that stand in for missing values: how they agree with a split, and
what a split with its surrogates sends where. ``Formulas`` are for what is made of
several attributes: take this attribute in; how do these terms vary together, for linear
models and combinations. A recipe that needs a part which a source lacks is refused
before a tree is grown (``growth.engine``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import Attribute, Fingerprint, Schema
from spinney.trees import (
    CountTable,
    Route,
    Split,
    TableBatch,
    Term,
    ratio_of,
    sizes,
    spread_of,
)

ROOT = 0


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """The weight and the number of rows of each class at a node, or the moments."""

    weights: Floats
    rows: Integers

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(sizes(self.weights, self.rows))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.rows.sum())

    def fingerprint(self) -> Fingerprint:
        """Return what tells rows from others of which nothing else is known."""
        return Fingerprint(self.n_rows, self.weight)

    @property
    def is_pure(self) -> bool:
        """Whether all rows have one class, or one number but for rounding."""
        return bool(are_pure(self.weights, self.rows))


def are_pure(weights: Floats, rows: Integers) -> NDArray[np.bool_]:
    """Return at which nodes, a line each, all rows have one class, or one number."""
    if weights.shape[-1] == rows.shape[-1]:
        return np.asarray(np.count_nonzero(rows, axis=-1) == 1)
    return np.asarray(spread_of(weights) == 0)


@dataclass(frozen=True, slots=True)
class TableRequest:
    """The tables of these attributes at this node, please."""

    node: int
    attributes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AgreementRequest:
    """How these attributes agree with a split of this node, please."""

    node: int
    split: Split
    attributes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TermRequest:
    """The products of these terms at this node, please.

    A missing value counts as the term says; ``complete`` leaves the rows out that
    have one.
    """

    node: int
    terms: tuple[Term, ...]
    complete: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """How terms vary together at a node, in each class.

    Where the target is a number, there is one group of all rows, and the target is
    the last of the terms.

    Parameters
    ----------
    weights : array of shape (groups,)
        Σw.
    means : array of shape (groups, terms)
        Σwz / Σw, z being measured from the term's centre, the target from its origin;
        0 where a group has no rows.
    spreads : array of shape (groups, terms, terms)
        Σw (z − mean)(z − mean)ᵀ.
    """

    weights: Floats
    means: Floats
    spreads: Floats

    def scaled(self, class_weights: Floats | None) -> "Products":
        """Return the products with each class's weight multiplied."""
        if class_weights is None:
            return self
        return Products(
            self.weights * class_weights,
            self.means,
            self.spreads * class_weights[:, None, None],
        )


def join_products(parts: Sequence[Products]) -> Products:
    """Return the products of the groups of several as those of one."""
    return Products(
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.means for part in parts]),
        np.concatenate([part.spreads for part in parts]),
    )


def sum_products(parts: Sequence[Products]) -> Products:
    """Return the products of all rows of several parts, group by group.

    Spreads about the means of the parts are added up, and those of the means: nothing
    is subtracted, so that they keep their digits.
    """
    weights = np.array([part.weights for part in parts])
    means = np.array([part.means for part in parts])
    shares = ratio_of(weights, weights.sum(axis=0))[:, :, None]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = (shares * means).sum(axis=0)
        deviations = means - mean
        between = np.einsum("pg,pgi,pgj->gij", weights, deviations, deviations)
        spreads = between + sum(part.spreads for part in parts)
    return Products(weights.sum(axis=0), mean, spreads)


@runtime_checkable
class Counts(Protocol):
    """What every source answers; nodes are known by number, the root is 0.

    A source can grow one tree after another, but one at a time.
    """

    @property
    def schema(self) -> Schema:
        """The attributes and classes that the tables' codes mean."""
        ...

    def root(self) -> Totals:
        """Return the totals of all rows."""
        ...

    def tables(self, requests: Sequence[TableRequest]) -> Iterator[TableBatch]:
        """Give the tables of all requests, in one stack or in several.

        The nodes of a stack are the requests by their number. Where there is more than
        should be held at once, each stack has some of the attributes, at all nodes.
        """
        ...

    def partition(
        self,
        node: int,
        route: Route,
        children: Mapping[int, int],
        *,
        keep: bool = False,
    ) -> None:
        """Send the rows of a node to its children.

        ``children`` maps branches to node numbers; a branch that is not there
        will never be asked about. The node itself, unless it is the root or to
        be kept, is not asked about again.
        """
        ...

    def release(self, nodes: Iterable[int]) -> None:
        """Let go of nodes that are not asked about again; never of the root."""
        ...


@runtime_checkable
class Surrogates(Protocol):
    """What is asked where other attributes stand in for a missing value."""

    def agreements(self, requests: Sequence[AgreementRequest]) -> Iterator[TableBatch]:
        """Give the tables of all requests, value × branch, as ``tables`` does.

        The columns of a table are the branches of the split in the place of
        classes, and last the rows that the split itself does not send.
        """
        ...

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return for each node and route the table of its rows by branch."""
        ...


@runtime_checkable
class Formulas(Protocol):
    """What is asked where attributes are made of others, or leaves hold models."""

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return for each request how its terms vary, with the target if numeric."""
        ...

    def extend(self, index: int, attribute: Attribute) -> None:
        """Let an attribute with a formula stand at a place after the schema's own.

        It may be asked about and split by from then on. What stood at the place is
        forgotten, so that another tree can have another attribute there.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class BinnedTables:
    """Tables in which numbers of many values are counted by bins.

    Parameters
    ----------
    batch : TableBatch
        The tables; ``low`` says which lines stand for several values.
    open_bins : function, optional
        From which of its lines are to be opened to the tables with their values, or
        finer bins, in their places. None where nothing is left to be opened: there are
        no bins, or all that were asked for are opened to their values.
    """

    batch: TableBatch
    open_bins: "Callable[[NDArray[np.bool_]], BinnedTables] | None" = None


@runtime_checkable
class Bins(Protocol):
    """What is asked where a number has more values than should be held."""

    def binned(
        self, requests: Sequence[TableRequest], n_rows: Sequence[int]
    ) -> BinnedTables:
        """Return the tables of all requests, at nodes of so many rows."""
        ...

    def is_remote(self, nodes: Iterable[int]) -> bool:
        """Return whether the rows of some of these nodes are not in memory."""
        ...


@runtime_checkable
class BucketCounts(Protocol):
    """What is asked where numbers are told apart by buckets alone."""

    def tables_in_buckets(
        self, requests: Sequence[TableRequest], cuts: Mapping[int, Floats]
    ) -> Iterator[TableBatch]:
        """Give the tables of all requests, of attributes with cuts a line per bucket.

        Its value is the greatest that occurs, and ``low`` has the least.
        """
        ...


@runtime_checkable
class NodeBatches(Protocol):
    """What is asked where some nodes are better asked about together than others."""

    def batches(
        self, n_rows: Mapping[int, int], *, in_order: bool = False
    ) -> list[list[int]]:
        """Divide nodes, of so many rows each, into groups, which take turns.

        All below the nodes of one group is asked about before the next, from the last
        one on; or, ``in_order``, node after node as they are given.
        """
        ...


class Source(Counts, Surrogates, Formulas, Protocol):
    """A source that answers all questions."""


def as_formula_source(source: Counts) -> Formulas:
    """Return a source as one that knows formulas, which it must."""
    assert isinstance(source, Formulas)
    return source


def register_formulas(source: Counts, schema: Schema) -> None:
    """Let the attributes of a tree's schema that have formulas stand in a source."""
    for index in range(schema.n_columns, len(schema.attributes)):
        as_formula_source(source).extend(index, schema.attributes[index])


def tables_of(
    source: Counts, requests: Sequence[TableRequest], schema: Schema
) -> list[dict[int, CountTable]]:
    """Return for each request the tables by attribute, one by one."""
    answers: list[dict[int, CountTable]] = [{} for _ in requests]
    for batch in source.tables(requests):
        keys = zip(batch.node.tolist(), batch.attribute.tolist(), strict=True)
        for number, (node, index) in enumerate(keys):
            codes = schema.attributes[index].kind != "numeric"
            answers[node][index] = batch.table(number, codes=codes)
    return answers


def term_batches(
    requests: Sequence[TermRequest], most: int
) -> Iterator[list[TermRequest]]:
    """Divide requests so that those of one batch have few terms together.

    Which rows are complete depends on the terms, so such a request is a batch alone.
    """
    batch: list[TermRequest] = []
    together: set[Term] = set()
    seen: set[int] = set()  # lists of terms that are in it; many nodes share one
    for request in requests:
        alone = request.complete or (batch and batch[-1].complete)
        if alone or id(request.terms) not in seen:
            wider = together.union(request.terms)
            if batch and (alone or len(wider) > most):
                yield batch
                batch, wider, seen = [], set(request.terms), set()
            together = wider
            seen.add(id(request.terms))
        batch.append(request)
    if batch:
        yield batch
