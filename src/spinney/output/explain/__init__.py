"""Every number can be shown: the arithmetic of a node, the path of a row."""

from spinney.output.explain.explanation_text import working_lines
from spinney.output.explain.node_explanation import NodeExplanation, explain_node
from spinney.output.explain.row_explanation import RowExplanation, explain_row

__all__ = [
    "NodeExplanation",
    "RowExplanation",
    "explain_node",
    "explain_row",
    "working_lines",
]
