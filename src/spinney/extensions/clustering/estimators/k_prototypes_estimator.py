"""k-prototypes, and so k-modes, by scikit-learn's conventions."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_named, check_whole
from spinney._support.threads import thread_count
from spinney.data import Schema, Table
from spinney.data.duckdb import is_relation
from spinney.data.readers import read_table, read_with_schema
from spinney.errors import ParameterError, Setting
from spinney.estimators.table_estimator import (
    has_names_only,
    is_framed,
    mixed_input,
    our_errors,
    validated_table,
)
from spinney.extensions.clustering.clusters import cluster_schema
from spinney.extensions.clustering.estimators.cluster_estimator import (
    ClusterEstimator,
    require_rows,
)
from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.fit_clusters import ClusterInput
from spinney.extensions.clustering.prototypes.fit_k_prototypes import K_PROTOTYPES_INITS
from spinney.extensions.clustering.prototypes.mixed_cells import (
    Prototypes,
    encode_mixed_cells,
    prototypes_from_table,
)
from spinney.sources.rows import attribute_of


@dataclass(eq=False, repr=False)
class KPrototypes(ClusterEstimator, BaseEstimator):  # type: ignore[misc]
    """k-prototypes for mixed tables: numeric, nominal, ordinal and missing cells.

    Each row belongs to its nearest prototype, the first of equals. The distance is the
    sum of squared differences of numbers, plus γ times the number of nominal mismatches
    and, for ordinal values, the difference of ranks as a fraction of the largest. A
    missing cell adds nothing; a new value differs from all others. A prototype has the
    mean of its rows' numbers, their most frequent nominal values and the median of
    their ordinal ones, by weight over known cells. So the cost never rises. With
    nominal columns only this is k-modes, with numeric columns only k-means.

    Columns with larger numbers count more, unless ``standardise`` is set. The clusters
    do not depend on threads, and a row of weight 2 counts as two. Empty clusters are
    filled as by :class:`KMeans`.

    Parameters
    ----------
    n_clusters : int or "auto"
        The number of clusters. ``"auto"`` chooses 2 to 10 by silhouette, of the root of
        the distance between rows; ``init`` must then be a name.
    init : {"huang", "cao"} or table
        The initial prototypes. ``"huang"`` draws each cell by the frequencies of its
        column, and takes the nearest row; ``"cao"`` takes dense rows far from each
        other, without random numbers. A table or an array has the prototypes; None or
        NaN stands for the prototype of all rows.
    gamma : float, optional
        The weight of a categorical mismatch relative to squared differences of numbers.
        The default is half the mean standard deviation of the numeric columns, after
        Huang; 1 if all are constant or there are none.
    n_init : int or "auto"
        The number of restarts, as for :class:`KMeans`; 1 if ``init`` is not random.
    max_iter : int
        The most iterations.
    standardise : bool
        Whether to divide each numeric column by the standard deviation of its known
        cells. Prototypes stay in the units of the columns.
    random_state, n_jobs
        As for :class:`KMeans`.

    Attributes
    ----------
    cluster_centers_ : array, clusters × columns
        The prototypes as values; objects unless all columns are numeric. NaN or None
        in a column without known cells.
    inertia_ : float
        The weighted sum of the distances of rows to their prototypes, as ``cost_``.
    gamma_ : float
        The γ that was used.
    labels_, counts_, n_iter_, choice_, n_features_in_, feature_names_in_
        As for :class:`KMeans`.

    Examples
    --------
    >>> from spinney import KPrototypes
    >>> melons = {
    ...     "texture": ["clear", "clear", None, "blurry", "blurry"],
    ...     "grams": [700, 770, 630, 240, 340],
    ... }
    >>> model = KPrototypes(2, init="cao").fit(melons)
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    >>> model.cluster_centers_
    array([['clear', 700.0],
           ['blurry', 290.0]], dtype=object)
    >>> model.predict({"texture": ["blurry", "smooth"], "grams": [300, 600]})
    array([1, 0])

    With nominal columns only it is k-modes:

    >>> modes = KPrototypes(2, init="cao").fit({
    ...     "colour": ["green", "green", "green", "black", "black"],
    ...     "root": ["curled", "curled", "stiff", "stiff", None],
    ... })
    >>> modes.labels_, modes.gamma_, modes.cost_
    (array([0, 0, 0, 1, 1]), 1.0, 1.0)
    """

    _: KW_ONLY
    init: Any = "huang"
    gamma: float | None = None
    standardise: bool = False

    # Learning

    def _cluster_input(self, X: Any) -> ClusterInput:
        table = self._read(X, reset=True)
        attributes = tuple(attribute_of(column) for column in table.columns)
        cells = encode_mixed_cells(cluster_schema(attributes, 1), table)
        return ClusterInput(attributes, cells, hasattr(self, "feature_names_in_"))

    def _plan(self, rows: ClusterInput, **settings: Any) -> Plan:
        init: Any = self.init
        if isinstance(init, str):
            check_named("init", init, K_PROTOTYPES_INITS)
        elif not isinstance(self.n_clusters, str):
            check_whole("n_clusters", self.n_clusters, least=1)
            init = read_prototypes(rows, init, self.n_clusters)
        return super()._plan(rows, init=init, gamma=self.gamma)

    # Reading

    def _read(self, X: Any, *, reset: bool) -> Table:
        """Return X as a table; scikit-learn's errors become ours."""
        by_name = self._by_name and is_framed(X)
        named = has_names_only(X) or is_relation(X) or by_name
        if not reset and named:
            schema = self.clusters_.schema
            table = read_with_schema(schema, range(len(schema.attributes)), X)
        else:
            rows = read_table(X) if is_relation(X) else X
            with our_errors():
                table = validated_table(self, rows, reset=reset)
        require_rows(table)
        return table

    def __sklearn_tags__(self) -> Any:
        return mixed_input(super().__sklearn_tags__())

    # Fitted attributes

    def _nearest(self, X: Any) -> tuple[Integers, Floats]:
        check_is_fitted(self)
        cells = encode_mixed_cells(self.clusters_.schema, self._read(X, reset=False))
        return self.clusters_.nearest(cells, n_jobs=thread_count(self.n_jobs))

    @property
    def gamma_(self) -> float:
        """The γ that was used."""
        return self.clusters_.gamma

    @property
    def cost_(self) -> float:
        """The weighted sum of the distances of rows to their prototypes."""
        check_is_fitted(self)
        return self.inertia_


def read_prototypes(rows: ClusterInput, init: Any, n_clusters: int) -> Prototypes:
    """Return the user's prototypes, from a table or an array of values."""
    schema = cluster_schema(rows.attributes, 1)
    if not has_names_only(init) and not is_framed(init):
        init = _columns(schema, init)
    table = read_with_schema(schema, range(len(schema.attributes)), init)
    return prototypes_from_table(schema, table, n_clusters)


def _columns(schema: Schema, init: Any) -> dict[str, list[Any]]:
    """Return an array of prototypes as named columns."""
    try:
        array = np.array(init, dtype=object)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.ndim != 2 or array.shape[1] != len(schema.attributes):
        raise ParameterError(
            Setting("init"),
            f" has the shape {array.shape}, and must be 'huang', 'cao' or a table of "
            f"prototypes with {len(schema.attributes)} columns",
        )
    return {n: list(cells) for n, cells in zip(schema.names, array.T, strict=True)}
