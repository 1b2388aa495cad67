"""k-means by scikit-learn's conventions."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from spinney._support.checks import check_whole
from spinney.errors import DataError
from spinney.extensions.clustering.choose_k.choice import Choice
from spinney.extensions.clustering.choose_k.procedure import WorkLimits, choose
from spinney.extensions.clustering.estimators.cluster_estimator import (
    Centroids,
    rows_of_numbers,
    weights_of,
)
from spinney.extensions.clustering.models.find import method_of
from spinney.extensions.clustering.trace import ROWS_SHOWN, Trace, explain_k_means


@dataclass(eq=False, repr=False)
class KMeans(Centroids):
    """Clusters around means: Lloyd's iterations, exact, and fast by bounds.

    Each row belongs to its nearest centroid, the first of equals, and each centroid is
    the weighted mean of its rows. Distances are compared in float64 and means are exact
    sums divided once, so the result is that of plain loops from the same start. Neither
    threads nor the order of the rows change what is drawn, and a row of weight 2 is as
    good as two. A cluster that loses all rows gets the row farthest from its centroid,
    the first of equals; where there are fewer distinct rows than clusters, some stay
    empty and a warning says so.

    Parameters
    ----------
    n_clusters : int or "auto"
        How many clusters. ``"auto"``: 2 to 10, as many as the silhouette says; see
        :func:`spinney.choose_k`. Then ``init`` is a name, and each k has as many
        starts as the largest.
    init : {"k-means++", "random", "optimal"}, array or callable
        Where to start. ``"k-means++"`` draws rows far from each other, the best of
        at least 2 + ⌊log k⌋ and of 8 each time; ``"random"`` draws rows;
        ``"optimal"``, for one column, solves the problem: no clusters are better. An
        array has the centroids; a callable gets the rows, the number of clusters and a
        ``random_state``.
    n_init : int or "auto"
        How many starts; the clusters of least inertia are kept. ``"auto"`` is 4 where
        they are cheap, rows × columns × clusters being at most 10,000,000, else 1; and
        1 where nothing is drawn.
    max_iter : int
        How many iterations at most.
    tol : float
        0.0: the iterations end when nothing moves. Else also when the squared moves of
        all centroids sum to at most ``tol`` times the mean variance of the columns,
        which is scikit-learn's rule.
    standardise : bool
        Whether each column is divided by its standard deviation before distances are
        measured; a constant column by 1. ``cluster_centers_`` and a given ``init`` are
        in the units of the columns all the same, ``inertia_`` and distances are not.
    random_state : int, RandomState or None
        The seed. The same seed gives the same clusters, whatever ``n_jobs``.
    n_jobs : int, optional
        How many threads; one per core if not given, or -1.

    Attributes
    ----------
    cluster_centers_ : array, clusters × columns
        The centroids, of the type of the rows.
    labels_ : array
        The cluster of each row.
    counts_ : array
        What the rows of each cluster weigh: how many they are, if none has a weight.
    inertia_ : float
        The weighted sum of the squared distances of rows to their centroids.
    n_iter_ : int
        How many iterations there were, the one that moved nothing included.
    choice_ : Choice
        With ``n_clusters="auto"``: the curve, and which rule decided.
    n_features_in_ : int
        How many columns.
    feature_names_in_ : array
        Their names, where they have any.

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
        """Return the iterations that led to the clusters, as tables.

        Parameters
        ----------
        X, sample_weight
            The rows that the clusters were found on; no others have these iterations.
        rows : int
            Distances are shown of the first rows, so many at most.

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
        cells, centroids = self._measured(X)
        trace = explain_k_means(
            cells,
            self.clusters_.start,
            names=self.clusters_.names,
            weights=weights_of(sample_weight, len(cells)),
            max_iterations=self.max_iter,
            tolerance=self.tol,
            rows=rows,
        )
        if not np.array_equal(trace.clustering.centroids, centroids):
            msg = (
                "these rows lead to other clusters: give those that the clusters were "
                "found on, with their weights"
            )
            raise DataError(msg)
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
    """Return how many clusters a table of numbers has, by a rule, and the curve.

    The clusters are those of :class:`spinney.KMeans` with the same parameters. Equal
    rows are one row of more weight, so neither the order of rows nor whether a row
    comes twice or weighs 2 changes a number.

    Parameters
    ----------
    data : array, data frame, dict of columns or anything that ``read_table`` takes
        Columns of finite numbers.
    n_clusters : sequence of int or "auto"
        The numbers of clusters to try, in order. ``"auto"``: 2 to 10, for the rule
        ``"gap"`` 1 to 10, and no more than there are different rows.
    rule : str
        ``"silhouette"`` and ``"calinski_harabasz"`` choose the largest,
        ``"davies_bouldin"`` the smallest, ``"elbow"`` the elbow of inertia by Kneedle
        (S = 1), ``"gap"`` the least k whose gap is at least the next one less its
        standard error. Ties go to fewer clusters.
    measures : sequence of str, optional
        What to measure beside the inertia and what the rule needs, by the same names;
        all but ``"gap"``, which takes long, if not given.
    sample_weight : array, optional
        The weight of each row; one of weight 2 counts as two.
    init, n_init, max_iter, tol, random_state, n_jobs
        Those of :class:`spinney.KMeans`; ``init`` is a name, and each k has as many
        starts as the largest: one unlucky start would bend the curve.
    silhouette_rows : int
        Silhouettes are exact where there are no more different rows than this; else of
        a sample of so many, and the choice says so.
    gap_rows, gap_tables : int
        How many rows the reference tables of the gap statistic have at most, and how
        many are drawn; where there are more rows, a sample stands for them.

    Returns
    -------
    Choice
        Its ``k``, the sentence ``why``, the ``curve``; ``print`` shows all.

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
    rows = rows_of_numbers(model, data)
    weights = weights_of(sample_weight, len(rows.cells))
    plan = replace(model._plan(rows), n_clusters="auto")
    return choose(
        rows.cells,
        n_clusters,
        weights=weights,
        rule=rule,
        measures=measures,
        method=method_of(plan, rows),
        limits=WorkLimits(silhouette_rows, gap_rows, gap_tables),
    )
