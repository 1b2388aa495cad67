"""A server of PostgreSQL for the tests: in a temporary folder, on a socket in it."""

import atexit
import csv
import io
import os
import shutil
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

NO_NETWORK = "listen_addresses="
NO_ROOT = "nobody"  # the server refuses to run as root


def programs() -> Path | None:
    """Return the folder of the server's programs, if they are installed."""
    on_path = [Path(each) for each in [shutil.which("initdb")] if each]
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    folders = [each.resolve().parent for each in (*packaged, *on_path)]
    needed = ("initdb", "postgres", "pg_isready", "psql")
    whole = [f for f in folders if all((f / name).exists() for name in needed)]
    return whole[0] if whole else None


@cache
def running() -> Path:
    """Start a server that ends with the tests, and return the folder of its socket."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    user = {"user": NO_ROOT, "cwd": folder} if os.geteuid() == 0 else {"cwd": folder}
    if os.geteuid() == 0:
        shutil.chown(folder, NO_ROOT)
    binaries = programs()
    assert binaries is not None
    options = ["-D", folder / "data", "-A", "trust", "-U", "test", "-E", "UTF8"]
    subprocess.run(
        [binaries / "initdb", *options, "--locale=C", "--no-sync"],
        check=True,
        capture_output=True,
        **user,
    )
    server = subprocess.Popen(
        [binaries / "postgres", *options[:2], "-k", folder, "-F", "-c", NO_NETWORK],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **user,
    )

    def stop() -> None:
        server.terminate()
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    ready = [binaries / "pg_isready", "-h", folder, "-q"]
    for _ in range(200):
        if subprocess.run(ready, check=False).returncode == 0:
            return folder
        time.sleep(0.1)
    msg = "the server of PostgreSQL did not start"
    raise RuntimeError(msg)


def asked(commands: str) -> list[dict[str, str]]:
    """Return the lines that SQL gives, as texts by column; "" where NULL."""
    binaries = programs()
    assert binaries is not None
    command = [binaries / "psql", "-h", running(), "-U", "test", "-d", "postgres"]
    done = subprocess.run(
        [*command, "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1"],
        input=commands,
        text=True,
        encoding="utf-8",
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:2000]
    return [*csv.DictReader(io.StringIO(done.stdout))]
