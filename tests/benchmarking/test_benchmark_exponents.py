"""The command behind docs/complexity.md."""

import pytest
from benchmarks.exponents import (
    CostLine,
    measured,
    parsed,
    report_of,
    sizes_of,
    wanted,
)


def test_what_is_timed_is_done_once_before():
    times = []

    def prepared(size, n_rows):
        assert size == n_rows
        return lambda: times.append(size)

    line = CostLine("made", "rows", "n", (160, 320, 640), prepared)
    seconds = measured(line, repeats=2, quick=True)
    assert times == [20, 20, 20, 10, 10, 10]
    assert len(seconds) == len(sizes_of(line, quick=True)) == 2
    assert sizes_of(line, quick=False) == [160, 320, 640]


def test_a_line_says_the_power():
    line = CostLine("made", "rows", "n²", (10, 20), lambda *_: None)
    text = report_of(line, [10, 20, 40], [1.0, 4.0, 4.0])
    assert text.split() == [
        "made",
        "rows",
        "n²",
        "10",
        "to",
        "40",
        "4.000",
        *("1.00", "0.00"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["id3", "pessimistic", "k-means", "predict"])
def test_lines_can_be_run(name):
    line = next(wanted((name,)))
    seconds = measured(line, repeats=1, quick=True)
    assert len(seconds) == 2
    assert min(seconds) >= 0


def test_unknown_names(capsys):
    with pytest.raises(SystemExit):
        parsed(["--only", "c5"])
    assert "--only 'c5': there are" in capsys.readouterr().err
    assert {line.name for line in wanted(parsed(["--only", "cart,chaid"]).only)} == {
        "cart: numbers",
        "cart: 2 classes",
        "cart: 3 classes",
        "chaid: names",
    }
