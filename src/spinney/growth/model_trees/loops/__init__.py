"""Compiled loops that fit the models of all nodes of a tree."""
