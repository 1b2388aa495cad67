"""What a tree is made of: count tables, criteria, splits, nodes, predictions."""
