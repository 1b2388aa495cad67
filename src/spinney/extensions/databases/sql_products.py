"""Sums of products of terms in SQL, for linear models and linear combinations.

One statement adds up, node by node and class by class, all products of two terms::

    SELECT node, class, sum(weight), sum(weight * z0), sum(weight * z0 * z0), …
    FROM (SELECT node, class, weight, … AS z0, … AS z1 FROM the rows of the nodes)
    GROUP BY node, class

A numeric target is the last z, without classes. Each term is measured from its centre,
so that sums of squares keep their digits.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement

import numpy as np
from sqlglot import exp

from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.sql_formula import finite
from spinney.sources.base import Products
from spinney.trees import Term

# So many terms have about 1300 products, the limit for one statement.
MAX_TERMS_PER_STATEMENT = 50


def term_expression(term: Term, *, is_numeric: bool) -> exp.Expr:
    """Return a term minus its centre, as SQL."""
    name = f"a{term.attribute}"
    if term.codes is not None:
        if_missing = (sql.is_null(sql.column(name)), sql.param(float(term.missing)))
        inside = (sql.is_in(sql.column(name), term.codes), sql.param(1.0))
        return sql.case(if_missing, inside, default=sql.param(0.0))
    number = sql.difference(sql.double(sql.column(name)), sql.param(float(term.centre)))
    is_known = (
        finite(sql.column(name)) if is_numeric else sql.not_null(sql.column(name))
    )
    return sql.case((is_known, number), default=sql.param(0.0))


def sum_expressions(n: int) -> list[exp.Expr]:
    """Return SQL sums: weights, each of n terms, and products of two terms."""
    pairs = combinations_with_replacement(range(n), 2)
    return [
        sql.total(sql.column("weight")),
        *(
            sql.total(sql.product(sql.column("weight"), sql.column(f"z{i}")))
            for i in range(n)
        ),
        *(
            sql.total(
                sql.product(
                    sql.product(sql.column("weight"), sql.column(f"z{i}")),
                    sql.column(f"z{j}"),
                )
            )
            for i, j in pairs
        ),
    ]


def products_of(
    lines: Mapping[int, Sequence[float]], n_groups: int, n: int
) -> Products:
    """Return the products of one node from the sums of n terms in each group.

    >>> products = products_of({1: [2.0, 4.0, 10.0]}, 2, 1)      # 1 and 3, in class 1
    >>> products.means.tolist(), products.spreads.tolist()
    ([[0.0], [2.0]], [[[0.0]], [[2.0]]])
    """
    products = Products(
        np.zeros(n_groups), np.zeros((n_groups, n)), np.zeros((n_groups, n, n))
    )
    for group, line in lines.items():
        weight, rest = float(line[0]), np.array(line[1:], dtype=np.float64)
        spreads = np.zeros((n, n))
        spreads[np.triu_indices(n)] = rest[n:]
        spreads += np.triu(spreads, 1).T
        with np.errstate(over="ignore", invalid="ignore"):
            means = rest[:n] / weight
            spreads -= weight * np.outer(means, means)
        products.weights[group], products.means[group] = weight, means
        products.spreads[group] = spreads
    return products


def select_terms(products: Products, indices: Sequence[int]) -> Products:
    """Return the products of some of the terms."""
    return Products(
        products.weights,
        products.means[:, indices],
        products.spreads[:, indices][:, :, indices],
    )
