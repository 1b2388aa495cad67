"""Every number can be shown: the arithmetic of a node, the path of a row."""

from spinney.explain.node import NodeExplanation, explain_node
from spinney.explain.row import RowExplanation, explain_row

__all__ = ["NodeExplanation", "RowExplanation", "explain_node", "explain_row"]
