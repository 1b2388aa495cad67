"""k-means by scikit-learn's conventions."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from spinney._support.checks import check_whole
from spinney.errors import DataError
from spinney.extensions.clustering.choose_k.choice import Choice
from spinney.extensions.clustering.choose_k.select_k import WorkLimits, choose
from spinney.extensions.clustering.estimators.cluster_estimator import (
    Centroids,
    numeric_input,
    sample_weights,
)
from spinney.extensions.clustering.models.fit_clusters import method_for
from spinney.extensions.clustering.trace import ROWS_SHOWN, Trace, explain_k_means


@dataclass(eq=False, repr=False)
class KMeans(Centroids):
    """k-means by Lloyd's iterations, exact, and fast by bounds.

    Each row belongs to its nearest centroid, the first of equals. Each centroid is the
    weighted mean of its rows. Distances are compared in float64, and means are exact
    sums divided once: the result is that of plain loops from the same initial
    centroids. It does not depend on threads or the order of rows, and a row of weight 2
    counts as two rows. An empty cluster gets the row farthest from its centroid, the
    first of equals. If there are fewer distinct rows than clusters, some stay empty,
    with a warning.

    Parameters
    ----------
    n_clusters : int or "auto"
        The number of clusters. ``"auto"`` chooses 2 to 10 by silhouette; see
        :func:`spinney.choose_k`. ``init`` must then be a name.
    init : {"k-means++", "random", "optimal"}, array or callable
        The initial centroids. ``"k-means++"`` draws distant rows, each the best of at
        least 2 + ⌊log k⌋ and of 8 candidates; ``"random"`` draws rows; ``"optimal"``,
        for one column, finds the optimal clusters. An array has the centroids. A
        callable gets the rows, the number of clusters and a ``random_state``.
    n_init : int or "auto"
        The number of restarts; the clusters of least inertia win. ``"auto"`` is 4 up to
        10,000,000 rows × columns × clusters, else 1; and 1 if ``init`` is not random.
    max_iter : int
        The most iterations.
    tol : float
        With 0.0 the iterations end when nothing moves. Otherwise they also end when the
        squared moves of all centroids sum to at most ``tol`` times the mean variance of
        the columns, as in scikit-learn.
    standardise : bool
        Whether to divide each column by its standard deviation, a constant one by 1.
        ``cluster_centers_`` and a given ``init`` stay in the units of the columns;
        ``inertia_`` and distances do not.
    random_state : int, RandomState or None
        The seed. The same seed gives the same clusters for any ``n_jobs``.
    n_jobs : int, optional
        The number of threads; one per core by default, or with -1.

    Attributes
    ----------
    cluster_centers_ : array, clusters × columns
        The centroids, of the type of the rows.
    labels_ : array
        The cluster of each row.
    counts_ : array
        The total weight of each cluster's rows.
    inertia_ : float
        The weighted sum of the squared distances of rows to their centroids.
    n_iter_ : int
        The number of iterations, including the one that moved nothing.
    choice_ : Choice
        For ``n_clusters="auto"``, the curve and the decision.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array The names of the columns, if they have any.

    Examples
    --------
    >>> from spinney import KMeans
    >>> rows = [[1, 1], [1.5, 2], [3, 4], [5, 7], [3.5, 5]]
    >>> model = KMeans(2, init=[[1.5, 2], [5, 7]]).fit(rows)
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    >>> model.cluster_centers_.round(2)
    array([[1.83, 2.33],
           [4.25, 6.  ]])
    >>> model.predict([[4, 4]])
    array([1])
    """

    _: KW_ONLY
    max_iter: int = 300
    tol: float = 0.0
    standardise: bool = False

    def explain(
        self, X: Any, sample_weight: Any = None, *, rows: int = ROWS_SHOWN
    ) -> Trace:
        """Return the iterations of the fit as tables.

        Parameters
        ----------
        X, sample_weight
            The training rows and their weights.
        rows : int
            The most rows whose distances are shown.

        Examples
        --------
        >>> from spinney import KMeans
        >>> rows = [[1, 1], [1.5, 2], [3, 4], [5, 7], [3.5, 5]]
        >>> model = KMeans(2, init=[[1.5, 2], [5, 7]]).fit(rows)
        >>> trace = model.explain(rows)
        >>> trace.iterations[0].distances[[0, 2, 4]].round(2)
        array([[1.12, 7.21],
               [2.5 , 3.61],
               [3.61, 2.5 ]])

        ``print(trace)`` shows all tables.
        """
        check_whole("rows", rows, least=1)
        cells, centroids = self._scaled_rows_and_centroids(X)
        trace = explain_k_means(
            cells,
            self.clusters_.start,
            names=self.clusters_.names,
            weights=sample_weights(sample_weight, len(cells)),
            max_iterations=self.max_iter,
            tolerance=self.tol,
            rows=rows,
        )
        if not np.array_equal(trace.clustering.centroids, centroids):
            msg = "these rows lead to other clusters"
            raise DataError(msg, remedy="give the training rows with their weights")
        return trace


def choose_k(
    data: Any,
    n_clusters: Any = "auto",
    *,
    rule: str = "silhouette",
    measures: Sequence[str] | None = None,
    sample_weight: Any = None,
    init: str = "k-means++",
    n_init: int | str = "auto",
    max_iter: int = 300,
    tol: float = 0.0,
    random_state: Any = 0,
    n_jobs: int | None = None,
    silhouette_rows: int = 5000,
    gap_rows: int = 1000,
    gap_tables: int = 20,
) -> Choice:
    """Choose the number of clusters of a numeric table by a rule.

    The clusters are those of :class:`spinney.KMeans` with the same parameters. Equal
    rows are merged into one with their total weight.

    Parameters
    ----------
    data : array, data frame, dict of columns or anything that ``read_table`` takes
        Columns of finite numbers.
    n_clusters : sequence of int or "auto"
        The candidates for k. ``"auto"`` is 2 to 10, for the rule ``"gap"`` 1 to 10, and
        at most the number of distinct rows.
    rule : str
        ``"silhouette"`` and ``"calinski_harabasz"`` choose the largest value,
        ``"davies_bouldin"`` the smallest, ``"elbow"`` the elbow of inertia by Kneedle
        (S = 1), ``"gap"`` the least k whose gap is at least the next gap minus its
        standard error. Ties go to fewer clusters.
    measures : sequence of str, optional
        Further measures by the same names; all but ``"gap"``, which is slow, by
        default.
    sample_weight : array, optional
        The weight of each row.
    init, n_init, max_iter, tol, random_state, n_jobs
        Those of :class:`spinney.KMeans`. ``init`` is a name. All k have the number of
        restarts of the largest k, because one bad restart would bend the curve.
    silhouette_rows : int
        With more distinct rows than this, silhouettes use a sample of this size.
    gap_rows, gap_tables : int
        The most rows of a reference table of the gap statistic, and the number of
        tables. A sample replaces more rows.

    Returns
    -------
    Choice
        ``k``, the reason ``why`` and the ``curve``; ``print`` shows them.

    Examples
    --------
    >>> import spinney
    >>> table = {"size": [1, 1.2, 0.9, 5, 5.1, 4.8], "age": [3, 3.1, 2.9, 9, 9.2, 8.8]}
    >>> choice = spinney.choose_k(table)
    >>> choice.k
    2
    >>> print(choice.why)
    k = 2 by silhouette: its silhouette, 0.959678, is the largest; the next is 0.609514
    at k = 3.
    """
    model = KMeans(
        1,
        init=init,
        n_init=n_init,
        max_iter=max_iter,
        tol=tol,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    rows = numeric_input(model, data)
    weights = sample_weights(sample_weight, len(rows.cells))
    plan = replace(model._plan(rows), n_clusters="auto")
    return choose(
        rows.cells,
        n_clusters,
        weights=weights,
        rule=rule,
        measures=measures,
        method=method_for(plan, rows),
        limits=WorkLimits(silhouette_rows, gap_rows, gap_tables),
    )
