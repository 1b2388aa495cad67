"""The default recipe: labels that a forest has smoothed, cross-validated pruning."""
