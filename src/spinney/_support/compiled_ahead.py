"""A record of what was compiled ahead, so that nobody does it again.

It stands beside the machine code, is called by a digest of all modules (which say what
loops are called with) and by the machine, and lists the files of code that there were.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from spinney._support.atomic_file import write_whole
from spinney._support.jit.call_arguments import Code
from spinney._support.jit.compile import OFF, PLAIN
from spinney._support.jit.kept_code import KeptCode, code_in, machine_mark, sources
from spinney.errors import SpinneyError

_PACKAGE = Path(__file__).parents[1]


def is_compiled() -> bool:
    """Return whether all that was compiled ahead by these modules is there still."""
    for record in _records():
        with suppress(OSError, UnicodeDecodeError):
            listed = record.read_text(encoding="utf-8").splitlines()
            return bool(listed) and all(Path(each).is_file() for each in listed)
    return False


def refuse_if_nothing_is_kept() -> None:
    """Refuse to compile what could be written nowhere, or would not be read again."""
    if OFF or PLAIN:  # Numba's code is elsewhere
        return
    loops = {path.parent: path for path in sources() if path.parent.name == "loops"}
    for loop in loops.values():
        name = f"probe_{os.getpid()}"  # of this process: another may probe, too
        probe = KeptCode(loop, name)
        probe.save((), Code(name, "", (), b""))
        is_kept = probe.load(()) is not None
        for folder in probe.folders():
            with suppress(OSError):
                for path in folder.glob(f"{loop.stem}.{name}.*"):
                    path.unlink()
        if not is_kept:
            raise _not_kept(probe)


def note_compiled() -> None:
    """Record all code for this machine; refuse if none was kept."""
    if OFF or PLAIN:
        return
    kept = sorted({str(path) for path in _kept_files()})
    if not kept:
        raise _not_kept(KeptCode(Path(__file__), "ahead"))
    content = ["\n".join(kept).encode()]
    for record in _records():
        with suppress(OSError, SpinneyError):
            record.parent.mkdir(parents=True, exist_ok=True)
            for old in record.parent.glob(f"ahead.*.{machine_mark()}.txt"):
                old.unlink(missing_ok=True)
            write_whole(record, content)
            return


def _not_kept(code: KeptCode) -> SpinneyError:
    """Return the refusal of folders that hold no code that would be run."""
    tried = " nor ".join(repr(str(folder)) for folder in code.folders())
    return SpinneyError(
        f"compiled loops cannot be kept: not in {tried}",
        remedy="let NUMBA_CACHE_DIR name a folder that you, and nobody else, may write "
        "to, on a disk that has room",
    )


def _records() -> Iterator[Path]:
    """Give the places where the record may be, the best first."""
    name = f"ahead.{_digest()}.{machine_mark()}.txt"
    for folder in KeptCode(Path(__file__), "ahead").folders():
        yield folder / name


def _kept_files() -> Iterator[Path]:
    for loop in sources():
        for folder in KeptCode(loop, "").folders():
            yield from code_in(folder)


@cache
def _digest() -> str:
    modules = sorted(_PACKAGE.rglob("*.py"))
    content = (sha256(path.read_bytes()).digest() for path in modules)
    return sha256(b"".join(content)).hexdigest()[:12]
