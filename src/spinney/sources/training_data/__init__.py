"""Training data, opened from any source and checked."""

from spinney.sources.training_data.open_data import (
    TrainingData,
    open_source,
    table_of_rows,
)
from spinney.sources.training_data.table_input import (
    DECLARATION_PARAMETERS,
    INPUT_PARAMETERS,
    TableInput,
    engine_of,
)
