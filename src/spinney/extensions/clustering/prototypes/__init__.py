"""k-prototypes: clusters of mixed rows."""
