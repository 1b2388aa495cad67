"""spinney evaluate: what it writes, and what it refuses."""

import json
import os
import subprocess
import sys

import pytest
from tests.cli.conftest import TABLES
from tests.helpers.terminal import on_a_terminal

import spinney
from spinney import api

MELONS = TABLES / "watermelon_3.0.csv"

COSTS = "actual,predicted,cost\ntrue,false,5\nfalse,true,1\n"


@pytest.fixture
def given(melons):
    """The start of a command line."""
    return ["evaluate", melons, "--target", "ripe", "--ignore", "id", "--folds", "4"]


def test_the_table_is_that_of_the_library(works, given, melons):
    found = spinney.evaluate(melons, "ripe", ["id3", "cart"], ignore=["id"], folds=4)
    out = works(*given, "--recipe", "id3", "--recipe", "cart", "--measure", "accuracy")
    assert out == f"{found.text(measures=['accuracy'])}\n"


def test_the_usual_recipes(works, given):
    lines = works(*given).splitlines()
    assert lines[0] == "ripe: 17 rows, 4-fold cross-validation, seed 0"
    assert lines[2].split()[:2] == ["recipe", "accuracy"]
    names = [line.split()[0] for line in lines[3:6]]
    assert names == ["auto", "c4.5", "cart:pruning=cost-complexity"]
    assert "c4.5 − cart" in lines[-1]


def test_json(works, given):
    data = json.loads(works(*given, "--recipe", "cart", "--json"))
    assert data["schema"] == "spinney/evaluate/1"
    assert data["target"] == "ripe"
    assert data["scheme"] == {
        "folds": 4,
        "leave_one_out": False,
        "repeats": 1,
        "holdout": None,
        "seed": 0,
    }
    assert len(data["folds"]) == 4
    assert set(data["table"][0]) >= {"recipe", "accuracy", "accuracy_sd", "leaves"}
    assert data["comparisons"] == []


@pytest.mark.parametrize("width", [80, 50])
def test_the_width_of_the_terminal(works, given, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    given += ["--recipe", "id3", "--recipe", "cart:max_depth=2,min_gain=0.01"]
    assert max(map(len, works(*given).splitlines())) <= width
    out = works(*given, "--measure", "all")
    assert max(map(len, out.splitlines())) <= width
    assert "accuracy" in out
    assert "too narrow for" in out
    assert "name the measures to show" in " ".join(out.split())


def test_plain_signs(works, given):
    assert works(*given, "--ascii").isascii()


def test_a_recipe_with_settings(works, given):
    out = works(*given, "--recipe", "cart:max-depth=1,missing-policy=fractional")
    assert "cart:max-depth=1,missing-policy=fractional"[:8] in out
    data = json.loads(works(*given, "--recipe", "cart:max_depth=1", "--json"))
    assert data["table"][0]["recipe"] == "cart:max_depth=1"
    assert data["table"][0]["depth"] == 1


def test_held_out_and_repeated(works, given):
    lines = works(*given[:-2], "--holdout", "0.3", "--repeats", "3").splitlines()
    assert lines[0] == "ripe: 17 rows, 30 % held out, 3 times, seed 0"


def test_costs(works, write, given):
    path = write("costs.csv", COSTS)
    data = json.loads(works(*given, "--cost-matrix", path, "--json"))
    assert all("cost" in line for line in data["table"])


def test_learning_curve(works, given):
    out = works(*given, "--learning-curve", "--size", "8", "--size", "1.0", "--json")
    table = json.loads(out)["table"]
    assert [(line["recipe"], line["rows"]) for line in table] == [
        ("auto", 8),
        ("auto", 12),
    ]
    text = works(*given, "--learning-curve", "--recipe", "c4.5")
    assert text.splitlines()[2].split()[1] == "rows"


def test_robustness(works, given):
    options = ("--noise", "0", "--noise", "0.2", "--missing-rate", "0.1")
    out = works(*given, "--recipe", "cart", *options, "--missing-in-test")
    assert [line.split("  ")[2].strip() for line in out.splitlines()[3:7]] == [
        "nothing",
        "class noise",
        "attribute noise",
        "missing values",
    ]


def test_outliers(works, given):
    table = json.loads(
        works(
            *given, "--recipe", "cart", "--outliers", "0", "--outliers", "1", "--json"
        )
    )["table"]
    assert [line["injected"] for line in table] == ["nothing", "outliers"]


@pytest.mark.slow
def test_scalability(works, given):
    sizes = ("--size", "6", "--size", "1.0")
    given = [*given[:-2], "--recipe", "id3", "--scalability", *sizes]
    data = json.loads(works(*given, "--json"))
    assert [line["rows"] for line in data["table"]] == [6, 11]
    assert (data["scheme"]["repeats"], data["scheme"]["holdout"]) == (3, 0.3)
    assert data["exponents"][0]["measure"] == "seconds"
    lines = works(*given, "--ascii", "--repeats", "1").splitlines()
    assert lines[2].split()[:3] == ["recipe", "rows", "seconds"]
    assert lines[-1].startswith("id3  ")
    assert "us a row" in lines[-2]


@pytest.mark.parametrize("options", [(), ("--json",), ("--ascii",)])
def test_a_model_is_evaluated_as_score_does(works, melons, folder, options):
    """004, the worked process: a saved model on a table of its own."""
    grown = ("--target", "ripe", "--ignore", "id", "--recipe", "cart", "--quiet")
    works("grow", melons, *grown, "--max-depth", "1", "-o", "m.spinney")
    out = works("evaluate", "--model", "m.spinney", melons, *options)
    assert out == works("score", "m.spinney", melons, *options)
    assert "confusion" in out or "confusion matrix" in out
    assert "by_leaf" in out or "errors by leaf, most first" in out
    named = ("--target", "ripe", "-o", "out.txt")
    assert works("evaluate", "--model", "m.spinney", melons, *options, *named) == ""
    assert (folder / "out.txt").read_text("utf-8") == out


def test_a_model_takes_nothing_that_grows(works, refused, melons):
    grown = ("--target", "ripe", "--ignore", "id", "--recipe", "id3", "--quiet")
    works("grow", melons, *grown, "-o", "m.spinney")
    given = ("evaluate", "--model", "m.spinney", melons)
    for wrong in (["--folds", "3"], ["--recipe", "id3"], ["--nominal", "density"]):
        line = refused(2, *given, *wrong)
        assert f"{' '.join(wrong)} does not apply to --model" in line
    line = refused(2, *given, "--target", "color")
    assert "the model predicts 'ripe', not --target 'color'" in line
    line = refused(2, "evaluate", melons)
    assert "--target is missing: name the column to predict, or use --model" in line


def test_weights(works, write):
    write("t.csv", "x,w,y\n" + "1,2,a\n2,1,b\n3,1,a\n" * 8)
    lines = works("evaluate", "t.csv", "--target", "y", "--weight", "w", "--folds", "2")
    assert lines.startswith("y: 24 rows, 2-fold")
    balanced = ("--class-weight", "a=2", "--class-weight", "b=1")
    works("evaluate", "t.csv", "--target", "y", "--folds", "2", *balanced)


def test_a_file_to_write_to(works, given, folder, refused):
    assert works(*given, "-o", "out.txt") == ""
    assert "accuracy" in (folder / "out.txt").read_text("utf-8")
    assert works(*given, "--json", "-o", "out.json") == ""
    assert json.loads((folder / "out.json").read_text("utf-8"))["target"] == "ripe"
    assert "file exists" in refused(2, *given, "-o", "out.txt")


@pytest.mark.parametrize(
    "options, said",
    [
        (["--recipe", "id4"], "--recipe 'id4' is unknown: did you mean 'id3'"),
        (["--recipe", "cart:max_depth"], "must read SETTING=VALUE"),
        (["--recipe", "cart:max_dept=3"], "did you mean 'max_depth'"),
        (
            ["--recipe", "cart:max_depth=-3"],
            "--recipe 'cart:max_depth=-3': max_depth=-3 must be",
        ),
        (["--recipe", "cart:nominal=x"], "nominal cannot be set for one recipe"),
        (["--recipe", "id3", "--recipe", "id3"], "--recipe: 'id3' is there twice"),
        (["--folds", "18"], "--folds 18 is more than the 17 rows"),
        (["--folds", "1"], "--folds 1 must be"),
        (["--holdout", "0.5"], "--holdout and --folds exclude each other"),
        (["--random-state", "-1"], "--random-state -1 must be a whole number"),
        (["--measure", "acc"], "--measure 'acc' is unknown"),
        (["--measure", "auc", "--json"], "exclude each other"),
        (["--learning-curve", "--noise", "0.1"], "--learning-curve and --noise excl"),
        (
            ["--learning-curve", "--missing-rate", "0.1"],
            "--learning-curve and --missing-rate exclude each other",
        ),
        (["--size", "5"], "--size needs --learning-curve or --sc"),
        (
            ["--learning-curve", "--scalability"],
            "--learning-curve and --scalability e",
        ),
        (["--scalability", "--outliers", "0.1"], "--scalability and --outliers exclud"),
        (
            ["--folds", "loo", "--repeats", "2"],
            "--repeats 2 has no effect on leave-one-out",
        ),
        (["--learning-curve", "--size", "many"], "--size 'many' must be a number"),
        (["--learning-curve", "--size", "5000"], "--size: 5000 must be a whole number"),
        (["--missing-in-test"], "--missing-in-test needs --missing-rate"),
        (["--noise", "2"], "'--noise': 2.0 is not in the range"),
        (["--noise", "nan"], "--noise: the rate nan must be"),
        (["--cost-matrix", "-"], "costs cannot be read from standard input"),
        (["--class-weight", "yes"], "must read CLASS=NUMBER"),
    ],
)
def test_what_cannot_be_used(refused, given, options, said):
    assert said in refused(2, *given, *options)


def test_bad_data(refused, given, write):
    assert "there is no file 'gone.csv'" in refused(
        3, *given, "--cost-matrix", "gone.csv"
    )
    write("costs.csv", "actual,predicted,cost\nyes,no,much\nno,yes,1\n")
    assert "has the cost 'much'" in refused(3, *given, "--cost-matrix", "costs.csv")


def test_costs_of_other_classes(refused, given, write):
    write("costs.csv", "actual,predicted,cost\ngood,bad,5\nbad,good,1\n")
    line = refused(2, *given, "--cost-matrix", "costs.csv")
    assert "--cost-matrix: there is no class 'bad': known: 'false', 'true'" in line


def test_an_interrupt_gives_no_result(tool, given, monkeypatch, folder):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "grow", interrupted)
    outcome = tool(*given, "-o", "out.txt")
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err.strip() == "spinney: interrupted"
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="a terminal of Unix")
@pytest.mark.parametrize("interrupt", [False, True])
def test_a_bar_where_somebody_can_see_it(given, interrupt):
    repeats = ["--repeats", "2000" if interrupt else "2"]
    caught, code, out = on_a_terminal(
        [sys.executable, "-m", "spinney", *given, "--recipe", "c4.5", *repeats],
        interrupt_at=b"growing" if interrupt else None,
    )
    assert "growing" in caught
    assert "Traceback" not in caught
    assert code == (130 if interrupt else 0)
    assert ("accuracy" in out) != interrupt


def test_no_bar_for_a_file(tool, given):
    assert tool(*given).err == ""


def test_a_textbooks_table_leaves_one_row_out_at_a_time(tool, refused):
    given = ["evaluate", TABLES / "buys_computer.csv", "--target", "buys_computer"]
    given += ["--recipe", "id3"]
    outcome = tool(*given)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("buys_computer: 14 rows, leave-one-out")
    same = ("--measure", "quality")
    quality = tool(*given, *same).out
    for folds in ("loo", "14"):
        assert tool(*given, *same, "--folds", folds).out == quality
    assert "--folds 10 is more than the rows" in refused(2, *given, "--folds", "10")
    wrong = refused(2, *given, "--folds", "all")
    assert "--folds 'all' must be a whole number, or 'loo'" in wrong


def test_what_is_wrong_is_refused_before_scikit_learn_is_loaded():
    wrong = (
        ["none.csv", "--target", "ripe"],
        [MELONS, "--target", "rope"],
        [MELONS, "--target", "ripe", "--measure", "acuracy"],
        [MELONS, "--target", "ripe", "--recipe", "card"],
        [MELONS, "--target", "ripe", "--folds", "18"],
        [MELONS, "--target", "ripe", "--holdout", "0.999"],
    )
    lines = (
        "import sys",
        "from spinney.cli import run",
        f"for wrong in {[list(map(str, each)) for each in wrong]!r}:",
        "    code = run(['evaluate', *wrong])",
        "    loaded = {'sklearn', 'scipy.stats'}.intersection(sys.modules)",
        "    print(code > 0 and not loaded)",
    )
    found = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == ["True"] * len(wrong), found.stderr


def test_nothing_is_cut_where_no_terminal_is(works, given, folder):
    label = "cart:max_depth=2,min_gain=0.01,criterion=gain"
    given = [*given, "--recipe", "id3", "--recipe", label]
    out = works(*given)
    works(*given, "-o", "out.txt")
    seconds = out.splitlines()[2].split()[-1]
    assert seconds == "seconds"
    for text in (out, (folder / "out.txt").read_text(encoding="utf-8")):
        assert "too narrow" not in text
        assert text.count(label) == 2
