"""The numbers of rows in plain loops, a cell at a time."""

from collections.abc import Sequence
from math import floor, sqrt

GOLDEN = (sqrt(5) - 1) / 2


def fractional_part(number: float) -> float:
    """Return the part of a number behind the point."""
    return number - floor(number)


def in_band(number: float) -> tuple[float, int]:
    """Return a number by a power of 256, from 1 to below 256 in size, and which one."""
    band = 0
    while abs(number) >= 256:
        number, band = number / 256, band + 1
    while 0 < abs(number) < 1:
        number, band = number * 256, band - 1
    return number, band


def sample_fraction(
    columns: Sequence[Sequence[float | None]], *, codes: Sequence[bool]
) -> list[float]:
    """Return the number of each row; the last column is the target."""
    shares, copies = [], {}
    for at in range(len(columns[0])):
        total = in_bands = 0.0
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
            total += fractional_part(part)
            if cell is not None and not codes[place] and width > 0:
                size, band = in_band(cell)
                factor = step * (1.0 + band / 1024) * 2.0**20
                in_bands += fractional_part(size * factor)
        own = fractional_part((total + in_bands * GOLDEN) * 99991.61803398875)
        copies[own] = copies.get(own, 0) + 1
        shares.append(fractional_part(own + copies[own] * GOLDEN))
    return shares
