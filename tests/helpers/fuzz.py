"""How many examples property tests try: some each time, many by make test-fuzz."""

import os

# What share of the examples that a test asks for is tried.
EFFORT = float(os.environ.get("SPINNEY_FUZZ", "0.25"))


def examples(number: int) -> int:
    """Return how many examples to try where a test asks for so many."""
    return max(3, round(number * EFFORT))
