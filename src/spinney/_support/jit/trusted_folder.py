"""Folders in which nobody else can write, for files that are run as code.

A path that is checked and then opened may name another file by then. So each folder is
opened from the one above it, each check is of an open descriptor, and files are read
and written from the descriptor of their folder::

    /  ->  tmp  ->  alice  ->  spinney-3f0a  ->  grow.code
           shared by all: it may be passed, and is never the folder itself

A folder is trusted where it and all above it belong to the user or the superuser and
nobody else may write to them. In a *sticky* folder, such as ``/tmp``, everybody may
create entries and only an owner may rename them. It may be passed, for the owner of the
next folder is checked, too. Only the user and the superuser can then create names in a
trusted folder, so no hard link in it is anybody else's.

The folder ``__pycache__`` beside a module is different: whoever may write the module
can run code anyway, so its owner is trusted, and folders above are not checked.

On Windows access lists control writing, and nothing is checked here.
"""

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_OPEN = (
    getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe that nobody writes to is not waited for
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_FOLDER = os.O_RDONLY | _OPEN | getattr(os, "O_DIRECTORY", 0)
_MAX_STEPS = 255  # along a path, with those of symbolic links: some go in circles


class UntrustedError(PermissionError):
    """Another user could have written here."""

    def __init__(self, reason: str, path: object) -> None:
        super().__init__(errno.EPERM, reason, str(path))


@dataclass(frozen=True)
class _Rights:
    """The users and groups that may write to trusted files.

    Parameters
    ----------
    owners : frozenset of int
        The permitted owners of files and folders.
    group : int, optional
        A group with permission to write.
    """

    owners: frozenset[int]
    group: int | None = None

    def check(self, descriptor: int, path: object, *, passed: bool = False) -> None:
        """Refuse an open file or folder to which others may write.

        ``passed`` marks a folder on the way, which may be sticky.
        """
        status = os.fstat(descriptor)
        self.check_owner(status, path)
        if passed and status.st_mode & stat.S_ISVTX:
            return
        if status.st_mode & stat.S_IWOTH:
            reason = "everybody may write there"
            raise UntrustedError(reason, path)
        if status.st_mode & stat.S_IWGRP:
            gid = status.st_gid
            trusted = gid == self.group or _is_private_group(gid, os.geteuid())
            # With an access control list these bits are the most that it grants.
            if not trusted or _has_access_list(descriptor):
                reason = "a group may write there"
                raise UntrustedError(reason, path)

    def check_owner(self, status: os.stat_result, path: object) -> None:
        """Refuse a file or folder of another user."""
        if status.st_uid not in self.owners:
            reason = "it belongs to another user"
            raise UntrustedError(reason, path)


@dataclass(frozen=True)
class TrustedFolder:
    """A folder in which nobody else can write, while it is open.

    Parameters
    ----------
    path : path
        The path, for messages.
    """

    path: Path
    _descriptor: int | None = None  # None on Windows
    _rights: _Rights | None = field(default=None, repr=False)

    def names(self) -> list[str]:
        """Return the names of the folder's entries."""
        at = self.path if self._descriptor is None else self._descriptor
        return sorted(os.listdir(at))

    def read(self, name: str, *, limit: int) -> bytes:
        """Return the content of a file.

        Raises
        ------
        OSError
            The file is not regular, a symbolic link, larger than ``limit`` bytes, or
            another user could have written it.
        """
        descriptor = os.open(
            self._relative(name), os.O_RDONLY | _OPEN, dir_fd=self._descriptor
        )
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                reason = "it is no regular file"
                raise UntrustedError(reason, self.path / name)
            if self._rights is not None:
                self._rights.check(descriptor, self.path / name)
            if status.st_size > limit:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), name)
            with open(descriptor, "rb", closefd=False) as file:
                return file.read(limit)
        finally:
            os.close(descriptor)

    def write(self, name: str, parts: Iterable[bytes]) -> None:
        """Write a file so that a reader sees the old one or the new one.

        All users may read the file, whatever the umask: an image may be built and run
        by different users. Only its owner may write to it.
        """
        temporary = f".spinney-{os.urandom(8).hex()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN
        descriptor = os.open(
            self._relative(temporary), flags, 0o644, dir_fd=self._descriptor
        )
        try:
            with open(descriptor, "wb") as file:
                os.fchmod(descriptor, 0o644)
                for part in parts:
                    file.write(part)
            folders = {"src_dir_fd": self._descriptor, "dst_dir_fd": self._descriptor}
            os.replace(self._relative(temporary), self._relative(name), **folders)
        except BaseException:
            with suppress(OSError):
                self.remove(temporary)
            raise

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        with suppress(FileNotFoundError):
            os.unlink(self._relative(name), dir_fd=self._descriptor)

    def _relative(self, name: str) -> str:
        return name if self._descriptor is not None else str(self.path / name)


@contextmanager
def trusted_folder(
    path: Path, *, module: Path | None = None, create: bool = False
) -> Iterator[TrustedFolder]:
    """Open a folder in which nobody else can write.

    Parameters
    ----------
    path : path
        The folder; it is no symbolic link itself.
    module : path, optional
        A module that the folder is beside: who may write to that may write here.
    create : bool
        Whether to create the folder, and those above it, where they are missing.

    Raises
    ------
    OSError
        There is no such folder, or somebody else can write to it or move it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as mine:
    ...     with trusted_folder(Path(mine, "new"), create=True) as folder:
    ...         folder.write("file", [b"mine"])
    ...         folder.read("file", limit=100)
    b'mine'
    """
    if sys.platform == "win32":
        if create:
            path.mkdir(parents=True, exist_ok=True)
        yield TrustedFolder(path)
        return
    if module is None:
        rights = _Rights(frozenset({os.geteuid(), 0}))
        descriptor = _descend(path, rights, create=create)
    else:
        rights = _rights_of(module)
        descriptor = _open_beside(module, path.name, create=create)
    try:
        rights.check(descriptor, path)
        yield TrustedFolder(path, descriptor, rights)
    finally:
        os.close(descriptor)


def _rights_of(module: Path) -> _Rights:
    """Return the rights for a module: its owner, the user and the superuser."""
    status = module.stat()
    group = status.st_gid if status.st_mode & stat.S_IWGRP else None
    return _Rights(frozenset({os.geteuid(), 0, status.st_uid}), group)


def _open_beside(module: Path, name: str, *, create: bool) -> int:
    """Return the descriptor of a folder beside a module."""
    above = os.open(module.parent, _FOLDER & ~getattr(os, "O_NOFOLLOW", 0))
    try:
        return _open_folder(name, above, create=create)
    finally:
        os.close(above)


def _descend(path: Path, rights: _Rights, *, create: bool) -> int:
    """Return the descriptor of a folder, after checking all folders above.

    A symbolic link on the way is followed if the user or the superuser made it.
    """
    steps, path_so_far, current = [*reversed(path.absolute().parts)], Path(), -1
    try:
        for _ in range(_MAX_STEPS):
            name, above = steps.pop(), None if current == -1 else current
            if steps and (target := _link_target(name, above, rights)) is not None:
                steps += reversed(target.parts)
                continue
            child = _open_folder(name, above, create=create)
            path_so_far = path_so_far / name
            if current != -1:
                os.close(current)
            current = child
            if not steps:
                return current
            rights.check(current, path_so_far, passed=True)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    except BaseException:
        if current != -1:
            os.close(current)
        raise


def _link_target(name: str, above: int | None, rights: _Rights) -> Path | None:
    """Return the target of a symbolic link, None for other files.

    Only the owner of a link can replace it, because nobody else can write to its
    folder, unless the folder is sticky.
    """
    try:
        status = os.stat(name, dir_fd=above, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISLNK(status.st_mode):
        return None
    rights.check_owner(status, name)
    return Path(os.readlink(name, dir_fd=above))


def _open_folder(name: str, above: int | None, *, create: bool) -> int:
    """Return the descriptor of a folder in another, without following links."""
    try:
        return os.open(name, _FOLDER, dir_fd=above)
    except FileNotFoundError:
        if not create:
            raise
        with suppress(FileExistsError):  # another process was faster
            # All users may look into it, and only this one may write.
            os.mkdir(name, 0o755, dir_fd=above)
            descriptor = os.open(name, _FOLDER, dir_fd=above)
            os.fchmod(descriptor, 0o755)
            return descriptor
        return os.open(name, _FOLDER, dir_fd=above)
    except PermissionError:
        # A folder that may be passed and not listed, such as a /home of mode 711.
        if not hasattr(os, "O_PATH"):
            raise
        return os.open(name, _FOLDER | os.O_PATH, dir_fd=above)


@cache
def _is_private_group(number: int, user: int) -> bool:
    """Return whether a group has the name of a user and no other member.

    Many systems give each user such a group, with write permission to the user's files.
    """
    import grp
    import pwd

    try:
        group, user_name = grp.getgrgid(number), pwd.getpwuid(user).pw_name
    except KeyError:
        return False
    members = {entry.pw_name for entry in pwd.getpwall() if entry.pw_gid == number}
    return group.gr_name == user_name and {*group.gr_mem, *members} <= {user_name}


def _has_access_list(descriptor: int) -> bool:
    """Return whether there are access rules beyond the usual nine permission bits."""
    if sys.platform != "linux":
        return True  # there is none that could be asked for
    try:
        os.getxattr(descriptor, "system.posix_acl_access")
    except OSError as error:
        return error.errno not in (errno.ENODATA, errno.ENOTSUP)
    return True
