r"""The ways in which tables write numbers and dates.

A *form* is one way to write a number (``1,017.77``, ``1.017,77``, ``1 017,77``) or a
date (``17.11.2026``, ``11/17/2026``, ``Nov 17, 2026``): a pattern that its texts match,
and how they are read. Patterns and formats are written so that Python and DuckDB read
them alike; :mod:`spinney.data.duckdb.sql_text_formats` does the same in SQL.
"""

import datetime
import re
from dataclasses import dataclass
from functools import cached_property

from spinney.data.text_formats import DAY_FIRST, MONTH_FIRST

# Spaces that stand between groups of digits, or before a sign.
_SPACE = r"[ \x{00a0}\x{2009}\x{202f}]"
CURRENCY = r"(?:[$€£¥₹₽₩₺₴₪]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN)"
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun"]
_MONTHS += ["jul", "aug", "sep", "oct", "nov", "dec"]
_NAME = "(?:" + "|".join(f"[{m[0].upper()}{m[0]}]{m[1:]}[a-z]*" for m in _MONTHS) + ")"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_YEAR = r"(?:\d{4}|\d{2})"
_HALF = r"(?: ?[AaPp][Mm])?"
_CLOCK = rf"(?:[ T]\d{{1,2}}:\d{{2}}(?::\d{{2}})?{_HALF})?"


@dataclass(frozen=True)
class NumberFormat:
    """A way to write numbers, with a currency's or a percent sign or without.

    >>> form = NumberFormat(",", ".")
    >>> form.matches("1.017,77"), form.matches("1,017.77"), form.number("-1.017,5 €")
    (True, False, -1017.5)
    """

    decimal: str
    thousands: str

    kind = "numbers"

    @cached_property
    def pattern(self) -> str:
        """What its numbers match, in DuckDB's text_format."""
        space = self.thousands == " "
        group, mark = (
            _SPACE if space else re.escape(self.thousands),
            f"[{self.decimal}]",
        )
        # Groups of thousands begin with no 0: that of 0,123 is before a fraction.
        grouped = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+"
        digits = rf"(?:{grouped}|\d+)(?:{mark}\d*)?|{mark}\d+"
        before = rf"(?:{CURRENCY}{_SPACE}?)?"
        after = rf"(?:{_SPACE}?(?:{CURRENCY}|%))?"
        exponent = r"(?:[eE][+-]?\d{1,3})?"
        signed = rf"(?:[+-]?{before}|{before}[+-]?)"
        return rf"\s*{signed}(?:{digits}){exponent}{after}\s*"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(in_python(self.pattern), re.ASCII)

    def matches(self, text: str) -> bool:
        """Return whether a text is a number of this form."""
        return self._compiled.fullmatch(text) is not None

    def reads(self, text: str) -> bool:
        """Return whether a text is a number: every one that matches."""
        return self.matches(text)

    def number(self, text: str) -> float:
        """Return the number that a text is which matches."""
        bare = _SIGNS.sub("", text).replace(self.thousands, "")
        return float(bare.replace(self.decimal, "."))

    def shown(self, text: str) -> str:
        """Return for a person what a text is read as."""
        return f"{self.number(text):.12g}"


@dataclass(frozen=True)
class DateFormat:
    """A way to write dates, with a time of day or without.

    >>> form = DATES["dayfirst"]
    >>> form.matches("17.11.2026"), form.matches("11/17/2026"), form.shown("3/4/26")
    (True, False, '2026-04-03')
    """

    name: str
    day_patterns: tuple[str, ...]
    day_formats: tuple[str, ...]

    kind = "dates"

    @property
    def pattern(self) -> str:
        """What its dates match, in DuckDB's text_format."""
        return rf"\s*(?:{'|'.join(self.day_patterns)}){_CLOCK}\s*"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.ASCII)

    def matches(self, text: str) -> bool:
        """Return whether a text is written as dates of this form are."""
        return self._compiled.fullmatch(text) is not None

    def reads(self, text: str) -> bool:
        """Return whether a text matches, and a calendar or a clock has it.

        >>> [DATES["dayfirst"].reads(f"{day}.02.2026") for day in (28, 31)]
        [True, False]
        """
        return self.matches(text) and self.time(text) is not None

    @property
    def formats(self) -> list[str]:
        """How ``strptime`` reads its dates, once they are tidy."""
        return [day + clock for day in self.day_formats for clock in CLOCK_FORMATS]

    def time(self, text: str) -> datetime.datetime | None:
        """Return the instant that a text is; None where no calendar has it."""
        tidy = tidied_date(text)
        clock = (tidy.count(":"), tidy[-1:] in ("m", "M"))
        for format in self.formats:
            if (format.count(":"), "%p" in format) != clock:
                continue
            try:
                return datetime.datetime.strptime(tidy, format)
            except ValueError:
                continue
        return None

    def shown(self, text: str) -> str:
        """Return for a person what a text is read as."""
        time = self.time(text)
        assert time is not None
        return time.isoformat(" ") if ":" in text else time.date().isoformat()


@dataclass(frozen=True)
class TimeFormat(DateFormat):
    """A way to write times of day, without a date: of some day, which is left out.

    >>> CLOCK.matches("7:30 pm"), CLOCK.shown("7:30 pm"), CLOCK.time("24:30")
    (True, '19:30', None)
    """

    kind = "times of day"

    @property
    def pattern(self) -> str:
        """What its times match, in DuckDB's text_format."""
        return rf"\s*(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?{_HALF}\s*"

    @property
    def formats(self) -> list[str]:
        """How ``strptime`` reads its times, once they are tidy."""
        return [clock.strip() for clock in CLOCK_FORMATS if clock]

    def shown(self, text: str) -> str:
        """Return for a person what a text is read as."""
        time = self.time(text)
        assert time is not None
        return time.time().isoformat("seconds" if time.second else "minutes")


Form = NumberFormat | DateFormat

# Two digits of a year are tried first, for DuckDB takes 26 for the year 26 otherwise.
CLOCK_FORMATS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
# What a date has between its parts becomes a space, and one comes before AM and PM.
GAPS, HALF_DAY = r"[-/.,\sT]+", r" ?([AaPp][Mm])$"


def tidied_date(text: str) -> str:
    """Return a date with a space between its parts, ready for its formats.

    >>> tidied_date("17-Nov-2026T10:30pm"), tidied_date("Nov. 17, 2026")
    ('17 Nov 2026 10:30 pm', 'Nov 17 2026')
    """
    return re.sub(HALF_DAY, r" \1", re.sub(GAPS, " ", text.strip(), flags=re.ASCII))


def in_python(pattern: str) -> str:
    """Return a pattern of DuckDB's as Python writes it."""
    return re.sub(r"\\x\{(\w+)\}", r"\\u\1", pattern)


SIGNS = rf"{CURRENCY}|{_SPACE}|[%\s]"
_SIGNS = re.compile(in_python(SIGNS))


def _between(marks: str, *parts: str) -> tuple[str, ...]:
    """Return a pattern of the parts of a date for each mark between them."""
    return tuple(f"[{mark}]".join(parts) for mark in marks)


NUMBERS = tuple(
    NumberFormat(decimal, thousands)
    for decimal, thousands in (
        (".", ","),
        (",", "."),
        (",", " "),
        (".", "'"),
        (".", " "),
    )
)
# Between dots the day comes first, whoever writes.
DATES = {
    form.name: form
    for form in (
        DateFormat(
            DAY_FIRST, _between("/.-", _DAY, _MONTH, _YEAR), ("%d %m %y", "%d %m %Y")
        ),
        DateFormat(
            MONTH_FIRST, _between("/-", _MONTH, _DAY, _YEAR), ("%m %d %y", "%m %d %Y")
        ),
        DateFormat("yearfirst", _between("/.-", r"\d{4}", _MONTH, _DAY), ("%Y %m %d",)),
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
CLOCK = TimeFormat("time of day", (), ())
DATE_AND_TIME_FORMATS: tuple[Form, ...] = (*DATES.values(), CLOCK)
FORMS: tuple[Form, ...] = (*NUMBERS, *DATE_AND_TIME_FORMATS)
# Whole numbers with zeros before them, as names have.
PADDED = r"\s*[+-]?0[0-9]+\s*"
DIGIT = re.compile("[0-9]")  # which all that is of some form has
