"""The training rows in the form of the kernels: one-byte codes, and labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.matrix_view import matrix_behind
from spinney._support.threads import in_threads, n_threads, run_all
from spinney._support.ties import TOLERANCE
from spinney.data import Attribute, Schema
from spinney.growth.binned.binned_arrays import moments_of
from spinney.growth.binned.binned_limits import (
    COMPETITOR_ROWS_DIVISOR,
    MAX_DEPTH,
    routes_by_surrogates,
)
from spinney.growth.binned.kernels import layout, split_scores
from spinney.growth.binned.kernels.encoding import (
    LOOKUP_CELLS,
    ColumnEncoding,
    bin_edges,
    encode_rows,
    index_edges,
)
from spinney.growth.binned.kernels.layout import Cells, Labels, Rules
from spinney.growth.binned.kernels.ordered_rows import WORD_BITS
from spinney.recipes import MAX_SIDE_WEIGHT, Recipe
from spinney.search import Search
from spinney.sources import TableRequest
from spinney.trees.criteria import deviation

if TYPE_CHECKING:
    from spinney.sources.rows import TrainingSet

SAMPLE_ROWS, SPARSITY_ROWS = 4096, 256
CACHE_LINE, WORD_BYTES = 64, 8  # bytes of a line of the cache, and of a word
MAX_SPARSE_BINS = 16  # of an attribute whose commonest code is not counted
MAX_CACHED_ROWS = 32_768  # rows whose codes stay in the cache
MIN_THREADED_CELLS = 16_384  # cells of a sample whose bins several threads find


def encode_cells(
    attributes: Sequence[Attribute],
    columns: Sequence[NDArray[Any]],
    buckets: Mapping[int, Floats] | None = None,
) -> Cells:
    """Return columns in the form of ``Schema.encode`` as cells of the kernels.

    Numbers are binned by the ``buckets`` of their attribute, if given.
    """
    p, n_rows = len(columns), len(columns[0])
    codes, by_attribute = _aligned_codes(n_rows, p), np.empty((p, n_rows), np.uint8)
    column, n_bins = np.full(p, -1, np.int64), np.ones(p, np.int64)
    values, edges = np.full((p, layout.BINS), np.nan), np.full((p, layout.BINS), np.nan)
    numeric = [
        a for a, attribute in enumerate(attributes) if attribute.kind == "numeric"
    ]
    for a, attribute in enumerate(attributes):
        if attribute.kind != "numeric":
            by_attribute[a] = np.where(columns[a] < 0, layout.MISSING_CODE, columns[a])
            codes[:, a] = by_attribute[a]
            n_bins[a] = max(1, len(attribute.values))
            values[a, : len(attribute.values)] = np.arange(len(attribute.values))
    numbers = _number_matrix([columns[a] for a in numeric])
    if numeric:
        places = np.array(numeric, np.int64)
        encoder = _NumberEncoder(numbers, places, codes, by_attribute)
        exact = encoder.encode([(buckets or {}).get(a) for a in numeric])
        column[places] = np.where(exact, -1, np.arange(len(places)))
        # A bin that may hold several values has none of its own.
        encoding = encoder.encoding
        values[places] = np.where(exact[:, None], encoding.values, np.nan)
        n_bins[places] = encoding.n_edges + 1
        edges[places] = encoding.edges
    nominal = np.array([attribute.kind == "nominal" for attribute in attributes])
    listed = np.array([attribute.kind != "numeric" for attribute in attributes])
    fields = (column, values, n_bins, nominal, listed, edges)
    tail = _sparse_tail(codes, by_attribute, n_bins)
    singles, doubles = _by_precision(numbers)
    return Cells(codes, by_attribute, singles, doubles, *fields, *tail)


def _sparse_tail(
    codes: NDArray[np.uint8], by_attribute: NDArray[np.uint8], n_bins: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], int]:
    """Return words of eight codes each, and the index of the first sparse attribute."""
    p, n_rows = by_attribute.shape
    rows = np.arange(0, n_rows, max(1, n_rows // SPARSITY_ROWS))
    starts = np.arange(0, p, WORD_BYTES)
    greatest = np.maximum.reduceat(by_attribute[:, rows], starts, axis=0)
    max_bins = np.maximum.reduceat(n_bins, starts)
    sparse = ((greatest == 0).mean(axis=1) > 1 / 2) & (max_bins <= MAX_SPARSE_BINS)
    n_sparse = int(np.append(sparse[::-1], False).argmin())
    if not n_sparse or codes.shape[1] % WORD_BYTES:
        return np.zeros((0, 0), np.uint64), p
    codes[:, p:] = 0
    return codes.view(np.uint64), WORD_BYTES * (len(sparse) - n_sparse)


def _aligned_codes(n_rows: int, p: int) -> NDArray[np.uint8]:
    """Return an empty code array in which few rows span two cache lines."""
    width = 1 << (p - 1).bit_length() if p <= CACHE_LINE // 2 else -(-p // 32) * 32
    buffer = np.empty(n_rows * width + CACHE_LINE, np.uint8)
    start = -buffer.ctypes.data % CACHE_LINE
    return buffer[start : start + n_rows * width].reshape(n_rows, width)


def _number_matrix(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return columns as one matrix: the array behind all views, if there is one."""
    if not columns:
        return np.zeros((0, 0), np.float64)
    base = matrix_behind(columns)
    if base is not None:
        return base
    small = all(column.dtype == np.float32 for column in columns)
    return np.column_stack(columns).astype(
        np.float32 if small else np.float64, copy=False
    )


def _by_precision(
    numbers: NDArray[Any],
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return a matrix as single or as double, and one without rows as the other."""
    if numbers.dtype == np.float32:
        return numbers, np.zeros((0, 0))
    return np.zeros((0, 0), np.float32), numbers


class _NumberEncoder:
    """Encoder of numeric columns, whose bins come from a sample of rows."""

    def __init__(
        self,
        numbers: NDArray[Any],
        attributes: NDArray[np.int64],
        codes: NDArray[np.uint8],
        by_attribute: NDArray[np.uint8],
    ) -> None:
        q = numbers.shape[1]
        self.numbers = numbers
        self.encoding = ColumnEncoding(
            edges=np.full((q, layout.BINS), np.inf),
            n_edges=np.zeros(q, np.int64),
            first=np.zeros((q, LOOKUP_CELLS), np.uint8),
            low=np.zeros(q),
            scale=np.zeros(q),
            steps=np.zeros(q, np.int64),
            values=np.full((q, layout.BINS), np.nan),
            expected=np.zeros(q, np.bool_),
            attributes=attributes,
            codes=codes,
            by_attribute=by_attribute,
        )

    def encode(self, cuts: Sequence[Floats | None]) -> NDArray[np.bool_]:
        """Encode all columns; return whether each has one value per bin.

        Columns without cuts are binned by a sample. If the sample shows few values,
        rare ones may be missing: the column is encoded again with the rare values, if
        they are few.
        """
        all_columns = np.arange(self.numbers.shape[1])
        if any(column_cuts is None for column_cuts in cuts):
            for j, (edges, values) in enumerate(self._sample_edges()):
                self._set_edges(j, edges, values)
        for j, column_cuts in enumerate(cuts):
            if column_cuts is not None:
                self._set_edges(j, column_cuts, None)
        unexpected = self._encode(all_columns)
        rare = all_columns[self.encoding.expected & unexpected]
        widened = run_all([partial(self._all_values, j) for j in rare])
        changed = rare[[values is not None for values in widened]]
        for j, values in zip(rare, widened, strict=True):
            if values is not None:
                self._set_edges(j, *bin_edges(values))
        if len(changed):
            unexpected[changed] = self._encode(changed)[changed]
        return np.asarray(self.encoding.expected & ~unexpected)

    def _sample_edges(self) -> list[tuple[Floats, Floats | None]]:
        """Return the edges and values of each column, from a sample."""
        n_rows, q = self.numbers.shape
        step = max(1, n_rows // SAMPLE_ROWS)
        # One random row of each range: a period of the table does not matter.
        starts = np.arange(0, n_rows - n_rows % step, step)
        rows = starts + np.random.default_rng(0).integers(0, step, len(starts))
        sample = self.numbers[rows].astype(np.float64)
        # Thread t of n takes the columns t, t + n, t + 2n, …
        n = n_threads() if sample.size > MIN_THREADED_CELLS else 1
        by_thread = run_all([partial(_edges, sample.T[t::n]) for t in range(n)])
        return [by_thread[j % n][j // n] for j in range(q)]

    def _set_edges(self, j: int, edges: Floats, values: Floats | None) -> None:
        """Set the edges between the bins of a column, and their values if known."""
        encoding, k = self.encoding, len(edges)
        encoding.edges[j, :k], encoding.n_edges[j] = edges, k
        encoding.expected[j] = values is not None
        if values is not None:
            encoding.values[j, : len(values)] = values

    def _encode(self, columns: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Encode columns; return whether each column has unexpected values."""
        n_rows, q = self.numbers.shape
        index_edges(self.encoding)

        def encode_range(start: int, stop: int) -> NDArray[np.int64]:
            unexpected = np.zeros(q, np.int64)
            encode_rows(self.encoding, self.numbers, start, stop, columns, unexpected)
            return unexpected

        return np.asarray(np.sum(in_threads(encode_range, n_rows), axis=0) > 0)

    def _all_values(self, j: int) -> Floats | None:
        """Return all values of an encoded column, or None if there are many."""
        column, encoding = self.numbers[:, j].copy(), self.encoding
        bin_values = encoding.values[j]
        expected = bin_values[encoding.by_attribute[encoding.attributes[j]]]
        # These rows are few: the sample has all values that are not rare.
        unexpected = column[(expected != column) & (column == column)]
        values = np.union1d(
            bin_values[: encoding.n_edges[j] + 1], unexpected.astype(np.float64)
        )
        return values if len(values) < layout.BINS else None


def _edges(columns: Floats) -> list[tuple[Floats, Floats | None]]:
    """Return the edges between the bins of columns, and the value of each bin."""
    return [bin_edges(column) for column in columns]


def class_labels(
    classes: NDArray[Any], weights: Floats | None, n_classes: int
) -> Labels:
    """Return the labels of a classification target."""
    whole = weights is None or bool(np.all(weights == np.floor(weights)))
    # Half a word holds the sum of all weights.
    fits = weights is None or float(weights.sum()) < 2.0**32
    packs_classes = n_classes == 2 and whole and fits
    return Labels(
        classes.astype(np.int32), _weights(weights), np.zeros(0), packs_classes
    )


def _weights(weights: Floats | None) -> Floats:
    """Return weights, none if every row weighs 1."""
    return np.zeros(0) if weights is None else np.asarray(weights, np.float64)


SMALL_NODE_ROWS = 96
FEW_VALUES_FACTOR = 20  # times as many where all attributes of a forest have few values


@dataclass(frozen=True, slots=True)
class BinnedDataset:
    """The encoded rows, with the parameters of the search."""

    schema: Schema
    cells: Cells
    labels: Labels
    rules: Rules
    weights: Floats
    counts: NDArray[np.int64]
    buckets: Mapping[int, Floats]


def binned_dataset(
    training: "TrainingSet",
    recipe: Recipe,
    *,
    n_drawn: int | None = None,
    altered: Floats | None = None,
    reference_weight: float | None = None,
) -> BinnedDataset:
    """Return the training rows encoded for the kernels.

    Class weights are multiplied by ``altered``, except in limits. Fractional limits
    refer to ``reference_weight``, by default the weight of these rows. A forest sets
    it, since its trees grow on bags of the rows.
    """
    schema = training.schema
    buckets = _bucket_cuts(training, recipe)
    cells = encode_cells(schema.attributes, training.columns, buckets)
    total = training.weight
    total_weight = total if reference_weight is None else reference_weight
    row_weights = training.weighed(altered).weights
    if row_weights is not None and np.all(row_weights == 1.0):
        row_weights = None
    numbers: Floats | None = None
    if schema.target.origin is None:
        labels = class_labels(training.classes, row_weights, schema.n_classes)
        weights = np.bincount(training.classes, row_weights, minlength=schema.n_classes)
        counts = np.bincount(training.classes, minlength=schema.n_classes)
    else:
        numbers = training.classes - schema.target.origin
        labels = Labels(
            np.zeros(0, np.int32), _weights(row_weights), numbers, packs_classes=False
        )
        first = numbers if row_weights is None else row_weights * numbers
        signed_sums = first[numbers > 0].sum(), first[~(numbers > 0)].sum()
        weights = np.array([total, *signed_sums, first @ numbers])
        counts = np.array([len(numbers)])
    criterion, min_deviation = recipe.measure(numeric=numbers is not None), 0.0
    kind = getattr(split_scores, criterion.kernel)
    if numbers is not None:
        moments = moments_of(np.asarray(weights, np.float64), numeric=True)
        recipe = recipe.in_unit(criterion.gain_unit(moments))
        min_deviation = float(recipe.min_deviation) * float(deviation(moments))
    keep_competitors = row_weights is None and n_drawn is None
    n_listed = int(cells.n_bins[cells.listed].sum())
    rules = Rules(
        kind=kind,
        width=len(weights),
        max_depth=MAX_DEPTH
        if recipe.max_depth is None
        else min(MAX_DEPTH, recipe.max_depth),
        min_node_weight=recipe.min_node_weight(total_weight) * (1 - TOLERANCE),
        min_branch_weight=recipe.min_branch_weight(total_weight) * (1 - TOLERANCE),
        min_gain=float(recipe.min_gain),
        n_drawn=len(schema.attributes) if n_drawn is None else n_drawn,
        small_node_rows=SMALL_NODE_ROWS
        * (FEW_VALUES_FACTOR if n_drawn is not None and _has_few_values(cells) else 1),
        single_row_weight=1.5
        if row_weights is None
        else 1.5 * float(row_weights.min()),
        # Sums of numbers round: those of a branch are counted afresh, and those of its
        # bins as well where roots show what a subtraction leaves.
        count_rows=row_weights is not None or numbers is not None,
        refine_bins=not buckets,
        subtract=kind < split_scores.DEVIATION
        and (row_weights is None or (altered is None and _sums_are_exact(row_weights))),
        competitor_rows=len(training.classes) // COMPETITOR_ROWS_DIVISOR
        if keep_competitors
        else MAX_DEPTH,
        max_code_lines=max(layout.BINS, n_listed) if keep_competitors else layout.BINS,
        limit_scale=np.ones(len(weights)) if altered is None else 1 / altered,
        min_branch_fraction=float(recipe.min_branch_share),
        min_cut_fraction=float(recipe.min_cut_share) / max(1, schema.n_classes),
        max_side_minimum=MAX_SIDE_WEIGHT,
        min_deviation=min_deviation * (1 - TOLERANCE),
        by_ratio=criterion.average,
        average_slack=criterion.slack,
        missing_separate=routes_by_surrogates(training, recipe),
    )
    return BinnedDataset(
        schema,
        cells,
        labels,
        rules,
        weights.astype(np.float64),
        counts.astype(np.int64),
        buckets,
    )


def _has_few_values(cells: Cells) -> bool:
    """Return whether every attribute has few values, and the table few rows.

    Then weighing rows by value and class is as fast as reading them. In a larger table
    each row is read once for all attributes.
    """
    few = (cells.column < 0) & (cells.n_bins <= WORD_BITS) & ~cells.nominal
    return bool(few.all()) and len(cells.codes) <= MAX_CACHED_ROWS


def _bucket_cuts(training: "TrainingSet", recipe: Recipe) -> Mapping[int, Floats]:
    """Return the cuts between the buckets of each number."""
    if recipe.bucketing is None:
        return {}
    schema = training.schema
    search = Search.of(recipe, numeric=schema.target.is_numeric)
    attributes = tuple(range(len(schema.attributes)))
    for batch in training.source().tables([TableRequest(0, attributes)]):
        search = search.with_root_tables(batch, schema)
    return search.root_summary.cuts


def with_buckets(cells: Cells, buckets: Mapping[int, Floats]) -> Cells:
    """Return cells in which each number is the least number of its bucket."""
    column, values = cells.column.copy(), cells.values.copy()
    for a in buckets:
        matrix = cells.singles if len(cells.singles) else cells.doubles
        numbers = matrix[:, column[a]].astype(np.float64)
        least = np.full(layout.BINS, np.inf)
        np.fmin.at(least, cells.by_attribute[a], numbers)  # what is missing is none
        column[a], values[a] = -1, least
    return cells._replace(column=column, values=values)


def _sums_are_exact(weights: Floats) -> bool:
    """Return whether weights add up exactly, so that siblings may be subtracted.

    Sums of target values may still round: empty bins are recognised by their weight.
    """
    return bool(np.all(weights == np.floor(weights))) and weights.sum() <= 2.0**53
