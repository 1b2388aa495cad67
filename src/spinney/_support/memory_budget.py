"""The memory budget: the user's limit, or a quarter of the machine's memory."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from spinney._support.checks import is_whole
from spinney._support.peak_memory import resident, trim_memory
from spinney.errors import ParameterError, Setting, phrase, refusal

MEMORY_SHARE = 4
"""One of so many parts of a machine's memory is taken where nothing is said."""
DEFAULT_LIMIT = 1 << 30
MIN_LIMIT = 768 << 20
"""A limit below this is taken for this: libraries and DuckDB need it anyway."""
LIBRARY_MEMORY = 256 << 20
"""What the interpreter and the libraries take at most."""
LIMIT_FILES = (
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


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """A limit of the memory of the whole process, and its shares.

    What was resident when the work began counts up to ``LIBRARY_MEMORY``: what is
    beyond that is the user's own. Libraries take a quarter of 1 GiB, DuckDB three
    sixteenths, rows that are fetched a quarter; the tree, and what allocators do not
    give back, have the rest. Count tables that come from an engine are there before
    rows are fetched, and take half of what libraries leave.

    Parameters
    ----------
    given : int or str
        The limit as the user has written it.

    Examples
    --------
    >>> budget = MemoryBudget("1GiB")
    >>> [share >> 20 for share in (budget.duckdb, budget.rows, budget.tables)]
    [192, 256, 384]
    """

    given: int | str
    resident_before: int | None = field(default_factory=resident)

    @property
    def limit(self) -> int:
        """The limit in bytes."""
        return max(bytes_of(self.given), MIN_LIMIT)

    @property
    def duckdb(self) -> int:
        """The budget of DuckDB's buffers."""
        return 3 * self.limit // 16

    @property
    def rows(self) -> int:
        """The budget of fetched rows."""
        return bytes_of(self.given) // 4

    @property
    def tables(self) -> int:
        """The budget of the count tables of one request."""
        return (self.limit - LIBRARY_MEMORY) // 2

    def limit_for_tables(self, n_bytes: int) -> str:
        """Return a limit that has room for count tables of so many bytes.

        >>> MemoryBudget("1GiB").limit_for_tables(3 << 30)
        '7GiB'
        """
        return f"{-(-(2 * n_bytes + LIBRARY_MEMORY) // (1 << 30))}GiB"

    def check(self) -> None:
        """Refuse to continue if resident memory exceeds the limit."""
        if self._excess() > 0:
            trim_memory()
            if (excess := self._excess()) > 0:
                taken = (self.limit + excess) / (1 << 30)
                raise ParameterError(
                    Setting("memory_limit", self.given),
                    f" is used up: {taken:.1f} GiB are taken",
                    remedy=phrase(
                        "raise it, or grow a smaller tree ({} or {})",
                        Setting("max_depth", 12),
                        Setting("min_samples_leaf", 100),
                    ),
                )

    def _excess(self) -> int:
        """Return the bytes above the limit, 0 if unknown."""
        now = resident()
        if now is None or self.resident_before is None:
            return 0
        return now - max(0, self.resident_before - LIBRARY_MEMORY) - self.limit


def default_memory_limit() -> int:
    """Return a quarter of this process's available memory; 1 GiB if that is unknown.

    Available is the machine's memory, or the limit of a container.
    """
    limits = [
        n_bytes
        for n_bytes in (_machine_memory(), *map(_limit_in_file, LIMIT_FILES))
        if n_bytes
    ]
    return min(limits) // MEMORY_SHARE if limits else DEFAULT_LIMIT


def _machine_memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _limit_in_file(path: Path) -> int | None:
    """Return the number in a file; None without a file or a number."""
    try:
        return int(path.read_bytes())
    except (OSError, ValueError):
        return None
