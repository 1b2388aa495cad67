"""Compiled loops of forests."""
