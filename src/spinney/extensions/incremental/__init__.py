"""Trees that add and remove rows without starting from scratch."""
