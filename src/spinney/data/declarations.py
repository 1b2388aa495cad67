"""Declarations of the user about the columns of a table.

Declarations override inferred kinds: a number can be declared nominal, a text ordinal,
a column ignored, a text such as ``NA`` missing.
"""

import csv
from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, cast

from spinney._support.text import first_of, joined
from spinney.data.table import Kind, Value
from spinney.data.text_formats import UNDECLARED, TextFormat
from spinney.errors import (
    DataError,
    ParameterError,
    Setting,
    did_you_mean,
    refusal,
)


@dataclass(frozen=True, slots=True)
class Declarations:
    """The declarations of a user, by column name.

    Parameters
    ----------
    nominal, numeric, ignore : tuple of str
        Names of columns; patterns, such as ``Q7_*``; lists, such as ``a,b``. An exact
        name takes precedence.
    ordinal : mapping of str to tuple of str
        Levels, low to high, by the name of the column, a pattern or a list.
    values : mapping of str to tuple of str
        All permitted values of nominal columns, by column name.
    missing : tuple of str
        Missing-value markers of all columns. A number or a date is missing if it equals
        the value of a marker.
    only : tuple of str, optional
        The columns that a model needs: all others are skipped, and declarations of
        absent columns are ignored.
    text_format : TextFormat
        The declared format of numbers and dates.
    model_format : TextFormat
        The format of a model's training table, used if cells are ambiguous.
    as_text : bool
        Whether every column is nominal, with unchanged texts. Declared columns may be
        absent.

    Examples
    --------
    >>> Declarations(nominal=("zip",), missing=("?",)).kind("zip")
    'nominal'
    """

    nominal: tuple[str, ...] = ()
    ordinal: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    numeric: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    text_format: TextFormat = UNDECLARED
    model_format: TextFormat = UNDECLARED
    as_text: bool = False
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The declared columns and patterns, each as often as it is declared.

        A column with declared values is nominal, and may be declared nominal, too.
        """
        nominal = [name for name in self.nominal if name not in self.values]
        return [*nominal, *self.ordinal, *self.numeric, *self.ignore, *self.values]

    @property
    def uses_type_values(self) -> bool:
        """Whether types declare values; false if a model declares its own."""
        return self.only is None and not self.as_text

    def ignores(self, name: str) -> bool:
        """Return whether a column is skipped."""
        if self.only is not None and name not in self.only:
            return True
        return self._declared(name) == "ignore"

    def _declared(self, name: str) -> str | None:
        """Return how a column is declared: by its name, or else by a pattern."""
        exact = (kind for kind, names in self._groups if name in names)
        return next(exact, None) or next(self._by_pattern(name), None)

    def _by_pattern(self, name: str) -> Iterator[str]:
        """Yield how patterns declare a column."""
        for kind, names in self._groups:
            if any(is_pattern(each) and matches(name, each) for each in names):
                yield kind

    @property
    def _groups(self) -> tuple[tuple[str, Collection[str]], ...]:
        return (
            ("ignore", self.ignore),
            ("nominal", self.nominal),
            ("ordinal", self.ordinal),
            ("numeric", self.numeric),
        )

    def kind(self, name: str) -> Kind | None:
        """Return the declared kind of a column, or None."""
        if self.as_text or name in self.values:
            return "nominal"
        declared = self._declared(name)
        return None if declared == "ignore" else cast("Kind | None", declared)

    def levels(self, name: str) -> tuple[str, ...]:
        """Return the declared levels or values of a column."""
        if name in self.ordinal or name in self.values:
            return self.ordinal.get(name) or self.values.get(name) or ()
        if self.kind(name) != "ordinal":
            return ()
        return next(
            levels
            for each, levels in self.ordinal.items()
            if is_pattern(each) and matches(name, each)
        )


def is_pattern(entry: str) -> bool:
    """Return whether a declared name may stand for several columns."""
    return "*" in entry or "?" in entry or "," in entry


def matches(name: str, entry: str) -> bool:
    """Return whether a pattern, or one of a list, matches the name of a column.

    >>> [matches("Q7_1", entry) for entry in ("Q7_*", "Q7_?", "id, Q7_1", "q*")]
    [True, True, True, False]
    """
    parts = (part.strip().replace("[", "[[]") for part in entry.split(","))
    return any(fnmatchcase(name, part) for part in parts)


def parse_ordinal(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the name and the levels of ``name:low<middle<high``.

    Examples
    --------
    >>> parse_ordinal("size:small<medium<large")
    ('size', ('small', 'medium', 'large'))
    """
    return _parsed(
        text,
        "ordinal",
        lambda order: order.split("<"),
        remedy="write the column, a colon and its levels from low to high, as in "
        "'size:small<medium<large'",
        what="level",
        least=2,
    )


def parse_values(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the name and the values of ``name:one,other``; quotes as in a CSV file.

    Examples
    --------
    >>> parse_values('sky:sunny, rainy,"cloudy, cold"')
    ('sky', ('sunny', 'rainy', 'cloudy, cold'))
    """
    return _parsed(
        text,
        "values",
        lambda listed: next(csv.reader([listed], skipinitialspace=True), []),
        remedy="write the column, a colon and all its values, as in "
        "'sky:sunny,rainy,cloudy'",
        what="value",
    )


def _parsed(
    text: str,
    parameter: str,
    divide: Callable[[str], list[str]],
    *,
    remedy: str,
    what: str,
    least: int = 1,
) -> tuple[str, tuple[str, ...]]:
    """Return the name before the colon, and the items after it."""
    name, _, listed = text.partition(":")
    levels = tuple(level.strip() for level in divide(listed))
    if reason := _problem_of_levels(text, name, levels, what, least):
        problem = f" {text!r} {reason}"
        raise ParameterError(Setting(parameter), problem, remedy=remedy)
    return name.strip(), levels


def _problem_of_levels(
    text: str, name: str, levels: tuple[str, ...], what: str, least: int
) -> str:
    """Return the problem of a text that declares levels, or ""."""
    if ":" not in text or not name.strip():
        return "has no 'name:' in front"
    if len(levels) < least:
        return f"names {'no' if least == 1 else 'fewer than two'} {what}s"
    if "" in levels:
        return f"has an empty {what}"
    return f"names a {what} twice" if len(set(levels)) < len(levels) else ""


def parse_column_names(texts: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return column names, given one by one or separated by commas.

    >>> parse_column_names(["id,size", "red, green"], ["id", "size", "red, green"])
    ['id', 'size', 'red, green']
    """
    columns, names = set(columns), list[str]()
    for text in texts:
        parts = (
            [text] if text in columns else [part.strip() for part in text.split(",")]
        )
        names += [part for part in parts if part]
    return list(dict.fromkeys(names))


def check_names(
    names: Sequence[str], declarations: Declarations, *, origin: str = "the table"
) -> None:
    """Refuse empty or repeated column names, and declarations that do not fit."""
    if not names:
        msg = f"{origin} has no columns: give it at least one"
        raise DataError(msg)
    blank = [str(number) for number, name in enumerate(names, 1) if not name.strip()]
    if blank:
        columns = "columns" if len(blank) > 1 else "column"
        has = "have" if len(blank) > 1 else "has"
        msg = (
            f"{columns} {', '.join(blank)} of {origin} (counted from 1) {has} no name: "
            "give every column a name"
        )
        raise DataError(msg)
    twice = [repr(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        msg = (
            f"{origin} has more than one column named {', '.join(twice)}: "
            "rename all but one"
        )
        raise DataError(msg)
    check_declarations(declarations, names)


def check_declarations(declarations: Declarations, names: Sequence[str]) -> None:
    """Raise unless every declared column exists and is declared once."""
    may_lack = declarations.only is not None or declarations.as_text
    known = set(names)
    for entry in declarations.names:
        if entry in known or may_lack:
            continue
        for name in map(str.strip, entry.split(",")):
            if not any(matches(column, name) for column in names):
                kind = "pattern" if is_pattern(name) else "column"
                msg = f"{kind} {name!r} is declared but not in the table"
                raise DataError(msg, remedy=did_you_mean(name, names))
    if any(map(is_pattern, declarations.names)):
        for name in known.difference(declarations.names):
            kinds = [*declarations._by_pattern(name)]
            if len(kinds) > 1:
                msg = f"column {name!r} matches patterns of {joined(kinds)}"
                raise ParameterError(msg, remedy="name it exactly in one of them")
    for name, count in Counter(declarations.names).items():
        if count > 1:
            msg = (
                f"column {name!r} is declared {count} times: declare it once, as one "
                "of nominal, ordinal, numeric, ignore or values"
            )
            raise ParameterError(msg)
    for name, levels in declarations.ordinal.items():
        if len(set(levels)) < max(2, len(levels)):
            msg = (
                f"column {name!r} is declared ordinal with levels {tuple(levels)!r}: "
                "give two or more, all different, from low to high"
            )
            raise ParameterError(msg)
    for name, values in declarations.values.items():
        if not values or len(set(values)) < len(values) or "" in values:
            msg = (
                f"column {name!r} is declared with the values {tuple(values)!r}: give "
                "one or more, all different and none empty"
            )
            raise ParameterError(msg)


class NoKnownColumnError(DataError):
    """The error for a table without any column that a model needs."""

    names: tuple[str, ...] = ()


def no_columns_error(
    declarations: Declarations, names: Iterable[str] = ()
) -> DataError:
    """Return the error for a table without any column to read."""
    if declarations.only is None:
        return DataError("every column is ignored: leave at least one")
    known = first_of([*map(repr, declarations.only)], 10)
    msg = f"the table has none of the columns that the model knows: {known}"
    error = NoKnownColumnError(msg)
    error.names = tuple(names)
    return error


def declarations_of(
    nominal: Sequence[str] = (),
    ordinal: Mapping[str, Sequence[Value]] | Sequence[str] = (),
    numeric: Sequence[str] = (),
    ignore: Sequence[str] = (),
    missing_values: Sequence[str] = (),
    text_format: TextFormat | Mapping[str, Any] | None = None,
    values: Mapping[str, Sequence[Value]] | Sequence[str] = (),
) -> Declarations:
    """Return the checked declarations as one object."""
    lists = {
        "nominal": nominal,
        "numeric": numeric,
        "ignore": ignore,
        "missing_values": missing_values,
    }
    for name, texts in lists.items():
        check_text_list(name, texts)
    return Declarations(
        tuple(nominal),
        _levels_of("ordinal", ordinal),
        tuple(numeric),
        tuple(ignore),
        tuple(missing_values),
        text_format=UNDECLARED
        if text_format is None
        else TextFormat.from_setting(text_format),
        values=_levels_of("values", values),
    )


def check_text_list(name: str, texts: Any) -> None:
    """Refuse anything but a list of texts."""
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise refusal(Setting(name, texts), "must be a list of texts, such as ['x']")
    for text in texts:
        if not isinstance(text, str):
            raise ParameterError(Setting(name), f": {text!r} is no text")


# The parser, the expected items, and an example of each form.
_FORMS_OF_LEVELS = {
    "ordinal": (
        parse_ordinal,
        "levels, low to high",
        "to levels, as in {'size': ['small', 'large']}",
        "'size:small<large'",
    ),
    "values": (
        parse_values,
        "all its values",
        "to values, as in {'sky': ['sunny', 'rainy']}",
        "'sky:sunny,rainy'",
    ),
}


def _levels_of(parameter: str, declared: Any) -> dict[str, tuple[str, ...]]:
    """Return the levels of columns, given as a mapping or as texts."""
    parse, expected, as_mapping, as_text = _FORMS_OF_LEVELS[parameter]
    if isinstance(declared, str) or not isinstance(declared, Iterable):
        raise refusal(
            Setting(parameter, declared),
            f"must map columns {as_mapping}, or list texts such as {as_text}",
        )
    for name in declared:
        if not isinstance(name, str):
            raise ParameterError(Setting(parameter), f": {name!r} is no text")
    if not isinstance(declared, Mapping):
        return _as_mapping(parameter, [parse(text) for text in declared])
    for name, values in declared.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise ParameterError(
                Setting(parameter),
                f": {name!r} has {values!r}: give a list of {expected}",
            )
    levels = {name: tuple(values) for name, values in declared.items()}
    for name, values in levels.items():
        for value in values:
            if value is None or value != value:
                problem = f": {name!r} has {value!r}, a missing-value marker"
                raise ParameterError(Setting(parameter), problem, remedy="leave it out")
    return {name: tuple(map(str, values)) for name, values in levels.items()}


def _as_mapping(
    parameter: str, pairs: Sequence[tuple[str, tuple[str, ...]]]
) -> dict[str, tuple[str, ...]]:
    """Return pairs as a mapping; refuse a column that occurs twice."""
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            raise ParameterError(
                Setting(parameter), f": {name!r} is declared {count} times: do it once"
            )
    return dict(pairs)
