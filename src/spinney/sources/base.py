"""The requests of a learner to its source of rows.

Every source implements ``Counts``: the totals of the root, count tables for nodes and
attributes, and the partition of a node's rows among its children. Rows belong to nodes
by weight: a row with a missing value may be in several nodes, with a fraction of its
weight in each.

Four interfaces are optional. ``Bins`` count numbers of very many values by bins;
without them all values are counted. ``NodeBatches`` choose the order of nodes; without
them a level is counted at a time. ``Surrogates`` count how other attributes agree with
a split, and where a split with its surrogates sends rows. ``Formulas`` take in
constructed attributes, and sum products of terms for linear models and combinations. A
recipe that needs an interface which a source lacks is refused before a tree is grown
(``growth.growers``).
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
        """The number of rows."""
        return int(self.rows.sum())

    def fingerprint(self) -> Fingerprint:
        """Return a fingerprint from totals alone."""
        return Fingerprint(self.n_rows, self.weight)

    @property
    def is_pure(self) -> bool:
        """Whether all rows have one class, or one number but for rounding."""
        return bool(are_pure(self.weights, self.rows))


def are_pure(weights: Floats, rows: Integers) -> NDArray[np.bool_]:
    """Return which nodes, one per line, have rows of a single class or number."""
    if weights.shape[-1] == rows.shape[-1]:
        return np.asarray(np.count_nonzero(rows, axis=-1) == 1)
    return np.asarray(spread_of(weights) == 0)


@dataclass(frozen=True, slots=True)
class TableRequest:
    """A request for the count tables of some attributes at a node."""

    node: int
    attributes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AgreementRequest:
    """A request for the agreement of some attributes with a split of a node."""

    node: int
    split: Split
    attributes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TermRequest:
    """A request for the products of some terms at a node.

    The term replaces missing values; ``complete`` excludes rows with a missing value.
    """

    node: int
    terms: tuple[Term, ...]
    complete: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """The weighted products of terms at a node, per class.

    With a numeric target, all rows are one group, and the target is the last term.

    Parameters
    ----------
    weights : array of shape (groups,)
        Σw.
    means : array of shape (groups, terms)
        Σwz / Σw, with z measured from the term's centre, the target from its origin; 0
        for a group without rows.
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
    """Return products with the groups of all parts."""
    return Products(
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.means for part in parts]),
        np.concatenate([part.spreads for part in parts]),
    )


def sum_products(parts: Sequence[Products]) -> Products:
    """Return the products of all rows of several parts, group by group.

    Adds the spreads within the parts and the spread of their means. Nothing is
    subtracted, so no digits are lost.
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
    """The interface of every source; nodes have numbers, the root is 0.

    A source can grow several trees, one after the other.
    """

    @property
    def schema(self) -> Schema:
        """The schema of the encoded rows."""
        ...

    def root(self) -> Totals:
        """Return the totals of all rows."""
        ...

    def tables(self, requests: Sequence[TableRequest]) -> Iterator[TableBatch]:
        """Yield the tables of all requests, in one or several batches.

        The nodes of a batch are the positions of the requests. If the tables are too
        large for one batch, each batch has some of the attributes, at all nodes.
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

        ``children`` maps branches to node numbers; other branches are dropped. The
        node itself is released, unless it is the root or ``keep`` is true.
        """
        ...

    def release(self, nodes: Iterable[int]) -> None:
        """Release nodes whose rows are no longer needed; never the root."""
        ...


@runtime_checkable
class Surrogates(Protocol):
    """The interface of sources that count surrogate splits."""

    def agreements(self, requests: Sequence[AgreementRequest]) -> Iterator[TableBatch]:
        """Yield the tables of value × branch of all requests.

        The columns of a table are the branches of the split instead of classes, then
        the rows that the split does not send.
        """
        ...

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return the table of rows by branch for each node and route."""
        ...


@runtime_checkable
class Formulas(Protocol):
    """The interface of sources with constructed attributes and model leaves."""

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return the products of terms, and of a numeric target, for each request."""
        ...

    def extend(self, index: int, attribute: Attribute) -> None:
        """Add a constructed attribute at an index after those of the schema.

        It replaces an earlier constructed attribute of that index.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class BinnedTables:
    """Count tables whose numeric columns with many values are binned.

    Parameters
    ----------
    batch : TableBatch
        The tables; ``low`` says which lines stand for several values.
    open_bins : function, optional
        Takes a mask of lines, and returns tables with these lines replaced by values or
        finer bins. None without bins.
    """

    batch: TableBatch
    open_bins: "Callable[[NDArray[np.bool_]], BinnedTables] | None" = None


@runtime_checkable
class Bins(Protocol):
    """The interface of sources that count numbers of many values by bins."""

    def binned(
        self, requests: Sequence[TableRequest], n_rows: Sequence[int]
    ) -> BinnedTables:
        """Return the tables of all requests, given the number of rows of each node."""
        ...

    def is_remote(self, nodes: Iterable[int]) -> bool:
        """Return whether the rows of some of these nodes are not in memory."""
        ...


@runtime_checkable
class BucketCounts(Protocol):
    """The interface of sources that count numbers by given buckets."""

    def tables_in_buckets(
        self, requests: Sequence[TableRequest], cuts: Mapping[int, Floats]
    ) -> Iterator[TableBatch]:
        """Give the tables of all requests, of attributes with cuts a line per bucket.

        Its value is the greatest that occurs, and ``low`` has the least.
        """
        ...


@runtime_checkable
class NodeBatches(Protocol):
    """The interface of sources that choose which nodes are counted together."""

    def batches(
        self, n_rows: Mapping[int, int], *, in_order: bool = False
    ) -> list[list[int]]:
        """Divide nodes, with their numbers of rows, into groups.

        The subtrees of a group are grown before the next group, from the last group to
        the first; or, ``in_order``, node by node.
        """
        ...


class Source(Counts, Surrogates, Formulas, Protocol):
    """A source that implements all interfaces except ``Bins`` and ``NodeBatches``."""


def as_formula_source(source: Counts) -> Formulas:
    """Return a source, typed as ``Formulas``."""
    assert isinstance(source, Formulas)
    return source


def register_formulas(source: Counts, schema: Schema) -> None:
    """Add the constructed attributes of a schema to a source."""
    for index in range(schema.n_columns, len(schema.attributes)):
        as_formula_source(source).extend(index, schema.attributes[index])


def tables_of(
    source: Counts, requests: Sequence[TableRequest], schema: Schema
) -> list[dict[int, CountTable]]:
    """Return the tables of each request, by attribute."""
    answers: list[dict[int, CountTable]] = [{} for _ in requests]
    for batch in source.tables(requests):
        keys = zip(batch.node.tolist(), batch.attribute.tolist(), strict=True)
        for number, (node, index) in enumerate(keys):
            codes = schema.attributes[index].kind != "numeric"
            answers[node][index] = batch.table(number, codes=codes)
    return answers


def term_batches(
    requests: Sequence[TermRequest], max_terms: int
) -> Iterator[list[TermRequest]]:
    """Yield batches of requests that have few terms together.

    Complete rows depend on the terms, so a ``complete`` request is a batch of its own.
    """
    batch: list[TermRequest] = []
    together: set[Term] = set()
    term_lists: set[int] = set()  # term lists in the batch; many nodes share one
    for request in requests:
        alone = request.complete or (batch and batch[-1].complete)
        if alone or id(request.terms) not in term_lists:
            wider = together.union(request.terms)
            if batch and (alone or len(wider) > max_terms):
                yield batch
                batch, wider, term_lists = [], set(request.terms), set()
            together = wider
            term_lists.add(id(request.terms))
        batch.append(request)
    if batch:
        yield batch
