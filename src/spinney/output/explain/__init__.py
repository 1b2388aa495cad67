"""Explanations: the arithmetic of a node, the path of a row."""

from spinney.output.explain.attribute_explanation import (
    LIMIT,
    AttributeExplanation,
    explain_attribute,
)
from spinney.output.explain.explanation_text import working_lines
from spinney.output.explain.node_explanation import (
    GivenRows,
    NodeExplanation,
    RowNumbers,
    checked_node,
    explain_node,
)
from spinney.output.explain.row_explanation import RowExplanation, explain_row
