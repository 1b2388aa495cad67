"""Every exception that Spinney raises on purpose.

::

    SpinneyError
    ├── DataError           (ValueError)   3  the table cannot be used
    │   └── CellError       (TypeError)    3  a cell holds something that is no value
    ├── ParameterError      (ValueError)   2  an option or argument cannot be used
    ├── ModelFormatError    (ValueError)   4  a file is no model, or a damaged one
    └── MissingExtraError   (ImportError)  1  an optional library is not installed

    SpinneyWarning          (UserWarning)     worth a look, work goes on

The number is the shell's exit code. A message names the column or parameter, the
value, and the remedy.
"""

import sys
import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable


class SpinneyError(Exception):
    """The root of the tree of errors."""


class DataError(SpinneyError, ValueError):
    """A table that cannot be used as it is."""


class CellError(DataError, TypeError):
    """A cell that holds something that is neither text, a number nor a date."""


class ParameterError(SpinneyError, ValueError):
    """An option or argument that cannot be used."""


class ModelFormatError(SpinneyError, ValueError):
    """A file that is no model of ours, or a damaged one."""


class MissingExtraError(SpinneyError, ImportError):
    """An optional library that is not installed."""


class SpinneyWarning(UserWarning):
    """Something worth a look; the work goes on."""


def did_you_mean(name: str, known: "Iterable[str]") -> str:
    """Return a remedy for an unknown name: the nearest known ones, or all of them.

    >>> did_you_mean("colour", ["color", "root"])
    "did you mean 'color'?"
    >>> did_you_mean("C45", ["id3", "c4.5"])
    "did you mean 'c4.5'?"
    >>> did_you_mean("zzz", ["color", "root"])
    "known: 'color', 'root'"
    """
    names = list(known)
    near = [known_name for known_name in names if known_name.lower() == name.lower()]
    near = near or [known for known in names if _bare(known) == _bare(name) != ""]
    near = near or get_close_matches(name, names, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    shown = ", ".join(map(repr, names[:20]))
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"known: {shown}{more}" if names else "there are none"


def _bare(name: str) -> str:
    """Return the letters and digits of a name, small."""
    return "".join(filter(str.isalnum, name.lower()))


def refuse_unknown(parameter: str, value: object, known: "Iterable[str]") -> NoReturn:
    """Raise the error for a value that is none of those a parameter takes.

    >>> refuse_unknown("recipe", "id4", ["id3", "c4.5"])
    Traceback (most recent call last):
    spinney.errors.ParameterError: recipe='id4' is unknown: did you mean 'id3'?
    """
    msg = f"{parameter}={value!r} is unknown: {did_you_mean(str(value), known)}"
    raise ParameterError(msg)


def warn(message: str) -> None:
    """Warn at the line of the user's that called into this package."""
    frame, level = sys._getframe(1), 2
    ours = ("spinney.", "contextlib")  # a context manager of ours is entered by that
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(ours):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, SpinneyWarning, stacklevel=level - 1)
