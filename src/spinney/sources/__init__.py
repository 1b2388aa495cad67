"""Sources of count tables: the interface between the learner and its rows."""

from spinney.sources.base import (
    ROOT,
    AgreementRequest,
    BinnedTables,
    Bins,
    BucketCounts,
    Counts,
    Formulas,
    NodeBatches,
    Products,
    Source,
    Surrogates,
    TableRequest,
    TermRequest,
    Totals,
    are_pure,
    as_formula_source,
    register_formulas,
    sum_products,
    tables_of,
)
