"""Days, instants and times of day as numbers and as text."""

import datetime
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from numpy.typing import NDArray

Numbers = TypeVar("Numbers", float, "NDArray[Any]")

DAY_UNIT = "days since 1970-01-01"
INSTANT_UNIT = "seconds since 1970-01-01T00:00:00"
CLOCK_UNIT = "seconds since midnight"
TIME_UNITS = {"day": DAY_UNIT, "instant": INSTANT_UNIT, "clock": CLOCK_UNIT}
SECONDS_PER_DAY = 86_400.0

# Patterns of ISO texts, valid in both Python (with re.ASCII) and DuckDB.
DAY_PATTERN = r"\d{4}-\d{2}-\d{2}"
INSTANT_PATTERN = (
    DAY_PATTERN + r"([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?"
)

_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


def parse_time(text: str, unit: str) -> float | None:
    """Return an ISO date or time as a number of this unit, or None."""
    try:
        if unit == DAY_UNIT:
            return days_of(datetime.date.fromisoformat(text))
        if unit == INSTANT_UNIT:
            return seconds_of(datetime.datetime.fromisoformat(text))
        return seconds_of_day(datetime.time.fromisoformat(text))
    except ValueError:
        return None


def days_of(value: datetime.date) -> float:
    """Return the days since 1970-01-01."""
    return float((value - _EPOCH.date()).days)


def seconds_of(value: datetime.datetime) -> float:
    """Return the seconds since the start of 1970, in UTC if there is a time zone."""
    # A difference, as the UTC instant may lie outside datetime's range.
    since = value.replace(tzinfo=None) - _EPOCH
    since -= value.utcoffset() or datetime.timedelta()
    # Integer microseconds, divided once: the same float64 from every source.
    return (since // _MICROSECOND) / 1e6


def seconds_of_day(value: datetime.time) -> float:
    """Return the seconds since midnight."""
    whole = (value.hour * 60 + value.minute) * 60 + value.second
    return (whole * 1_000_000 + value.microsecond) / 1e6


def as_instant(cell: datetime.date | None) -> datetime.datetime | None:
    """Return a day as its first instant."""
    if cell is None or isinstance(cell, datetime.datetime):
        return cell
    return datetime.datetime(cell.year, cell.month, cell.day)


def time_text(cell: datetime.date | datetime.time) -> str:
    """Return a day, instant (in UTC) or time of day as DuckDB's text."""
    if not isinstance(cell, datetime.datetime):
        text = cell.isoformat()
    elif cell.tzinfo is None:
        text = cell.isoformat(sep=" ")
    else:
        text = cell.astimezone(datetime.UTC).replace(tzinfo=None).isoformat(sep=" ")
    return text.rstrip("0") if "." in text else text


def converted(
    numbers: Numbers, unit: str | None, target_unit: str | None
) -> Numbers | None:
    """Return numbers converted to another unit; None if impossible.

    An instant becomes its day in UTC: a model trained on days distinguishes no more.
    ``//`` is exact, unlike the floor of a rounded quotient.

    >>> converted(86_399.0, INSTANT_UNIT, DAY_UNIT)
    0.0
    >>> converted(2.0, DAY_UNIT, INSTANT_UNIT)
    172800.0
    """
    if unit == target_unit:
        return numbers
    if (unit, target_unit) == (INSTANT_UNIT, DAY_UNIT):
        return numbers // SECONDS_PER_DAY
    if (unit, target_unit) == (DAY_UNIT, INSTANT_UNIT):
        return numbers * SECONDS_PER_DAY
    return None
