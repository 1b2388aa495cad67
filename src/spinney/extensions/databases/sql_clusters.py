"""What k-means asks of rows in an engine: one grouped statement an iteration.

::

    SELECT label, count(*), sum(weight), sum(weight * (x0 - o0)), …, sum(weight * near)
    FROM (SELECT *, CASE near WHEN d0 THEN 0 WHEN d1 THEN 1 … END AS label
          FROM (SELECT *, least(d0, d1, …) AS near FROM …))
    GROUP BY label

A row that lacks a cell has no distance, and so no label.
"""

from dataclasses import replace

import numpy as np
from sqlglot import exp

from spinney.extensions.databases.engines.sql_engine import SqlEngine, floats
from spinney.extensions.databases.expressions import (
    bound,
    case,
    column,
    count_all,
    difference,
    first_known,
    grouped_by,
    named,
    product,
    select,
    summed_up,
    table,
    total_of,
    whole,
)
from spinney.sources.rows.cluster_sums import ClusterSums, Points, no_sums


def cluster_sums(engine: SqlEngine, base: str, points: Points) -> ClusterSums:
    """Return the sums of the rows of a kept table, by their nearest point."""
    k, width = points.centroids.shape
    cells = [f"x{place}" for place in range(width)]
    distances = [f"d{number}" for number in range(k)]
    query = select(
        [column("weight"), *(_scaled(points, place) for place in range(width))],
        table(base),
    )
    kept = ["weight", *cells]
    query = select(
        [*map(column, kept), *(_square(points, number) for number in range(k))], query
    )
    near: exp.Expr = column("d0")
    if k > 1:
        near = exp.Least(this=near, expressions=list(map(column, distances[1:])))
    query = select([*map(column, [*kept, *distances]), named(near, "near")], query)
    label: exp.Expr = case(
        *(
            (exp.EQ(this=column(name), expression=column("near")), whole(number))
            for number, name in enumerate(distances)
        )
    )
    label = first_known([label, whole(-1)])
    query = select([*map(column, [*kept, "near"]), named(label, "label")], query)
    weight = column("weight")
    sums = [
        product(weight.copy(), difference(column(name), bound(float(origin))))
        for name, origin in zip(cells, points.origin, strict=True)
    ]
    added = [weight, *sums, product(column("weight"), column("near"))]
    listed = [named(summed_up(each), f"s{place}") for place, each in enumerate(added)]
    query = select([column("label"), named(count_all(), "n"), *listed], query)
    answer = engine.fetch(grouped_by(query, [column("label")]))
    return _read(np.array([floats(each) for each in answer]).T, points)


def _scaled(points: Points, place: int) -> exp.Alias:
    """Return a cell in the units of its column."""
    cell = column(f"a{points.attributes[place]}")
    scale = bound(float(points.scale[place]))
    return named(exp.Div(this=cell, expression=scale), f"x{place}")


def _square(points: Points, number: int) -> exp.Alias:
    """Return the squared distance of a row to a point."""
    squares: list[exp.Expr] = []
    for place, at in enumerate(points.centroids[number]):
        apart = difference(column(f"x{place}"), bound(float(at)))
        squares.append(product(apart, apart.copy()))
    return named(total_of(squares), f"d{number}")


def _read(lines: np.ndarray, points: Points) -> ClusterSums:
    """Return the answer as sums, of which points without rows have none."""
    total, n_lacking = no_sums(points), 0
    for label, n_rows, weight, *sums, squares in lines:
        if label < 0:
            n_lacking = int(n_rows)
            continue
        at = int(label)
        total.weights[at], total.sums[at], total.squares[at] = weight, sums, squares
    return replace(total, n_lacking=n_lacking)
