"""Writers of other languages: one file each, equal to the model."""
