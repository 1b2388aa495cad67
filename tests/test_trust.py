"""``make trust`` counts what ran, and takes nothing else for a success."""

import subprocess

import pytest
from tools import trust
from tools.mutate import SOURCE, mutants_of

FUZZ = "20000 mutations of 22 files: 18100 refused, 1900 used; the slowest; 0 finds\n"
EXPORTS = (
    "onnx         left out: no onnxruntime\n"
    "exports: 9 ways to run them, 80 models, 12,345 rows compared, 0 differences\n"
)
FAULTS = (
    "tests/faults/test_a.py::test_fault_01_x PASSED [ 30%]\n"
    "tests/faults/test_a.py::test_fault_01_y PASSED [ 60%]\n"
    "tests/faults/test_a.py::test_fault_02_x FAILED [ 90%]\n"
    "==== 1 failed, 2 passed in 3.21s ====\n"
)
CHECKS = "413 passed, 2 skipped in 99.10s (0:01:39)\n"


@pytest.mark.parametrize(
    "place, output, done, failures",
    [
        (0, CHECKS, "413 of 413 checks passed, 2 skipped", 0),
        (0, "1 failed, 4 passed in 1.00s\n", "4 of 5 checks passed", 1),
        (0, "4 passed, 1 xfailed in 1.00s\n", "4 of 5 checks passed", 1),
        (1, FUZZ, "20,000 mutations of 22 files", 0),
        (1, FUZZ.replace("0 finds", "3 finds"), "20,000 mutations of 22 files", 3),
        (2, FAULTS, "1 faults, 2 of 3 tests passed", 1),
        (3, EXPORTS.replace("0 diff", "7 diff"), "12,345 rows compared; 1 left out", 7),
    ],
)
def test_what_is_read(place, output, done, failures):
    read = trust.parts(20_000)[place].read(output)
    assert done in read[0]
    assert read[1] == failures


@pytest.mark.parametrize("place", range(4))
def test_what_says_nothing_is_no_success(place):
    assert trust.parts(1)[place].read("Killed\n") is None


def ran(monkeypatch, tmp_path, outputs, code=0):
    """Run all parts, which print some outputs; return the page and the exit code."""
    page = tmp_path / "trust.md"
    page.write_text(f"# Trust\n\n{trust.BEGIN}\nold\n{trust.END}\nrest\n", "utf-8")
    monkeypatch.setattr(trust, "PAGE", page)
    monkeypatch.setattr(trust, "ROOT", tmp_path)
    for part in trust.parts(1):
        (tmp_path / part.needs).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / part.needs).touch()
    answers = iter(outputs)
    monkeypatch.setattr(
        subprocess,
        "run",
        lambda command, **_: subprocess.CompletedProcess(
            command, code, next(answers), ""
        ),
    )
    return page, trust.main([])


def test_all_is_well_and_written(monkeypatch, tmp_path, capsys):
    fine = FAULTS.replace("FAILED", "PASSED").replace("1 failed, 2", "3")
    page, code = ran(monkeypatch, tmp_path, [CHECKS, FUZZ, fine, EXPORTS])
    text = page.read_text("utf-8")
    assert code == 0
    assert "| known faults of others | 2 faults, 3 of 3 tests passed | 0 |" in text
    assert "old" not in text
    assert text.startswith("# Trust")
    assert text.endswith("rest\n")
    assert capsys.readouterr().out.count("| 0 |") == 4


def test_a_failure_is_written_and_told(monkeypatch, tmp_path):
    page, code = ran(monkeypatch, tmp_path, [CHECKS, FUZZ, FAULTS, EXPORTS], code=1)
    assert code == 1
    # The others say that nothing failed and yet end with 1: that is not believed.
    assert "old" in page.read_text("utf-8")


def test_what_did_not_end_leaves_the_page(monkeypatch, tmp_path, capsys):
    page, code = ran(monkeypatch, tmp_path, [CHECKS, "", FAULTS, EXPORTS])
    assert code == 1
    assert "old" in page.read_text("utf-8")
    assert "did not end" in capsys.readouterr().out


def test_a_part_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setattr(trust, "ROOT", tmp_path)
    count = trust.counted(trust.parts(1)[2])
    assert (count.done, count.failures) == ("not there: tests/faults", None)


def test_changes_of_the_code_are_changes():
    path = SOURCE / "trees" / "criteria" / "impurity.py"
    sound = path.read_text("utf-8")
    mutants = list(mutants_of(path))
    assert len({mutant.code for mutant in mutants}) == len(mutants) > 10
    assert all(mutant.before != mutant.after for mutant in mutants)
    assert sound == path.read_text("utf-8")
