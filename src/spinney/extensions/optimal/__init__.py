"""Trees that are the best of their size, proven."""
