"""The compiled grower of binary trees: exact splits from coarse bins."""
