"""k-means whose number of clusters is chosen."""

from typing import Any, TypeVar

from spinney._support.arrays import Floats
from spinney._support.checks import check_named
from spinney._support.threads import thread_count as threads_of
from spinney.cluster.choice import Choice
from spinney.cluster.choosing import N_STARTS, Starts, choose
from spinney.cluster.fit import STARTS
from spinney.errors import ParameterError
from spinney.estimators.clusters import Centroids, checked_start

__all__ = ["several", "starts_of", "with_chosen_k"]

Means = TypeVar("Means", bound=Centroids)


def with_chosen_k(
    estimator: Means, cells: Any, weights: Floats | None, seed: int
) -> tuple[Means, Choice]:
    """Return an estimator with the number of clusters that rows have, and the choice.

    Where ``n_init`` is ``"auto"``, it has as many starts as each k was tried with, so
    that its clusters are those of the choice.
    """
    settings = estimator.get_params(deep=False)
    check_named("n_clusters", settings["n_clusters"], ["auto"])
    settings["n_init"] = several(settings["n_init"], settings["init"])
    told = type(estimator)(**{**settings, "n_clusters": 1})
    starts = starts_of(told, cells.shape, seed, settings["n_jobs"])
    choice = choose(cells, weights=weights, starts=starts)
    return type(estimator)(**{**settings, "n_clusters": choice.k}), choice


def several(n_init: Any, init: Any) -> Any:
    """Return how many starts are meant: ``"auto"`` is 4 for k-means++.

    One unlucky start would bend the curve.
    """
    usual = isinstance(init, str) and init == "k-means++"
    return N_STARTS if usual and n_init == "auto" else n_init


def starts_of(
    estimator: Any, shape: tuple[int, int], seed: int, n_jobs: int | None
) -> Starts:
    """Return how an estimator starts, for every number of clusters alike."""
    if not isinstance(estimator.init, str):
        msg = (
            "init must be a name where the number of clusters is to be chosen: "
            f"{' or '.join(map(repr, STARTS))}"
        )
        raise ParameterError(msg)
    start, n_starts = checked_start(estimator, *shape)
    return Starts(
        start, n_starts, estimator.max_iter, estimator.tol, seed, threads_of(n_jobs)
    )
