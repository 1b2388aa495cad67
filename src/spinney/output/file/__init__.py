"""Model files: arrays and a header, checked whole before a node is made."""
