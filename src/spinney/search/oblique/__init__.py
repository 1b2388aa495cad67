"""Questions about several numbers at once."""

from spinney.search.oblique.combinations import (
    admitted,
    bits_known,
    bits_of,
    combined,
    lead,
    proposed,
    without_unused,
)
