"""Training rows, and rows in memory as a source."""

from spinney.sources.rows.cluster_sums import ClusterSums, Points
from spinney.sources.rows.incomplete_rows import are_complete
from spinney.sources.rows.joined_rows import (
    REMOVED,
    Batch,
    JoinedRows,
    join_rows,
    map_codes,
    recentred_target,
    with_classes,
)
from spinney.sources.rows.memory import MemorySource
from spinney.sources.rows.row_hashing import (
    HashSample,
    hash_mixing,
    row_hashes,
    sample_bag,
    sample_counts,
    sample_fold,
    sample_fraction,
)
from spinney.sources.rows.sampleable_rows import (
    HashedTrainingSet,
    SampleableRows,
    SummedRows,
)
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
    report_column_issues,
    rows_in_memory,
    rows_with_positions,
    training_set,
    usable_rows,
    warn_of_constant_target,
)
from spinney.sources.rows.weight_checks import (
    LARGEST_TOTAL,
    check_total,
    given_weights,
    row_weights,
)
