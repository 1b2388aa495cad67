"""The pages about the source stay short, complete and true."""

import re
from pathlib import Path

import pytest

import spinney

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "spinney"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
INDEX = ROOT / "docs" / "decisions" / "README.md"
DECISIONS = sorted(INDEX.parent.glob("[0-9]*.md"))
HEADINGS = ["Decision", "Reason", "Alternatives", "Code"]
FILE = re.compile(r"`((?:[a-z0-9_.]+/)*[a-z0-9_.]*)`")
SUFFIXES = (".py", ".js", ".css", ".md")


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def _exists(name: str) -> bool:
    """Tell whether there is a file of this path, or of this bare name."""
    if "/" in name:
        return any(
            (folder / name).exists() for folder in (SOURCE, ROOT, ROOT / "tests")
        )
    return any(SOURCE.rglob(name))


def _sentences(text: str) -> list[str]:
    prose = " ".join(line for line in text.splitlines() if not line.startswith("#"))
    return re.split(r"(?<=[.:;])\s+", prose)


def test_architecture_is_short():
    assert len(_text(ARCHITECTURE).split()) <= 1500


def test_the_index_lists_exactly_the_decisions():
    listed = re.findall(r"^- \[\d+\. .+\]\((\S+)\)$", _text(INDEX), re.MULTILINE)
    assert listed == [page.name for page in DECISIONS]
    assert {page.name for page in INDEX.parent.iterdir()} == {"README.md", *listed}


def test_decisions_are_numbered_without_a_duplicate():
    numbers = [page.name[:3] for page in DECISIONS]
    assert len(set(numbers)) == len(numbers) > 0


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_is_short_and_complete(page):
    text = _text(page)
    title = re.match(r"# (\d+)\. (.+)\n", text)
    assert title
    assert int(title[1]) == int(page.name[:3])
    assert f"[{title[0][2:].strip()}]({page.name})" in _text(INDEX)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    assert len(text.split()) <= 300
    assert [s for s in _sentences(text) if len(s.split()) > 25] == []


@pytest.mark.parametrize("page", [ARCHITECTURE, *DECISIONS], ids=lambda page: page.stem)
def test_paths_on_a_page_exist(page):
    named = FILE.findall(_text(page))
    files = [name for name in named if "/" in name or name.endswith(SUFFIXES)]
    assert files
    assert [name for name in files if not _exists(name)] == []


def test_the_changelog_begins_with_this_version():
    versions = re.findall(r"^## (\S+)", _text(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert versions[0] == spinney.__version__
    assert "Unreleased" not in versions
