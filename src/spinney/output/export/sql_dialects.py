"""How the dialects of SQL write names, texts and numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import frexp

from spinney.data import Value
from spinney.output.export.portable import refuse_to_say

__all__ = ["DEFAULT_DIALECT", "DIALECTS", "Dialect"]

DEFAULT_DIALECT = "duckdb"


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect of SQL.

    Parameters
    ----------
    name : str
        What the user types.
    number : function of float
        The literal of a floating number of 64 bits.
    cell : str
        The column ``{0}`` as such a number; NULL where it is NaN, which SQL does not
        take for missing.
    greatest, least : str
        The functions that return the greatest and the least of their arguments.
    quote : str
        What stands around a name; twice where it is part of one.
    backslashes : bool
        Whether a backslash in a literal escapes what comes after it.
    substitutes : bool
        Whether ``${name}`` is replaced wherever it stands, before anything is read.
    lists : bool
        Whether a list after IN is cheap: DuckDB makes a join of each, which takes it
        minutes where a model has hundreds.
    times : mapping of str
        What the column ``{0}`` counts as such a number where it is a day, an instant
        or a clock, and what such a column holds.
    most_divided : int, optional
        The most signs of a query in which rows are divided. DuckDB plans one of 1.1
        million in 8 seconds and 0.7 GB, one of twice as many in 24 and 1.5 GB.
    """

    name: str
    number: Callable[[float], str]
    cell: str
    times: Mapping[str, tuple[str, str]]
    greatest: str = "GREATEST"
    least: str = "LEAST"
    quote: str = '"'
    backslashes: bool = False
    substitutes: bool = False
    lists: bool = True
    most_divided: int | None = None

    def identifier(self, name: str) -> str:
        """Return a quoted name.

        >>> print(DIALECTS["postgres"].identifier('the "best" one'))
        "the ""best"" one"
        """
        _refuse_nul(name)
        if self.substitutes and "${" in name:
            what = f"the name {name!r}, in which {self.name} would replace ${{…}}"
            refuse_to_say("sql", what, "rename it")
        if self.quote == '"':
            return '"' + name.replace('"', '""') + '"'
        if self.backslashes and self.name == "bigquery":
            return f"`{_escaped(name, '`')}`"
        return "`" + name.replace("`", "``") + "`"

    def time(self, name: str, kind: str) -> str:
        """Return the number that a column of days, instants or clocks counts."""
        if kind not in self.times:
            what = (
                f"the column {name}, a time of day, which {self.name} has no type for"
            )
            refuse_to_say("sql", what, "make it a number of seconds, and grow anew")
        return self.times[kind][0].replace("{0}", name)

    def given(self, kind: str) -> str:
        """Return what a column of days, instants or clocks holds."""
        return self.times[kind][1] if kind in self.times else "as {}"

    def comment(self, text: str) -> str:
        """Return the text of a comment, in which nothing is replaced."""
        return text.replace("${", "$ {") if self.substitutes else text

    def table(self, name: str) -> str:
        """Return the name of a table; a dot stands between a schema and its table."""
        return ".".join(map(self.identifier, name.split(".")))

    def literal(self, value: Value) -> str:
        r"""Return a value of any type.

        >>> print(*(DIALECTS["spark"].literal(each) for each in ("it's", 7, 0.5, True)))
        'it\'s' 7 0.5D TRUE
        """
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return self.number(value)
        _refuse_nul(value)
        if self.backslashes:
            text = _escaped(value, chr(39))
            if self.substitutes:
                text = text.replace("${", "\\u0024{")
            return f"'{text}'"
        return "'" + value.replace("'", "''") + "'"


def _refuse_nul(text: str) -> None:
    if "\0" in text:
        refuse_to_say("sql", f"{text!r}, which has a NUL character", "rename it")


def _escaped(text: str, quote: str) -> str:
    for sign, instead in (("\\", "\\\\"), (quote, f"\\{quote}"), ("\n", "\\n")):
        text = text.replace(sign, instead)
    return text.replace("\r", "\\r")


def _with_exponent(number: float) -> str:
    """Return a number that no engine takes for a decimal one.

    >>> _with_exponent(0.1), _with_exponent(1e-300)
    ('0.1e0', '1e-300')
    """
    text = repr(float(number))
    return text if "e" in text else f"{text}e0"


def _of_whole_numbers(number: float) -> str:
    """Return a number as SQLite reads it to the last bit, whatever its version.

    It rounds decimal fractions twice, and so wrongly now and then; halves, quarters and
    whole numbers it does not round at all.

    >>> _of_whole_numbers(2.5), _of_whole_numbers(0.1)
    ('2.5e0', '(3602879701896397.0 / 4503599627370496.0 / 8.0 /* 0.1 */)')
    """
    if abs(number) < 2**40 and (1024 * number).is_integer():
        return _with_exponent(number)
    share, power = frexp(number)
    while not share.is_integer():
        share, power = 2 * share, power - 1
    steps = [min(abs(power) - step, 52) for step in range(0, abs(power), 52)]
    sign = " * " if power > 0 else " / "
    parts = [repr(share), *(f"{2**step}.0" for step in steps)]
    return f"({sign.join(parts)} /* {number!r} */)"


A_DAY = "1.1574074074074073e-05"  # of a second: by this the model multiplies, too
_DATES = "of type DATE or TIMESTAMP, or as text of ISO 8601"
_CLOCKS = "of type TIME, or as text of ISO 8601"


def _by_seconds(
    instant: str, clock: str, factor: str, given: tuple[str, str]
) -> Mapping[str, tuple[str, str]]:
    """Return how days, instants and clocks are read where all of them are seconds."""
    return {
        "day": (f"({instant} * {factor})", given[0]),
        "instant": (instant, given[0]),
        "clock": (clock, given[1]),
    }


# A text without a time zone is in UTC, whatever zone the session has.
_DUCKDB_TEXT = "NULLIF(CAST({0} AS VARCHAR), '')"
_DUCKDB_ZONED = (
    rf"regexp_replace(regexp_replace({_DUCKDB_TEXT}, '^([0-9/-]+)$', '\1 00:00'), "
    r"'^([0-9/-]+[ T][0-9:.]+)$', '\1+00')"
)
_DUCKDB_TIMES = _by_seconds(
    f"(epoch_us(CAST({_DUCKDB_ZONED} AS TIMESTAMPTZ)) / 1e6)",
    f"(epoch_us(CAST({_DUCKDB_TEXT} AS TIME)) / 1e6)",
    A_DAY,
    (_DATES, _CLOCKS),
)
# JSON has dates in ISO 8601, whatever DateStyle is; other texts are made unreadable,
# for PostgreSQL would take 3.4.2026 for the fourth of March.
_POSTGRES_TEXT = "NULLIF(to_jsonb({0}) #>> '{}', '')"
_POSTGRES_ZONED = (
    rf"regexp_replace(regexp_replace({_POSTGRES_TEXT}, "
    r"'^([0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9:.]+)?)$', '\1 UTC'), "
    r"'^(?![0-9]{4}-[0-9]{2}-[0-9]{2})', 'no date: ')"
)
_POSTGRES_TIMES = _by_seconds(
    f"extract(epoch FROM ({_POSTGRES_ZONED})::timestamptz)::float8",
    f"extract(epoch FROM ({_POSTGRES_TEXT})::time)::float8",
    f"{A_DAY}::float8",
    (_DATES, _CLOCKS),
)


def _sqlite_time(text: str, factor: str) -> str:
    """Return the number of a time; a text that is none makes JSON raise an error.

    Numbers are taken as they are. To microseconds, as SQLite itself does not read.
    """
    whole = f"strftime('%s', substr({text}, 1, 19))"
    micros = f"round(('0' || substr({text}, 20, 7)) * 1000000)"
    real = (
        f"date(substr({text}, 1, 10), '+0 days') = substr({text}, 1, 10)"
        f" AND substr({text}, 20, 1) IN ('', '.')"
        f" AND substr({text}, 21) NOT GLOB '*[^0-9]*' AND {whole} IS NOT NULL"
    )
    return (
        "CASE WHEN typeof({0}) <> 'text' THEN CAST({0} AS REAL) "
        "WHEN {0} = '' THEN NULL "
        f"WHEN {real} THEN ({whole} * 1000000 + {micros}) / 1e6{factor} "
        "ELSE json('no date: ' || {0}) END"
    )


_SQLITE_GIVEN = "as text of ISO 8601 without a time zone, or as {}"
_SQLITE_TIMES = {
    "day": (_sqlite_time("{0}", f" * {_of_whole_numbers(1 / 86400)}"), _SQLITE_GIVEN),
    "instant": (_sqlite_time("{0}", ""), _SQLITE_GIVEN),
    "clock": (_sqlite_time("('1970-01-01 ' || {0})", ""), _SQLITE_GIVEN),
}
# These functions take no other type.
_SPARK_TIMES = {
    "day": ("DOUBLE(unix_date({0}))", "of type DATE"),
    "instant": ("(DOUBLE(unix_micros({0})) / 1000000.0D)", "of type TIMESTAMP"),
}
_BIGQUERY_TIMES = {
    "day": ("CAST(UNIX_DATE({0}) AS FLOAT64)", "of type DATE"),
    "instant": ("(UNIX_MICROS({0}) / 1e6)", "of type TIMESTAMP"),
    "clock": ("(TIME_DIFF({0}, TIME '00:00:00', MICROSECOND) / 1e6)", "of type TIME"),
}

DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "duckdb",
            _with_exponent,
            "NULLIF({0}::DOUBLE, 'NaN')",
            _DUCKDB_TIMES,
            lists=False,
            most_divided=2_500_000,
        ),
        Dialect(
            "postgres",
            lambda number: f"{number!r}::float8",
            "NULLIF({0}::float8, 'NaN')",
            _POSTGRES_TIMES,
        ),
        Dialect(
            "sqlite",
            _of_whole_numbers,
            "CAST({0} AS REAL)",
            _SQLITE_TIMES,
            greatest="MAX",
            least="MIN",
        ),
        Dialect(
            "spark",
            lambda number: f"{number!r}D",
            "NULLIF(DOUBLE({0}), DOUBLE('NaN'))",
            _SPARK_TIMES,
            quote="`",
            backslashes=True,
            substitutes=True,
        ),
        Dialect(
            "bigquery",
            _with_exponent,
            "IF(IS_NAN(CAST({0} AS FLOAT64)), NULL, CAST({0} AS FLOAT64))",
            _BIGQUERY_TIMES,
            quote="`",
            backslashes=True,
        ),
    )
}
