"""The compiled loops of k-prototypes."""
