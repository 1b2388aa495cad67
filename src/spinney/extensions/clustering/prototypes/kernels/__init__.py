"""The compiled kernels of k-prototypes."""
