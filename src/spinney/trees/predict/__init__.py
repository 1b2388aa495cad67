"""Rows through finished trees: arrays, and who walks them."""
