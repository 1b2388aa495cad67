"""How many clusters a table has."""

from collections.abc import Sequence
from typing import Any

from spinney._support.keyed_random import seed_of
from spinney.cluster.choice import Choice
from spinney.cluster.choosing import Limits, choose
from spinney.estimators.chosen import several, starts_of
from spinney.estimators.clustering import weights_of
from spinney.estimators.clusters import numbers_of
from spinney.estimators.kmeans import KMeans

__all__ = ["choose_k"]


def choose_k(
    data: Any,
    ks: Any = "auto",
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
    ks : sequence of int or "auto"
        The numbers of clusters to try, in order. ``"auto"``: 2 to 10, for the rule
        ``"gap"`` 1 to 10, and no more than there are different rows.
    rule : str
        ``"silhouette"`` and ``"calinski_harabasz"`` choose the largest,
        ``"davies_bouldin"`` the smallest, ``"elbow"`` the elbow of inertia by Kneedle
        (S = 1), ``"gap"`` the least k whose gap is at least the next one less its
        standard error. Ties go to fewer clusters.
    measures : sequence of str, optional
        What to measure beside the inertia and what the rule needs, by the same names;
        all but ``"gap"``, which takes long, if not said.
    sample_weight : array, optional
        The weight of each row; one of weight 2 counts as two.
    init, n_init, max_iter, tol, random_state, n_jobs
        Those of :class:`spinney.KMeans`; ``init`` is a name, and ``n_init="auto"`` is
        4 for ``"k-means++"``: one unlucky start would bend the curve.
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
    starts = several(n_init, init)
    told = KMeans(1, init=init, n_init=starts, max_iter=max_iter, tol=tol)
    cells = numbers_of(told, data, reset=True)
    weights = weights_of(sample_weight, len(cells))
    return choose(
        cells,
        ks,
        weights=weights,
        rule=rule,
        measures=measures,
        starts=starts_of(told, cells.shape, seed_of(random_state), n_jobs),
        limits=Limits(silhouette_rows, gap_rows, gap_tables),
    )
