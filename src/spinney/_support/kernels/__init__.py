"""Compiled loops of hashes and orders of rows."""
