"""Rows to grow on, wherever they are: opened, checked, with what tells them apart."""

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
