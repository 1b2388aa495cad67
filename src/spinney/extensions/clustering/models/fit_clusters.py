"""Clusters of a table in memory, for Python and the shell.

``read_rows`` reads a table, ``cluster_input`` encodes its columns, and
``fit_clusters`` fits clusters to them as a ``Plan`` says.
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
    parse_column_names,
    without_identifiers,
)
from spinney.data.readers import read_with_schema
from spinney.errors import (
    DataError,
    ParameterError,
    Setting,
    did_you_mean,
    phrase,
    refusal,
)
from spinney.extensions.clustering.choose_k.choice import MIXED_MEASURES, Choice
from spinney.extensions.clustering.choose_k.select_k import Method, choose
from spinney.extensions.clustering.clusters import (
    MIXED,
    Clusters,
    cluster_schema,
    numeric_cells,
    standard_deviations,
)
from spinney.extensions.clustering.fit_k_means import (
    K_MEANS_INITS,
    KMeansMethod,
    check_centroids,
)
from spinney.extensions.clustering.lloyd import (
    Clustering,
    IterationCallback,
    is_random_init,
)
from spinney.extensions.clustering.models.cluster_plan import MODES, RULE, Plan
from spinney.extensions.clustering.prototypes.fit_k_prototypes import (
    K_PROTOTYPES_INITS,
    KPrototypesMethod,
)
from spinney.extensions.clustering.prototypes.mixed_cells import (
    MixedCells,
    Prototypes,
    encode_mixed_cells,
    prototypes_from_table,
)
from spinney.extensions.clustering.trace import ROWS_SHOWN, Trace, explain_k_means
from spinney.sources.rows import attribute_of
from spinney.sources.training_data import TableInput, table_of_rows

# The defaults of max_iter.
MAX_ITER, MAX_ITER_MIXED = 300, 100


# Rows


@dataclass(frozen=True, slots=True, eq=False)
class ClusterInput:
    """The columns and encoded rows that clusters are fitted to.

    ``cells`` are numbers for k-means, MixedCells for k-prototypes. ``named`` is false
    for the columns of an array. ``markers`` are the texts of missing cells.
    """

    attributes: tuple[Attribute, ...]
    cells: Any
    named: bool = True
    markers: Sequence[str] = ()

    @property
    def is_mixed(self) -> bool:
        """Whether these are rows of k-prototypes."""
        return isinstance(self.cells, MixedCells)

    @property
    def numbers(self) -> NDArray[Any]:
        """The numeric columns."""
        return np.asarray(self.cells.numbers if self.is_mixed else self.cells)

    def scaled_by(self, scale: Floats) -> Any:
        """Return the cells with each numeric column divided by its scale."""
        if (scale == 1).all():
            return self.cells
        numbers = self.numbers / scale.astype(self.numbers.dtype)
        return replace(self.cells, numbers=numbers) if self.is_mixed else numbers

    def fingerprint(self, weights: Floats | None) -> Fingerprint:
        """Return the fingerprint of the rows and their weights."""
        digest = hashlib.sha256()
        codes = [self.cells.codes] if self.is_mixed else []
        for part in (self.numbers, *codes, *([] if weights is None else [weights])):
            digest.update(np.ascontiguousarray(part).data)
        n_rows = len(self.cells)
        weight = float(n_rows if weights is None else weights.sum())
        return Fingerprint(n_rows, weight, digest.hexdigest())


def read_rows(
    table: TableInput, columns: Sequence[str] = ()
) -> tuple[Table, Table, Floats | None]:
    """Return a table, the columns to cluster by, and the weights.

    Ignored columns are read as text, because the output may show them. By default
    identifiers are excluded, with a note.
    """
    declarations, weight = table.declarations, table.weight
    as_texts = (*declarations.nominal, *declarations.ignore)
    texts = replace(declarations, nominal=as_texts, ignore=())
    whole = table_of_rows(replace(table, declarations=texts))
    excluded = {name for name in whole.names if declarations.ignores(name)}
    excluded |= set() if weight is None else {weight}
    chosen = select_columns(columns, whole.names)
    for name in chosen:
        if name in excluded:
            msg = f"column {name!r} is both selected and excluded"
            raise ParameterError(msg, remedy="remove one of the two settings")
    if chosen:
        used = Table(tuple(whole[name] for name in chosen), whole.n_rows)
    else:
        used = without_identifiers(whole.without(excluded), declarations)
    if not used.columns:
        raise no_columns_error()
    return whole, used, None if weight is None else _row_weights(whole, weight)


def no_columns_error() -> DataError:
    """Return the error for a table whose columns are all ignored."""
    return DataError("every column is ignored", remedy="keep at least one")


def select_columns(selected: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the selected columns, named one by one or with commas between them."""
    columns = parse_column_names(selected, names)
    for name in columns:
        if name not in names:
            msg = f"there is no column {name!r}: {did_you_mean(name, names)}"
            raise DataError(msg)
    return columns


def _row_weights(table: Table, name: str) -> Floats:
    column = table[name]
    if column.kind != "numeric" or column.missing.any():
        msg = f"the weight column {name!r} needs a number in every row"
        raise DataError(msg)
    return check_weights(column.cells.astype(np.float64), f"column {name!r}")


def check_weights(weights: Floats, name: str) -> Floats:
    """Return weights; refuse those that are negative, all 0 or too large."""
    if weights.min() < 0 or not weights.max() > 0:
        msg = f"{name} contains negative weights, or only zeros"
        raise DataError(msg, remedy="give weights of at least 0, one of them above 0")
    with np.errstate(over="ignore"):
        if np.sum(weights) == np.inf:
            msg = f"the sum of the weights in {name} overflows"
            raise DataError(msg, remedy="divide all of them by a constant")
    return weights


def cluster_input(
    used: Table, plan: Plan, *, markers: Sequence[str] = ()
) -> ClusterInput:
    """Return the rows of a table, encoded for the plan's method.

    The default method is k-means if all columns are numeric, else k-prototypes.
    Settings of the other method are refused.
    """
    method = plan.method
    if method == MODES:
        for column in used.columns:
            if column.kind == "numeric":
                msg = f"column {column.name!r} is numeric, and k-modes needs categories"
                remedy = phrase(
                    "declare it nominal ({}), exclude it, or use k-prototypes",
                    Setting("nominal", [column.name]),
                )
                raise DataError(msg, remedy=remedy)
    attributes = tuple(attribute_of(column) for column in used.columns)
    numeric = all(column.kind == "numeric" for column in used.columns)
    cells: Any
    if method == "k-means" or (method is None and numeric):
        cells = numeric_cells(used)
    else:
        cells = encode_mixed_cells(cluster_schema(attributes, 1, markers), used)
    rows = ClusterInput(attributes, cells, markers=markers)
    _check_settings(plan, rows)
    return rows


def _check_settings(plan: Plan, rows: ClusterInput) -> None:
    """Refuse settings that do not exist for the method of the rows."""
    coded = [a for a in rows.attributes if a.kind != "numeric"]
    if plan.gamma is not None and not coded:
        raise refusal(
            Setting("gamma", plan.gamma),
            "applies to nominal columns, and all columns are numeric",
            "remove it",
        )
    if not rows.is_mixed:
        return
    why = "applies to k-means; this is k-prototypes"
    why += f", as column {coded[0].name!r} is {coded[0].kind}" if coded else ""
    if plan.tol:
        raise refusal(Setting("tol", plan.tol), why, "remove it")
    if plan.rule is not None and plan.rule not in MIXED_MEASURES:
        rules = " or ".join(MIXED_MEASURES)
        raise refusal(Setting("rule", plan.rule), why, f"use {rules}")


# Clusters


@dataclass(frozen=True, slots=True, eq=False)
class ClusterFit:
    """Clusters with their training rows, and the choice of k if there was one."""

    clusters: Clusters
    labels: Integers
    converged: bool
    rows: ClusterInput
    weights: Floats | None
    plan: Plan
    method: Method
    choice: Choice | None = None

    def distances(self) -> Floats:
        """Return the distance of each row to its cluster."""
        return self.clusters.nearest(self.rows.cells, n_jobs=self.method.n_jobs)[1]

    def trace(self, rows: int | None = None) -> Trace | None:
        """Return the iterations of k-means; None for k-prototypes.

        A column of dates says which unit its numbers count.
        """
        if self.rows.is_mixed:
            return None
        names = self.clusters.names
        if not self.plan.standardise:
            names = tuple(
                f"{a.name} ({a.unit})" if a.unit else a.name
                for a in self.clusters.schema.attributes
            )
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
        """Return the inertia by number of clusters, for an elbow plot."""
        if self.choice is not None:
            return self.choice
        method = self.method
        if not isinstance(method.init, str):
            inits = K_PROTOTYPES_INITS if self.rows.is_mixed else K_MEANS_INITS
            method = replace(method, init=inits[0])
        return choose(
            self.rows.scaled_by(self.clusters.scale),
            weights=self.weights,
            rule="elbow",
            measures=["elbow"],
            method=method,
        )


def fit_clusters(
    rows: ClusterInput,
    plan: Plan,
    *,
    weights: Floats | None = None,
    progress: Progress | None = None,
) -> ClusterFit:
    """Fit the clusters of some rows.

    >>> from spinney.data.readers import read_table
    >>> plan = Plan(n_clusters=2)
    >>> rows = cluster_input(read_table({"size": [1.0, 2.0, 10.0, 11.0]}), plan)
    >>> fit = fit_clusters(rows, plan)
    >>> np.sort(fit.clusters.unscaled_centroids.ravel())
    array([ 1.5, 10.5])
    """
    plan = _with_init(plan, rows)
    scale = np.ones(rows.numbers.shape[1])
    if plan.standardise:
        scale = standard_deviations(rows.numbers, weights)
    cells, method = rows.scaled_by(scale), _scaled_method(plan, rows, scale)
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
    check_n_clusters(k, len(cells))
    on_iteration = report_iterations(
        progress, method.n_starts(cells, k) * method.max_iter
    )
    clustering = method.fit(cells, k, weights=weights, on_iteration=on_iteration)
    settings = recorded_settings(plan, method, k)
    clusters = make_clusters(rows, clustering, scale, weights, settings)
    labels, converged = clustering.labels, clustering.converged
    method = replace(method, n_init=plan.n_init)
    return ClusterFit(clusters, labels, converged, rows, weights, plan, method, choice)


def check_n_clusters(k: int, n_rows: int) -> None:
    """Refuse more clusters than rows."""
    if k > n_rows:
        raise DataError(
            Setting("n_clusters", int(k)),
            f" exceeds the {n_rows} rows (n_samples={n_rows})",
            remedy="use fewer clusters",
        )


# Initialisation


def _with_init(plan: Plan, rows: ClusterInput) -> Plan:
    """Return a plan with max_iter, whose init is a name, a callable or centroids."""
    if plan.max_iter is None:
        plan = replace(plan, max_iter=MAX_ITER_MIXED if rows.is_mixed else MAX_ITER)
    inits = K_PROTOTYPES_INITS if rows.is_mixed else K_MEANS_INITS
    init = inits[0] if plan.init is None else plan.init
    if not isinstance(init, str):
        if plan.chooses:
            raise ParameterError(
                Setting("init"),
                " must be a name if the number of clusters is chosen",
                remedy="use " + " or ".join(map(repr, inits)),
            )
        return plan
    if init not in inits and init in (*K_MEANS_INITS, *K_PROTOTYPES_INITS):
        kinds = "numeric" if init in K_MEANS_INITS else "mixed"
        remedy = f"use {' or '.join(inits)}"
        raise refusal(Setting("init", init), f"is for {kinds} tables", remedy)
    if init not in inits and not Path(init).suffix and not Path(init).exists():
        raise refusal(
            Setting("init", init),
            f"is neither one of {', '.join(inits)} nor a file of centroids",
        )
    if plan.n_init not in ("auto", 1) and not is_random_init(init):
        raise refusal(
            Setting("n_init", plan.n_init),
            f"has no effect, because {init!r} is not random",
            "remove it",
        )
    if init in inits:
        return replace(plan, init=init)
    if plan.rule is not None:
        start = Setting("init", init)
        raise refusal(
            Setting("rule", plan.rule),
            ("chooses among several k, but ", start, " has a row for each cluster"),
            "remove one of them",
        )
    return _with_init_file(plan, Path(init), rows)


def _with_init_file(plan: Plan, path: Path, rows: ClusterInput) -> Plan:
    """Return a plan with the centroids of a file; columns are matched by name."""
    schema = cluster_schema(rows.attributes, 1, rows.markers)
    table = read_with_schema(
        schema, range(len(rows.attributes)), path, may_be_empty=rows.is_mixed
    )
    n_clusters: Any = table.n_rows if plan.chooses else plan.n_clusters
    centroids: Any
    if rows.is_mixed:
        centroids = prototypes_from_table(schema, table, n_clusters)
    else:
        centroids = np.column_stack(schema.encode(table))
        if not np.isfinite(centroids).all():
            raise DataError(
                Setting("init", str(path)),
                " has missing cells",
                remedy="give every centroid all its numbers",
            )
        if len(centroids) != n_clusters:
            raise DataError(
                Setting("init", str(path)),
                f" has {len(centroids)} rows, but {n_clusters} centroids are needed",
            )
    return replace(plan, init=centroids, n_clusters=n_clusters)


def method_for(plan: Plan, rows: ClusterInput) -> Method:
    """Return the method for rows that are not divided by a scale."""
    return _scaled_method(_with_init(plan, rows), rows, np.ones(rows.numbers.shape[1]))


def _scaled_method(plan: Plan, rows: ClusterInput, scale: Floats) -> Method:
    """Return the method, with the user's centroids divided by the scale."""
    init: Any = plan.init
    shared: dict[str, Any] = {
        "n_init": plan.n_init,
        "max_iter": plan.max_iter,
        "seed": plan.seed,
        "n_jobs": thread_count(plan.n_jobs),
    }
    if rows.is_mixed:
        if isinstance(init, Prototypes):
            init = init._replace(numbers=init.numbers / scale)
        return KPrototypesMethod(init=init, gamma=plan.gamma, **shared)
    if not isinstance(init, str) and not callable(init):
        k: Any = plan.n_clusters
        init = check_centroids(init, k, rows.numbers.shape[1]) / scale
    return KMeansMethod(init=init, tol=plan.tol, **shared)


# Results


def make_clusters(
    rows: ClusterInput,
    clustering: Clustering,
    scale: Floats,
    weights: Floats | None,
    settings: dict[str, Any],
) -> Clusters:
    """Return the clusters as a file stores them."""
    centroids, start = clustering.centroids, clustering.start
    codes: NDArray[Any] = np.empty((len(centroids), 0), np.int32)
    if rows.is_mixed:
        centroids, coded = clustering.centroids
        relative = coded - rows.cells.first[:-1]
        codes = np.where(coded >= rows.cells.missing, -1, relative).astype(np.int32)
        start = np.empty((0, centroids.shape[1]))
    k = len(centroids)
    sizes = np.bincount(clustering.labels, weights, minlength=k)
    return Clusters(
        schema=cluster_schema(rows.attributes, k, rows.markers),
        named=rows.named,
        method=MIXED if rows.is_mixed else "k-means",
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


def recorded_settings(plan: Plan, method: Method, k: int) -> dict[str, Any]:
    """Return the estimator parameters that find the clusters again, for a model file.

    They have a fixed k, unless the default rule chose k from the default range.
    """
    auto = plan.n_clusters == "auto" and plan.rule in (None, RULE)
    init = method.init
    if not isinstance(init, str):
        init = "function" if callable(init) else "given"
    settings = {
        "n_clusters": "auto" if auto else k,
        "init": init,
        "n_init": plan.n_init if isinstance(plan.n_init, str) else int(plan.n_init),
        "max_iter": int(method.max_iter),
        "random_state": plan.seed,
        "standardise": bool(plan.standardise),
    }
    if isinstance(method, KMeansMethod):
        return {**settings, "tol": float(plan.tol)}
    return {**settings, "gamma": None if plan.gamma is None else float(plan.gamma)}


def report_iterations(
    progress: Progress | None, total: int
) -> IterationCallback | None:
    """Return a callback that reports each iteration."""
    if progress is None:
        return None
    done = count(1)
    return lambda *_: progress(next(done), total)
