"""Machine code on disk, for the present sources and this machine.

Code is stored beside the loop, in ``__pycache__``. If this folder is not writable, code
is stored in the user's cache folder; if NUMBA_CACHE_DIR is set, only there. The file
name has the loop's name and three digests: of all kernel sources; of machine, processor
and compiler; and of the argument types. The file begins with a digest of its content.

Whoever can write such a file can run code as its reader. So files are read, written and
deleted only in a ``trusted_folder``.

Kernels call each other across files, so one digest covers all of them.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
from importlib.machinery import PathFinder
from pathlib import Path

from spinney._support.jit.call_arguments import Code, Kind
from spinney._support.jit.trusted_folder import TrustedFolder, trusted_folder

PACKAGE = Path(__file__).parents[2]
_SUFFIX = ".code"
_BESIDE = "__pycache__"
# In bytes: more than the code of any entry takes, and more than is ever read.
_ROOM, _LARGEST = 1 << 20, 1 << 26
RESULTS = ("d", "?", "q", "")  # as Code.result has them

# Of the variables of the environment that Numba knows, those that change its code.
_VARIABLES = (
    "BOUNDSCHECK",
    "CPU_FEATURES",
    "CPU_NAME",
    "DISABLE_INTEL_SVML",
    "LOOP_VECTORIZE",
    "OPT",
    "SLP_VECTORIZE",
)


@cache
def sources() -> list[Path]:
    """Return all source files on which machine code depends."""
    return sorted(
        [
            *Path(__file__).parent.glob("*.py"),
            *PACKAGE.rglob("kernels/*.py"),
            PACKAGE / "_support" / "arrays.py",
            PACKAGE / "_support" / "ties.py",  # its tolerance is compiled into loops
        ]
    )


@cache
def _digest() -> bytes:
    return sha256(b"".join(path.read_bytes() for path in sources())).digest()


@cache
def _machine() -> str:
    """Return processor and compiler, on which the code depends beside sources."""
    import llvmlite
    import llvmlite.binding as llvm

    numba = PathFinder.find_spec("numba")
    version = Path(str(numba and numba.origin)).with_name("_version.py")
    return "\n".join(
        [
            sys.version,
            llvmlite.__version__,
            version.read_text(encoding="utf-8") if version.exists() else "",
            llvm.get_process_triple(),
            llvm.get_host_cpu_name(),
            llvm.get_host_cpu_features().flatten(),
            *(f"{name}={os.environ.get('NUMBA_' + name)}" for name in _VARIABLES),
        ]
    )


@cache
def machine_digest() -> str:
    """Return a digest of this machine, for the names of code files."""
    return sha256(_machine().encode()).hexdigest()[:8]


def kinds_digest(kinds: tuple[Kind, ...]) -> str:
    """Return a digest of argument types, for the names of code files."""
    return sha256("\n".join(map(_kind_text, kinds)).encode()).hexdigest()[:16]


def code_files(folder: TrustedFolder, stem: str = "*") -> list[str]:
    """Return the code files for this machine in a folder, of one loop or of all."""
    pattern = f"{stem}.{machine_digest()}.*{_SUFFIX}"
    return [name for name in folder.names() if fnmatchcase(name, pattern)]


class CachedCode:
    """The stored code of one entry.

    Parameters
    ----------
    file : path
        The source file of the entry.
    name : str
        The name of the entry.
    """

    def __init__(self, file: Path, name: str) -> None:
        self._file = file.absolute()  # as it was when the loop was imported
        self._name = f"{file.stem}.{name}"

    def exists(self) -> bool:
        """Return whether there is code for this machine, for any argument types."""
        if not self._file.is_file():
            return False
        return any(
            code_files(folder, self._stem()) for folder in self.trusted_folders()
        )

    def load(self, kinds: tuple[Kind, ...]) -> Code | None:
        """Return the code for these argument types, or None."""
        if not self._file.is_file():
            return None
        name = self._file_name(kinds)
        for folder in self.trusted_folders():
            with suppress(OSError):
                code = _parsed(folder.read(name, limit=_LARGEST))
                if code is not None:
                    return code
        return None

    def save(self, kinds: tuple[Kind, ...], code: Code) -> None:
        """Store code if possible, and delete code of older sources."""
        if not self._file.is_file():
            return
        name = self._file_name(kinds)
        for folder in self.trusted_folders(create=True):
            with suppress(OSError):
                folder.write(name, _serialised(code))
                for old in folder.names():
                    is_own = fnmatchcase(old, f"{self._name}.*{_SUFFIX}")
                    if is_own and not old.startswith(self._stem()):
                        folder.remove(old)
                return

    def can_save(self) -> bool:
        """Return whether code can be stored in any folder."""
        return not all(self.obstacle(path) for path in self.folders())

    def obstacle(self, path: Path) -> str:
        """Return why a folder cannot store readable code, "" if it can."""
        probe = f".{self._name}.{os.getpid()}"  # another process may probe, too
        try:
            if not self._file.is_file():
                return "there is no source file"
            with self.opened(path, create=True) as folder:
                folder.write(probe, [bytes(_ROOM)])
                try:
                    folder.read(probe, limit=_ROOM)
                finally:
                    folder.remove(probe)
        except OSError as error:
            where = error.filename
            place = f": {where!r}" if where not in (None, str(path)) else ""
            return f"{error.strerror or error}{place}"
        return ""

    def _stem(self) -> str:
        # The loop may be none of ours, as those of tests.
        content_digest = sha256(_digest() + self._file.read_bytes()).hexdigest()
        return f"{self._name}.{content_digest[:12]}"

    def _file_name(self, kinds: tuple[Kind, ...]) -> str:
        return f"{self._stem()}.{machine_digest()}.{kinds_digest(kinds)}{_SUFFIX}"

    def trusted_folders(self, *, create: bool = False) -> Iterator[TrustedFolder]:
        """Yield the folders in which nobody else can write, each while it is open.

        ``create`` creates missing folders.
        """
        for path in self.folders():
            with suppress(OSError), self.opened(path, create=create) as folder:
                yield folder

    def opened(
        self, path: Path, *, create: bool = False
    ) -> AbstractContextManager[TrustedFolder]:
        """Return an opened folder; raise OSError if others may write to it."""
        module = self._file if path.name == _BESIDE else None
        return trusted_folder(path, module=module, create=create)

    def folders(self) -> Iterator[Path]:
        """Yield the folders that may contain code, the preferred one first."""
        home = sha256(str(self._file.parent).encode()).hexdigest()[:16]
        named = os.environ.get("NUMBA_CACHE_DIR")
        if named:
            yield Path(named) / f"spinney-{home}"
            return
        yield self._file.parent / _BESIDE
        with suppress(RuntimeError):  # there is no home
            yield users_folder() / f"spinney-{home}"


def users_folder() -> Path:
    """Return the user's cache folder."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home())
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _kind_text(kind: Kind) -> str:
    if not isinstance(kind, type):
        return repr(kind)
    return f"{kind.__module__}.{kind.__qualname__} {getattr(kind, '_fields', '')}"


def _serialised(code: Code) -> list[bytes]:
    """Return the content of a code file: a digest of the rest, a line, the binary."""
    header = json.dumps([code.name, code.result, code.needs]).encode() + b"\n"
    digest = sha256(header + code.binary).hexdigest().encode()
    return [digest, b"\n", header, code.binary]


def _parsed(content: bytes) -> Code | None:
    """Return the code of a file, None if the file is damaged or of another kind."""
    digest, _, rest = content.partition(b"\n")
    if sha256(rest).hexdigest().encode() != digest:
        return None
    header, _, binary = rest.partition(b"\n")
    with suppress(ValueError, TypeError):
        name, result, needs = json.loads(header)
        if isinstance(name, str) and result in RESULTS:
            return Code(name, result, tuple(map(str, needs)), binary)
    return None
