"""The numbers of rows in plain loops, a cell at a time."""

from collections.abc import Sequence
from math import floor, sqrt

GOLDEN = (sqrt(5) - 1) / 2


def behind(number: float) -> float:
    """Return the part of a number behind the point."""
    return number - floor(number)


def share_of_rows(
    columns: Sequence[Sequence[float | None]], *, codes: Sequence[bool]
) -> list[float]:
    """Return the number of each row; the last column is the target."""
    shares, copies = [], {}
    for at in range(len(columns[0])):
        total = 0.0
        for place, column in enumerate(columns):
            step = sqrt(place + 2.0) + GOLDEN * (place + 1)
            known = [cell for cell in column if cell is not None]
            low, width = min(known), max(known) - min(known)
            cell = column[at]
            if cell is None:
                part = 0.37
            elif codes[place]:
                part = (cell + 1.0) * step
            elif width == 0:
                part = step
            else:
                part = (cell - low) / width * (step * 1e8)
            total = total + behind(part) if place else behind(part)
        own = behind(total * 99991.61803398875 + 0.0)
        copies[own] = copies.get(own, 0) + 1
        shares.append(behind(own + copies[own] * GOLDEN))
    return shares
