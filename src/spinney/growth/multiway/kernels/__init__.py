"""The compiled kernels of multiway trees."""
