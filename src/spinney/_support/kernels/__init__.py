"""Compiled kernels for hashes of columns and rows."""
