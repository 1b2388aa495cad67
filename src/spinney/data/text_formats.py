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
    sheet : str or int, optional
        The sheet of an Excel workbook, by its name or its number from 1.
    units : tuple of pairs, optional
        The units of columns, as in ``82 kg``, which a model stores: names and units.

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
    sheet: str | int | None = None
    units: tuple[tuple[str, str], ...] | None = None

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
        if not isinstance(self.sheet, str | int | None) or self.sheet in (True, False):
            raise refusal(Setting("sheet", self.sheet), "must be a name or a number")
        for pair in self.units or ():
            if len(pair) != 2 or not all(isinstance(text, str) for text in pair):
                raise refusal(Setting("units", pair), "must be a column and its unit")

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
        """Return what holds for later tables too, with other headers and sheets."""
        return replace(self, skip=None, sheet=None)

    def unit(self, column: str) -> str | None:
        """Return the unit of a column, None if it is not known to have one."""
        return dict(self.units or ()).get(column)

    def with_defaults(self, other: "TextFormat") -> "TextFormat":
        """Return this format with unset fields from another one.

        >>> declared = TextFormat(dates="dayfirst")
        >>> declared.with_defaults(TextFormat(",", None, "monthfirst"))
        TextFormat(decimal=',', thousands=None, dates='dayfirst', skip=None, \
sheet=None, units=None)
        """
        declared = {name: v for name, v in asdict(self).items() if v is not None}
        return replace(other, **declared)


UNDECLARED = TextFormat()

# Spaces between groups of digits, or before a sign.
_SPACE = r"[ \x{00a0}\x{2009}\x{202f}]"
CURRENCY = r"(?:[$€£¥₹₽₩₺₴₪]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN)"
# Letters behind a number, as in "82 kg" and "3,000 sq ft".
_TAIL = "[.]?(?: [A-Za-z]{1,9}[²³.]?)?"
UNIT = f"(?:[A-Za-zµμ°Ω][A-Za-zµμΩ²³/]{{0,11}}{_TAIL})"
# Next to the digits, a single letter is a unit only if it is a usual one: 12A is none.
TIGHT_UNIT = f"(?:[mglLthsVWΩ°]|[A-Za-zµμ°Ω][A-Za-zµμΩ²³/]{{1,11}}{_TAIL})"
MINUS = r"\-−"  # the sign of typesetters, and that of keyboards
MAGNITUDES = {"K": "e3", "k": "e3", "M": "e6", "bn": "e9"}
_MAGNITUDE = "(?:[KkM]|bn)"
_END = r"(?:[^A-Za-z0-9]|$)"
# Digits and marks between them; an exponent; a magnitude. Whether a number is negative.
DIGITS = (
    rf"([.,]?\d(?:(?:[.,']|{_SPACE})?\d)*[.,]?)"
    rf"(?:([eE][+-]?\d{{1,3}})|({_MAGNITUDE}){_END})?"
)
NEGATIVE = rf"^[^0-9]*[({MINUS}]|[{MINUS}][^0-9]*$"
# The seconds of parts of a duration, largest first.
DURATION_PARTS = {
    86_400: r"(\d+(?:\.\d+)?) ?d(?:ays?)?",
    3_600: r"(\d+(?:\.\d+)?) ?h(?:rs?|ours?)?",
    60: r"(\d+(?:\.\d+)?) ?m(?:ins?|inutes?)?",
    1: r"(\d+(?:\.\d+)?) ?s(?:ecs?|econds?)?",
}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun"]
_MONTHS += ["jul", "aug", "sep", "oct", "nov", "dec"]
_NAME = "(?:" + "|".join(f"[{m[0].upper()}{m[0]}]{m[1:]}[a-z]*" for m in _MONTHS) + ")"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_YEAR = r"(?:\d{4}|\d{2})"
_AM_PM = r"(?: ?[AaPp][Mm])?"
_CLOCK = rf"(?:[ T]\d{{1,2}}:\d{{2}}(?::\d{{2}})?{_AM_PM})?"


@dataclass(frozen=True)
class NumberFormat:
    """A way to write numbers, also with a currency, a percent sign or a unit.

    Negative numbers have a minus sign in front or behind, or brackets. A K, M or bn
    stands for thousands, millions and billions.

    >>> format = NumberFormat(",", ".")
    >>> format.matches("1.017,77"), format.matches("1,017.77")
    (True, False)
    >>> format.parse("-1.017,5 €"), format.parse("(1.017,5)"), format.parse("1,2K")
    (-1017.5, -1017.5, 1200.0)
    >>> format.parse("3.000 sq ft"), format.parse("5-"), format.parse("−5,0 °C")
    (3000.0, -5.0, -5.0)
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
        digits = rf"(?:(?:{grouped}|\d+)(?:{mark}\d*)?|{mark}\d+)"
        before = rf"(?:{CURRENCY}{_SPACE}?)?"
        after = rf"(?:{_SPACE}?(?:{CURRENCY}|%)|{_SPACE}{UNIT}|{TIGHT_UNIT})?"
        size = rf"(?:[eE][+-]?\d{{1,3}}|{_MAGNITUDE})?"
        signed = rf"'?(?:[+{MINUS}]?{before}|{before}[+{MINUS}]?)"
        number = rf"{digits}{size}{after}"
        negative = rf"{before}(?:\({before}{number}\)|{number}{_SPACE}?[{MINUS}])"
        return rf"\s*(?:{signed}{number}|{negative})\s*"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(to_python_pattern(self.pattern), re.ASCII)

    def matches(self, text: str) -> bool:
        """Return whether a text is a number of this format."""
        return self._compiled.fullmatch(text) is not None

    can_parse = matches

    def parse(self, text: str) -> float:
        """Return the number of a text that matches."""
        found = _DIGITS.search(text)
        assert found is not None  # as in all texts that match
        digits = _SPACES.sub("", found[1]).replace(self.thousands, "")
        exponent = found[2] or MAGNITUDES.get(found[3], "")
        sign = "-" if _NEGATIVE.search(text) else ""
        return float(sign + digits.replace(self.decimal, ".") + exponent)

    def describe(self, text: str) -> str:
        """Return the number of a text as a message shows it."""
        return f"{self.parse(text):.12g} {unit_of(text)}".rstrip()


@dataclass(frozen=True)
class DurationFormat:
    """A way to write durations, as in ``5h 34m``; the number is that of minutes.

    >>> DURATION.parse("5h 34m"), DURATION.parse("1 day 30 min"), DURATION.parse("90s")
    (334.0, 1470.0, 1.5)
    >>> DURATION.matches("5h34"), DURATION.matches("34m 5h")
    (False, False)
    """

    kind = "durations"
    unit = "min"

    @cached_property
    def pattern(self) -> str:
        """The pattern of its durations, as DuckDB writes it."""
        parts = [*DURATION_PARTS.values()]
        optional = [rf"(?:\s*{part})?" for part in parts]
        ways = (
            part + "".join(optional[index + 1 :]) for index, part in enumerate(parts)
        )
        return rf"\s*(?:{'|'.join(ways)})\s*"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.ASCII)

    def matches(self, text: str) -> bool:
        """Return whether a text is a duration."""
        return self._compiled.fullmatch(text) is not None

    can_parse = matches

    def parse(self, text: str) -> float:
        """Return the minutes of a text that matches."""
        found = {n: re.search(part, text) for n, part in DURATION_PARTS.items()}
        seconds = (n * float(part[1]) for n, part in found.items() if part)
        return sum(seconds) / 60

    def describe(self, text: str) -> str:
        """Return the duration of a text as a message shows it."""
        return f"{self.parse(text):.12g} {self.unit}"


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


CellFormat = NumberFormat | DurationFormat | DateFormat

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
SPACES = rf"{_SPACE}|\s"
_SPACES = re.compile(to_python_pattern(SPACES), re.ASCII)
_DIGITS = re.compile(to_python_pattern(DIGITS), re.ASCII)
_NEGATIVE = re.compile(NEGATIVE, re.ASCII)
# The letters behind a number, those of a magnitude, and the plural of a unit.
LAST_LETTERS = rf"[0-9.,]{_SPACE}?({UNIT}|%)[){MINUS}\s]*$"
LAST_MAGNITUDE = rf"[0-9.,]{_MAGNITUDE}[){MINUS}\s]*$"
PLURAL = r"([a-z][a-z])s?[.]?$"
_LAST_LETTERS = re.compile(to_python_pattern(LAST_LETTERS), re.ASCII)
_LAST_MAGNITUDE = re.compile(to_python_pattern(LAST_MAGNITUDE), re.ASCII)
_CURRENCY = re.compile(CURRENCY)


def unit_of(text: str) -> str:
    """Return the unit of a number, "%" of a percentage; "" if it has none.

    >>> unit_of("154 lbs"), unit_of("3,000 sq. ft."), unit_of("12%"), unit_of("5 EUR")
    ('lb', 'sq. ft', '%', '')
    >>> unit_of("1.2K"), unit_of("3M"), unit_of("3 M")
    ('', '', 'M')
    """
    found = _LAST_LETTERS.search(text)
    if found is None or _CURRENCY.fullmatch(found[1]) or _LAST_MAGNITUDE.search(text):
        return ""
    return re.sub(PLURAL, r"\1", found[1])


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
DURATION = DurationFormat()
DATE_AND_TIME_FORMATS: tuple[CellFormat, ...] = (*DATE_FORMATS.values(), TIME_OF_DAY)
CELL_FORMATS: tuple[CellFormat, ...] = (
    *NUMBER_FORMATS,
    DURATION,
    *DATE_AND_TIME_FORMATS,
)
# Whole numbers with leading zeros, as codes have.
PADDED = r"\s*[+-]?0[0-9]+\s*"
DIGIT = re.compile("[0-9]")  # every text with a format has one of these
