"""The compiled grower of multiway trees: a branch per value, values by rank."""
