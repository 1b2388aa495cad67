"""What finding clusters takes, by k-means and by k-prototypes alike."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._version import __version__
from spinney.cluster import STARTS, spread_of
from spinney.cluster.choose_k import Choice
from spinney.data import Fingerprint, Table
from spinney.errors import DataError, Setting, refusal
from spinney.models.clusters.cluster_plan import Plan

Progress = Callable[[int, int], None]
# How many starts are drawn where nothing is said.
N_STARTS = {"k-means++": 4, "random": 10, "optimal": 1, "huang": 10, "cao": 1}


class Begun(NamedTuple):
    """Where to start, and with how many clusters."""

    start: Any
    n_starts: int
    k: int
    choice: Choice | None = None


def scale_of(cells: NDArray[Any], plan: Plan, weights: Floats | None) -> Floats:
    """Return what each column is divided by."""
    return spread_of(cells, weights) if plan.standardise else np.ones(cells.shape[1])


def given_k(plan: Plan) -> int:
    """Return the number of clusters, where one was given."""
    assert isinstance(plan.k, int)
    return plan.k


def check_k(k: int, used: Table) -> None:
    """Refuse more clusters than rows."""
    if k > used.n_rows:
        raise DataError(
            Setting("n_clusters", k),
            f" is more than the {used.n_rows} rows",
            remedy="ask for fewer",
        )


def start_of(plan: Plan, known: Sequence[str]) -> tuple[str | Path, int]:
    """Return the name or the path of what to start from, and how often."""
    start = known[0] if plan.start is None else plan.start
    if start in known and start not in ("optimal", "cao"):
        return start, plan.n_starts or N_STARTS[start]
    if start in known:
        _refuse_starts(plan, start)
        return start, 1
    if start in N_STARTS:
        kinds = "numbers" if start in STARTS else "tables that are not all numbers"
        raise refusal(
            Setting("start", start),
            f"is for {kinds}",
            f"here it is {' or '.join(known)}",
        )
    if not Path(start).suffix and not Path(start).exists():
        raise refusal(
            Setting("start", start),
            f"is neither one of {', '.join(known)} nor a file of centroids",
        )
    _refuse_starts(plan, start)
    if plan.rule is not None:
        raise refusal(
            Setting("rule", plan.rule),
            (
                "chooses among several k, and ",
                Setting("start", start),
                " has a row for each cluster",
            ),
            "leave one of them out",
        )
    return Path(start), 1


def _refuse_starts(plan: Plan, start: str) -> None:
    """Refuse several starts where they would all be the same."""
    if plan.n_starts is not None and plan.n_starts > 1:
        raise refusal(
            Setting("n_starts", plan.n_starts),
            f"makes no difference, as {start!r} draws nothing",
            "leave it out",
        )


def settings_of(plan: Plan, begun: Begun) -> dict[str, Any]:
    """Return what a model file tells of how clusters were found."""
    return {
        "n_clusters": begun.k,
        "init": begun.start if isinstance(begun.start, str) else "given",
        "n_init": begun.n_starts,
        "max_iter": plan.max_iterations,
        "random_state": plan.seed,
        "standardise": plan.standardise,
    }


def sizes_of(labels: Integers, weights: Floats | None, k: int) -> Floats:
    """Return what the rows of each cluster weigh."""
    return np.bincount(labels, weights, minlength=k).astype(np.float64)


def fingerprint_of(weights: Floats | None, *tables: NDArray[Any]) -> Fingerprint:
    """Return the origin of clusters: the rows that they were found on."""
    digest = hashlib.sha256()
    for cells in tables if weights is None else (*tables, weights):
        digest.update(np.ascontiguousarray(cells).tobytes())
    n_rows = len(tables[0])
    weight = float(n_rows if weights is None else weights.sum())
    return Fingerprint(n_rows, weight, digest.hexdigest(), __version__)
