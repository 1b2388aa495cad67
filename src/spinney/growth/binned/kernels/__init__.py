"""The compiled kernels of two branches."""
