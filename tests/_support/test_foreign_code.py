"""Machine code that another user may have written is never loaded.

Each test plants *foreign* code, whole and with the right digest, where it would be
looked for. A forged file of an untrusted folder is what an attacker has to make run.
"""

import errno
import os
import stat
import struct
import sys
from pathlib import Path

import pytest

from spinney._support.jit import code_cache
from spinney._support.jit import compile as jit
from spinney._support.jit import trusted_folder as trusted_folders
from spinney._support.jit.call_arguments import Code
from spinney._support.jit.code_cache import CachedCode

if sys.platform == "win32":
    pytest.skip("Windows has no such modes", allow_module_level=True)

OWN, FOREIGN = Code("own", "q", (), b"own"), Code("foreign", "q", (), b"foreign")
ANOTHER = 12345  # a user
KINDS = (int,)


class Stored:
    """Code that a user has stored, and where it is."""

    def __init__(self, monkeypatch, top, *, beside=False):
        self.top = top
        (top / "package").mkdir(0o755)
        loop = top / "package" / "loop.py"
        loop.touch(0o644)
        monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
        if not beside:
            monkeypatch.setenv("NUMBA_CACHE_DIR", str(top / "stored"))
        self.code = CachedCode(loop, "loop")
        self.code.save(KINDS, OWN)
        assert self.load() == OWN
        (self.path,) = top.rglob("*.code")
        self.folder, self.above = self.path.parent, self.path.parent.parent

    def load(self):
        return self.code.load(KINDS)

    def plant(self, path):
        """Write foreign code to a file."""
        path.write_bytes(b"".join(code_cache._serialised(FOREIGN)))
        return path


@pytest.fixture
def stored(monkeypatch, tmp_path):
    return Stored(monkeypatch, tmp_path)


@pytest.fixture
def stored_beside(monkeypatch, tmp_path):
    return Stored(monkeypatch, tmp_path, beside=True)


def as_superuser():
    if os.geteuid() != 0:
        pytest.skip("only the superuser may give files away")


def test_a_symbolic_link_to_code_is_refused(stored):
    stored.path.rename(stored.top / "elsewhere")
    stored.path.symlink_to(stored.top / "elsewhere")
    assert stored.load() is None


@pytest.mark.parametrize("place", ["stored", "stored_beside"])
def test_a_symbolic_link_to_a_folder_of_code_is_refused(place, request):
    stored = request.getfixturevalue(place)
    stored.folder.rename(stored.top / "elsewhere")
    stored.folder.symlink_to(stored.top / "elsewhere")
    assert stored.load() is None
    assert not stored.code.exists()


def test_a_folder_that_others_may_write_to_is_refused(stored):
    for mode, loaded in ((0o777, None), (0o757, None), (0o1777, None), (0o755, OWN)):
        stored.folder.chmod(mode)
        assert stored.load() == loaded
        assert stored.code.exists() == (loaded is not None)


def test_a_folder_whose_parent_others_may_write_to_is_refused(stored):
    """They could rename it, and put another in its place."""
    stored.above.chmod(0o777)
    assert stored.load() is None
    stored.above.chmod(0o1777)  # where only an owner may rename
    assert stored.load() == OWN
    stored.top.chmod(0o777)
    assert stored.load() is None
    stored.top.chmod(0o700)


@pytest.mark.parametrize("level", ["folder", "above", "top"])
def test_a_folder_that_another_user_has_made_is_refused(level, stored):
    as_superuser()
    os.chown(getattr(stored, level), ANOTHER, -1)
    assert stored.load() is None
    stored.path.unlink()
    stored.code.save(KINDS, OWN)
    assert not stored.path.exists()
    assert not stored.code.can_save()


@pytest.mark.parametrize("what", ["path", "folder"])
def test_what_is_swapped_after_the_check_is_not_loaded(what, stored, monkeypatch):
    """Another user did this: the check saw one file, and the reader another."""
    checked = getattr(stored, what)
    number = checked.stat().st_ino
    new = stored.top / "new"
    if what == "folder":
        new.mkdir()
        stored.plant(new / stored.path.name)
    else:
        stored.plant(new)
    swapped = []

    def swapping(function):
        def call(*arguments, **options):
            about = function(*arguments, **options)
            if about.st_ino == number and not swapped:
                swapped.append(checked)
                checked.rename(stored.top / "old")
                new.rename(checked)
            return about

        return call

    for name in ("stat", "fstat"):
        monkeypatch.setattr(os, name, swapping(getattr(os, name)))
    loaded = stored.load()
    assert swapped
    assert loaded in (None, OWN)


def test_a_parent_that_is_replaced_meanwhile_changes_nothing(stored, monkeypatch):
    opening, swapped = os.open, []

    def swap(name, *arguments, **options):
        descriptor = opening(name, *arguments, **options)
        if name == stored.above.name:
            swapped.append(name)
            stored.above.rename(stored.top / "old")
            stored.folder.mkdir(parents=True)
            stored.plant(stored.path)
        return descriptor

    monkeypatch.setattr(os, "open", swap)
    assert stored.load() == OWN
    assert swapped


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_regular_file_is_refused_without_waiting(make, stored):
    stored.path.unlink()
    make(stored.path)
    assert stored.load() is None


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(stored, monkeypatch):
    opening, swapped = os.open, []

    def swap(name, *arguments, **options):
        if name == stored.path.name:
            swapped.append(name)
            stored.path.unlink()
            os.mkfifo(stored.path)
        return opening(name, *arguments, **options)

    monkeypatch.setattr(os, "open", swap)
    assert stored.load() is None
    assert swapped


def test_a_file_that_is_too_large_is_not_read(stored, monkeypatch):
    monkeypatch.setattr(code_cache, "_LARGEST", stored.path.stat().st_size)
    assert stored.load() == OWN
    monkeypatch.setattr(code_cache, "_LARGEST", stored.path.stat().st_size - 1)
    assert stored.load() is None


def test_a_file_of_another_user_is_refused(stored):
    as_superuser()
    os.chown(stored.path, ANOTHER, -1)
    assert stored.load() is None


def test_a_file_that_others_may_write_is_refused(stored):
    for mode in (0o666, 0o602):
        stored.path.chmod(mode)
        assert stored.load() is None


def test_nothing_is_written_nor_deleted_through_a_link(stored):
    precious = stored.top / "precious"
    stored.folder.rename(precious)
    old = precious / "loop.loop.0123456789ab.code"  # is called as that of old sources
    old.touch()
    before = sorted(precious.iterdir())
    stored.folder.symlink_to(precious)
    stored.path.unlink()
    stored.code.save(KINDS, OWN)
    assert sorted(precious.iterdir()) == [each for each in before if each == old]


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(stored):
    target = stored.top / "target"
    target.write_bytes(b"as it was")
    stored.path.unlink()
    stored.path.symlink_to(target)
    stored.code.save(KINDS, OWN)
    assert target.read_bytes() == b"as it was"
    assert stored.load() == OWN


def test_a_mask_that_hides_nothing_leaves_nothing_open(monkeypatch, tmp_path):
    before = os.umask(0)
    try:
        stored = Stored(monkeypatch, tmp_path)
    finally:
        os.umask(before)
    for each in (stored.path, stored.folder, stored.above):
        assert not each.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def test_what_is_written_anew_is_not_as_open_as_the_old(stored):
    stored.path.chmod(0o666)
    stored.code.save(KINDS, OWN)
    assert stored.load() == OWN


def test_a_link_on_the_way_is_followed_if_it_is_ones_own(stored, monkeypatch):
    link = stored.top / "link"
    link.symlink_to("stored")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(link))
    assert stored.load() == OWN
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(stored.top / "package" / ".." / "link"))
    assert stored.load() == OWN
    stored.above.chmod(0o777)
    assert stored.load() is None
    stored.above.chmod(0o755)
    (stored.top / "circle").symlink_to("circle")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(stored.top / "circle"))
    assert stored.load() is None
    assert not stored.code.can_save()
    as_superuser()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(link))
    os.chown(link, ANOTHER, -1, follow_symlinks=False)
    assert stored.load() is None


def test_a_group_may_write_only_if_it_is_ones_own(stored, monkeypatch):
    own = []
    monkeypatch.setattr(trusted_folders, "_is_private_group", lambda *who: bool(own))
    stored.folder.chmod(0o775)
    assert stored.load() is None
    own.append(True)
    if sys.platform == "linux":
        assert stored.load() == OWN


def test_a_group_of_others_is_nobodys_own():
    import grp

    groups = [each for each in grp.getgrall() if each.gr_mem]
    for group in groups:
        others = {*group.gr_mem} - {"root"}
        assert not (others and trusted_folders._is_private_group(group.gr_gid, 0))
    assert not trusted_folders._is_private_group(2**31 - 7, os.geteuid())


def test_an_access_list_that_lets_another_user_write_is_seen(stored, monkeypatch):
    monkeypatch.setattr(trusted_folders, "_is_private_group", lambda *who: True)
    owner, user, group, mask, other = 0x01, 0x02, 0x04, 0x10, 0x20
    entries = [(owner, 7, -1), (user, 7, ANOTHER), (group, 5, -1), (mask, 7, -1)]
    entries.append((other, 5, -1))
    written = struct.pack("<I", 2)
    for tag, rights, number in entries:
        written += struct.pack("<HHI", tag, rights, number & 0xFFFFFFFF)
    try:
        os.setxattr(stored.folder, "system.posix_acl_access", written)
    except (AttributeError, OSError):
        pytest.skip("no access lists are kept in the folder for temporary files")
    assert stored.load() is None


def test_beside_a_module_folders_above_are_trusted_as_the_module_is(stored_beside):
    """Who may write to them can change the module."""
    stored_beside.above.chmod(0o777)
    assert stored_beside.load() == OWN
    stored_beside.folder.chmod(0o777)
    assert stored_beside.load() is None


def test_beside_a_module_its_owner_and_group_are_trusted(stored_beside):
    as_superuser()
    module = stored_beside.above / "loop.py"
    for path in (stored_beside.path, stored_beside.folder):
        os.chown(path, ANOTHER, ANOTHER)
    assert stored_beside.load() is None
    os.chown(module, ANOTHER, ANOTHER)
    assert stored_beside.load() == OWN
    stored_beside.folder.chmod(0o775)
    assert stored_beside.load() is None
    module.chmod(0o664)
    assert stored_beside.load() == OWN


def test_no_descriptor_is_left_open(stored):
    before = len(os.listdir("/dev/fd"))
    for mode in (0o755, 0o777):
        stored.folder.chmod(mode)
        for _ in range(3):
            stored.load()
            stored.code.save(KINDS, OWN)
            stored.code.exists()
            stored.code.can_save()
    assert len(os.listdir("/dev/fd")) == before


def test_why_a_folder_is_refused_is_reported(stored):
    stored.above.chmod(0o777)
    reason = f"everybody may write there: {str(stored.above)!r}"
    assert stored.code.obstacle(stored.folder) == reason


def test_a_loop_stays_where_it_was_imported(stored_beside, monkeypatch, tmp_path):
    """Somebody else's folder may have a loop and code of the same names."""
    monkeypatch.chdir(stored_beside.above)
    code = CachedCode(Path("loop.py"), "loop")
    (tmp_path / "theirs" / "__pycache__").mkdir(parents=True)
    (tmp_path / "theirs" / "loop.py").touch()
    stored_beside.plant(tmp_path / "theirs" / "__pycache__" / stored_beside.path.name)
    monkeypatch.chdir(tmp_path / "theirs")
    assert code.load(KINDS) == OWN


@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_where_code_cannot_be_stored_the_message_says_so(
    mode, stored, monkeypatch, caplog
):
    stored.folder.chmod(mode)
    monkeypatch.setattr(jit, "_announced", [])
    for _ in range(2):
        jit._announce_compiling(stored.code)
    (message,) = caplog.messages
    assert len(message) <= 160  # two lines
    if mode == 0o755:
        assert message == (
            "Compiling for this machine (up to 20 s, first run only). "
            "`spinney compile` compiles everything in advance."
        )
    else:
        assert "cannot store compiled code" in message
        assert "Set NUMBA_CACHE_DIR to a folder that only you can" in message
        assert "first run only" not in message


def test_a_full_disk_stores_nothing(stored, monkeypatch):
    def full(folder, name, parts):
        assert sum(map(len, parts)) > 500_000  # more than any code
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(trusted_folders.TrustedFolder, "write", full)
    assert not stored.code.can_save()
    assert stored.code.obstacle(stored.folder) == os.strerror(errno.ENOSPC)
