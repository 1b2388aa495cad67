"""Forests, on their way."""
