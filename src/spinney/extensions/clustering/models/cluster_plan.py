"""The settings of a clustering."""

from dataclasses import dataclass, fields
from typing import Any

from spinney._support.checks import (
    MAX_STARTS,
    check_choice,
    check_named,
    check_number,
    check_seed,
    check_whole,
)
from spinney._support.threads import thread_count
from spinney.errors import Setting, phrase, refusal
from spinney.extensions.clustering.choose_k.choice import MEASURES
from spinney.extensions.clustering.clusters import MIXED
from spinney.extensions.clustering.prototypes.fit_k_prototypes import LARGEST_GAMMA

MODES = "k-modes"
"""k-prototypes of categories only; a file stores the clusters as k-prototypes."""

RULE = "silhouette"
"""The default rule that chooses k."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The settings of a clustering, named as in scikit-learn.

    Parameters
    ----------
    n_clusters : int, "auto" or range
        The number of clusters, or the numbers that ``rule`` chooses from.
    rule : str, optional
        The criterion that chooses k; ``RULE`` by default.
    method : str, optional
        ``"k-means"``, ``"k-prototypes"`` or, for categories only, ``"k-modes"``. The
        default is k-means for numbers, else k-prototypes.
    init : str, array, Prototypes or callable, optional
        The name of a method, ``"huang"`` or ``"cao"`` for mixed tables; a file of
        centroids; or the centroids in the units of the columns.
    n_init : int or "auto"
        The number of restarts.
    gamma : float, optional
        The weight of a categorical mismatch.
    max_iter : int, optional
        The most iterations of a restart: 300, for k-prototypes 100.
    standardise : bool
        Whether to divide each column by its standard deviation.
    """

    n_clusters: int | str | range = "auto"
    rule: str | None = None
    method: str | None = None
    init: Any = None
    n_init: int | str = "auto"
    gamma: float | None = None
    max_iter: int | None = None
    tol: float = 0.0
    seed: int = 0
    standardise: bool = False
    n_jobs: int | None = None

    @classmethod
    def optional_names(cls) -> tuple[str, ...]:
        """Return the names of the parameters that are optional in ``find_clusters``."""
        common = ("n_clusters", "standardise", "seed")
        return tuple(field.name for field in fields(cls) if field.name not in common)

    @property
    def chooses(self) -> bool:
        """Whether a rule chooses the number of clusters."""
        return isinstance(self.n_clusters, (str, range))

    def __post_init__(self) -> None:
        if isinstance(self.n_clusters, range):
            first = self.n_clusters[0] if self.n_clusters else 0
            check_whole("n_clusters", first, least=1)
        elif isinstance(self.n_clusters, str):
            check_named("n_clusters", self.n_clusters, ["auto"])
        else:
            check_whole("n_clusters", self.n_clusters, least=1)
        if self.method is not None:
            check_named("method", self.method, ["k-means", MODES, MIXED])
        if self.rule is not None:
            check_named("rule", self.rule, MEASURES)
            if not self.chooses:
                k = Setting("n_clusters", self.n_clusters)
                raise refusal(
                    Setting("rule", self.rule),
                    phrase("chooses among several k, but {} is one", k),
                    "remove one of them",
                )
        if isinstance(self.n_init, str):
            check_named("n_init", self.n_init, ["auto"])
        else:
            check_whole("n_init", self.n_init, least=1, most=MAX_STARTS)
        check_whole("max_iter", self.max_iter, least=1, optional=True)
        check_number("tol", self.tol)
        check_number("gamma", self.gamma, most=LARGEST_GAMMA, optional=True)
        check_choice("standardise", self.standardise)
        check_seed("seed", self.seed)
        thread_count(self.n_jobs)
