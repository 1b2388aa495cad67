"""Every exception that Spinney raises on purpose.

::

    SpinneyError
    ├── DataError           (ValueError)   3  the table cannot be used
    │   └── CellError       (TypeError)    3  a cell holds something that is no value
    ├── ParameterError      (ValueError)   2  an option or argument cannot be used
    ├── ModelFormatError    (ValueError)   4  a file is no model, or a damaged one
    └── MissingExtraError   (ImportError)  1  an optional library is not installed

    SpinneyWarning          (UserWarning)     worth a look, work goes on
    └── SpinneyNote                           an automatic choice

The number is the shell's exit code. A message names the column or parameter, the
value, and the remedy. What a user sets is kept as data in it, a ``Setting``: ``str()``
reads as Python is written, and another front end says the same in words of its own:

>>> error = refusal(Setting("m", 3), ("needs ", Setting("probability", "m-estimate")))
>>> str(error)
"m=3 needs probability='m-estimate'"
>>> error.parameter, error.value
('m', 3)
>>> error.text(lambda part: f"<{part.name}>")
'<m> needs <probability>'
"""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable


class NameAlone:
    """A marker for a parameter that is named without a value."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter that a message names by its name in Python, and its value.

    The ellipsis stands for any value.

    >>> print(Setting("ignore", ["id"]), Setting("data", ...), Setting("weight"))
    ignore=['id'] data=… weight
    """

    name: str
    value: object = NameAlone

    def __str__(self) -> str:
        if self.value is NameAlone:
            return self.name
        return f"{self.name}={'…' if self.value is ... else repr(self.value)}"


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do with a model, or with data: a command of the shell's.

    In Python it is a method, or a function.

    >>> print(Step("prune", (Setting("pruning", "manual"), Setting("nodes", [3]))))
    model.prune(pruning='manual', nodes=[3])
    >>> print(Step("grow", (Setting("engine", "partitions"),), subject="data"))
    spinney.grow(data, …, engine='partitions')
    """

    name: str
    settings: tuple[Setting, ...] = ()
    subject: str = "model"

    def __str__(self) -> str:
        given = ", ".join(map(str, self.settings))
        if self.subject == "model":
            return f"model.{self.name}({given})"
        return f"spinney.{self.name}({self.subject}, …, {given})"


class PythonOnly(str):
    """Words that apply only in Python, such as ", or None"."""

    __slots__ = ()


Part = Setting | Step | PythonOnly
"""What each front end says in its own words."""

Text = str | Part | tuple["Text", ...]
"""Words, with parts among them."""


class Message:
    """The message of an error or a warning, with its settings as data.

    Parameters
    ----------
    *problem : Text
        The problem. If the problem is one parameter, its Setting comes first.
    remedy : Text
        The remedy.
    """

    args: tuple[Any, ...]

    def __init__(self, *problem: Text, remedy: Text = "") -> None:
        super().__init__(*problem)
        self.remedy = remedy

    @property
    def setting(self) -> Setting | None:
        """The setting that is the problem, if any."""
        first = self.args[0] if self.args else None
        return first if isinstance(first, Setting) else None

    @property
    def parameter(self) -> str | None:
        """The name of the parameter that is the problem, in Python."""
        return self.setting.name if self.setting else None

    @property
    def value(self) -> object:
        """The value that is the problem; None without a value."""
        value = self.setting.value if self.setting else None
        return None if value is NameAlone else value

    def text(self, words: Callable[[Part], str]) -> str:
        """Return the message with its parts in the words of a front end."""
        remedy = (": ", self.remedy) if self.remedy else ""
        return in_words((self.args, remedy), words)

    def __str__(self) -> str:
        return self.text(str)


def phrase(template: str, *parts: Text) -> Text:
    """Return words with a part instead of each pair of braces.

    What users gave, which may hold braces, is a part and no template.

    >>> in_words(phrase("ignore it ({}) or not", Setting("ignore", ["id"])), str)
    "ignore it (ignore=['id']) or not"
    """
    first, *others = template.split("{}")
    return (first, *zip(parts, others, strict=True))


def in_words(text: Text, words: Callable[[Part], str]) -> str:
    """Return a text with its parts in the words of a front end."""
    if isinstance(text, tuple):
        return "".join(in_words(part, words) for part in text)
    return words(text) if isinstance(text, Part) else str(text)


class SpinneyError(Message, Exception):
    """The root of the tree of errors."""


class DataError(SpinneyError, ValueError):
    """A table that cannot be used as it is."""


class CellError(DataError, TypeError):
    """A cell with a value that is neither text, a number nor a date."""


class ParameterError(SpinneyError, ValueError):
    """An option or argument that cannot be used."""


class ModelFormatError(SpinneyError, ValueError):
    """A file that is no Spinney model, or is damaged."""


class MissingExtraError(SpinneyError, ImportError):
    """An optional library that is not installed."""


def missing_extra(*, what: str, library: str, extra: str) -> MissingExtraError:
    """Return the error for a library that an extra of Spinney installs.

    >>> print(missing_extra(what="plots need", library="Matplotlib", extra="plot"))
    plots need Matplotlib, which is not installed: pip install 'spinney[plot]'
    """
    msg = f"{what} {library}, which is not installed"
    return MissingExtraError(msg, remedy=f"pip install 'spinney[{extra}]'")


def missing_extension(kind: str, name: str, extension: str) -> MissingExtraError:
    """Return the error for a part of Spinney that this installation lacks.

    >>> print(missing_extension("command", "cluster", "clustering"))
    the command 'cluster' needs the extension 'clustering', which is not installed: \
install the whole of spinney
    """
    msg = (
        f"the {kind} {name!r} needs the extension {extension!r}, which is not installed"
    )
    return MissingExtraError(msg, remedy="install the whole of spinney")


class SpinneyWarning(Message, UserWarning):
    """Something worth a look; the work goes on."""


class SpinneyNote(SpinneyWarning):
    """An automatic choice, reported for information."""

    of_reading = True  # whether it is about how a table was read


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
    """Return the letters and digits of a name in lower case."""
    return "".join(filter(str.isalnum, name.lower()))


def refusal(setting: Setting, problem: Text = "", remedy: Text = "") -> ParameterError:
    """Return the error for a parameter whose value cannot be used.

    >>> raise refusal(Setting("folds", 9), "is more than the 5 rows", "take fewer")
    Traceback (most recent call last):
    spinney.errors.ParameterError: folds=9 is more than the 5 rows: take fewer
    """
    gap = " " if problem else ""
    return ParameterError(setting, gap, problem, remedy=remedy)


def refuse_unknown(parameter: str, value: object, known: "Iterable[str]") -> NoReturn:
    """Raise the error for a value that is none of those a parameter takes.

    >>> refuse_unknown("recipe", "id4", ["id3", "c4.5"])
    Traceback (most recent call last):
    spinney.errors.ParameterError: recipe='id4' is unknown: did you mean 'id3'?
    """
    remedy = did_you_mean(str(value), known)
    raise refusal(Setting(parameter, value), "is unknown", remedy)


def warn(*problem: Text, remedy: Text = "") -> None:
    """Warn at the user's line that called into this package."""
    _issue(SpinneyWarning(*problem, remedy=remedy))


def note(*words: Text, of_reading: bool = True) -> None:
    """Note an automatic choice, at the user's line that called into this package."""
    message = SpinneyNote(*words)
    message.of_reading = of_reading
    _issue(message)


def _issue(message: SpinneyWarning) -> None:
    frame, level = sys._getframe(1), 2
    ours = ("spinney.", "contextlib")  # a context manager of ours is entered by that
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(ours):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
