"""The parts of the speed benchmark, on tables of a few rows."""

import json
import subprocess
import sys

import numpy as np
import pytest
from benchmarks.speed import measure, report
from benchmarks.speed.__main__ import parsed, run
from benchmarks.speed.data import AbsentError, bundled, covertype, made, mixed
from benchmarks.speed.measure import Line, impurity, peak_memory_of, quality, timed
from benchmarks.speed.outcome import Bar, Outcome, kept, read
from benchmarks.speed.programs import Program, trees
from benchmarks.speed.tasks import TASKS, Options


def an_outcome():
    outcome = Outcome("tree2", "one tree", 400, 6, full=False)
    outcome.lines = [
        Line("spinney", 9.0, [1.0, 3.0, 2.0], 0.750, 2**20),
        Line("scikit-learn", 50.0, [30.0], 0.751),
        Line("YDF", 9.0, [8.0], 0.740, note="1 of 3 warm runs"),
    ]
    outcome.machine = measure.machine()
    return outcome


def test_ratios_are_of_medians():
    outcome = an_outcome()
    assert outcome.ratio("scikit-learn") == 15.0
    assert outcome.ratio("YDF") == 4.0
    assert outcome.ratio("XGBoost") is None


def test_bars():
    outcome = an_outcome()
    outcome.faster(10, "scikit-learn")
    outcome.faster(5, "scikit-learn", "YDF", "XGBoost")
    outcome.faster(5, "XGBoost")
    outcome.as_good(0.002)
    outcome.at_most("time on 2 × rows", 2.2, 2.5, " x")
    assert [str(bar) for bar in outcome.bars] == [
        "bar: >= 10 x scikit-learn: reached 15",
        "bar: >= 5 x the fastest of scikit-learn, YDF: reached 4 (YDF) (missed)",
        "bar: accuracy >= the best peer's - 0.002: reached -0.0010 of it",
        "bar: time on 2 × rows <= 2.2 x: reached 2.5 x (missed)",
    ]


def test_outcomes_are_kept_and_read_again(tmp_path):
    file = tmp_path / "results.json"
    first, second = an_outcome(), an_outcome()
    first.bars.append(Bar("all", "much", met=True))
    second.name = "forest"
    kept(file, [first])
    assert [each.name for each in kept(file, [second])] == ["tree2", "forest"]
    assert read(file)[0] == first


def test_a_page_is_filled_between_its_marks(tmp_path):
    page = tmp_path / "speed.md"
    begin, end = report.marks_of("results")
    page.write_text(f"before\n{begin}\nearlier\n{end}\nafter\n")
    report.fill(page, report.markdown([an_outcome()]))
    report.fill(page, report.markdown([an_outcome()]))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "earlier" not in text
    assert text.count("| task | spinney | scikit-learn | YDF |") == 2
    assert text.count("| tree2 | 2.0000 | 30.0000 | 8.0000 |") == 1
    assert text.count("| tree2 | 0.7500 | 0.7510 | 0.7400 |") == 1
    assert text.count("- tree2: YDF: 1 of 3 warm runs") == 1
    page.write_text("no marks")
    with pytest.raises(SystemExit, match="has no lines"):
        report.fill(page, report.markdown([an_outcome()]))


def test_a_page_may_speak_of_its_marks(tmp_path):
    page = tmp_path / "speed.md"
    begin, end = report.marks_of("everyday")
    told = f"| `--page` | put the tables between `{begin}` and `{end}` of a page |"
    page.write_text(f"{told}\n\n{begin}\n{end}\nafter\n")
    for _ in range(2):
        report.fill(page, "| a table |", "everyday")
        expected = f"{told}\n\n{begin}\n\n| a table |\n\n{end}\nafter\n"
        assert page.read_text(encoding="utf-8") == expected
    for broken in (f"{begin}\n{begin}\n{end}\n", f"{end}\n{begin}\n", told):
        page.write_text(broken)
        with pytest.raises(SystemExit, match="once each"):
            report.fill(page, "| a table |", "everyday")
        assert page.read_text(encoding="utf-8") == broken


@pytest.mark.parametrize("name", ["results", "everyday"])
def test_the_page_of_speed_has_its_marks_once(name):
    lines = (measure.ROOT / "docs/speed.md").read_text(encoding="utf-8").splitlines()
    assert [lines.count(mark) for mark in report.marks_of(name)] == [1, 1]


def test_impurity_is_that_of_the_leaves():
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    for n_classes, kind in ((3, DecisionTreeClassifier), (0, DecisionTreeRegressor)):
        data = made(300, 6, n_classes)
        model = kind(max_depth=3).fit(data.cells, data.labels)
        tree = model.tree_
        leaves = tree.children_left < 0
        shares = tree.n_node_samples[leaves] / 300
        expected = shares @ tree.impurity[leaves]
        assert impurity(model, data) == pytest.approx(expected, abs=1e-12)


def test_no_run_begins_after_the_limit():
    calls = []
    line = timed("spinney", lambda: calls.append(1), repeats=4, limit=60.0)
    assert (len(calls), len(line.warm), line.note) == (5, 4, "")
    line = timed("spinney", lambda: calls.append(1), repeats=4, limit=0.0)
    assert (len(calls), line.note) == (7, "1 of 4 warm runs")


def test_quality():
    data = made(100, 6, 2)
    assert quality(data, data.held_labels) == 1.0
    assert quality(data, 1 - data.held_labels) == 0.0
    numbers = made(100, 6, 0)
    mean = np.full(20, numbers.held_labels.mean())
    assert quality(numbers, mean) == pytest.approx(0.0)


def test_the_peak_of_memory_is_seen():
    peak = peak_memory_of(lambda: np.ones(4_000_000).sum())
    assert peak is None or 28_000_000 < peak < 64_000_000


def test_small_tables_are_held_out_in_part():
    data = bundled("iris")
    assert (len(data.labels), len(data.held_labels), data.n_classes) == (120, 30, 3)


def a_folder(tmp_path):
    rows = [f"{n},{'?' if n % 9 == 0 else 'ab'[n % 2]},{n % 40}" for n in range(50)]
    (tmp_path / "airlines_3m.csv").write_text("\n".join(["hour,origin,delay", *rows]))
    facts = {
        "file": "airlines_3m.csv",
        "target": "delay",
        "task": "regression",
        "ignore": [],
        "types": {"hour": "numeric", "origin": "nominal", "delay": "numeric"},
        "levels": {},
        "missing_marker": "?",
    }
    absent = {**facts, "file": "adult.csv"}
    schema = json.dumps({"airlines_3m": facts, "adult": absent})
    (tmp_path / "schema.json").write_text(schema)
    return tmp_path


def test_a_mixed_table(tmp_path):
    data = mixed("airlines_3m", a_folder(tmp_path), None)
    assert data.cells["origin"].cat.categories.tolist() == ["a", "b"]
    both = [*data.cells["origin"], *data.held_cells["origin"]]
    assert sum(value not in ("a", "b") for value in both) == 6
    delayed = np.append(data.cells["hour"], data.held_cells["hour"]) % 40 > 15
    assert delayed.astype(int).tolist() == [*data.labels, *data.held_labels]
    assert len(mixed("airlines_3m", tmp_path, 20).labels) == 16


def test_tables_that_are_absent(tmp_path):
    with pytest.raises(AbsentError, match="--data or SPINNEY_DATA"):
        covertype(None, None)
    with pytest.raises(AbsentError, match="adult is left out: it is not in"):
        mixed("adult", a_folder(tmp_path), None)


def test_programs_that_are_absent():
    nowhere = Program("Nobody", "no_such_package", "no_such_package", ("A", "B"))
    assert nowhere.absence(10) == "not installed"
    older = Program("spinney", "spinney", "spinney", ("Nothing", "Nothing"))
    assert older.absence(10) == "spinney has no Nothing"
    slow = Program("s", "spinney", "spinney", ("TreeClassifier", ""), {}, most_rows=5)
    assert slow.absence(10).startswith("left out above 5 rows")
    assert trees(8, 100)[0].absence(10) is None


@pytest.mark.slow
def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("SPINNEY_DATA", raising=False)
    file = tmp_path / "results.json"
    told = ["--rows", "200", "--columns", "6", "--repeats", "1", "--json", str(file)]
    told += ["--programs", "spinney,scikit-learn", "--tasks", "tree2,numbers,covertype"]
    found = run(parsed(told))
    assert [each.name for each in found] == ["tree2", "numbers"]
    names = ["spinney", "spinney, surrogates", "scikit-learn"]
    assert [line.program for line in found[0].lines] == names
    assert found[0].bars[0].met
    assert read(file) == found
    printed = capsys.readouterr().out
    assert "bar: >= 100 x scikit-learn: reached" in printed
    assert "(at 200 rows; the bar is of more)" in printed
    assert "[covertype] covertype is left out" in printed


def test_scaling():
    options = Options(rows=120, columns=6, repeats=1, programs=("spinney",))
    (outcome,) = TASKS["scaling"](options)
    assert outcome.lines[0].program == "spinney"
    assert [bar.must for bar in outcome.bars] == [
        "time on 2 × rows <= 2.2 x",
        "time on 2 × columns <= 2.2 x",
    ]


def test_tasks_that_are_not_there(capsys):
    with pytest.raises(SystemExit):
        parsed(["--tasks", "tree3"])
    assert "tree3 is none of tree2, tree10" in capsys.readouterr().err


def test_help_is_printed_without_a_compiler():
    command = [sys.executable, "-m", "benchmarks.speed", "--help"]
    told = subprocess.run(command, cwd=measure.ROOT, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert "--chart" in told.stdout
