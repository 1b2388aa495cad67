"""The peak of resident memory during a piece of work, as the system counts it.

Arrays that are allocated and never written are not resident. So the peak is the memory
that a machine needs. It may be a tenth of the allocated memory, which ``tracemalloc``
counts.
"""

import ctypes
import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def peak_memory_of(work: Callable[[], Any]) -> int | None:
    """Run a piece of work; return its peak memory above the start, in bytes.

    The result is None except on Linux.
    """
    gc.collect()
    trim_memory()
    try:
        # 5 makes the peak of the resident size start anew: proc(5), clear_refs.
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        resident_before = _status("VmRSS")
    except OSError:
        work()
        return None
    work()
    return max(0, _status("VmHWM") - resident_before)


def resident() -> int | None:
    """Return the resident bytes of this process; None if unknown."""
    try:
        return _status("VmRSS")
    except (OSError, StopIteration):
        return None


def _status(name: str) -> int:
    """Return an entry of this process's status in bytes."""
    text = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    line = next(line for line in text.splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024


def trim_memory() -> None:
    """Return freed memory to the system, if the C library can."""
    if os.name != "posix":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
