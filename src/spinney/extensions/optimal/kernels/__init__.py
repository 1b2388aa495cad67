"""Compiled loops of the search for optimal trees."""
