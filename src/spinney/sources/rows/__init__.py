"""Training rows, and rows in memory as a source."""

from spinney.sources.rows.incomplete_rows import are_complete
from spinney.sources.rows.training_rows import (
    LARGEST_TOTAL,
    NumberFacts,
    TrainingSet,
    as_target,
    attribute_of,
    check_classes,
    check_numbers,
    check_roles,
    check_target,
    check_total,
    given_weights,
    known_rows,
    numbered_rows,
    row_weights,
    rows_in_memory,
    tell_doubts,
    training_set,
)

__all__ = [
    "LARGEST_TOTAL",
    "NumberFacts",
    "TrainingSet",
    "are_complete",
    "as_target",
    "attribute_of",
    "check_classes",
    "check_numbers",
    "check_roles",
    "check_target",
    "check_total",
    "given_weights",
    "known_rows",
    "numbered_rows",
    "row_weights",
    "rows_in_memory",
    "tell_doubts",
    "training_set",
]
