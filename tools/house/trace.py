"""Measures of a call: modules, functions and depth of calls."""

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

__all__ = ["Trace", "trace"]


class Trace:
    """The modules and functions of a package that a run entered, and how deep it went.

    Parameters
    ----------
    package : str
        Its name. Comprehensions count with the function they stand in. Code that
        a library generated, such as the constructor of a dataclass, does not count.

    Attributes
    ----------
    modules : dict of str to None
        Modules of which a function was called, in the order of the first call.
    functions : set of CodeType
        The functions that were called.
    depth : int
        The largest number of calls of the package below one another.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self.modules: dict[str, None] = {}
        self.functions: set[CodeType] = set()
        self.depth = 0

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """Take note of an event, as ``sys.setprofile`` reports it."""
        module = self._module(frame) if event == "call" else None
        if module is None:
            return
        self.modules.setdefault(module)
        self.functions.add(frame.f_code)
        self.depth = max(self.depth, self._depth(frame))

    def figures(self) -> list[int]:
        """Return how many modules and functions there were, and the depth."""
        return [len(self.modules), len(self.functions), self.depth]

    def units(self) -> list[str]:
        """Return the units below the package in the order of their first call."""
        names = (name.split(".")[1] for name in self.modules if "." in name)
        return list(dict.fromkeys(names))

    def _module(self, frame: FrameType) -> str | None:
        """Return the module of the package that a written function lies in."""
        code = frame.f_code
        if code.co_filename.startswith("<") or code.co_name.startswith("<"):
            return None
        name = str(frame.f_globals.get("__name__", ""))
        within = name == self.package or name.startswith(f"{self.package}.")
        return name if within else None

    def _depth(self, frame: FrameType | None) -> int:
        """Return how many calls of the package are under way."""
        depth = 0
        while frame is not None:
            depth += self._module(frame) is not None
            frame = frame.f_back
        return depth


def trace(run: Callable[[], object], package: str) -> Trace:
    """Follow a run, done once before so that modules are loaded and loops compiled."""
    record = Trace(package)
    run()
    threading.setprofile(record.note)
    sys.setprofile(record.note)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return record
