"""Who answers the learner: rows in memory or in a SQL engine, as count tables."""

from spinney.sources.base import (
    ROOT,
    Agreement,
    Counts,
    Formulas,
    Products,
    Request,
    Source,
    Surrogates,
    TermRequest,
    Totals,
    are_pure,
    summed,
    tables_of,
    take_formulas,
    with_formulas,
)

__all__ = [
    "ROOT",
    "Agreement",
    "Counts",
    "Formulas",
    "Products",
    "Request",
    "Source",
    "Surrogates",
    "TermRequest",
    "Totals",
    "are_pure",
    "summed",
    "tables_of",
    "take_formulas",
    "with_formulas",
]
