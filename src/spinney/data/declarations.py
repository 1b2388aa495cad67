"""What the user declares about the columns of a table.

Declarations overrule what a source says by itself: a number can be declared
nominal, a text ordinal, a column ignored, a text such as ``NA`` missing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spinney.data.notation import Notation
from spinney.data.table import Kind, Value
from spinney.errors import DataError, ParameterError, Setting, did_you_mean, refusal


@dataclass(frozen=True, slots=True)
class Declarations:
    """What was declared, by the names of columns.

    Parameters
    ----------
    nominal, numeric, ignore : tuple of str
        Names of columns.
    ordinal : mapping of str to tuple of str
        Levels, low to high, by the name of the column.
    missing : tuple of str
        Texts that stand for a missing cell, in every column. A number or a date
        is missing where it equals a marker that reads as one.
    only : tuple of str, optional
        The columns that a model looks for: others are left out, and what is
        declared of a column that is not there is of no concern.
    notation : Notation
        How numbers and dates are written, where that is known.
    as_written : bool
        Whether every column is nominal: text stays as it is written. Those that are
        declared are known by their names, and need not be there.

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
    notation: Notation = field(default_factory=Notation)
    as_written: bool = False

    @property
    def names(self) -> list[str]:
        """The columns of which anything is declared, each as often as it is."""
        return [*self.nominal, *self.ordinal, *self.numeric, *self.ignore]

    def ignores(self, name: str) -> bool:
        """Return whether a column is left out."""
        return name in self.ignore or (self.only is not None and name not in self.only)

    def kind(self, name: str) -> Kind | None:
        """Return the declared kind of a column, or None."""
        if self.as_written or name in self.nominal:
            return "nominal"
        if name in self.ordinal:
            return "ordinal"
        if name in self.numeric:
            return "numeric"
        return None


def parse_ordinal(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the name and the levels of ``name:low<middle<high``.

    Examples
    --------
    >>> parse_ordinal("size:small<medium<large")
    ('size', ('small', 'medium', 'large'))
    """
    name, colon, order = text.partition(":")
    levels = tuple(level.strip() for level in order.split("<"))
    if not (colon and name.strip()):
        reason = "has no 'name:' in front"
    elif len(levels) < 2:
        reason = "names fewer than two levels"
    elif "" in levels:
        reason = "has an empty level"
    elif len(set(levels)) < len(levels):
        reason = "names a level twice"
    else:
        return name.strip(), levels
    raise ParameterError(
        Setting("ordinal"),
        f" {text!r} {reason}",
        remedy="write the column, a colon and its levels from low to high, as in "
        "'size:small<medium<large'",
    )


def columns_named(given: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the columns that are named, one by one or with commas between them.

    >>> columns_named(["id,size", "red, green"], ["id", "size", "red, green"])
    ['id', 'size', 'red, green']
    """
    known, names = set(known), list[str]()
    for text in given:
        parts = [text] if text in known else [part.strip() for part in text.split(",")]
        names += [part for part in parts if part]
    return list(dict.fromkeys(names))


def check_names(
    names: Sequence[str], declarations: Declarations, *, origin: str = "the table"
) -> None:
    """Raise unless columns have distinct names, and what is declared fits them."""
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
    may_lack = declarations.only is not None or declarations.as_written
    for name in declarations.names:
        if name not in names and not may_lack:
            parts = [part.strip() for part in name.split(",")]
            remedy = did_you_mean(name, names)
            if len(parts) > 1 and set(parts) <= set(names):
                remedy = "name each column by itself"
            msg = f"column {name!r} is declared but not in the table: {remedy}"
            raise DataError(msg)
    for name, count in Counter(declarations.names).items():
        if count > 1:
            msg = (
                f"column {name!r} is declared {count} times: declare it once, as one "
                "of nominal, ordinal, numeric or ignore"
            )
            raise ParameterError(msg)
    for name, levels in declarations.ordinal.items():
        if len(set(levels)) < max(2, len(levels)):
            msg = (
                f"column {name!r} is declared ordinal with levels {tuple(levels)!r}: "
                "give two or more, all different, from low to high"
            )
            raise ParameterError(msg)


class NoKnownColumnError(DataError):
    """A table that has no column which a model looks for; its ``names``, if known."""

    names: tuple[str, ...] = ()


def nothing_left(declarations: Declarations, names: Iterable[str] = ()) -> DataError:
    """Return the error of a table without a wanted column; it may have others."""
    if declarations.only is None:
        return DataError("every column is ignored: leave at least one")
    shown = ", ".join(map(repr, declarations.only[:10]))
    more = len(declarations.only) - 10
    msg = (
        f"the table has none of the columns that the model knows: {shown}"
        f"{f' and {more} more' if more > 0 else ''}"
    )
    error = NoKnownColumnError(msg)
    error.names = tuple(names)
    return error


def declarations_of(
    nominal: Sequence[str] = (),
    ordinal: Mapping[str, Sequence[Value]] | Sequence[str] = (),
    numeric: Sequence[str] = (),
    ignore: Sequence[str] = (),
    missing_values: Sequence[str] = (),
    notation: Notation | Mapping[str, Any] | None = None,
) -> Declarations:
    """Return what was declared, in one value."""
    lists = {
        "nominal": nominal,
        "numeric": numeric,
        "ignore": ignore,
        "missing_values": missing_values,
    }
    for name, given in lists.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise refusal(
                Setting(name, given), "must be a list of texts, such as ['x']"
            )
        for text in given:
            if not isinstance(text, str):
                raise ParameterError(Setting(name), f": {text!r} is no text")
    return Declarations(
        tuple(nominal),
        _levels_of(ordinal),
        tuple(numeric),
        tuple(ignore),
        tuple(missing_values),
        notation=Notation.of(notation),
    )


def _levels_of(ordinal: Any) -> dict[str, tuple[str, ...]]:
    """Return the levels of ordinal columns, given as a mapping or as texts."""
    if isinstance(ordinal, str) or not isinstance(ordinal, Iterable):
        raise refusal(
            Setting("ordinal", ordinal),
            "must map columns to levels, as in {'size': ['small', 'large']}, or list "
            "texts such as 'size:small<large'",
        )
    for name in ordinal:
        if not isinstance(name, str):
            raise ParameterError(Setting("ordinal"), f": {name!r} is no text")
    if not isinstance(ordinal, Mapping):
        return dict(map(parse_ordinal, ordinal))
    for name, given in ordinal.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ParameterError(
                Setting("ordinal"),
                f": {name!r} has {given!r}: give a list of levels, low to high",
            )
    return {name: tuple(map(str, given)) for name, given in ordinal.items()}
