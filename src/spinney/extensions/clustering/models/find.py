"""Clusters of the rows of a table: the one way to find them, from Python and the shell.

``read_rows`` reads a table for the shell, ``measured_rows`` codes its columns, and
``find_clusters`` makes of rows and a ``Plan`` the ``Clusters`` that a file holds.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import Progress
from spinney._support.threads import thread_count
from spinney.data import (
    Attribute,
    Fingerprint,
    Table,
    columns_named,
    fingerprint_of,
    without_identifiers,
)
from spinney.data.readers import read_with_schema
from spinney.errors import DataError, ParameterError, Setting, did_you_mean, refusal
from spinney.extensions.clustering.choose_k.choice import MIXED_MEASURES, Choice
from spinney.extensions.clustering.choose_k.procedure import Method, choose
from spinney.extensions.clustering.clustering import Clustering, is_drawn
from spinney.extensions.clustering.clusters import (
    MIXED,
    Clusters,
    cells_of,
    schema_of,
    spread_of,
)
from spinney.extensions.clustering.fit_k_means import (
    STARTS,
    KMeansMethod,
    checked_centroids,
)
from spinney.extensions.clustering.iterations import Watch
from spinney.extensions.clustering.models.cluster_plan import MODES, RULE, Plan
from spinney.extensions.clustering.prototypes.fit_k_prototypes import (
    MIXED_STARTS,
    KPrototypesMethod,
)
from spinney.extensions.clustering.prototypes.mixed_coding import (
    mixed_cells,
    prototypes_of,
)
from spinney.extensions.clustering.prototypes.mixed_distances import (
    MixedCells,
    Prototypes,
)
from spinney.extensions.clustering.trace import ROWS_SHOWN, Trace, explain_k_means
from spinney.sources.rows import attribute_of
from spinney.sources.training_data import TableInput, table_of_rows

# How many iterations a start has at most, if nothing is given.
MAX_ITER, MAX_ITER_MIXED = 300, 100


# Rows


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRows:
    """Rows as distances are measured between them.

    Parameters
    ----------
    attributes : tuple of Attribute
        The columns.
    cells : array, or MixedCells
        Numbers of k-means, or what k-prototypes takes.
    named : bool
        Whether the columns have names, or are those of an array.
    markers : sequence of str
        Texts that stand for missing cells in later tables.
    """

    attributes: tuple[Attribute, ...]
    cells: Any
    named: bool = True
    markers: Sequence[str] = ()

    @property
    def mixed(self) -> bool:
        """Whether these are rows of k-prototypes."""
        return isinstance(self.cells, MixedCells)

    @property
    def numbers(self) -> NDArray[Any]:
        """The numeric columns."""
        return np.asarray(self.cells.numbers if self.mixed else self.cells)

    def divided_by(self, scale: Floats) -> Any:
        """Return the cells, each numeric column divided by its scale."""
        if (scale == 1).all():
            return self.cells
        numbers = self.numbers / scale.astype(self.numbers.dtype)
        return replace(self.cells, numbers=numbers) if self.mixed else numbers

    def fingerprint(self, weights: Floats | None) -> Fingerprint:
        """Return what tells these rows from others."""
        digest = hashlib.sha256()
        codes = [self.cells.codes] if self.mixed else []
        for part in (self.numbers, *codes, *([] if weights is None else [weights])):
            digest.update(np.ascontiguousarray(part).data)
        n_rows = len(self.cells)
        weight = float(n_rows if weights is None else weights.sum())
        return fingerprint_of(n_rows, weight, digest.hexdigest())


def read_rows(
    table: TableInput, columns: Sequence[str] = ()
) -> tuple[Table, Table, Floats | None]:
    """Return a table, its columns that distances are measured in, and the weights.

    Columns that are ignored are read all the same, as texts: the result may show them.
    Where none is chosen, those that only tell rows apart are left out, with a note.
    """
    declarations, weight = table.declarations, table.weight
    as_texts = (*declarations.nominal, *declarations.ignore)
    texts = replace(declarations, nominal=as_texts, ignore=())
    whole = table_of_rows(replace(table, declarations=texts))
    left_out = {*declarations.ignore, *(() if weight is None else (weight,))}
    chosen = _chosen(columns, whole.names)
    for name in chosen:
        if name in left_out:
            msg = f"column {name!r} is chosen and left out: do one of both"
            raise ParameterError(msg)
    if chosen:
        used = Table(tuple(whole[name] for name in chosen), whole.n_rows)
    else:
        used = without_identifiers(whole.without(left_out), declarations)
    if not used.columns:
        msg = "every column is ignored: leave at least one"
        raise DataError(msg)
    return whole, used, None if weight is None else _weights(whole, weight)


def _chosen(given: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the columns that are named, one by one or with commas between them."""
    names = columns_named(given, known)
    for name in names:
        if name not in known:
            msg = f"there is no column {name!r}: {did_you_mean(name, known)}"
            raise DataError(msg)
    return names


def _weights(table: Table, name: str) -> Floats:
    column = table[name]
    if column.kind != "numeric" or column.missing.any():
        msg = f"column {name!r} holds weights, and needs a number in every row"
        raise DataError(msg)
    return usable_weights(
        np.asarray(column.cells, dtype=np.float64), f"column {name!r}"
    )


def usable_weights(weights: Floats, name: str) -> Floats:
    """Return weights of rows, refused where no clusters can be found by them."""
    if weights.min() < 0 or not weights.max() > 0:
        msg = f"{name} holds weights: none may be negative, nor all 0"
        raise DataError(msg)
    with np.errstate(over="ignore"):
        if np.sum(weights) == np.inf:
            msg = f"the sum of {name} is beyond all floats: divide all by a number"
            raise DataError(msg)
    return weights


def measured_rows(
    used: Table, plan: Plan, *, markers: Sequence[str] = ()
) -> MeasuredRows:
    """Return the rows of a table as the method of a plan takes them.

    Which one it is follows from the kinds of the columns, if the plan does not say;
    what it has no use for is refused.
    """
    method = plan.method
    if method == MODES:
        _refuse_numbers(used)
    attributes = tuple(attribute_of(column) for column in used.columns)
    numeric = all(column.kind == "numeric" for column in used.columns)
    cells: Any
    if method == "k-means" or (method is None and numeric):
        cells = cells_of(used)
    else:
        cells = mixed_cells(schema_of(attributes, 1, markers), used)
    rows = MeasuredRows(attributes, cells, markers=markers)
    _check_settings(plan, rows)
    return rows


def _refuse_numbers(used: Table) -> None:
    """Refuse numbers in k-modes."""
    for column in used.columns:
        if column.kind == "numeric":
            msg = (
                f"column {column.name!r} is numeric, and k-modes counts names that "
                "differ"
            )
            remedy = (
                "declare it nominal (",
                Setting("nominal", [column.name]),
                "), leave it out, or use k-prototypes",
            )
            raise DataError(msg, remedy=remedy)


def _check_settings(plan: Plan, rows: MeasuredRows) -> None:
    """Refuse what the method of the rows has no use for."""
    coded = [a for a in rows.attributes if a.kind != "numeric"]
    if plan.gamma is not None and not coded:
        msg = "gamma weighs nominal columns, and all columns are numbers: leave it out"
        raise ParameterError(msg)
    if not rows.mixed:
        return
    why = f", as column {coded[0].name!r} is {coded[0].kind}" if coded else ""
    if plan.tol:
        raise refusal(
            Setting("tol", plan.tol),
            f"is of k-means, and this is k-prototypes{why}",
            "leave it out",
        )
    if plan.rule is not None and plan.rule not in MIXED_MEASURES:
        raise refusal(
            Setting("rule", plan.rule),
            f"is of k-means, and this is k-prototypes{why}",
            f"here it is {' or '.join(MIXED_MEASURES)}",
        )


# Clusters


@dataclass(frozen=True, slots=True, eq=False)
class ClusterFit:
    """Clusters with the rows that they were found on.

    Parameters
    ----------
    clusters : Clusters
    labels : array
        The cluster of each row.
    converged : bool
        Whether nothing moved any more.
    rows : MeasuredRows
    weights : array, optional
        Those of the rows.
    plan : Plan
    method : Method
        What found them.
    choice : Choice, optional
        How their number was chosen.
    """

    clusters: Clusters
    labels: Integers
    converged: bool
    rows: MeasuredRows
    weights: Floats | None
    plan: Plan
    method: Method
    choice: Choice | None = None

    def distances(self) -> Floats:
        """Return the distance of each row to its cluster."""
        return self.clusters.nearest(self.rows.cells, n_jobs=self.method.n_jobs)[1]

    def trace(self, rows: int | None = None) -> Trace | None:
        """Return the iterations that led to the clusters; None but of k-means.

        Distances are worked out in numbers, so a column of dates says what they count.
        """
        if self.rows.mixed:
            return None
        names = self.clusters.names
        if not self.plan.standardise:
            units = (of.unit for of in self.clusters.schema.attributes)
            pairs = zip(names, units, strict=True)
            names = tuple(f"{name} ({unit})" if unit else name for name, unit in pairs)
        return explain_k_means(
            self.clusters.scaled(self.rows.cells),
            self.clusters.start,
            names=names,
            weights=self.weights,
            max_iterations=self.method.max_iter,
            tolerance=self.plan.tol,
            rows=ROWS_SHOWN if rows is None else rows,
        )

    def curve(self) -> Choice:
        """Return the curve of inertias that an elbow is seen in, whatever chose k."""
        if self.choice is not None:
            return self.choice
        named = isinstance(self.method.init, str)
        usual = (MIXED_STARTS if self.rows.mixed else STARTS)[0]
        return choose(
            self.rows.divided_by(self.clusters.scale),
            weights=self.weights,
            rule="elbow",
            measures=["elbow"],
            method=self.method if named else replace(self.method, init=usual),
        )


def find_clusters(
    rows: MeasuredRows,
    plan: Plan,
    *,
    weights: Floats | None = None,
    progress: Progress | None = None,
) -> ClusterFit:
    """Find the clusters of some rows.

    Parameters
    ----------
    rows : MeasuredRows
    plan : Plan
        How.
    weights : array, optional
        Those of the rows.
    progress : callable, optional
        Called with what is done, and what there is to do.

    Examples
    --------
    >>> from spinney.data.readers import read_table
    >>> plan = Plan(n_clusters=2)
    >>> rows = measured_rows(read_table({"size": [1.0, 2.0, 10.0, 11.0]}), plan)
    >>> fit = find_clusters(rows, plan)
    >>> np.sort(fit.clusters.places.ravel())
    array([ 1.5, 10.5])
    """
    plan = _with_start(plan, rows)
    scale = np.ones(rows.numbers.shape[1])
    if plan.standardise:
        scale = spread_of(rows.numbers, weights)
    cells, method = rows.divided_by(scale), _method(plan, rows, scale)
    choice = None
    if plan.chooses:
        choice = choose(
            cells,
            plan.n_clusters,
            weights=weights,
            rule=plan.rule or RULE,
            method=method,
            progress=progress,
        )
        method = replace(method, n_init=choice.n_starts)
    k = int(plan.n_clusters) if choice is None else choice.k  # type: ignore[arg-type]
    check_enough(k, len(cells))
    watch = watch_of(progress, method.n_starts(cells, k) * method.max_iter)
    clustering = method.fit(cells, k, weights=weights, watch=watch)
    settings = settings_of(plan, method, k)
    clusters = clusters_of(rows, clustering, scale, weights, settings)
    labels, converged = clustering.labels, clustering.converged
    method = replace(method, n_init=plan.n_init)
    return ClusterFit(clusters, labels, converged, rows, weights, plan, method, choice)


def check_enough(k: int, n_rows: int) -> None:
    """Refuse more clusters than rows."""
    if k > n_rows:
        raise DataError(
            Setting("n_clusters", int(k)),
            f" is more than the {n_rows} rows (n_samples={n_rows})",
            remedy="ask for fewer",
        )


# Where to start


def _with_start(plan: Plan, rows: MeasuredRows) -> Plan:
    """Return a plan whose start is a known name, a function or centroids.

    How many iterations there are at most is filled in, too.
    """
    if plan.max_iter is None:
        plan = replace(plan, max_iter=MAX_ITER_MIXED if rows.mixed else MAX_ITER)
    known = MIXED_STARTS if rows.mixed else STARTS
    init = known[0] if plan.init is None else plan.init
    if not isinstance(init, str):
        if plan.chooses:
            raise ParameterError(
                Setting("init"),
                " must be a name where the number of clusters is to be chosen",
                remedy=" or ".join(map(repr, known)),
            )
        return plan
    if init not in known and init in (*STARTS, *MIXED_STARTS):
        kinds = "numbers" if init in STARTS else "tables that are not all numbers"
        here = f"here it is {' or '.join(known)}"
        raise refusal(Setting("init", init), f"is for {kinds}", here)
    if init not in known and not Path(init).suffix and not Path(init).exists():
        raise refusal(
            Setting("init", init),
            f"is neither one of {', '.join(known)} nor a file of centroids",
        )
    if plan.n_init not in ("auto", 1) and not is_drawn(init):
        raise refusal(
            Setting("n_init", plan.n_init),
            f"makes no difference, as {init!r} draws nothing",
            "leave it out",
        )
    if init in known:
        return replace(plan, init=init)
    if plan.rule is not None:
        start = Setting("init", init)
        raise refusal(
            Setting("rule", plan.rule),
            ("chooses among several k, and ", start, " has a row for each cluster"),
            "leave one of them out",
        )
    return _with_file(plan, Path(init), rows)


def _with_file(plan: Plan, path: Path, rows: MeasuredRows) -> Plan:
    """Return a plan with the centroids of a file, whose columns are found by name."""
    schema = schema_of(rows.attributes, 1, rows.markers)
    table = read_with_schema(
        schema, range(len(rows.attributes)), path, may_be_empty=rows.mixed
    )
    n_clusters: Any = table.n_rows if plan.chooses else plan.n_clusters
    centroids: Any
    if rows.mixed:
        centroids = prototypes_of(schema, table, n_clusters)
    else:
        centroids = np.column_stack(schema.encode(table))
        if not np.isfinite(centroids).all():
            raise DataError(
                Setting("init", str(path)),
                " has missing cells",
                remedy="a centroid needs all numbers",
            )
        if len(centroids) != n_clusters:
            raise DataError(
                Setting("init", str(path)),
                f" has {len(centroids)} rows where {n_clusters} centroids are needed",
            )
    return replace(plan, init=centroids, n_clusters=n_clusters)


def method_of(plan: Plan, rows: MeasuredRows) -> Method:
    """Return what finds the clusters of rows as they are, whatever ``standardise``."""
    return _method(_with_start(plan, rows), rows, np.ones(rows.numbers.shape[1]))


def _method(plan: Plan, rows: MeasuredRows, scale: Floats) -> Method:
    """Return what finds the clusters; given centroids are brought to the scale."""
    init: Any = plan.init
    shared: dict[str, Any] = {
        "n_init": plan.n_init,
        "max_iter": plan.max_iter,
        "seed": plan.seed,
        "n_jobs": thread_count(plan.n_jobs),
    }
    if rows.mixed:
        if isinstance(init, Prototypes):
            init = init._replace(numbers=init.numbers / scale)
        return KPrototypesMethod(init=init, gamma=plan.gamma, **shared)
    if not isinstance(init, str) and not callable(init):
        k: Any = plan.n_clusters
        init = checked_centroids(init, k, rows.numbers.shape[1]) / scale
    return KMeansMethod(init=init, tol=plan.tol, **shared)


# What comes of it


def clusters_of(
    rows: MeasuredRows,
    clustering: Clustering,
    scale: Floats,
    weights: Floats | None,
    settings: dict[str, Any],
) -> Clusters:
    """Return the clusters as a file holds them."""
    centroids, start = clustering.centroids, clustering.start
    codes: NDArray[Any] = np.empty((len(centroids), 0), np.int32)
    if rows.mixed:
        centroids, coded = clustering.centroids
        relative = coded - rows.cells.first[:-1]
        codes = np.where(coded >= rows.cells.missing, -1, relative).astype(np.int32)
        start = np.empty((0, centroids.shape[1]))
    k = len(centroids)
    sizes = np.bincount(clustering.labels, weights, minlength=k)
    return Clusters(
        schema=schema_of(rows.attributes, k, rows.markers),
        named=rows.named,
        method=MIXED if rows.mixed else "k-means",
        settings=settings,
        centroids=centroids,
        scale=scale,
        codes=codes,
        gamma=clustering.gamma,
        weights=sizes.astype(np.float64),
        start=start,
        inertia=clustering.inertia,
        n_iterations=clustering.n_iterations,
        fingerprint=rows.fingerprint(weights),
    )


def settings_of(plan: Plan, method: Method, k: int) -> dict[str, Any]:
    """Return what a model file says of how clusters were found.

    These are an estimator's parameters that find them again; so where another rule than
    its own chose the number of clusters, or chose among a few, it is that number.
    """
    auto = plan.n_clusters == "auto" and plan.rule in (None, RULE)
    settings = {
        "n_clusters": "auto" if auto else k,
        "init": _init_text(method.init),
        "n_init": plan.n_init if isinstance(plan.n_init, str) else int(plan.n_init),
        "max_iter": int(method.max_iter),
        "random_state": plan.seed,
        "standardise": bool(plan.standardise),
    }
    if isinstance(method, KMeansMethod):
        return {**settings, "tol": float(plan.tol)}
    return {**settings, "gamma": None if plan.gamma is None else float(plan.gamma)}


def _init_text(init: Any) -> str:
    """Return what a model file says of a start."""
    if isinstance(init, str):
        return init
    return "function" if callable(init) else "given"


def watch_of(progress: Progress | None, total: int) -> Watch | None:
    """Return what moves a bar, an iteration at a time."""
    if progress is None:
        return None
    done = count(1)

    def watch(*_: Any) -> None:
        progress(next(done), total)

    return watch
