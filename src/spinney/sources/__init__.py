"""Who answers the learner: rows in memory or in a SQL engine, as count tables."""

from spinney.sources.base import (
    ROOT,
    Agreement,
    Products,
    Request,
    Source,
    TermRequest,
    Totals,
    take_formulas,
)

__all__ = [
    "ROOT",
    "Agreement",
    "Products",
    "Request",
    "Source",
    "TermRequest",
    "Totals",
    "take_formulas",
]
