"""The compiled kernels of a branch a value."""
