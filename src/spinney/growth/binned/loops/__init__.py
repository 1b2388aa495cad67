"""The compiled loops of two branches."""
