"""Kernels of forests."""
