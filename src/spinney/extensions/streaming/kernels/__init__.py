"""Kernels of trees over streams."""
