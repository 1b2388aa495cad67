"""Splits on linear combinations of numbers."""

from spinney.search.oblique.combinations import (
    best_split_of_last,
    bits_saved,
    bits_to_beat,
    decide_with_combinations,
    is_admissible,
    margin_over,
    without_unused_formulas,
)
