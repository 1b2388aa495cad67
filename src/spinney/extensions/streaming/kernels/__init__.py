"""Compiled loops of trees over streams."""
