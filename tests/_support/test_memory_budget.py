"""How much memory is taken where nobody says how much there is."""

import os

import pytest

from spinney._support import memory_budget
from spinney._support.memory_budget import default_memory_limit


@pytest.fixture
def group(monkeypatch, tmp_path):
    """Return where a group of processes says its limit, on a machine of 64 GiB."""
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 16 << 20}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    monkeypatch.setattr(
        memory_budget, "LIMIT_FILES", (tmp_path / "no", tmp_path / "limit")
    )
    return tmp_path / "limit"


@pytest.mark.parametrize(
    "written, room",
    [
        ("2147483648\n", 512 << 20),  # of a container
        ("max\n", 16 << 30),  # by version 2 of control groups, none
        ("9223372036854771712\n", 16 << 30),  # by version 1, none
        ("", 16 << 30),
        ("\x80", 16 << 30),
    ],
)
def test_a_group_of_processes_may_have_less_than_the_machine(written, room, group):
    group.write_text(written, encoding="latin-1")
    assert default_memory_limit() == room


def test_a_machine_without_groups(group, monkeypatch):
    assert default_memory_limit() == 16 << 30
    monkeypatch.setattr(os, "sysconf", lambda name: int("-"))
    assert default_memory_limit() == 1 << 30
    group.write_text("1000000")
    assert default_memory_limit() == 250_000
