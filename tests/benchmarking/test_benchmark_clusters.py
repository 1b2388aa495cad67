"""The benchmarks of clusters, on tables of a few rows."""

import numpy as np
import pytest
from benchmarks import clusters, prototypes
from benchmarks.speed import report
from benchmarks.speed.command import finished
from benchmarks.speed.outcome import read


def told(tmp_path, *more):
    """Return the options of a short run that keeps what it measures."""
    file = tmp_path / "clusters.json"
    return ["--rows", "150", "--repeats", "2", "--json", str(file), *more]


@pytest.mark.slow
def test_a_short_run(tmp_path, capsys):
    arguments = told(tmp_path, "--tasks", "flat,middling", "--kinds", "noise")
    arguments += ["--programs", "spinney,scikit-learn"]
    found = clusters.run_all(clusters.parsed(arguments))
    assert [each.name for each in found] == ["flat noise", "middling noise"]
    assert [(each.rows, each.columns) for each in found] == [(150, 2), (150, 16)]
    for each in found:
        assert [line.program for line in each.lines] == [
            "spinney",
            "scikit-learn, lloyd",
            "scikit-learn, elkan",
            "spinney, until nothing moves",
        ]
        assert each.lines[0].quality == 1
        assert all(len(line.warm) == 2 for line in each.lines)
        assert not each.full
        assert not any("installed" in note for note in each.notes)
    assert read(tmp_path / "clusters.json") == found
    printed = capsys.readouterr().out
    assert "bar: >= 3 x the fastest of scikit-learn, lloyd" in printed
    assert "bar: inertia, of the better scikit-learn's, <= 1.01" in printed


def test_prototypes_are_one_more_task(tmp_path):
    arguments = told(tmp_path, "--tasks", "mixed", "--programs", "spinney")
    (found,) = clusters.run_all(clusters.parsed(arguments))
    assert (found.name, found.rows, found.columns) == ("mixed", 150, 10)
    assert [line.program for line in found.lines] == ["spinney"]
    assert not any("installed" in note for note in found.notes)
    (alone,) = prototypes.run_all(prototypes.parsed(told(tmp_path)))
    assert alone.lines[0].program == "spinney"


def test_what_was_kept_fills_a_page(tmp_path):
    arguments = told(tmp_path, "--tasks", "mixed", "--programs", "spinney")
    kept = clusters.run_all(clusters.parsed(arguments))
    page = tmp_path / "clusters.md"
    page.write_text("\n".join(report.marks_of("results")))
    arguments = told(tmp_path, "--read", "--page", str(page))
    assert finished(clusters.parsed(arguments), clusters.run_all) == kept
    assert "| mixed |" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tasks", "tall"], "tall is none of middling, flat, wide, mixed"),
        (["--kinds", "dust"], "dust is none of clumps, noise"),
        (
            ["--programs", "weka"],
            "weka is none of spinney, scikit-learn, faiss",
        ),
        (["--repeats", "0"], "--repeats must be at least 1"),
        (["--read"], "--read needs --json"),
    ],
)
def test_what_means_nothing_is_refused(arguments, words, capsys):
    with pytest.raises(SystemExit):
        clusters.parsed(arguments)
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("kind", clusters.KINDS)
def test_the_rows_are_the_same_every_time(kind):
    rows = clusters.KINDS[kind](40, 3, 5)
    assert rows.shape == (40, 3)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, clusters.KINDS[kind](40, 3, 5))
