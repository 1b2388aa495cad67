"""``spinney.find_clusters``: the clusters of a table as a fitted estimator."""

from collections.abc import Mapping, Sequence
from typing import Any

from spinney._support.checks import Progress, check_progress
from spinney._support.keyed_random import seed_of
from spinney.data import TextFormat, Value, check_text_list
from spinney.errors import ParameterError, did_you_mean
from spinney.extensions.clustering.estimators import (
    KMeans,
    KPrototypes,
    estimator_of,
)
from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.cluster_table import cluster_table
from spinney.sources.training_data import TableInput


def find_clusters(
    data: Any,
    n_clusters: int | str | range = "auto",
    *,
    columns: Sequence[str] = (),
    standardise: bool = False,
    nominal: Sequence[str] = (),
    ordinal: Mapping[str, Sequence[Value]] | Sequence[str] = (),
    numeric: Sequence[str] = (),
    ignore: Sequence[str] = (),
    values: Mapping[str, Sequence[Value]] | Sequence[str] = (),
    weight: str | None = None,
    missing_values: Sequence[str] = (),
    engine: str | None = None,
    connection: Any = None,
    table: str | None = None,
    memory_limit: int | str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    text_format: TextFormat | Mapping[str, Any] | None = None,
    random_state: Any = 0,
    progress: Progress | None = None,
    **settings: Any,
) -> KMeans | KPrototypes:
    """Find clusters of the rows of a table.

    Parameters
    ----------
    data, nominal, ordinal, numeric, ignore, values, weight, missing_values, engine, \
connection, table, memory_limit, format, encoding, text_format
        As for :func:`spinney.grow`. A remote table needs numeric columns, for k-means;
        see ``docs/databases.md``.
    n_clusters : int, "auto" or range
        The number of clusters, or the numbers that ``rule`` chooses from.
    columns : sequence of str
        The columns to cluster by; all by default.
    standardise : bool
        Whether to divide each column by its standard deviation.
    random_state : int, RandomState or Generator, optional
        The seed of the initialisation.
    progress : function of two numbers, optional
        Called with the work done, and the most work there is.
    **settings
        ``rule``, ``method``, ``init``, ``n_init``, ``gamma``, ``max_iter``, ``tol`` and
        ``n_jobs``, as of :class:`KMeans` and :class:`KPrototypes`.

    Returns
    -------
    KMeans or KPrototypes
        A fitted estimator. It matches the columns of later tables by name.

    Examples
    --------
    >>> import spinney
    >>> shop = {"price": [1.0, 2.0, 10.0, 11.0], "name": ["a", "b", "c", "d"]}
    >>> model = spinney.find_clusters(shop, 2, columns=["price"])
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [1.5, 10.5]
    """
    table_input = TableInput.of(locals())
    check_text_list("columns", columns)
    check_progress(progress)
    for name in settings:
        if name not in (names := Plan.optional_names()):
            msg = f"there is no parameter {name!r}: {did_you_mean(name, names)}"
            raise ParameterError(msg)
    plan = Plan(
        n_clusters=n_clusters,
        standardise=standardise,
        seed=seed_of(random_state),
        **settings,
    )
    clustered = cluster_table(table_input, plan, columns, progress=progress)
    return estimator_of(clustered.fit.clusters)
