"""A PostgreSQL server for the tests: started on a unix socket, gone afterwards."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
SMALL = ("shared_buffers=16MB", "max_connections=20", "jit=off", "autovacuum=off")


def programs() -> Path | None:
    """Return the folder of the newest server on this machine, None without one."""
    on_path = shutil.which("postgres")
    if on_path is not None:
        return Path(on_path).parent
    versions = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    return max((path.parent for path in versions), key=_version, default=None)


def _version(folder: Path) -> float:
    return float(folder.parent.name)


@contextmanager
def server() -> Iterator[str]:
    """Give the address of a new server that listens on a socket in its own folder."""
    found = programs()
    assert found is not None
    # A path of a socket has at most 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="spinney-pg-", dir="/tmp"))
    user = None
    if os.geteuid() == 0:  # whom the server refuses
        user = next(n for n in ("postgres", "nobody") if _is_user(n))
        shutil.chown(folder, user)
    run = {"user": user, "check": True, "stdout": subprocess.DEVNULL, "cwd": folder}
    data = folder / "data"
    try:
        initdb = [found / "initdb", "-D", data, "-U", "tester", "-A", "trust"]
        subprocess.run([*initdb, "--no-sync", "-E", "UTF8", "--locale=C"], **run)
        options = [f"-c {each}" for each in (*QUICK, *SMALL, "listen_addresses=")]
        words = " ".join([*options, f"-k {folder}"])
        control = [found / "pg_ctl", "-D", data, "-w", "-l", folder / "log"]
        subprocess.run([*control, "-o", words, "start"], **run)
        try:
            yield f"postgresql://tester@/postgres?host={folder}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
