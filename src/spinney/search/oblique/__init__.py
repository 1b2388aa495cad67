"""Questions about several numbers at once."""

from spinney.search.oblique.combinations import (
    Weighing,
    admitted,
    bits_known,
    bits_of,
    combined,
    lead,
    proposed,
    without_unused,
)

__all__ = [
    "Weighing",
    "admitted",
    "bits_known",
    "bits_of",
    "combined",
    "lead",
    "proposed",
    "without_unused",
]
