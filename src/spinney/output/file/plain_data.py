"""Plain data from a file, checked for the required type."""

from collections.abc import Collection, Mapping
from typing import Any

from spinney.output.file.strict_json import refuse

# Later versions may add keys of this form, which readers ignore. Readers refuse all #
# other unknown keys.
OPTIONAL = "optional."


def members(
    data: object, what: str, keys: Collection[str], *, defaults: Collection[str] = ()
) -> Mapping[str, Any]:
    """Return an object after checking its keys.

    >>> members({"a": 1, "optional.b": 2}, "the thing", ["a"])["a"]
    1
    """
    if not isinstance(data, dict):
        refuse(f"{what} must be an object with keys, not {described(data)}")
    for key in keys:
        if key not in data and key not in defaults:
            refuse(f"{what} has no {key!r}")
    for key in data:
        if key not in keys and not key.startswith(OPTIONAL):
            refuse(f"{what} has an unknown key {key[:80]!r}")
    return data


def described(data: object) -> str:
    """Return a description of data for a message."""
    names = {dict: "an object", list: "a list", type(None): "nothing"}
    return names.get(type(data)) or repr(data)[:60]


def as_list(data: object, what: str) -> list[Any]:
    """Return a list after checking that it is one."""
    if not isinstance(data, list):
        refuse(f"{what} must be a list, not {described(data)}")
    return data


def text(data: object, what: str) -> str:
    """Return a text after checking that it is one."""
    if not isinstance(data, str):
        refuse(f"{what} must be text, not {described(data)}")
    return data


def whole(data: object, what: str, *, least: int = 0) -> int:
    """Return a 64-bit integer after checking that it is one."""
    if type(data) is not int or not least <= data < 2**63:
        refuse(
            f"{what} must be a whole number of at least {least}, not {described(data)}"
        )
    return data


def number(data: object, what: str) -> float:
    """Return a finite number after checking that it is one.

    >>> number(3, "the weight")
    3.0
    """
    if type(data) not in (int, float):
        refuse(f"{what} must be a number, not {described(data)}")
    return float(data)  # type: ignore[arg-type]


def check_format(data: object, name: str, newest: int) -> None:
    """Refuse data of another format or of a newer version."""
    if not isinstance(data, dict) or data.get("format") != name:
        refuse(f"it has no format {name!r}")
    version = whole(data.get("version"), "the version", least=1)
    if version > newest:
        refuse(
            f"it was written by a newer Spinney, as format {version}, and this one "
            f"reads up to {newest}: upgrade Spinney"
        )
