"""Packages that import a module when one of its names is first used.

So a command over a few rows need not import all growers.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, names: Mapping[str, Sequence[str]]
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package that offers names of its modules.

    >>> load = lazy_names("json", {"decoder": ["JSONDecoder"]})
    >>> load("JSONDecoder").__name__
    'JSONDecoder'
    """
    homes = {name: module for module, offered in names.items() for name in offered}

    def load(name: str) -> Any:
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load
