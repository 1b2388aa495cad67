"""``make trust`` counts what ran, and takes nothing else for a success."""

import json
import os
import subprocess
import sys

import pytest
from tools import branches, covered_tests, mutate, trust
from tools.mutate import SOURCE, mutants_of
from tools.pages import END, PAGE, begin, written

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
    mark = begin(trust.COMMAND)
    page.write_text(f"# Trust\n\n{mark}\nold\n{END}\nrest\n", "utf-8")
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


def test_a_longer_run_of_this_version_is_told(monkeypatch, tmp_path):
    facts = {"version": trust.__version__, "date": "2026-11-18", "mutations": 10**6}
    record = tmp_path / "mutations.json"
    monkeypatch.setattr(trust, "RECORD", record)
    record.write_text(json.dumps(facts | {"mended": {"forest-0.spinney": "slow"}}))
    told = "of 22 files, and 1,000,000 on 2026-11-18 (1 finds, mended)"
    assert told in trust.parts(1)[1].read(FUZZ)[0]
    record.write_text(json.dumps(facts | {"mended": {}, "version": "0.0.9"}))
    assert trust.parts(1)[1].read(FUZZ)[0] == "20,000 mutations of 22 files"


def test_branches_are_summed_by_package():
    def file(branches, taken):
        summary = {"num_branches": branches, "covered_branches": taken}
        return {"summary": summary | {"num_statements": 10, "covered_lines": 9}}

    files = {
        "src/spinney/trees/split.py": file(8, 6),
        "/elsewhere/src/spinney/trees/criteria/tails.py": file(2, 2),
        "src/spinney/api.py": file(0, 0),
    }
    assert branches.table(branches.by_package(files))[2:] == [
        "| spinney | 0 | 0.0 % | 90.0 % |",
        "| trees | 10 | 80.0 % | 90.0 % |",
        "| all | 10 | 80.0 % | 90.0 % |",
    ]


@pytest.mark.parametrize("taken, code", [(94, 1), (95, 0)])
def test_branches_have_a_bar(taken, code, monkeypatch, tmp_path):
    summary = {"num_branches": 100, "covered_branches": taken}
    summary |= {"num_statements": 1, "covered_lines": 1}
    files = {"src/spinney/api.py": {"summary": summary}}
    monkeypatch.setattr(branches, "reported", lambda: files)
    page = tmp_path / "trust.md"
    page.write_text(f"{begin(branches.COMMAND)}\nold\n{END}\n", "utf-8")
    monkeypatch.setattr(branches, "PAGE", page)
    assert branches.main(["--report"]) == code
    assert f"| all | 100 | {taken}.0 % |" in page.read_text("utf-8")


def test_marks_are_those_of_the_page():
    for tool in (trust, branches, mutate):
        assert written(PAGE.read_text("utf-8"), [], command=tool.COMMAND)
    with pytest.raises(ValueError, match="no marks"):
        written("", [], command="make trust")


LONG_TESTS = """
def test_of_a_long_time():
    while True: pass

def test_that_makes_an_interrupt_of_it():
    try:
        while True: pass
    except BaseException:
        raise KeyboardInterrupt from None

def test_after_them(): pass
"""


CASES = """
import pytest

@pytest.mark.parametrize("case", range(16))
def test_of_many_cases(case):
    while case: pass

def test_after_them(): pass
"""


def run_limited(tmp_path, tests, **settings):
    """Run tests as they are when branches are counted; return what became of them."""
    (tmp_path / "test_long.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    settings |= {"PYTHONPATH": str(mutate.ROOT), "SPINNEY_COVERAGE": str(tmp_path)}
    subprocess.run(
        [*command, "-p", "tools.covered_tests", "test_long.py"],
        capture_output=True,
        cwd=tmp_path,
        env=os.environ | settings,
    )
    (path,) = tmp_path.glob("tests-*.json")
    return json.loads(path.read_text("utf-8"))["outcomes"]


def test_a_test_is_left_after_some_seconds(tmp_path):
    outcomes = run_limited(tmp_path, LONG_TESTS, SPINNEY_TEST_SECONDS="0.1")
    assert outcomes == {covered_tests.OUT_OF_TIME: 2, "passed": 1}


def test_further_cases_of_a_test_are_not_begun(tmp_path):
    outcomes = run_limited(tmp_path, CASES, SPINNEY_TEST_SECONDS="0.4")
    assert outcomes["passed"] == 2
    assert outcomes[covered_tests.OUT_OF_TIME] >= 1
    assert outcomes[covered_tests.NOT_BEGUN] >= 4
    assert sum(outcomes.values()) == 17


def test_tests_divide_what_a_run_has():
    shares = covered_tests.Shares(10.0, {f"test_{at}": 1 for at in range(100)})
    assert shares.of_case("test_1") == pytest.approx(0.5)  # five even shares
    shares.seconds = 0.0
    assert shares.of_case("test_2") == 0.0
    limit = covered_tests.LIMIT
    shares = covered_tests.Shares(1000.0, {"test_a": 4, "test_b": 1})
    assert [shares.of_case("test_b"), shares.of_case("test_a[x]")] == [limit, limit]
    shares.take("test_a[x]", limit)
    assert shares.of_case("test_a[y]") == limit / 2
    shares.take("test_a[y]", limit)
    assert shares.of_case("test_a[z]") < covered_tests.LEAST


def test_changes_are_drawn_by_a_seed():
    first, second = (mutate.drawn("criteria", 3, seed) for seed in (0, 1))
    assert first == mutate.drawn("criteria", 3, 0) != second
    assert len({str(mutant) for mutant in first}) == 3


def test_a_verdict_holds_for_the_code_it_was_given_to(tmp_path, monkeypatch):
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    path = tmp_path / "module.py"

    def keys(code):
        path.write_text(code, encoding="utf-8")
        return [mutant.key for mutant in mutate.mutants_of(path)]

    before = keys("x = 1 + y\nz = 2\n")
    assert keys("# a remark\nx = 1 + y\n\nz = 2\n") == before
    assert len(set(before)) == 3
    assert not set(keys("x = 1 + y\nz = 3\n")) & set(before)


def test_a_change_is_noticed_or_survives(tmp_path):
    """Of the same test, with the code as it is and with another."""
    test = tmp_path / "test_of_it.py"
    test.write_text(
        "from spinney.trees.criteria import tails\n"
        "def test(): assert 'changed' not in dir(tails)\n"
    )
    program = (
        "import sys; from dataclasses import replace; from tools import mutate\n"
        "path = mutate.SOURCE / 'trees' / 'criteria' / 'tails.py'\n"
        "sound = mutate.unchanged(next(mutate.mutants_of(path)))\n"
        "other = replace(sound, code=sound.code + '\\nchanged = 1\\n')\n"
        f"tests = [{str(test)!r}]\n"
        "broken = replace(sound, code='1 / 0')\n"  # which no test can import
        "print(*(mutate.survives(each, tests) for each in (sound, other, broken)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=mutate.ROOT
    )
    assert done.stdout == "True False False\n", done.stderr


def test_changes_of_the_code_are_changes():
    path = SOURCE / "trees" / "criteria" / "impurity.py"
    sound = path.read_text("utf-8")
    mutants = list(mutants_of(path))
    assert len({mutant.code for mutant in mutants}) == len(mutants) > 10
    assert all(mutant.before != mutant.after for mutant in mutants)
    assert sound == path.read_text("utf-8")
