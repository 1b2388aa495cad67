"""Rows that nobody keeps, from the shell."""

import numpy as np
import pytest

GROWING = ("--target", "sold", "--recipe", "hoeffding")


@pytest.fixture
def rows(folder):
    """Write 900 rows of which one in nine is wrong."""
    random = np.random.default_rng(0)
    sizes, kinds = random.integers(0, 100, 900), random.choice(list("abc"), 900)
    sold = np.where((sizes > 50) ^ (np.arange(900) % 9 == 0), "yes", "no")
    cells = zip(sizes, kinds, sold, strict=True)
    lines = [
        "size,kind,sold",
        *(f"{size},{kind},{label}" for size, kind, label in cells),
    ]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")


def test_a_file_is_learned_row_by_row(rows, works, tool):
    outcome = tool("grow", "rows.csv", *GROWING, "-o", "m.spinney")
    assert "900 rows, each predicted before it was learned: " in outcome.err
    assert outcome.out.startswith("sold  (900: ")
    assert works("show", "m.spinney") == outcome.out
    assert "size" in works("predict", "m.spinney", "rows.csv", "--keep", "size")
    narrow = works("grow", "rows.csv", *GROWING, "--set", "max_depth=0")
    assert len(narrow.splitlines()) == 1


def test_what_a_stream_refuses(rows, tool):
    def refused(*arguments):
        outcome = tool("grow", "rows.csv", *arguments)
        assert outcome.code != 0
        return outcome.err

    assert "--keep-rows keeps the rows" in refused(
        *GROWING, "--keep-rows", "-o", "k.spinney"
    )
    assert "--memory-limit" in refused(*GROWING, "--memory-limit", "1GiB")
    assert "--validation-share 0.3 needs all" in refused(
        *GROWING, "--validation-share", "0.3"
    )
    assert "needs a target of classes" in refused(
        "--target", "size", "--recipe", "hoeffding"
    )
    tool("grow", "rows.csv", *GROWING, "-o", "m.spinney")
    assert "without the counts of its leaves" in refused("--update", "m.spinney")
