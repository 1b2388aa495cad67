"""Write a file as a whole or not at all."""

import errno
import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from spinney._support.checks import check_choice
from spinney.errors import ParameterError, Setting, refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_REMEDIES = {
    errno.ENOENT: "create the directory first",
    errno.ENOTDIR: "name a directory before the file name",
    errno.EISDIR: "add a file name",
    errno.ENAMETOOLONG: "choose a shorter name",
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS),
        "choose a directory that you may write to",
    ),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "make room there"),
}


def write_whole(
    path: "str | os.PathLike[str]", parts: "Iterable[bytes]", *, overwrite: bool = True
) -> None:
    """Write a file so that a reader sees the old one or the new one, never a part.

    Parameters
    ----------
    path : path
        Where to write; a symbolic link is followed.
    parts : iterable of bytes
        What to write, one after another; nothing is written if it raises an error.
    overwrite : bool
        Whether an existing file may be replaced.

    Raises
    ------
    ParameterError
        The file cannot be written; an old one is as it was.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as directory:
    ...     write_whole(Path(directory) / "new", [b"all ", b"of it"])
    ...     (Path(directory) / "new").read_bytes()
    b'all of it'
    """
    with (
        whole_file(path, overwrite=overwrite) as temporary,
        open(temporary, "wb") as file,
    ):
        for part in parts:
            file.write(part)


@contextmanager
def whole_file(
    path: "str | os.PathLike[str]", *, overwrite: bool = True
) -> "Iterator[Path]":
    """Yield a path to write to, which replaces the file after the block.

    It is like :func:`write_whole` for other writers: an error leaves an old file
    unchanged.
    """
    check_choice("overwrite", overwrite)
    if not isinstance(path, (str, os.PathLike)):
        raise refusal(Setting("path", path), "must be the path of a file")
    shown = os.fsdecode(path)
    if "\0" in shown:
        msg = f"the path {shown!r} holds a NUL character: leave it out"
        raise ParameterError(msg)
    target = Path(os.path.realpath(path))
    try:
        _check_target(target, shown, overwrite=overwrite)
        with _replacing(target) as temporary:
            yield temporary
    except OSError as error:
        reason = error.strerror or str(error)
        remedy = _REMEDIES.get(error.errno or 0, "choose another place")
        msg = f"cannot write {shown}: {reason}; {remedy} (nothing was changed)"
        raise ParameterError(msg) from error


def _check_target(target: Path, shown: str, *, overwrite: bool) -> None:
    if target.is_dir():
        msg = f"cannot write {shown}: it is a directory; add a file name"
        raise ParameterError(msg)
    if target.exists() and not target.is_file():
        msg = f"cannot write {shown}: it is a device or pipe; name a file"
        raise ParameterError(msg)
    if not overwrite and os.path.lexists(target):
        msg = f"{shown} exists: choose another name, or replace it with overwrite=True"
        raise ParameterError(msg)


@contextmanager
def _replacing(target: Path) -> "Iterator[Path]":
    temporary = target.with_name(f".spinney-{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    os.close(os.open(temporary, flags, 0o666))
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_directory(target.parent)


def _sync_directory(directory: Path) -> None:
    """Make a rename survive a power failure, if the system can."""
    if os.name != "posix":
        return
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
