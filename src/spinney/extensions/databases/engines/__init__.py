"""One file an engine: its dialect, how it runs and binds, what it cannot do."""
