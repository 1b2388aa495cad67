"""How to look for clusters."""

from dataclasses import dataclass, fields
from typing import Any

from spinney._support.checks import (
    MOST_STARTS,
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
"""k-prototypes of names only; its clusters are saved as those of k-prototypes."""

RULE = "silhouette"
"""What chooses among several k, unless another rule is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to look for clusters, by the names of scikit-learn's parameters.

    Parameters
    ----------
    n_clusters : int, "auto" or range
        How many clusters; ``"auto"`` or several numbers are tried, and a rule chooses.
    rule : str, optional
        What chooses among several k: ``RULE`` if not given.
    method : str, optional
        ``"k-means"``, ``"k-prototypes"`` or, of names only, ``"k-modes"``. If not
        given, the first of numbers, else the second.
    init : str, array, Prototypes or callable, optional
        ``"k-means++"``, ``"random"`` or ``"optimal"``, for tables that are not all
        numbers ``"huang"`` or ``"cao"``; the first of them if not given. Or a file of
        centroids, or the centroids themselves, in the units of the columns.
    n_init : int or "auto"
        How many starts; see
        :func:`spinney.extensions.clustering.clustering.n_starts_of`.
    gamma : float, optional
        What a nominal difference weighs.
    max_iter : int, optional
        How many iterations of each start at most: 300, of k-prototypes 100.
    tol : float
    seed : int
    standardise : bool
        Whether each column is divided by its standard deviation.
    n_jobs : int, optional
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
    def further(cls) -> tuple[str, ...]:
        """Return the parameters beside those that every way to cluster has."""
        common = ("n_clusters", "standardise", "seed")
        return tuple(each.name for each in fields(cls) if each.name not in common)

    @property
    def chooses(self) -> bool:
        """Whether the number of clusters is to be chosen."""
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
        self._check_rule()
        if isinstance(self.n_init, str):
            check_named("n_init", self.n_init, ["auto"])
        else:
            check_whole("n_init", self.n_init, least=1, most=MOST_STARTS)
        check_whole("max_iter", self.max_iter, least=1, optional=True)
        check_number("tol", self.tol)
        check_number("gamma", self.gamma, most=LARGEST_GAMMA, optional=True)
        check_choice("standardise", self.standardise)
        check_seed("seed", self.seed)
        thread_count(self.n_jobs)

    def _check_rule(self) -> None:
        if self.rule is None:
            return
        check_named("rule", self.rule, MEASURES)
        if not self.chooses:
            k = Setting("n_clusters", self.n_clusters)
            raise refusal(
                Setting("rule", self.rule),
                phrase("chooses among several k, and {} is one", k),
                "leave one of them out",
            )
