"""Pruning: from a tree to a smaller one, with a record of every step.

Each method is a pure function of a finished tree; ``METHODS`` lists what it needs.
"""

from spinney.growth.prune.by_validation import EncodedRows, Validation, validate
from spinney.growth.prune.cost_complexity import CrossValidationRows, validated
from spinney.growth.prune.cost_complexity_sequence import (
    RULES,
    PruningSequence,
    sequence_of,
)
from spinney.growth.prune.error_limits import CONFIDENCE, check_confidence, upper_errors
from spinney.growth.prune.impurity_complexity import (
    impurity_sequence,
    pruned_by_impurity,
)
from spinney.growth.prune.mutable_nodes import NodeRecounter
from spinney.growth.prune.prune_folds import folds_of
from spinney.growth.prune.prune_methods import (
    METHODS,
    Method,
    method_named,
    pruned,
    pruned_after_growing,
)
from spinney.growth.prune.prune_record import Pruned, PruneStep, Steps
from spinney.growth.prune.reserve_rows import (
    check_validation_share,
    reserve_validation_rows,
)
from spinney.growth.prune.risk import leaf_risks, sums_below
