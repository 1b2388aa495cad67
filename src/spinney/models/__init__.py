"""Fitted models without scikit-learn: how they come about, and what they can do."""
