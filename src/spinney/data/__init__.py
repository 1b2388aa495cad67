"""Tables: columns, schema, formulas, costs, readers and writers."""

from spinney.data.association import Association, association_of
from spinney.data.cells import (
    LARGEST_EXACT_INTEGER,
    coded_column,
    is_missing,
    marker_numbers,
    marker_values,
    parse_number,
    plain_values,
    text_cell_error,
    warn_of_large_integers,
)
from spinney.data.column_issues import (
    REMOTE_ISSUES,
    X_ISSUES,
    IssueFacts,
    column_warnings,
    exclude_identifiers,
    table_warnings,
    without_identifiers,
)
from spinney.data.cost_matrix import Costs, cost_array
from spinney.data.declarations import (
    Declarations,
    check_names,
    check_text_list,
    declarations_of,
    no_columns_error,
    parse_column_names,
)
from spinney.data.declared_values import MAX_UNUSED_VALUES, unused_values_note
from spinney.data.formula import Clause, Conjunction, Difference, Formula, Linear, Ratio
from spinney.data.row_numbers import (
    MIN_IDENTIFIER_FRACTION,
    IntegerSummary,
    is_identifier_name,
    is_row_numbering,
)
from spinney.data.schema import (
    Attribute,
    Fingerprint,
    Schema,
    Target,
    missing_columns,
)
from spinney.data.survey_answers import survey_note
from spinney.data.table import Cells, Column, Table, Value, factorise, level_order
from spinney.data.table_summary import TableSummary, summary_of
from spinney.data.target_leakage import (
    holds_classes,
    similar_class_warnings,
    target_note,
    training_warnings,
)
from spinney.data.text_formats import TextFormat
from spinney.data.times import SECONDS_PER_DAY, TIME_UNITS
