"""Names, texts, numbers and times in the dialects of SQL."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import frexp

from spinney._support.text import ascii_lower
from spinney.data import SECONDS_PER_DAY, Value
from spinney.extensions.exports.portable import refuse_unsupported

DEFAULT_DIALECT = "duckdb"
POSTGRES_BYTES = 63  # of a name; PostgreSQL cuts off the rest


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect of SQL.

    Parameters
    ----------
    name : str
        The name that users type.
    number : function of float
        Returns the literal of a 64-bit float.
    cell : str
        The column ``{0}`` as a 64-bit float, NULL for NaN.
    greatest, least : str
        The functions for the maximum and minimum of their arguments.
    quote : str
        The quotation mark of names; doubled inside names.
    backslashes : bool
        Whether a backslash in a literal escapes the next character.
    substitutes : bool
        Whether the engine replaces ``${name}`` anywhere in a query.
    lists : bool
        Whether IN lists are cheap: DuckDB turns each into a join, which takes minutes
        for a model with hundreds.
    times : mapping of str
        The column ``{0}`` of days, instants or clocks as a number, and a description of
        the column's type.
    folded : function of str
        The case folding by which the engine compares names.
    longest : int, optional
        The maximum length of a name in bytes.
    true, false : str
        The truth values; SQLite reads ``true`` as a column of that name.
    constants : tuple of str
        The names, in lower case, that no column of a subquery or view can have, even
        quoted.
    most_divided : int, optional
        The maximum length, in characters, of a query with divided rows. DuckDB plans
        one of 1.1 million in 8 seconds and 0.7 GB, one of twice the length in 24 and
        1.5 GB.
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
    folded: Callable[[str], str] = str.lower
    longest: int | None = None
    true: str = "TRUE"
    false: str = "FALSE"
    constants: tuple[str, ...] = ()
    max_divided_length: int | None = None

    def identifier(self, name: str) -> str:
        """Return a quoted name.

        >>> print(DIALECTS["postgres"].identifier('the "best" one'))
        "the ""best"" one"
        """
        _refuse_nul(name)
        if self.substitutes and "${" in name:
            what = f"the name {name!r}, in which {self.name} would replace ${{…}}"
            refuse_unsupported("sql", what, "rename it")
        if self.quote == '"':
            return '"' + name.replace('"', '""') + '"'
        if self.backslashes and self.name == "bigquery":
            return f"`{_escaped(name, '`')}`"
        return "`" + name.replace("`", "``") + "`"

    def with_ending(self, name: str, ending: str) -> str:
        """Return a name with an ending, shortened so that the engine reads the ending.

        >>> len(DIALECTS["postgres"].with_ending(70 * "a", " 2"))
        63
        """
        n_bytes = None if self.longest is None else self.longest - len(ending)
        return f"{_first_bytes(name, n_bytes)}{ending}"

    def time(self, name: str, kind: str, *, table: str = "") -> str:
        """Return the expression of a time column as a number.

        ``table`` is the prefix of the column name, with its dot.
        """
        if kind not in self.times:
            what = f"the column {name}, a time of day: {self.name} has no such type"
            refuse_unsupported(
                "sql", what, "make it a number of seconds, and grow the model again"
            )
        return self.times[kind][0].replace("{0}", table + name)

    def time_type(self, kind: str) -> str:
        """Return a description of the type of a time column."""
        return self.times[kind][1] if kind in self.times else "as {}"

    def comment(self, text: str) -> str:
        """Return the text of a comment without substitutions."""
        return text.replace("${", "$ {") if self.substitutes else text

    def table(self, name: str) -> str:
        """Return a quoted table name; a dot separates schema and table."""
        return ".".join(map(self.identifier, name.split(".")))

    def literal(self, value: Value) -> str:
        r"""Return a value of any type as a literal.

        >>> print(*(DIALECTS["spark"].literal(each) for each in ("it's", 7, 0.5, True)))
        'it\'s' 7 0.5D TRUE
        """
        if isinstance(value, bool):
            return self.true if value else self.false
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


def _first_bytes(name: str, n_bytes: int | None) -> str:
    """Return the characters within the first ``n_bytes`` of a name; None means all.

    >>> _first_bytes("née", 2), _first_bytes("née", 3), _first_bytes("née", None)
    ('n', 'né', 'née')
    """
    data = name.encode("utf-8", "surrogatepass")[:n_bytes]
    return name if n_bytes is None else data.decode("utf-8", "ignore")


def _refuse_nul(text: str) -> None:
    if "\0" in text:
        refuse_unsupported("sql", f"{text!r}, which has a NUL character", "rename it")


def _escaped(text: str, quote: str) -> str:
    for sign, instead in (("\\", "\\\\"), (quote, f"\\{quote}"), ("\n", "\\n")):
        text = text.replace(sign, instead)
    return text.replace("\r", "\\r")


def _with_exponent(number: float) -> str:
    """Return a number with an exponent, so that no engine reads it as DECIMAL.

    >>> _with_exponent(0.1), _with_exponent(1e-300)
    ('0.1e0', '1e-300')
    """
    text = repr(float(number))
    return text if "e" in text else f"{text}e0"


def _as_binary_fraction(number: float) -> str:
    """Return a number in a form that every SQLite reads exactly.

    SQLite rounds decimal fractions twice, and so sometimes wrongly; integers and binary
    fractions are exact.

    >>> _as_binary_fraction(2.5), _as_binary_fraction(0.1)
    ('2.5e0', '(3602879701896397.0 / 4503599627370496.0 / 8.0 /* 0.1 */)')
    """
    if abs(number) < 2**40 and (1024 * number).is_integer():
        return _with_exponent(number)
    mantissa, power = frexp(number)
    while not mantissa.is_integer():
        mantissa, power = 2 * mantissa, power - 1
    steps = [min(abs(power) - step, 52) for step in range(0, abs(power), 52)]
    sign = " * " if power > 0 else " / "
    parts = [repr(mantissa), *(f"{2**step}.0" for step in steps)]
    return f"({sign.join(parts)} /* {number!r} */)"


# Patterns of the texts that are read. Engines accept further texts, each differently, #
# some by the session's time zone ('now', '2026/01/05', '2026-01-05 10:30 PM'), and #
# some accept the year 0.
_YEAR = r"([1-9]\d{3}|0[1-9]\d\d|00[1-9]\d|000[1-9])"
_CLOCK = r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?"
_ZONE = r"(Z|[+-]([01]\d|2[0-3])([0-5]\d|(:[0-5]\d){0,2}))"
_DATE = rf"{_YEAR}-\d\d-\d\d([ T]{_CLOCK}{_ZONE}?)?"
_NO_DATE = "no date such as 2026-11-18: "
_NO_CLOCK = "no time of day such as 09:30:00: "
_DATES = "of type DATE or TIMESTAMP, or as text such as 2026-11-18 10:30:00"
_CLOCKS = "of type TIME, or as text such as 10:30:00"


def _require_pattern(text: str, pattern: str, error_prefix: str) -> str:
    """Return SQL that makes casts of texts without this pattern fail."""
    prefixed = f"'{error_prefix}' || {text}"
    return rf"regexp_replace({prefixed}, '^{error_prefix}({pattern})$', '\1')"


def _in_utc(text: str) -> str:
    """Return SQL that adds UTC to the text of an instant without a time zone."""
    with_clock = rf"regexp_replace({text}, '^([\d-]+)$', '\1 00:00')"
    return rf"regexp_replace({with_clock}, '^([\d-]+[ T][\d:.]+)$', '\1+00')"


def _to_micros(text: str) -> str:
    """Return SQL that truncates the text of a time to microseconds."""
    return rf"regexp_replace({text}, '([.]\d{{6}})\d+', '\1')"


_DUCKDB_TEXT = "NULLIF(CAST({0} AS VARCHAR), '')"
_DUCKDB_DATE = _in_utc(_require_pattern(_DUCKDB_TEXT, _DATE, _NO_DATE))
_DUCKDB_CLOCK = _require_pattern(_DUCKDB_TEXT, _CLOCK, _NO_CLOCK)
_DUCKDB_MICROS = f"epoch_us(CAST({_DUCKDB_DATE} AS TIMESTAMPTZ))"
_DUCKDB_TIMES = {
    "day": (
        f"CAST(datediff('day', DATE '1970-01-01', make_timestamp({_DUCKDB_MICROS})) "
        "AS DOUBLE)",
        _DATES,
    ),
    "instant": (f"({_DUCKDB_MICROS} / 1e6)", _DATES),
    "clock": (f"(epoch_us(CAST({_DUCKDB_CLOCK} AS TIME)) / 1e6)", _CLOCKS),
}
# JSON has ISO 8601 dates, regardless of DateStyle.
_POSTGRES_TEXT = "NULLIF(to_jsonb({0}) #>> '{}', '')"
_POSTGRES_DATE = _to_micros(_in_utc(_require_pattern(_POSTGRES_TEXT, _DATE, _NO_DATE)))
_POSTGRES_CLOCK = _to_micros(_require_pattern(_POSTGRES_TEXT, _CLOCK, _NO_CLOCK))
_POSTGRES_TIMES = {
    "day": (
        f"((({_POSTGRES_DATE})::timestamptz AT TIME ZONE 'UTC')::date "
        "- DATE '1970-01-01')::float8",
        _DATES,
    ),
    "instant": (
        f"extract(epoch FROM ({_POSTGRES_DATE})::timestamptz)::float8",
        _DATES,
    ),
    "clock": (f"extract(epoch FROM ({_POSTGRES_CLOCK})::time)::float8", _CLOCKS),
}


def _sqlite_time(text: str, number: str, no: str) -> str:
    """Return SQL that converts a time to a number; invalid texts raise a JSON error.

    Numbers are unchanged.
    """
    hour = "[ T][0-2][0-9]:[0-5][0-9]"
    second = f"{hour}:[0-5][0-9]"
    clock = f"substr({text}, 11)"
    real = (
        f"date(substr({text}, 1, 10), '+0 days') = substr({text}, 1, 10)"
        f" AND substr({text}, 1, 4) > '0000' AND substr({text}, 12, 2) < '24'"
        f" AND ({clock} = '' OR {clock} GLOB '{hour}' OR {clock} GLOB '{second}'"
        f" OR {clock} GLOB '{second}.[0-9]*'"
        f" AND substr({text}, 21) NOT GLOB '*[^0-9]*')"
    )
    return (
        "CASE WHEN typeof({0}) <> 'text' THEN CAST({0} AS REAL) "
        "WHEN {0} = '' THEN NULL "
        f"WHEN {real} THEN {number} ELSE json('{no}' || {{0}}) END"
    )


def _sqlite_seconds(text: str) -> str:
    """Return SQL for the seconds since 1970, including microseconds."""
    whole = f"strftime('%s', substr({text}, 1, 19))"
    micros = f"round(('0' || substr({text}, 20, 7)) * 1000000)"
    return f"({whole} * 1000000 + {micros}) / 1e6"


_SQLITE_DAY = f"strftime('%s', substr({{0}}, 1, 10)) / {SECONDS_PER_DAY}"
_SQLITE_CLOCK = "('1970-01-01 ' || {0})"
_SQLITE_DATES = "as text such as 2026-11-18 10:30:00 without a time zone, or as {}"
_SQLITE_TIMES = {
    "day": (_sqlite_time("{0}", _SQLITE_DAY, _NO_DATE), _SQLITE_DATES),
    "instant": (
        _sqlite_time("{0}", _sqlite_seconds("{0}"), _NO_DATE),
        _SQLITE_DATES,
    ),
    "clock": (
        _sqlite_time(_SQLITE_CLOCK, _sqlite_seconds(_SQLITE_CLOCK), _NO_CLOCK),
        "as text such as 10:30:00, or as {}",
    ),
}
# These functions accept no other type.
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
            folded=ascii_lower,
            max_divided_length=2_500_000,
        ),
        Dialect(
            "postgres",
            lambda number: f"{number!r}::float8",
            "NULLIF({0}::float8, 'NaN')",
            _POSTGRES_TIMES,
            folded=lambda name: _first_bytes(name, POSTGRES_BYTES),
            longest=POSTGRES_BYTES,
        ),
        Dialect(
            "sqlite",
            _as_binary_fraction,
            "CAST({0} AS REAL)",
            _SQLITE_TIMES,
            greatest="MAX",
            least="MIN",
            folded=ascii_lower,
            true="1",
            false="0",
            constants=("true", "false"),
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
