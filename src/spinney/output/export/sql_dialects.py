"""How the dialects of SQL write names, texts and numbers."""

from collections.abc import Callable
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
    most_divided : int, optional
        The most signs of a query in which rows are divided. DuckDB plans one of 1.1
        million in 8 seconds and 0.7 GB, one of twice as many in 24 and 1.5 GB.
    """

    name: str
    number: Callable[[float], str]
    cell: str
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


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "duckdb",
            _with_exponent,
            "NULLIF({0}::DOUBLE, 'NaN')",
            lists=False,
            most_divided=2_500_000,
        ),
        Dialect(
            "postgres",
            lambda number: f"{number!r}::float8",
            "NULLIF({0}::float8, 'NaN')",
        ),
        Dialect(
            "sqlite",
            _of_whole_numbers,
            "CAST({0} AS REAL)",
            greatest="MAX",
            least="MIN",
        ),
        Dialect(
            "spark",
            lambda number: f"{number!r}D",
            "NULLIF(DOUBLE({0}), DOUBLE('NaN'))",
            quote="`",
            backslashes=True,
            substitutes=True,
        ),
        Dialect(
            "bigquery",
            _with_exponent,
            "IF(IS_NAN(CAST({0} AS FLOAT64)), NULL, CAST({0} AS FLOAT64))",
            quote="`",
            backslashes=True,
        ),
    )
}
