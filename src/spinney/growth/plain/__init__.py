"""The plain learner: the algorithm over count tables."""

from spinney.growth.plain.node_counts import CountedNode, counted_node, send_down
