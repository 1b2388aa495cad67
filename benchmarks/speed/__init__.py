"""Spinney beside its peers: the same data, one process, ratios. See docs/speed.md."""
