"""Tables read from files, data frames, arrays and relations."""

from spinney.data.readers.batches import number_batches, table_batches, type_of_values
from spinney.data.readers.cost_file import read_costs
from spinney.data.readers.local_files import SUFFIXES, refuse_file_options
from spinney.data.readers.read import (
    OpenRelation,
    opened_relation,
    read_partition,
    read_table,
)
from spinney.data.readers.row_reader import RowReader
from spinney.data.readers.schema_reader import (
    Keep,
    ModelBatches,
    class_array,
    read_batches_with_schema,
    read_with_schema,
    unseen_values,
)
