"""The page of what was found names tests that there are, and every one of these."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_every_line_names_a_test_that_there_is():
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    found = [line for line in lines if not line.startswith("| found |")]
    assert len(found) > 30
    for line in found:
        named = NAMED.findall(line)
        assert named, line
        for file, test in named:
            text = (ROOT / file).read_text(encoding="utf-8")
            assert f"def {test}(" in text, (file, test)
