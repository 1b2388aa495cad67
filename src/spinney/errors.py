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

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CellError",
    "DataError",
    "MissingExtraError",
    "ModelFormatError",
    "ParameterError",
    "SpinneyError",
    "SpinneyWarning",
    "did_you_mean",
]


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
    >>> did_you_mean("zzz", ["color", "root"])
    "known: 'color', 'root'"
    """
    names = list(known)
    near = get_close_matches(name, names, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    shown = ", ".join(map(repr, names[:20]))
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"known: {shown}{more}" if names else "there are none"
