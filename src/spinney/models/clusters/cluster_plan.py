"""How to look for clusters, and what was found."""

from dataclasses import dataclass

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_named, check_number, check_seed, check_whole
from spinney._support.threads import thread_count as threads_of
from spinney.cluster import (
    MIXED,
    ROWS_SHOWN,
    Clusters,
    Trace,
    cells_of,
    explain_k_means,
)
from spinney.cluster.choose_k import MEASURES, Choice
from spinney.cluster.prototypes import LARGEST_GAMMA
from spinney.data import Table
from spinney.errors import Setting, refusal

MODES = "k-modes"
"""k-prototypes of names only; what is found is told as k-prototypes."""

RULE = "silhouette"
"""What chooses among several k, unless another rule is said."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to look for clusters.

    Parameters
    ----------
    k : int, "auto" or range
        How many clusters; ``"auto"`` or several numbers are tried, and a rule chooses.
    rule : str, optional
        What chooses among several k: ``RULE`` if not said.
    method : str, optional
        ``"k-means"``, ``"k-prototypes"`` or, of names only, ``"k-modes"``. If not
        said, the first of numbers, else the second.
    start : str, optional
        ``"k-means++"`` or ``"random"``, for tables that are not all numbers
        ``"huang"`` or ``"cao"``, or a file of centroids. The first of them if not said.
    n_starts : int, optional
        4 of k-means++, 10 of random rows and of Huang's, if not said.
    gamma : float, optional
        What a nominal difference weighs.
    max_iterations : int
    tolerance : float
    seed : int
    standardise : bool
        Whether each column is divided by its standard deviation.
    n_jobs : int, optional
    """

    k: int | str | range = "auto"
    rule: str | None = None
    method: str | None = None
    start: str | None = None
    n_starts: int | None = None
    gamma: float | None = None
    max_iterations: int = 300
    tolerance: float = 0.0
    seed: int = 0
    standardise: bool = False
    n_jobs: int | None = None

    @property
    def chooses(self) -> bool:
        """Whether k is to be chosen."""
        return isinstance(self.k, (str, range))

    def __post_init__(self) -> None:
        if isinstance(self.k, range):
            check_whole("n_clusters", len(self.k) and self.k[0], least=1)
        elif self.k != "auto":
            check_whole("n_clusters", self.k, least=1)
        if self.method is not None:
            check_named("method", self.method, ["k-means", MODES, MIXED])
        self._check_rule()
        check_whole("n_starts", self.n_starts, least=1, optional=True)
        check_whole("max_iterations", self.max_iterations, least=1)
        check_number("tolerance", self.tolerance)
        check_number("gamma", self.gamma, most=LARGEST_GAMMA, optional=True)
        check_seed("seed", self.seed)
        threads_of(self.n_jobs)

    def _check_rule(self) -> None:
        if self.rule is None:
            return
        check_named("rule", self.rule, MEASURES)
        if not self.chooses:
            raise refusal(
                Setting("rule", self.rule),
                (
                    "chooses among several k, and ",
                    Setting("n_clusters", self.k),
                    " is one",
                ),
                "leave one of them out",
            )


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Clusters with the rows that they were found on.

    Parameters
    ----------
    clusters : Clusters
    labels, distances : array
        The cluster of each row, and the distance to it.
    converged : bool
        Whether nothing moved any more.
    table, used : Table
        The rows, and the columns that distances are measured in.
    weights : array, optional
        Those of the rows.
    plan : Plan
    choice : Choice, optional
        How k was chosen.
    """

    clusters: Clusters
    labels: Integers
    distances: Floats
    converged: bool
    table: Table
    used: Table
    weights: Floats | None
    plan: Plan
    choice: Choice | None = None

    def trace(self, rows: int | None = None) -> Trace | None:
        """Return the iterations that led to the clusters; None but of k-means."""
        if self.clusters.method == MIXED:
            return None
        return explain_k_means(
            self.clusters.scaled(cells_of(self.used)),
            self.clusters.start,
            names=self.clusters.names,
            weights=self.weights,
            max_iterations=self.plan.max_iterations,
            tolerance=self.plan.tolerance,
            rows=ROWS_SHOWN if rows is None else rows,
        )
