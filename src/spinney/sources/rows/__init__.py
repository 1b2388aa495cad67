"""Training rows, and rows in memory as a source."""

from spinney.sources.rows.cluster_sums import ClusterSums, Points
from spinney.sources.rows.hashed_rows import HashedInMemory, SampleableRows, SummedRows
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
from spinney.sources.rows.row_draws import (
    Draw,
    bag_of_rows,
    fold_of_rows,
    mixing_of,
    share_of_rows,
    times_of,
)
from spinney.sources.rows.row_numbers import numbers_of_rows
from spinney.sources.rows.training_rows import (
    NO_TARGET,
    EncodedCells,
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
    warn_of_one_answer,
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
    "NO_TARGET",
    "Batch",
    "ClusterSums",
    "Draw",
    "EncodedCells",
    "HashedInMemory",
    "JoinedRows",
    "MemorySource",
    "NumberFacts",
    "Points",
    "SampleableRows",
    "SummedRows",
    "TrainingSet",
    "are_complete",
    "as_target",
    "attribute_of",
    "bag_of_rows",
    "check_classes",
    "check_numbers",
    "check_roles",
    "check_target",
    "check_total",
    "fold_of_rows",
    "given_weights",
    "join_rows",
    "known_rows",
    "mapped",
    "mixing_of",
    "moved_target",
    "numbered_rows",
    "numbers_of_rows",
    "row_weights",
    "rows_in_memory",
    "share_of_rows",
    "tell_doubts",
    "times_of",
    "training_set",
    "warn_of_one_answer",
    "with_classes",
]
