"""Linear models in the leaves: M5."""
