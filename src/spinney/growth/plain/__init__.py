"""The plain learner: the algorithm over count tables."""

from spinney.growth.plain.construct import construct_and_grow
from spinney.growth.plain.node_counts import CountedNode, counted_node, send_down

__all__ = ["CountedNode", "construct_and_grow", "counted_node", "send_down"]
