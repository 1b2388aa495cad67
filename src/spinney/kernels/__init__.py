"""Compiled loops, on their way beside their drivers."""
