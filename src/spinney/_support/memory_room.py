"""How much memory may be taken: what a user says, or a part of what there is."""

import os
import re
from pathlib import Path

from spinney._support.checks import is_whole
from spinney.errors import Setting, refusal

PART = 4
"""One of so many parts of a machine's memory is taken where nothing is said."""
LEAST = 1 << 30
LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Where Linux says what a group of processes may take, by versions 2 and 1 of these."""
UNITS = {
    **{unit: 1000**power for power, unit in enumerate(("b", "kb", "mb", "gb", "tb"))},
    **{
        unit: 1024**power
        for power, unit in enumerate(("", "kib", "mib", "gib", "tib", "pib"))
    },
    "bytes": 1,
}


def bytes_of(limit: object, name: str = "memory_limit") -> int:
    """Return a size in bytes: a whole number of these, or a text with its unit.

    >>> bytes_of(0), bytes_of("2GiB"), bytes_of("1.5 MB")
    (0, 2147483648, 1500000)
    """
    if isinstance(limit, int) and is_whole(limit) and limit >= 0:
        return limit
    form = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", str(limit))
    if isinstance(limit, str) and form and form[2].lower() in UNITS:
        return int(float(form[1]) * UNITS[form[2].lower()])
    raise refusal(
        Setting(name, limit),
        "is no size",
        "such as '2GiB', '500MB', or bytes; 0 is none",
    )


def usual_room() -> int:
    """Return a quarter of what this process may have; 1 GiB where nothing tells.

    That is the machine's memory, or less in a container.
    """
    known = [n_bytes for n_bytes in (_of_machine(), *map(_limit_in, LIMITS)) if n_bytes]
    return min(known) // PART if known else LEAST


def _of_machine() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _limit_in(path: Path) -> int | None:
    """Return the number in a file; None where there is no file, or another word."""
    try:
        return int(path.read_bytes())
    except (OSError, ValueError):
        return None
