"""A tree as something else: one file each, equal to the model."""
