"""Training rows, and rows in memory as a source."""

from spinney.sources.rows.incomplete_rows import are_complete
from spinney.sources.rows.joined_rows import (
    GONE,
    Batch,
    JoinedRows,
    join_rows,
    mapped,
    moved_target,
    with_classes,
)
from spinney.sources.rows.memory import MemorySource
from spinney.sources.rows.training_rows import (
    NumberFacts,
    TrainingSet,
    as_target,
    attribute_of,
    check_classes,
    check_numbers,
    check_roles,
    check_target,
    known_rows,
    numbered_rows,
    rows_in_memory,
    tell_doubts,
    training_set,
)
from spinney.sources.rows.weight_checks import (
    LARGEST_TOTAL,
    check_total,
    given_weights,
    row_weights,
)

__all__ = [
    "GONE",
    "LARGEST_TOTAL",
    "Batch",
    "JoinedRows",
    "MemorySource",
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
    "join_rows",
    "known_rows",
    "mapped",
    "moved_target",
    "numbered_rows",
    "row_weights",
    "rows_in_memory",
    "tell_doubts",
    "training_set",
    "with_classes",
]
