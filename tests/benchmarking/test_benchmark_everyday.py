"""The benchmark of everyday waits: its cells, its workers, its comparisons."""

import json
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from benchmarks.everyday import __main__ as everyday
from benchmarks.everyday.__main__ import parsed
from benchmarks.everyday.bars import NOT_RUN, check_targets
from benchmarks.everyday.cells import Cell, Command, costs, grid, lines
from benchmarks.everyday.results import (
    Result,
    compare,
    keep,
    shown,
    slowest_first,
)
from benchmarks.everyday.tables import FILES, TABLES, with_missing
from benchmarks.everyday.worker import timed, work
from benchmarks.speed import measure
from benchmarks.speed.data import AbsentError
from benchmarks.speed.programs import SCIKIT_TREE, TREE, Program
from benchmarks.speed.report import marks_of

IRIS = Cell(
    "iris, cart",
    "iris",
    (
        Program("scikit-learn", *SCIKIT_TREE),
        Program("nobody", "no_such_package", "no_such_package", ("A", "B")),
        Program("spinney", *TREE, {"recipe": "cart"}),
    ),
)


@pytest.fixture(autouse=True)
def every_core(monkeypatch):
    """Leave the cores of the process that runs the tests as they are."""
    monkeypatch.setattr(everyday, "keep_to_threads", lambda: None)


def options(*more, **changed):
    given = parsed(["--repeats", "1", *more])
    return type(given)(**{**vars(given), "data": None, **changed})


def test_cells_have_names_of_their_own():
    every = [*lines(), *grid()]
    names = [cell.name for cell in every]
    assert len(set(names)) == len(names)
    assert {cell.like for cell in every} - {""} <= set(names)
    assert {cell.table for cell in every if isinstance(cell, Cell)} == set(TABLES)
    assert {c.table for c in every if isinstance(c, Command)} == {"", *FILES}


def test_spinney_is_the_last_of_each_cell():
    for cell in [cell for cell in (*lines(), *grid()) if isinstance(cell, Cell)]:
        assert [p.name for p in cell.programs].index("spinney") + 1 == len(
            cell.programs
        )


def test_peers_of_the_grid_can_do_it():
    peers = {cell.name: [p.name for p in cell.programs[:-1]] for cell in grid()}
    assert peers["iris, cart, plain"] == ["scikit-learn", "YDF", "LightGBM"]
    assert peers["iris, cart, cost matrix"] == []
    assert peers["adult, cart, class weight"] == ["LightGBM"]
    assert "diabetes, m5, weights" in peers
    assert "diabetes, m5, class weight" not in peers


def test_settings_of_the_grid():
    cells = {cell.name: cell for cell in grid()}
    own = cells["iris, chaid, cost matrix"].programs[-1].parameters
    assert own == {"recipe": "chaid", "cost_matrix": costs(3)}
    assert costs(3) == [[0, 5, 5], [1, 0, 1], [1, 1, 0]]
    assert cells["iris, id3, 5% missing"].missing
    assert cells["iris, id3, weights"].weights
    assert cells["iris, id3, weights"].like == "iris, id3, plain"


@pytest.mark.parametrize("name", ["iris", "breast cancer", "digits", "diabetes"])
def test_tables_are_as_they_are_declared(name):
    table = TABLES[name]
    cells, labels = table.read(None)
    assert len(cells) == table.n_rows
    assert (len(np.unique(labels)) if table.n_classes else 0) == table.n_classes


def test_missing_cells():
    numbers = np.ones((400, 5))
    share = np.isnan(with_missing(numbers)).mean()
    assert share == pytest.approx(0.05, abs=0.02)
    frame = pd.DataFrame(numbers).add_prefix("x")
    frame["name"] = pd.Categorical(["a", "b"] * 200)
    gone = with_missing(frame)
    assert gone.dtypes.equals(frame.dtypes)
    assert 0 < gone["name"].isna().sum() < 50


def test_a_table_as_credit_a_is(tmp_path):
    with pytest.raises(AbsentError, match="--data"):
        FILES["credit_a"](tmp_path, None)
    with pytest.raises(AbsentError, match="it is not in"):
        FILES["credit_a"](tmp_path, tmp_path)
    frame = pd.read_csv(FILES["made like credit_a"](tmp_path, None))
    assert frame.shape == (690, 16)
    assert frame["class"].nunique() == 2
    assert 0 < frame.isna().to_numpy().sum() < 200
    assert len(frame.select_dtypes("number").columns) == 6


def test_short_runs_are_repeated_more_often():
    assert len(list(timed(lambda: None, repeats=2, patience=60))) == 41
    assert len(list(timed(lambda: None, repeats=2, patience=1e-9))) == 2


def test_a_worker_tells_each_run_and_each_failure():
    every = list(work(IRIS, None, repeats=1, patience=60))
    begun = [each["begins"] for each in every if "begins" in each]
    assert begun == ["spinney", "scikit-learn"]  # a slow peer takes none of its time
    told = [each for each in every if "begins" not in each]
    assert {each["program"] for each in told} == {"scikit-learn", "spinney"}
    assert all(each["seconds"] > 0 for each in told)
    wrong = Program("spinney", *TREE, {"recipe": "oak"})
    cell = Cell("iris, oak", "iris", (IRIS.programs[0], wrong))
    told = list(work(cell, None, repeats=1, patience=60))
    assert told[1]["failed"].startswith("ParameterError: recipe='oak'")
    assert "seconds" in told[-1]


def test_a_worker_without_its_table():
    (told,) = work(Cell("a", "adult", ()), None, repeats=1, patience=60)
    assert told == {
        "absent": "adult is left out: name the folder that has it, "
        "--data or SPINNEY_DATA"
    }


def test_rows_with_weights_missing_cells_and_one_row():
    for settings in ({"missing"}, {"weights"}, {"one_row"}, {"one_row", "kept"}):
        cell = Cell("iris", "iris", IRIS.programs, **dict.fromkeys(settings, True))
        assert not any("failed" in t for t in work(cell, None, repeats=1, patience=1))


def test_what_is_not_done_is_reported_and_ended_with_its_children(tmp_path):
    late = "import time; time.sleep(30)"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {late!r}])"
    command = Command("late", "", {"spinney": (sys.executable, "-c", child)})
    began = time.perf_counter()
    result = everyday.run_command(command, options(patience=1.0), tmp_path)
    # A child that lives on would hold the pipe that is read to its end.
    assert time.perf_counter() - began < 20
    assert result.missed == "not done after 1 s"


def written(monkeypatch, lines, err="", code=0):
    out = "".join(json.dumps(line) + "\n" for line in lines)
    monkeypatch.setattr(everyday, "waited", lambda *_: (out, err, code))
    return everyday.run_cell(IRIS, options())


def test_runs_of_a_worker(monkeypatch):
    def runs(program, *seconds):
        return [{"program": program, "seconds": each} for each in seconds]

    peer, own = runs("scikit-learn", 9, 1, 2), runs("spinney", 5, 4, 3)
    result = written(monkeypatch, peer + own)
    assert (result.first, result.best(), result.missed) == (5, 3, "")
    assert result.runs["scikit-learn"] == [1, 2]
    result = written(monkeypatch, peer, code=None)
    assert result.missed == "not done after 60 s"
    result = written(monkeypatch, peer + own[:1], code=None)
    assert (result.best(), result.notes) == (5, ["not done after 60 s"])
    begun = [{"begins": "spinney"}, *own, {"begins": "scikit-learn"}]
    result = written(monkeypatch, begun, code=None)
    late = ["scikit-learn: not done after 60 s"]
    assert (result.best(), result.missed, result.notes) == (3, "", late)
    said = "Compiling for this machine (up to 20 s, first run only)."
    result = written(monkeypatch, peer, said, code=None)
    assert "Spinney compiled meanwhile" in result.missed
    result = written(monkeypatch, [], "no memory", code=1)
    assert result.missed == "worker failed: no memory"
    result = written(monkeypatch, [{"program": "spinney", "failed": "refused"}])
    assert result.missed == "refused"


def results():
    found = [
        Result("plain", runs={"spinney": [4.0, 2.0]}),
        Result("peer", "plain", 3.0, {"YDF": [4.0], "sk": [0.5], "spinney": [2.0]}),
        Result("costs", "plain", runs={"spinney": [16.0]}),
        Result("late", "plain", runs={"sk": [1.0]}, missed="not done after 60 s"),
        Result("absent", "plain", missed="left out"),
    ]
    compare(found)
    return found


def test_ratios_are_to_the_fastest_peer_or_to_the_plain_cell():
    assert [(each.ratio, each.beside) for each in results()] == [
        (None, ""),
        (4.0, "sk"),
        (8.0, "plain"),
        (None, "sk"),
        (None, "plain"),
    ]


def test_the_slowest_are_first_and_nothing_is_dropped():
    order = slowest_first(results())
    names = [each.name for each in order]
    assert names == ["late", "costs", "peer", "plain", "absent"]
    text = shown(order)
    assert [row.split()[0] for row in text] == ["cell", *names]
    assert text[1].endswith("not done after 60 s")
    assert text[3].split() == ["peer", "2.00", "1", "3.00", "0.500", "4.00", "sk"]


def bars(*found):
    return {bar.must: bar for bar in check_targets(found)}


def test_what_is_asked_is_compared_with_the_worst_cell():
    small = "the default on tables of less than 50,000 cells, with any setting <= 0.5 s"
    quick = Result("iris, default", runs={"spinney": [0.9, 0.2]})
    slow = Result("credit_g, auto, weights", runs={"spinney": [0.7]})
    large = Result("covertype, auto, weights", runs={"spinney": [7.0]})
    found = bars(quick, large)
    assert found[small].met
    assert found[small].reached == "0.2 s (iris, default), 1 of 1 cells"
    found = bars(quick, slow)
    assert not found[small].met
    assert "(credit_g, auto, weights), 1 of 2 cells" in found[small].reached
    late = Result("iris, auto, plain", missed="not done after 60 s")
    assert bars(quick, late)[small].reached.startswith("not done (iris, auto, plain)")
    gone = Result("credit_g, auto, plain", missed="credit_g is left out: no folder")
    assert bars(quick, gone)[small].met
    others = [bar for must, bar in found.items() if must != small]
    assert {bar.reached for bar in others} == {NOT_RUN}


def test_settings_are_compared_with_the_plain_tree_and_trees_with_a_peer():
    plain = Result("iris, cart, plain", runs={"spinney": [1.0], "YDF": [0.1]})
    weighed = Result("iris, cart, weights", plain.name, runs={"spinney": [11.0]})
    chaid = Result("iris, chaid, plain", runs={"spinney": [1.0]})
    other = Result("iris, chaid, weights", chaid.name, runs={"spinney": [29.0]})
    auto = Result("iris, auto, weights", "iris, auto, plain", runs={"spinney": [99.0]})
    usual = Result("iris, auto, plain", runs={"spinney": [1.0]})
    found = bars(plain, weighed, chaid, other, auto, usual)
    settings = found["any setting, relative to the plain tree of the same rows <= 10 ×"]
    assert settings.reached == "11 × (iris, cart, weights), 0 of 1 cells"
    assert found["any setting of chaid, relative to plain chaid <= 30 ×"].met
    runs = {"spinney": [4.0], "scikit-learn": [2.0], "YDF": [1.0]}
    tree = Result("iris, cart, branch", runs=runs)
    single = bars(tree)["single trees, relative to scikit-learn <= 3 ×"]
    assert (single.met, single.reached[:3]) == (True, "2 ×")


def test_names_of_bars_are_names_of_cells():
    every = [Result(c.name, c.like, runs={"spinney": [1.0]}) for c in lines()]
    every += [Result(c.name, c.like, runs={"spinney": [1.0]}) for c in grid()]
    for result in every:
        result.runs |= {"scikit-learn": [1.0], "YDF": [1.0]}
    assert NOT_RUN not in {bar.reached for bar in check_targets(every)}


def test_results_of_a_file_fill_a_page(tmp_path, capsys, monkeypatch):
    file, page = tmp_path / "everyday.json", tmp_path / "speed.md"
    page.write_text("\n".join(["before", *marks_of("everyday"), "after", ""]))
    keep(file, [Result("iris, default", runs={"spinney": [0.2], "YDF": [0.1]})])
    keep(file, [Result("iris, cart, plain", runs={"spinney": [0.7]})])
    monkeypatch.setattr(everyday, "run_cell", None)  # nothing is run
    everyday.main(["--read", "-o", str(file), "--page", str(page)])
    printed = capsys.readouterr().out
    assert "targets" in printed
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- everyday -->\n\nMeasured on: ")
    assert text.endswith("<!-- end of everyday -->\nafter\n")
    assert "0.2 s (iris, default), 1 of 1 cells | reached |" in text
    assert "iris, cart" not in text  # cells are printed, and not on the page
    with pytest.raises(SystemExit):
        parsed(["--read"])


@pytest.mark.slow
def test_the_command(tmp_path, capsys):
    file = tmp_path / "everyday.json"
    given = ["--only", "iris, cart, branch", "--repeats", "1", "-o", str(file)]
    everyday.main([*given, "--lines"])
    printed = capsys.readouterr().out
    assert "best of 1 warm runs or more" in printed
    assert "iris, cart, branch" in printed
    kept = json.loads(file.read_text(encoding="utf-8"))
    (cell,) = kept["cells"]
    assert cell["beside"] == "scikit-learn"
    assert cell["ratio"] == min(cell["runs"]["spinney"]) / cell["reference"]
    assert kept["machine"]["versions"]["spinney"]


def test_tables_that_are_absent_are_told_once_and_for_each_cell(monkeypatch, capsys):
    asked = []

    def run_cell(cell, _):
        asked.append(cell.name)
        return Result(cell.name, missed="adult is left out: it is not there")

    monkeypatch.setattr(everyday, "run_cell", run_cell)
    found = everyday.run(grid(), options("--only", "adult, cart"))
    assert len(asked) == 1
    assert len(found) == 6
    assert {each.missed for each in found} == {"adult is left out: it is not there"}


def test_what_means_nothing_is_refused(capsys):
    with pytest.raises(SystemExit, match="no cell has 'oak'"):
        everyday.main(["--only", "oak"])
    with pytest.raises(SystemExit):
        parsed(["--repeats", "0"])
    assert "--repeats must be at least 1" in capsys.readouterr().err


def test_help_is_printed_without_a_compiler():
    command = [sys.executable, "-m", "benchmarks.everyday", "--help"]
    told = subprocess.run(command, cwd=measure.ROOT, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert "--patience" in told.stdout
