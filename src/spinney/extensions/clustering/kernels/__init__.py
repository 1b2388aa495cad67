"""The compiled kernels of k-means."""
