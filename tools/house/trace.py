"""What a reader who follows a call crosses: the modules that a run goes through."""

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["Trace", "trace"]


class Trace:
    """The modules of a package that a run touched, and its calls between them.

    Parameters
    ----------
    package : str
        Its name. A call that leaves the package for another library and comes back
        counts as one from where it left; code that a library generated, such as the
        constructor of a dataclass, is nothing to read and does not count.

    Attributes
    ----------
    touched : dict of str to None
        Modules of which a function was called, in the order of the first call.
    crossings : list of tuple of str
        For each call that crossed a boundary, who called and who was called.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self.touched: dict[str, None] = {}
        self.crossings: list[tuple[str, str]] = []

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """Take note of an event, as ``sys.setprofile`` reports it."""
        callee = self._module(frame) if event == "call" else None
        if callee is None:
            return
        self.touched.setdefault(callee)
        caller = self._caller(frame)
        if caller is not None and caller != callee:
            self.crossings.append((caller, callee))

    def figures(self) -> list[int]:
        """Return how many modules, units, edges and crossings there were."""
        units = {".".join(name.split(".")[:2]) for name in self.touched}
        edges = set(self.crossings)
        return [len(self.touched), len(units), len(edges), len(self.crossings)]

    def units(self) -> list[str]:
        """Return the units below the package in the order of their first call."""
        names = (name.split(".")[1] for name in self.touched if "." in name)
        return list(dict.fromkeys(names))

    def _module(self, frame: FrameType) -> str | None:
        """Return the module of the package that a written function lies in."""
        code = frame.f_code
        if code.co_filename.startswith("<") or code.co_name == "<module>":
            return None
        name = str(frame.f_globals.get("__name__", ""))
        within = name == self.package or name.startswith(f"{self.package}.")
        return name if within else None

    def _caller(self, frame: FrameType) -> str | None:
        """Return the module of the nearest function above that is of the package."""
        above = frame.f_back
        while above is not None:
            module = self._module(above)
            if module is not None:
                return module
            above = above.f_back
        return None


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
