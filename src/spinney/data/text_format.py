"""What a user says, or a model remembers, of how a table is written."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from spinney.errors import Setting, refusal, refuse_unknown

DECIMALS = (".", ",")
THOUSANDS = (",", ".", " ", "'")
DAY_FIRST, MONTH_FIRST = DATE_ORDERS = ("dayfirst", "monthfirst")


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How a table writes numbers and dates, as a user or a model says.

    Parameters
    ----------
    decimal : {".", ","}, optional
        What stands before the fraction of a number.
    thousands : {",", ".", " ", "'"}, optional
        What stands between groups of three digits.
    dates : {"dayfirst", "monthfirst"}, optional
        The order of dates such as ``3/4/2026``.
    skip : int, optional
        Lines above the one that names the columns.

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
        """Refuse what no form has."""
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
            raise refusal(
                Setting("skip", skip), "must be a whole number from 0 to 10000"
            )

    @classmethod
    def of(cls, given: "TextFormat | Mapping[str, Any] | None") -> "TextFormat":
        """Return a text_format that is given as such, as a mapping, or not at all."""
        if given is None:
            return cls()
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise refusal(
                Setting("text_format", given),
                "is no text_format",
                "write TextFormat(decimal=',') or a mapping of such names",
            )
        names = [field.name for field in fields(cls)]
        for name in given:
            if name not in names:
                refuse_unknown("text_format", name, names)
        return cls(**given)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said."""
        return self == TextFormat()

    def later(self) -> "TextFormat":
        """Return what is true of later tables, too: not how many lines were above."""
        return replace(self, skip=None)

    def over(self, other: "TextFormat") -> "TextFormat":
        """Return what this one says, and of the rest what another one does.

        >>> TextFormat(dates="dayfirst").over(TextFormat(",", None, "monthfirst"))
        TextFormat(decimal=',', thousands=None, dates='dayfirst', skip=None)
        """
        said = {
            name: value for name, value in asdict(self).items() if value is not None
        }
        return replace(other, **said)


UNDECLARED = TextFormat()
