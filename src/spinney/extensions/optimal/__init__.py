"""Optimal trees of a limited size, with a proof."""
