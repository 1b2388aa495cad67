r"""Text formats of numbers and dates in tables.

A *cell format* is one way to write a number (``1,017.77``, ``1.017,77``, ``1 017,77``)
or a date (``17.11.2026``, ``11/17/2026``, ``Nov 17, 2026``): a pattern for its texts,
and a way to parse them. Python and DuckDB support the same patterns and ``strptime``
formats; :mod:`spinney.data.duckdb.sql_text_formats` does the same in SQL.
"""

import datetime
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any

from spinney.errors import Setting, refusal, refuse_unknown

DECIMALS = (".", ",")
THOUSANDS = (",", ".", " ", "'")
DAY_FIRST, MONTH_FIRST = DATE_ORDERS = ("dayfirst", "monthfirst")


@dataclass(frozen=True, slots=True)
class TextFormat:
    """The text format of a table, declared by a user or stored in a model.

    Parameters
    ----------
    decimal : {".", ","}, optional
        The decimal mark.
    thousands : {",", ".", " ", "'"}, optional
        The mark between groups of three digits.
    dates : {"dayfirst", "monthfirst"}, optional
        The order of dates such as ``3/4/2026``.
    skip : int, optional
        The number of lines above the header.

    Examples
    --------
    >>> TextFormat(decimal=",").thousands is None
    True
    >>> TextFormat(decimal=";")
    Traceback (most recent call last):
    spinney.errors.ParameterError: decimal=';' is unknown: known: '.', ','
    """

    decimal: str | None = None
    thousands: str | None = None
    dates: str | None = None
    skip: int | None = None

    def __post_init__(self) -> None:
        """Refuse unknown values, and equal marks."""
        known = {"decimal": DECIMALS, "thousands": THOUSANDS, "dates": DATE_ORDERS}
        for name, values in known.items():
            value = getattr(self, name)
            if value is not None and value not in values:
                refuse_unknown(name, value, values)
        if self.decimal is not None and self.decimal == self.thousands:
            raise refusal(
                Setting("thousands", self.thousands),
                ("is ", Setting("decimal", self.decimal), " as well"),
                "give two different marks",
            )
        skip = self.skip
        if skip is not None and (type(skip) is not int or not 0 <= skip <= 10_000):
            problem = "must be a whole number from 0 to 10000"
            raise refusal(Setting("skip", skip), problem)

    @classmethod
    def from_setting(
        cls, given: "TextFormat | Mapping[str, Any] | None"
    ) -> "TextFormat":
        """Return the format from a user's TextFormat, mapping or None."""
        if given is None:
            return cls()
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise refusal(
                Setting("text_format", given),
                "is not a text_format",
                "write TextFormat(decimal=',') or a mapping of such names",
            )
        names = [field.name for field in fields(cls)]
        for name in given:
            if name not in names:
                refuse_unknown("text_format", name, names)
        return cls(**given)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is declared."""
        return self == TextFormat()

    def without_skip(self) -> "TextFormat":
        """Return the format without ``skip``, for new tables with other headers."""
        return replace(self, skip=None)

    def with_defaults(self, other: "TextFormat") -> "TextFormat":
        """Return this format with unset fields from another one.

        >>> declared = TextFormat(dates="dayfirst")
        >>> declared.with_defaults(TextFormat(",", None, "monthfirst"))
        TextFormat(decimal=',', thousands=None, dates='dayfirst', skip=None)
        """
        declared = {name: v for name, v in asdict(self).items() if v is not None}
        return replace(other, **declared)


UNDECLARED = TextFormat()

# Spaces between groups of digits, or before a sign.
_SPACE = r"[ \x{00a0}\x{2009}\x{202f}]"
CURRENCY = r"(?:[$€£¥₹₽₩₺₴₪]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN)"
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun"]
_MONTHS += ["jul", "aug", "sep", "oct", "nov", "dec"]
_NAME = "(?:" + "|".join(f"[{m[0].upper()}{m[0]}]{m[1:]}[a-z]*" for m in _MONTHS) + ")"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_YEAR = r"(?:\d{4}|\d{2})"
_AM_PM = r"(?: ?[AaPp][Mm])?"
_CLOCK = rf"(?:[ T]\d{{1,2}}:\d{{2}}(?::\d{{2}})?{_AM_PM})?"


@dataclass(frozen=True)
class NumberFormat:
    """A format of numbers, with or without a currency or a percent sign.

    >>> format = NumberFormat(",", ".")
    >>> format.matches("1.017,77"), format.matches("1,017.77")
    (True, False)
    >>> format.parse("-1.017,5 €")
    -1017.5
    """

    decimal: str
    thousands: str

    kind = "numbers"

    @cached_property
    def pattern(self) -> str:
        """The pattern of its numbers, in the syntax of DuckDB."""
        is_space = self.thousands == " "
        group = _SPACE if is_space else re.escape(self.thousands)
        mark = f"[{self.decimal}]"
        # Thousands groups do not start with 0: in 0,123 the comma is decimal.
        grouped = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+"
        digits = rf"(?:{grouped}|\d+)(?:{mark}\d*)?|{mark}\d+"
        before = rf"(?:{CURRENCY}{_SPACE}?)?"
        after = rf"(?:{_SPACE}?(?:{CURRENCY}|%))?"
        exponent = r"(?:[eE][+-]?\d{1,3})?"
        signed = rf"(?:[+-]?{before}|{before}[+-]?)"
        return rf"\s*{signed}(?:{digits}){exponent}{after}\s*"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(to_python_pattern(self.pattern), re.ASCII)

    def matches(self, text: str) -> bool:
        """Return whether a text is a number of this format."""
        return self._compiled.fullmatch(text) is not None

    can_parse = matches

    def parse(self, text: str) -> float:
        """Return the number of a matching text."""
        digits = _SIGNS.sub("", text).replace(self.thousands, "")
        return float(digits.replace(self.decimal, "."))

    def describe(self, text: str) -> str:
        """Return the number of a text as a message shows it."""
        return f"{self.parse(text):.12g}"


@dataclass(frozen=True)
class DateFormat:
    """A format of dates, with or without a time of day.

    >>> format = DATE_FORMATS["dayfirst"]
    >>> format.matches("17.11.2026"), format.matches("11/17/2026")
    (True, False)
    >>> format.describe("3/4/26")
    '2026-04-03'
    """

    name: str
    day_patterns: tuple[str, ...]
    day_formats: tuple[str, ...]

    kind = "dates"

    @property
    def pattern(self) -> str:
        """The pattern of its dates, in the syntax of DuckDB."""
        return rf"\s*(?:{'|'.join(self.day_patterns)}){_CLOCK}\s*"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.ASCII)

    def matches(self, text: str) -> bool:
        """Return whether a text has the pattern of this format."""
        return self._compiled.fullmatch(text) is not None

    def can_parse(self, text: str) -> bool:
        """Return whether a text matches and is a valid date or time.

        >>> [DATE_FORMATS["dayfirst"].can_parse(f"{day}.02.2026") for day in (28, 31)]
        [True, False]
        """
        return self.matches(text) and self.parse(text) is not None

    @property
    def formats(self) -> list[str]:
        """The formats of ``strptime`` for its dates, normalised."""
        return [day + clock for day in self.day_formats for clock in CLOCK_FORMATS]

    def parse(self, text: str) -> datetime.datetime | None:
        """Return the timestamp of a text; None if the date is invalid."""
        normalised = normalise_date(text)
        clock = (normalised.count(":"), normalised[-1:] in ("m", "M"))
        for format in self.formats:
            if (format.count(":"), "%p" in format) != clock:
                continue
            try:
                return datetime.datetime.strptime(normalised, format)
            except ValueError:
                continue
        return None

    def describe(self, text: str) -> str:
        """Return the date of a text as a message shows it."""
        time = self.parse(text)
        assert time is not None
        return time.isoformat(" ") if ":" in text else time.date().isoformat()


@dataclass(frozen=True)
class TimeFormat(DateFormat):
    """A format of times of day without a date.

    >>> TIME_OF_DAY.matches("7:30 pm"), TIME_OF_DAY.describe("7:30 pm")
    (True, '19:30')
    >>> TIME_OF_DAY.parse("24:30") is None
    True
    """

    kind = "times of day"

    @property
    def pattern(self) -> str:
        """The pattern of its times, in the syntax of DuckDB."""
        return rf"\s*(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?{_AM_PM}\s*"

    @property
    def formats(self) -> list[str]:
        """The formats of ``strptime`` for its times, normalised."""
        return [clock.strip() for clock in CLOCK_FORMATS if clock]

    def describe(self, text: str) -> str:
        """Return the time of a text as a message shows it."""
        time = self.parse(text)
        assert time is not None
        return time.time().isoformat("seconds" if time.second else "minutes")


CellFormat = NumberFormat | DateFormat

# Two-digit years are tried first: otherwise DuckDB reads 26 as the year 26.
CLOCK_FORMATS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
# Separators of a date become a space, and a space comes before AM and PM.
DATE_SEPARATORS, AM_PM_AT_END = r"[-/.,\sT]+", r" ?([AaPp][Mm])$"


def normalise_date(text: str) -> str:
    """Return a date with single spaces as separators, as its formats expect.

    >>> normalise_date("17-Nov-2026T10:30pm"), normalise_date("Nov. 17, 2026")
    ('17 Nov 2026 10:30 pm', 'Nov 17 2026')
    """
    spaced = re.sub(DATE_SEPARATORS, " ", text.strip(), flags=re.ASCII)
    return re.sub(AM_PM_AT_END, r" \1", spaced)


def to_python_pattern(pattern: str) -> str:
    """Return a DuckDB pattern in Python's syntax."""
    return re.sub(r"\\x\{(\w+)\}", r"\\u\1", pattern)


SIGNS = rf"{CURRENCY}|{_SPACE}|[%\s]"
_SIGNS = re.compile(to_python_pattern(SIGNS))


def _date_patterns(separators: str, *parts: str) -> tuple[str, ...]:
    """Return a pattern of day, month and year for each separator."""
    return tuple(f"[{separator}]".join(parts) for separator in separators)


NUMBER_FORMATS = tuple(
    NumberFormat(decimal, thousands)
    for decimal, thousands in (
        (".", ","),
        (",", "."),
        (",", " "),
        (".", "'"),
        (".", " "),
    )
)
# With dots, the day always comes first.
DATE_FORMATS = {
    format.name: format
    for format in (
        DateFormat(
            DAY_FIRST,
            _date_patterns("/.-", _DAY, _MONTH, _YEAR),
            ("%d %m %y", "%d %m %Y"),
        ),
        DateFormat(
            MONTH_FIRST,
            _date_patterns("/-", _MONTH, _DAY, _YEAR),
            ("%m %d %y", "%m %d %Y"),
        ),
        DateFormat(
            "yearfirst", _date_patterns("/.-", r"\d{4}", _MONTH, _DAY), ("%Y %m %d",)
        ),
        DateFormat(
            "month by name",
            (rf"{_DAY}[ .-]{{1,2}}{_NAME}[ .,-]{{1,2}}{_YEAR}",),
            ("%d %b %y", "%d %b %Y", "%d %B %y", "%d %B %Y"),
        ),
        DateFormat(
            "name of the month first",
            (rf"{_NAME}[ .]{{1,2}}{_DAY}[ ,]{{1,2}}{_YEAR}",),
            ("%b %d %y", "%b %d %Y", "%B %d %y", "%B %d %Y"),
        ),
    )
}
TIME_OF_DAY = TimeFormat("time of day", (), ())
DATE_AND_TIME_FORMATS: tuple[CellFormat, ...] = (*DATE_FORMATS.values(), TIME_OF_DAY)
CELL_FORMATS: tuple[CellFormat, ...] = (*NUMBER_FORMATS, *DATE_AND_TIME_FORMATS)
# Whole numbers with leading zeros, as codes have.
PADDED = r"\s*[+-]?0[0-9]+\s*"
DIGIT = re.compile("[0-9]")  # every text with a format has one of these
