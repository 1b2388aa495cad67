"""How terms vary together, as SQL: the sums behind linear models.

One statement adds up, node by node, all products of two terms::

    SELECT node, sum(w), sum(w * z0), sum(w * z1), sum(w * z0 * z0), …
    FROM the rows, the nodes, LATERAL (… AS part),
         LATERAL (SELECT … AS z0, … AS z1, class - origin AS z2)
    WHERE part > 0 GROUP BY node

Numbers are measured from their mean over all rows, so that the sums of squares keep
their digits.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement

import numpy as np

from spinney.counts import Floats
from spinney.linear import Term
from spinney.sources.base import Products, TermRequest

__all__ = ["batches", "centres", "products_of", "sums", "term_expression"]

# So many terms have about 1300 products: as much as one statement should hold.
MOST_IN_STATEMENT = 50


def batches(requests: Sequence[TermRequest]) -> Iterator[list[TermRequest]]:
    """Divide requests so that those of one batch have few terms together."""
    batch: list[TermRequest] = []
    together: set[Term] = set()
    for request in requests:
        wider = together.union(request.terms)
        if batch and len(wider) > MOST_IN_STATEMENT:
            yield batch
            batch, wider = [], set(request.terms)
        batch.append(request)
        together = wider
    if batch:
        yield batch


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
    centre = f"CAST('{term.missing!r}' AS DOUBLE)"
    if not texts:
        known = f"{cell} IS NOT NULL AND isfinite({cell})"
        return f"CASE WHEN {known} THEN {cell} - {centre} ELSE 0.0 END"
    places = " ".join(
        f"WHEN {mark(text)} THEN {float(code)!r}" for code, text in enumerate(texts)
    )
    return f"coalesce(CASE {cell} {places} END - {centre}, 0.0)"


def centres(terms: Sequence[Term]) -> Floats:
    """Return what the expressions are measured from; the target from its origin."""
    numbers = [0.0 if term.codes is not None else term.missing for term in terms]
    return np.array([*numbers, 0.0])


def sums(n: int) -> list[str]:
    """Return the sums of n expressions: of weights, of each, of each two."""
    pairs = combinations_with_replacement(range(n), 2)
    return [
        "sum(w)",
        *(f"sum(w * z{i})" for i in range(n)),
        *(f"sum(w * z{i} * z{j})" for i, j in pairs),
    ]


def products_of(line: Sequence[float], n: int, centre: Floats) -> Products:
    """Return the products of one node from the sums of n expressions.

    >>> found = products_of([2.0, 4.0, 10.0], 1, np.zeros(1))      # 1 and 3
    >>> found.means.tolist(), found.spreads.tolist()
    ([2.0], [[2.0]])
    """
    weight, rest = float(line[0]), np.array(line[1:], dtype=np.float64)
    means = rest[:n] / weight
    spreads = np.zeros((n, n))
    spreads[np.triu_indices(n)] = rest[n:]
    spreads += np.triu(spreads, 1).T
    spreads -= weight * np.outer(means, means)
    return Products(means + centre, spreads, weight)
