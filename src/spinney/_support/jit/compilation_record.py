"""The record of code that was compiled in advance, so that it is not compiled again.

The record is stored with the machine code. Its name has a digest of all modules (which
call the loops) and of the machine. It lists the code files.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from spinney._support.jit.code_cache import (
    PACKAGE,
    CachedCode,
    code_files,
    machine_digest,
    sources,
)
from spinney._support.jit.compile import (
    OFF,
    UNSUPPORTED,
    NumbaFallback,
    is_supported_numba,
)
from spinney.errors import SpinneyError

_HOME = CachedCode(Path(__file__), "ahead")  # stands where the record does
_LARGEST = 1 << 20  # bytes of the record


def is_all_compiled() -> bool:
    """Return whether all code that these modules compiled in advance still exists."""
    for folder in _HOME.trusted_folders():
        with suppress(OSError, UnicodeDecodeError):
            record = folder.read(f"ahead.{_digest()}.{_suffix()}", limit=_LARGEST)
            listed = record.decode().splitlines()
            return bool(listed) and set(listed) <= set(_stored_files())
    return False


def check_code_storage() -> None:
    """Refuse to compile if code cannot be stored, or would not be loaded again."""
    if not OFF and not is_supported_numba():
        NumbaFallback.since(UNSUPPORTED)
    if OFF or NumbaFallback.now:  # Numba's code is elsewhere
        return
    loops = {path.parent: path for path in sources() if path.parent.name == "kernels"}
    for loop in loops.values():
        probe = CachedCode(loop, "probe")
        if not probe.can_save():
            raise _not_stored(probe)


def record_compiled() -> None:
    """Record all code for this machine; refuse if none was stored."""
    if OFF or NumbaFallback.now:
        return
    stored = sorted(set(_stored_files()))
    if not stored:
        raise _not_stored(_HOME)
    for folder in _HOME.trusted_folders(create=True):
        with suppress(OSError):
            for old in folder.names():
                if old.startswith("ahead.") and old.endswith(_suffix()):
                    folder.remove(old)
            folder.write(f"ahead.{_digest()}.{_suffix()}", ["\n".join(stored).encode()])
            return


def _not_stored(code: CachedCode) -> SpinneyError:
    """Return the error if no folder can store code that would be loaded."""
    tried = " or ".join(
        f"{str(path)!r} ({code.obstacle(path) or 'nothing was stored'})"
        for path in code.folders()
    )
    return SpinneyError(
        f"compiled code cannot be stored in {tried}",
        remedy="set NUMBA_CACHE_DIR to a folder that you can write to and nobody else, "
        "on a disk that has room",
    )


def _suffix() -> str:
    return f"{machine_digest()}.txt"


def _stored_files() -> Iterator[str]:
    """Yield the code files of all kernels for this machine."""
    for loop in {path.parent: path for path in sources()}.values():
        for folder in CachedCode(loop, "").trusted_folders():
            yield from (str(folder.path / name) for name in code_files(folder))


@cache
def _digest() -> str:
    modules = sorted(PACKAGE.rglob("*.py"))
    content = (sha256(path.read_bytes()).digest() for path in modules)
    return sha256(b"".join(content)).hexdigest()[:12]
