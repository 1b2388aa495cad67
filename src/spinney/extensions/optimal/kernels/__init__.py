"""The compiled kernels of the search for optimal trees."""
