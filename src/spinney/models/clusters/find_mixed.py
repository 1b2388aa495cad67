"""Clusters of a table that need not be all numbers."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.threads import thread_count as threads_of
from spinney.cluster import MIXED, Clusters, schema_of
from spinney.cluster.choose_k import MIXED_RULES, Choice, choose_mixed
from spinney.cluster.prototypes import (
    MIXED_STARTS,
    MixedCells,
    k_prototypes,
    mixed_cells,
    prototypes_of,
)
from spinney.data import Attribute, Schema, Table
from spinney.data.readers import read_by
from spinney.errors import DataError, ParameterError, Setting, refusal
from spinney.models.clusters.cluster_plan import RULE, Found, Plan
from spinney.models.clusters.found_parts import (
    N_STARTS,
    Begun,
    Progress,
    check_k,
    fingerprint_of,
    given_k,
    scale_of,
    settings_of,
    sizes_of,
    start_of,
)
from spinney.sources.rows import attribute_of


def find_prototypes(
    used: Table,
    plan: Plan,
    weights: Floats | None,
    markers: Sequence[str],
    progress: Progress | None,
) -> Found:
    """Return the clusters of a table that need not be all numbers."""
    attributes = tuple(attribute_of(column) for column in used.columns)
    schema = schema_of(attributes, 1, markers)
    cells = mixed_cells(schema, used)
    scale = scale_of(cells.numbers, plan, weights)
    cells = replace(cells, numbers=cells.numbers / scale)
    begun = _begin(schema, cells, scale, plan, weights, progress)
    k = begun.k
    check_k(k, used)
    found, gamma = k_prototypes(
        cells,
        k,
        weights=weights,
        gamma=plan.gamma,
        start=begun.start,
        n_starts=begun.n_starts,
        max_iterations=plan.max_iterations,
        seed=plan.seed,
        n_jobs=threads_of(plan.n_jobs),
    )
    relative = found.prototypes.codes - cells.first[:-1]
    unknown = found.prototypes.codes >= cells.missing
    clusters = Clusters(
        schema_of(attributes, k, markers),
        True,
        MIXED,
        {**settings_of(plan, begun), "gamma": plan.gamma},
        found.prototypes.numbers,
        scale,
        np.where(unknown, -1, relative).astype(np.int32),
        gamma,
        sizes_of(found.labels, weights, k),
        np.empty((0, cells.numbers.shape[1])),
        found.cost,
        found.n_iterations,
        fingerprint_of(weights, cells.numbers, cells.codes),
    )
    labels, distances = clusters.assign(used, n_jobs=threads_of(plan.n_jobs))
    converged, choice = found.converged, begun.choice
    return Found(
        clusters, labels, distances, converged, used, used, weights, plan, choice
    )


def _begin(
    schema: Schema,
    cells: MixedCells,
    scale: Floats,
    plan: Plan,
    weights: Floats | None,
    progress: Progress | None,
) -> Begun:
    """Return where k-prototypes starts, with how many clusters."""
    start, n_starts = start_of(plan, MIXED_STARTS)
    _check_mixed(plan, schema.attributes)
    if isinstance(start, Path):
        given = read_by(schema, range(len(schema.attributes)), start)
        k = given.n_rows if plan.chooses else given_k(plan)
        prototypes = prototypes_of(schema, given, k)
        numbers = prototypes.numbers / scale
        return Begun(prototypes._replace(numbers=numbers), n_starts, k)
    if not plan.chooses:
        return Begun(start, n_starts, given_k(plan))
    choice = _mixed_choice(cells, weights, plan, start, n_starts, progress)
    return Begun(start, n_starts, choice.k, choice)


def check_names(used: Table) -> None:
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


def _check_mixed(plan: Plan, attributes: Sequence[Attribute]) -> None:
    """Refuse what is of k-means only."""
    mixed = [a for a in attributes if a.kind != "numeric"]
    why = f", as column {mixed[0].name!r} is {mixed[0].kind}" if mixed else ""
    if plan.tolerance:
        raise refusal(
            Setting("tolerance", plan.tolerance),
            f"is of k-means, and this is k-prototypes{why}",
            "leave it out",
        )
    if plan.rule is not None and plan.rule not in MIXED_RULES:
        raise refusal(
            Setting("rule", plan.rule),
            f"is of k-means, and this is k-prototypes{why}",
            f"here it is {' or '.join(MIXED_RULES)}",
        )
    if plan.gamma is not None and not mixed:
        msg = "gamma weighs nominal columns, and all columns are numbers: leave it out"
        raise ParameterError(msg)


def _mixed_choice(
    cells: MixedCells,
    weights: Floats | None,
    plan: Plan,
    start: str,
    n_starts: int,
    progress: Progress | None,
) -> Choice:
    """Return the choice of k for k-prototypes."""
    return choose_mixed(
        cells,
        plan.k if plan.chooses else "auto",
        weights=weights,
        rule=plan.rule or (RULE if plan.chooses else "elbow"),
        gamma=plan.gamma,
        start=start,
        n_starts=n_starts,
        max_iterations=plan.max_iterations,
        seed=plan.seed,
        n_jobs=threads_of(plan.n_jobs),
        progress=progress,
    )


def mixed_curve(found: Found) -> Choice:
    """Return the curve of costs of k-prototypes."""
    cells = mixed_cells(found.clusters.schema, found.used)
    cells = replace(cells, numbers=cells.numbers / found.clusters.scale)
    start = found.clusters.settings["init"]
    drawn = start if start in MIXED_STARTS else MIXED_STARTS[0]
    n_starts = found.plan.n_starts or N_STARTS[drawn]
    return _mixed_choice(cells, found.weights, found.plan, drawn, n_starts, None)
