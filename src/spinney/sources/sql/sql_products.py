"""How terms vary together, as SQL: the sums behind linear models and combinations.

One statement adds up, node by node and class by class, all products of two terms::

    SELECT node, class, sum(w), sum(w * z0), sum(w * z1), sum(w * z0 * z0), …
    FROM (SELECT node, class, weight * part AS w, … AS z0, … AS z1
          FROM the rows, the nodes, LATERAL (… AS part) WHERE part > 0)
    GROUP BY node, class

A number as target is the last z, and then there are no classes. Numbers are measured
from their terms' centres, so that the sums of squares keep their digits.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations_with_replacement

import numpy as np

from spinney.sources.base import Products
from spinney.sources.sql.sql_formula import number_literal
from spinney.trees import Term

# So many terms have about 1300 products: as much as one statement should hold.
MOST_IN_STATEMENT = 50


def term_expression(
    cell: str, term: Term, texts: Sequence[str], mark: Callable[[str], str]
) -> str:
    """Return a term as SQL, less its centre.

    ``texts`` are those of all codes, in order; none where the column is numeric.
    """
    if term.codes is not None:
        inside = ", ".join(mark(texts[code]) for code in term.codes)
        taken = f"{cell} IN ({inside})" if inside else "false"
        return (
            f"CASE WHEN {cell} IS NULL THEN {term.missing!r} "
            f"WHEN {taken} THEN 1.0 ELSE 0.0 END"
        )
    centre = number_literal(term.centre)
    if not texts:
        known = f"{cell} IS NOT NULL AND isfinite({cell})"
        return f"CASE WHEN {known} THEN {cell} - {centre} ELSE 0.0 END"
    codes = " ".join(
        f"WHEN {mark(text)} THEN {float(code)!r}" for code, text in enumerate(texts)
    )
    return f"coalesce(CASE {cell} {codes} END - {centre}, 0.0)"


def sums(n: int) -> list[str]:
    """Return the sums of n expressions: of weights, of each, of each two."""
    pairs = combinations_with_replacement(range(n), 2)
    return [
        "sum(w)",
        *(f"sum(w * z{i})" for i in range(n)),
        *(f"sum(w * z{i} * z{j})" for i, j in pairs),
    ]


def products_of(
    lines: Mapping[int, Sequence[float]], n_groups: int, n: int
) -> Products:
    """Return the products of one node from the sums of n expressions in each group.

    >>> found = products_of({1: [2.0, 4.0, 10.0]}, 2, 1)      # 1 and 3, in class 1
    >>> found.means.tolist(), found.spreads.tolist()
    ([[0.0], [2.0]], [[[0.0]], [[2.0]]])
    """
    found = Products(
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
        found.weights[group], found.means[group] = weight, means
        found.spreads[group] = spreads
    return found


def selected(products: Products, indices: Sequence[int]) -> Products:
    """Return the products of some of the terms."""
    return Products(
        products.weights,
        products.means[:, indices],
        products.spreads[:, indices][:, :, indices],
    )
