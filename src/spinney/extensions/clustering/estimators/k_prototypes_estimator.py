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
from spinney.extensions.clustering.clusters import schema_of
from spinney.extensions.clustering.estimators.cluster_estimator import (
    ClusterEstimator,
    refuse_no_rows,
)
from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.find import MeasuredRows
from spinney.extensions.clustering.prototypes.fit_k_prototypes import MIXED_STARTS
from spinney.extensions.clustering.prototypes.mixed_coding import (
    mixed_cells,
    prototypes_of,
)
from spinney.extensions.clustering.prototypes.mixed_distances import Prototypes
from spinney.sources.rows import attribute_of


@dataclass(eq=False, repr=False)
class KPrototypes(ClusterEstimator, BaseEstimator):  # type: ignore[misc]
    """Clusters of mixed tables: numbers, names, ordered names, missing cells.

    Each row belongs to its nearest prototype, the first of equals. The distance is the
    sum of squared differences of numbers, plus γ times the number of nominal values
    that differ and, for ordinal values, the difference of their ranks divided by that
    of the last and the first level. A missing cell adds nothing; a value that no row
    had when the clusters were found differs from all others. A prototype has the mean
    of its rows' numbers, their most frequent nominal values and the median of their
    ordinal ones, over known cells and by weight, the first of equals; so the cost never
    rises. With nominal columns only this is k-modes, with numeric columns only k-means.

    Numbers are taken as they are: columns in larger units count more, unless
    ``standardise`` is set. Neither threads nor a weight of 2 in the place of two equal
    rows change the clusters. A cluster that loses all rows gets the row farthest from
    its prototype, the first of equals; where there are fewer distinct rows than
    clusters, some stay empty and a warning says so.

    Parameters
    ----------
    n_clusters : int or "auto"
        How many clusters. ``"auto"``: 2 to 10, as many as the silhouette says, of the
        root of the distance between rows; then ``init`` is a name.
    init : {"huang", "cao"} or table
        Where to start. ``"huang"`` draws each cell of a prototype by the frequencies of
        its column, and takes the nearest row; ``"cao"`` takes rows that are dense and
        far from each other, and draws nothing. A table, or an array, has the prototypes
        themselves, None or NaN where the middle of all rows will do.
    gamma : float, optional
        What a nominal difference weighs beside squared differences of numbers. If not
        given it is half the mean standard deviation of the numeric columns, after
        Huang; 1 where no number differs from another or there are none.
    n_init : int or "auto"
        How many starts; the clusters of least cost are kept. ``"auto"`` is 4 where
        they are cheap, rows × columns × clusters being at most 10,000,000, else 1; and
        1 for ``"cao"`` or given prototypes, where nothing is drawn.
    max_iter : int
        How many iterations at most.
    standardise : bool
        Whether each numeric column is divided by its standard deviation first, over
        known cells and by weight. Prototypes are numbers of the columns all the same.
    random_state, n_jobs
        As for :class:`KMeans`.

    Attributes
    ----------
    cluster_centers_ : array, clusters × columns
        The prototypes as values; objects unless all columns are numeric. NaN or None
        in a column that no row knows.
    inertia_ : float
        The weighted sum of the distances of rows to their prototypes; ``cost_`` too.
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

    Where all columns are nominal it is k-modes:

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

    def _measured_rows(self, X: Any) -> MeasuredRows:
        table = self._read(X, reset=True)
        attributes = tuple(attribute_of(column) for column in table.columns)
        cells = mixed_cells(schema_of(attributes, 1), table)
        return MeasuredRows(attributes, cells, hasattr(self, "feature_names_in_"))

    def _plan(self, rows: MeasuredRows, **settings: Any) -> Plan:
        init: Any = self.init
        if isinstance(init, str):
            check_named("init", init, MIXED_STARTS)
        elif not isinstance(self.n_clusters, str):
            check_whole("n_clusters", self.n_clusters, least=1)
            init = given_prototypes(rows, init, self.n_clusters)
        return super()._plan(rows, init=init, gamma=self.gamma)

    # Reading

    def _read(self, X: Any, *, reset: bool) -> Table:
        """Return X as a table; what scikit-learn refuses is our error."""
        by_name = self._by_name and is_framed(X)
        named = has_names_only(X) or is_relation(X) or by_name
        if not reset and named:
            table = _read_by_name(self.clusters_.schema, X)
        else:
            known = read_table(X) if is_relation(X) else X
            with our_errors():
                table = validated_table(self, known, reset=reset)
        refuse_no_rows(table)
        return table

    def __sklearn_tags__(self) -> Any:
        return mixed_input(super().__sklearn_tags__())

    # What was found

    def _nearest(self, X: Any) -> tuple[Integers, Floats]:
        check_is_fitted(self)
        cells = mixed_cells(self.clusters_.schema, self._read(X, reset=False))
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


def _read_by_name(schema: Schema, X: Any) -> Table:
    """Read a later table whose columns are found by their names."""
    return read_with_schema(schema, range(len(schema.attributes)), X)


def given_prototypes(rows: MeasuredRows, given: Any, n_clusters: int) -> Prototypes:
    """Return prototypes that the user gave as a table or an array of values."""
    schema = schema_of(rows.attributes, 1)
    if not has_names_only(given) and not is_framed(given):
        given = _columns(schema, given)
    return prototypes_of(schema, _read_by_name(schema, given), n_clusters)


def _columns(schema: Schema, given: Any) -> dict[str, list[Any]]:
    """Return an array of prototypes as named columns."""
    try:
        array = np.array(given, dtype=object)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.ndim != 2 or array.shape[1] != len(schema.attributes):
        raise ParameterError(
            Setting("init"),
            f" has the shape {array.shape} and must be 'huang', 'cao' or a table of "
            f"prototypes, {len(schema.attributes)} columns each",
        )
    return {n: list(cells) for n, cells in zip(schema.names, array.T, strict=True)}
