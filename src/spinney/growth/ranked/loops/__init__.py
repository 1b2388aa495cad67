"""The compiled loops of a branch a value."""
