"""The page of reliability and the tests of faults tell of the same ones."""

import re
from pathlib import Path

from spinney._support.checks import MAX_REPEATS, MAX_STARTS, MAX_TREES
from spinney.recipes import MAX_BUCKETS

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


def test_every_fault_has_a_line_and_a_test():
    page = PAGE.read_text(encoding="utf-8")
    lines = [int(n) for n in re.findall(r"^\| (\d+) \| \S", page, re.MULTILINE)]
    tests = set()
    for path in Path(__file__).parent.glob("test_*_faults.py"):
        names = re.findall(r"^def test_fault_(\d\d)_", path.read_text(), re.MULTILINE)
        tests |= set(map(int, names))
    assert lines == list(range(1, 53))
    assert tests == set(lines)


def test_the_page_has_the_bounds():
    page = PAGE.read_text(encoding="utf-8")
    bounds = {
        "`n_estimators`": MAX_TREES,
        "`n_init`": MAX_STARTS,
        "`repeats`, `gap_tables`, numbers in `n_clusters`": MAX_REPEATS,
        "`n_buckets`": MAX_BUCKETS,
    }
    for name, most in bounds.items():
        assert f"| {name} | {most:,} |" in page
