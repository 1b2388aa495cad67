"""The compiled loops of k-means."""
