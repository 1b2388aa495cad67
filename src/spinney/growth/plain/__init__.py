"""The plain learner: the algorithm over count tables."""
