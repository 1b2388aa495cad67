"""Two users of one machine: what one plants, the other never loads.

The tests need the superuser, who alone can become two others. The *victim* has a cache
folder below one in which everybody may create files; the *attacker* was there first, or
changes files meanwhile. Each user is a process of its own.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import rmtree
from types import SimpleNamespace

import pytest

from spinney._support.jit import code_cache
from spinney._support.jit.call_arguments import Code
from spinney._support.jit.code_cache import CachedCode

if sys.platform == "win32" or os.geteuid() != 0:
    pytest.skip("only the superuser can become two users", allow_module_level=True)

VICTIM, ATTACKER = 12345, 65534
OWN, FOREIGN = Code("own", "q", (), b"own"), Code("foreign", "q", (), b"foreign")
KINDS = (int,)

# Everything is imported as the superuser, so that the user need not see the sources.
BECOME = """
import os, sys, grp, pwd
from pathlib import Path
user, loop = int(sys.argv[1]), Path(sys.argv[2])
from spinney._support.jit.call_arguments import Code
from spinney._support.jit.code_cache import CachedCode
own = Code("own", "q", (), b"own")
code = CachedCode(loop, "loop")
code.load((int,))
os.setgroups([])
os.setgid(user)
os.setuid(user)
"""

LOAD = """
found = {code.load((int,)) for _ in range(int(sys.argv[3]))}
print(sorted("nothing" if each is None else each.name for each in found))
"""

SAVE = """
code.save((int,), own)
print(code.exists(), code.load((int,)) == own)
"""

# A link to a file of the superuser, and foreign code: one takes the place of the other.
RACE = """
folder, name, foreign = Path(sys.argv[3]), sys.argv[4], bytes.fromhex(sys.argv[5])
folder.mkdir(exist_ok=True)
folder.chmod(0o755)
os.chdir(folder)
Path("foreign").write_bytes(foreign)
print("ready", flush=True)
while os.getppid() == int(sys.argv[6]):
    for make in (lambda to: os.symlink(loop, to), lambda to: os.link("foreign", to)):
        make("next")
        os.rename("next", name)
"""

# In the place of the victim's own folder, which lies in a folder of all.
DISTURB = """
folder = Path(sys.argv[3])
print("ready", flush=True)
while os.getppid() == int(sys.argv[6]):
    for harm in (
        lambda: os.rename(folder, folder.with_name("away")),
        lambda: os.rename(folder / sys.argv[4], folder / "away"),
        lambda: (folder / sys.argv[4]).write_bytes(bytes.fromhex(sys.argv[5])),
        lambda: (folder / "more").touch(),
        lambda: folder.chmod(0o777),
    ):
        try:
            harm()
        except PermissionError:
            continue
        print("harmed", flush=True)
"""


@pytest.fixture
def place(monkeypatch):
    """Return a folder in which all may create files, and what is looked for in it."""
    top = Path(tempfile.mkdtemp(prefix="spinney-two-users-"))
    try:
        top.chmod(0o755)
        if not all(each.stat().st_mode & 0o001 for each in (top, *top.parents)):
            pytest.skip("other users cannot come to the folder for temporary files")
        shared, loop = top / "shared", top / "loop.py"
        shared.mkdir()
        shared.chmod(0o1777)
        loop.touch(0o644)
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(shared))
        code = CachedCode(loop, "loop")
        (folder,) = code.folders()
        yield SimpleNamespace(
            loop=loop, folder=folder, name=code._file_name(KINDS), top=top
        )
    finally:
        rmtree(top)


def command(program, user, place, *arguments):
    text = BECOME + program
    return [sys.executable, "-c", text, str(user), str(place.loop), *arguments]


def output_of(program, place, *arguments):
    """Return what a program of the victim prints."""
    return subprocess.run(
        command(program, VICTIM, place, *arguments),
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ).stdout.strip()


def begun(program, place):
    """Start a program of the attacker, and wait until it has begun."""
    foreign = b"".join(code_cache._serialised(FOREIGN)).hex()
    arguments = [str(place.folder), place.name, foreign, str(os.getpid())]
    process = subprocess.Popen(
        command(program, ATTACKER, place, *arguments),
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout.readline() == "ready\n"
    return process


def ended(process):
    """End a program; return what it has printed since."""
    process.terminate()
    return process.communicate()[0]


def test_who_swaps_files_while_they_are_read_has_none_loaded(place):
    attacker = begun(RACE, place)
    try:
        assert output_of(LOAD, place, "20000") == "['nothing']"
        assert attacker.poll() is None
    finally:
        ended(attacker)
    assert place.folder.stat().st_uid == ATTACKER


def test_nothing_is_stored_in_a_folder_that_another_user_made_first(place):
    place.folder.mkdir()
    place.folder.chmod(0o777)
    os.chown(place.folder, ATTACKER, ATTACKER)
    assert output_of(SAVE, place) == "False False"
    assert not list(place.folder.iterdir())


def test_a_link_of_another_user_leads_nowhere(place):
    precious = place.top / "precious"
    precious.mkdir()
    os.chown(precious, VICTIM, VICTIM)
    old = precious / "loop.loop.0123456789ab.code"  # is called as that of old sources
    old.touch()
    place.folder.symlink_to(precious)
    os.chown(place.folder, ATTACKER, ATTACKER, follow_symlinks=False)
    assert output_of(SAVE, place) == "False False"
    assert list(precious.iterdir()) == [old]


def test_ones_own_folder_among_those_of_others_is_used(place):
    """Everybody may create files above it; nobody else can harm it."""
    assert output_of(SAVE, place) == "True True"
    attacker = begun(DISTURB, place)
    try:
        assert output_of(LOAD, place, "5000") == "['own']"
        assert attacker.poll() is None
    finally:
        assert "harmed" not in ended(attacker)
