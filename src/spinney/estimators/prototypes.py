"""k-prototypes, and so k-modes, by scikit-learn's conventions."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from spinney.checks import check_number, check_whole, is_whole
from spinney.cluster.choice import Choice
from spinney.cluster.mixed import Prototypes
from spinney.cluster.mixed_choosing import choose_mixed
from spinney.cluster.mixed_fit import MIXED_STARTS, k_prototypes, nearest_prototypes
from spinney.clustered.file import save_clusters
from spinney.clustered.model import spread_of
from spinney.clustered.readable import ReadableClusters
from spinney.counts import Floats, Integers
from spinney.errors import DataError, ParameterError, SpinneyError, refuse_unknown, warn
from spinney.estimators.clusters import warn_of_few, weights_of
from spinney.estimators.kept import forget, kept_prototypes
from spinney.estimators.mixed import (
    given_prototypes,
    mixed_cells,
    mixed_schema,
    read_mixed,
    values_of,
)
from spinney.estimators.tables import (
    TableEstimator,
    become,
    checked_weights,
    has_names_only,
)
from spinney.files import read_table
from spinney.forest.growing import threads_of
from spinney.forest.settings import seed_of
from spinney.relation import is_relation
from spinney.table import Table

if TYPE_CHECKING:
    import os

__all__ = ["KPrototypes"]

LARGEST_GAMMA = 1e300  # so that costs are finite


class KPrototypes(ClusterMixin, TableEstimator):  # type: ignore[misc]
    """Clusters of mixed tables: numbers, names, ordered names, missing cells.

    Each row belongs to its nearest prototype, the first of equals. The distance is the
    sum of squared differences of numbers, plus γ times the number of nominal values
    that differ and, for ordinal values, the difference of their ranks divided by that
    of the last and the first level. A missing cell adds nothing. A prototype has the
    mean of its rows' numbers, their most frequent nominal values and the median of
    their ordinal ones, over known cells and by weight, the first of equals; so the cost
    never rises. With nominal columns only this is k-modes, with numeric columns only
    k-means.

    Numbers are taken as they are: columns in larger units count more, unless
    ``standardise`` is said. Neither threads nor a weight of 2 in the place of two equal
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
        said it is half the mean standard deviation of the numeric columns, after
        Huang; 1 where no number differs from another or there are none.
    n_init : int or "auto"
        How many starts; the clusters of least cost are kept. ``"auto"`` is 10 for
        ``"huang"``, else 1.
    max_iter : int
        How many iterations at most.
    standardise : bool
        Whether each numeric column is divided by its standard deviation first, over
        known cells and by weight. Prototypes are numbers of the columns all the same.
    random_state : int, RandomState or None
        The seed. The same seed gives the same clusters, whatever ``n_jobs``.
    n_jobs : int, optional
        How many threads; one a core if not said, or -1.

    Attributes
    ----------
    cluster_centers_ : array, clusters × columns
        The prototypes as values; objects unless all columns are numeric. NaN or None
        in a column that no row knows.
    labels_ : array
        The cluster of each row.
    counts_ : array
        What the rows of each cluster weigh: how many they are, if none has a weight.
    inertia_ : float
        The weighted sum of the distances of rows to their prototypes; ``cost_`` too.
    n_iter_ : int
        How many iterations there were, the one that moved nothing included.
    gamma_ : float
        The γ that was used.
    choice_ : Choice
        With ``n_clusters="auto"``: the curve, and which rule decided.
    n_features_in_ : int
        How many columns.
    feature_names_in_ : array
        Their names, where they have any.

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

    _has_target = False
    cluster_centers_: NDArray[Any]
    labels_: Integers
    counts_: Floats
    inertia_: float
    n_iter_: int
    gamma_: float
    choice_: Choice
    _by_name = False
    # What numbers are divided by where they are standardised.
    _scale: Floats | None = None

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        init: Any = "huang",
        gamma: float | None = None,
        n_init: int | str = "auto",
        max_iter: int = 100,
        standardise: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.gamma = gamma
        self.n_init = n_init
        self.max_iter = max_iter
        self.standardise = standardise
        self.random_state = random_state
        self.n_jobs = n_jobs

    # Learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : data frame, array, dict of columns or anything that ``read_table`` takes
            The rows; to declare kinds of columns, pass what ``read_table`` returns.
        y : ignored
        sample_weight : array, optional
            The weight of each row; a row of weight 0 is labelled and no more.
        """
        # A fit that fails, or is interrupted, leaves the old clusters as they were.
        new = type(self)(**self.get_params(deep=False))
        new._fit_rows(X, sample_weight)
        forget(self)
        become(self, new)
        return self

    def _fit_rows(self, X: Any, sample_weight: Any) -> None:
        self._by_name = False
        table = self._read(X, reset=True)
        weights = weights_of(sample_weight, table.n_rows)
        self._schema = mixed_schema(table)
        start, n_starts = self._checked_start(table.n_rows)
        self._seed = seed_of(self.random_state)
        cells = mixed_cells(self._schema, table)
        if self.standardise:
            self._scale = spread_of(cells.numbers, weights)
            cells = replace(cells, numbers=cells.numbers / self._scale)
            if isinstance(start, Prototypes):
                start = start._replace(numbers=start.numbers / self._scale)
        settings: dict[str, Any] = {
            "weights": weights,
            "gamma": None if self.gamma is None else float(self.gamma),
            "start": start,
            "n_starts": n_starts,
            "max_iterations": self.max_iter,
            "seed": self._seed,
            "n_jobs": threads_of(self.n_jobs),
        }
        k: Any = self.n_clusters
        if isinstance(k, str):
            self.choice_ = choose_mixed(cells, **settings)
            k = self.choice_.k
        found, self.gamma_ = k_prototypes(cells, k, **settings)
        self._prototypes = found.prototypes
        scale = 1.0 if self._scale is None else self._scale
        told = found.prototypes._replace(numbers=found.prototypes.numbers * scale)
        self.cluster_centers_ = values_of(self._schema, told)
        warn_of_few(self.cluster_centers_, found.labels)
        self.labels_ = found.labels
        n_clusters = len(found.prototypes.codes)
        self.counts_ = np.bincount(found.labels, weights, n_clusters).astype(np.float64)
        self.inertia_ = found.cost
        self.n_iter_ = found.n_iterations

    def _checked_start(self, n_rows: int) -> tuple[Any, int]:
        """Refuse parameters that mean nothing; return the start, and how many."""
        k: Any = self.n_clusters
        drawn = isinstance(self.init, str)
        if isinstance(k, str):
            self._check_choice(k)
        else:
            check_whole("n_clusters", k, least=1)
        check_whole("max_iter", self.max_iter, least=1)
        if self.gamma is not None:
            check_number("gamma", self.gamma, most=LARGEST_GAMMA)
        if not isinstance(k, str) and n_rows < k:
            msg = (
                f"n_clusters={k} is more than the rows (n_samples={n_rows}): ask for "
                "fewer clusters"
            )
            raise DataError(msg)
        if drawn and self.init not in MIXED_STARTS:
            refuse_unknown("init", self.init, MIXED_STARTS)
        n_starts = self._n_starts()
        if drawn:
            return self.init, n_starts
        return given_prototypes(self._schema, self.init, k), n_starts

    def _check_choice(self, k: str) -> None:
        if k != "auto":
            refuse_unknown("n_clusters", k, ["auto"])
        if not isinstance(self.init, str):
            msg = (
                "init must be a name where the number of clusters is to be chosen: "
                f"{' or '.join(map(repr, MIXED_STARTS))}"
            )
            raise ParameterError(msg)

    def _n_starts(self) -> int:
        if isinstance(self.n_init, str) and self.n_init != "auto":
            refuse_unknown("n_init", self.n_init, ["auto"])
        by_chance = isinstance(self.init, str) and self.init == "huang"
        if self.n_init == "auto":
            return 10 if by_chance else 1
        check_whole("n_init", self.n_init, least=1)
        if not by_chance and int(self.n_init) > 1:
            warn(f"n_init={self.n_init} where nothing is drawn: one start is made")
            return 1
        return int(self.n_init) if is_whole(self.n_init) else 1

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Integers:
        """Find the clusters; return that of each row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    # Reading

    def _read(self, X: Any, *, reset: bool) -> Table:
        """Return X as a table; what scikit-learn refuses is our error."""
        framed = hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__")
        named = has_names_only(X) or is_relation(X) or (self._by_name and framed)
        if not reset and named:
            return read_mixed(self._schema, X)
        try:
            return self._validated(read_table(X) if is_relation(X) else X, reset=reset)
        except SpinneyError:
            raise
        except ValueError as error:
            raise DataError(str(error)) from None

    # Keeping

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Save the clusters to a file; :func:`spinney.load` reads them back."""
        check_is_fitted(self, "cluster_centers_")
        save_clusters(kept_prototypes(self), path)

    def __str__(self) -> str:
        """Return sizes and prototypes as a table, once there are any."""
        if "cluster_centers_" not in vars(self):
            return str(super().__str__())
        return str(ReadableClusters(kept_prototypes(self)))

    # Telling

    def predict(self, X: Any) -> Integers:
        """Return the cluster of each row: the nearest prototype, the first of equals.

        A value that no row had when the clusters were found differs from all others.
        """
        return self._nearest(X)[0]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the weighted sum of distances to the nearest prototype, times -1."""
        costs = self._nearest(X)[1]
        if sample_weight is not None:
            costs = costs * checked_weights(sample_weight, len(costs))
        return -float(np.sum(costs))

    def _nearest(self, X: Any) -> tuple[Integers, Floats]:
        check_is_fitted(self, "cluster_centers_")
        cells = mixed_cells(self._schema, self._read(X, reset=False))
        if self._scale is not None:
            cells = replace(cells, numbers=cells.numbers / self._scale)
        jobs = threads_of(self.n_jobs)
        return nearest_prototypes(cells, self._prototypes, self.gamma_, n_jobs=jobs)

    @property
    def cost_(self) -> float:
        """The weighted sum of the distances of rows to their prototypes."""
        check_is_fitted(self, "cluster_centers_")
        return self.inertia_
