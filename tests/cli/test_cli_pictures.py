"""spinney show --svg."""

import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.helpers.strategies import TABLES

import spinney


@pytest.fixture
def melons(works):
    arguments = "--target ripe --ignore id --recipe id3 --quiet -o melons.spinney"
    works("grow", TABLES / "watermelon_2.0.csv", *arguments.split())
    return "melons.spinney"


def test_a_picture_to_a_file(tool, melons):
    outcome = tool("show", melons, "--svg", "melons.svg")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "spinney: drawn to melons.svg\n"
    picture = Path("melons.svg").read_text("utf-8")
    assert picture == spinney.load(melons).export("svg")


def test_styles_directions_and_depths(works, melons):
    given = ("--style", "teaching", "--horizontal", "--max-depth", "1", "--bars")
    printed = works("show", melons, "--svg", "-", *given)
    assert ElementTree.fromstring(printed).get("role") == "img"
    model = spinney.load(melons)
    drawn = model.plot(style="teaching", horizontal=True, max_depth=1, bars=True)
    assert printed == drawn.svg + "\n"


def test_histograms_of_a_table(works):
    iris = TABLES / "iris.csv"
    works(
        "grow",
        iris,
        *["--target", "class", "--recipe", "cart", "--quiet", "-o", "iris"],
    )
    drawn = works("show", "iris", "--svg", "-", "--bars", "--data", iris)
    assert 'class="cut"' in drawn
    assert drawn == spinney.load("iris").plot(data=iris, bars=True).svg + "\n"


def test_a_page(works, melons):
    works("show", melons, "--svg", "melons.html")
    assert Path("melons.html").read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    "options, words",
    [
        ("--style teaching", "--style teaching needs --svg"),
        ("--horizontal", "--horizontal needs --svg"),
        ("--bars", "--bars needs --svg"),
        ("--overwrite", "--overwrite needs --svg"),
        ("--decimal ,", "--decimal , needs --data"),
        ("--svg a.svg --json", "--json cannot be used with --svg"),
        ("--svg a.svg --numbers", "--numbers cannot be used with --svg"),
        ("--svg a.svg --ascii", "--ascii cannot be used with --svg"),
        ("--svg a.gif", ".svg, .html, .png or .pdf"),
        ("--svg a.svg --style fancy", "compact"),
        ("--svg nowhere/a.svg", "there is no folder"),
    ],
)
def test_what_is_refused(tool, melons, options, words):
    outcome = tool("show", melons, *options.split())
    assert outcome.code == 2
    assert words in outcome.err
    assert not Path("a.svg").exists()


def test_a_forest_and_clusters(tool, works):
    arguments = "--target class --n-estimators 3 --quiet -o f"
    works("forest", TABLES / "iris.csv", *arguments.split())
    works("show", "f", "--svg", "f.svg", "--max-depth", "1", "--bars")
    drawn = spinney.load("f").plot(max_depth=1, bars=True).svg
    assert Path("f.svg").read_text("utf-8") == drawn + "\n"
    columns = (
        "--columns",
        "density,sugar",
        "--n-clusters",
        "2",
        "--model",
        "k",
        "--quiet",
    )
    works("cluster", TABLES / "watermelon_3.0.csv", *columns)
    printed = works("show", "k", "--svg", "-")
    assert printed == spinney.load("k").export("svg")
    outcome = tool("show", "k", "--svg", "k.svg", "--bars")
    assert outcome.code == 2
    assert "--bars needs a tree" in outcome.err
    assert not Path("k.svg").exists()


def test_an_old_file_is_kept_unless_forced(tool, works, melons):
    Path("melons.svg").write_text("mine")
    outcome = tool("show", melons, "--svg", "melons.svg")
    assert outcome.code == 2
    assert "--overwrite" in outcome.err
    assert Path("melons.svg").read_text() == "mine"
    works("show", melons, "--svg", "melons.svg", "--overwrite")
    assert Path("melons.svg").read_text("utf-8").startswith("<svg")


def test_a_tree_of_a_forest_is_plotted_without_matplotlib(tool, works, monkeypatch):
    arguments = "--target class --n-estimators 3 --quiet -o f"
    works("forest", TABLES / "iris.csv", *arguments.split())
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    works("plot", "tree", "f", "--tree", "2", "-o", "one.svg")
    assert Path("one.svg").read_text("utf-8") == spinney.load("f").trees[2].export(
        "svg"
    )
    works("plot", "tree", "f", "-o", "all.svg")
    assert "importance" in Path("all.svg").read_text("utf-8")
    outcome = tool("plot", "tree", "f", "-o", "one.png")
    assert outcome.code == 1
    assert "pip install 'spinney[plot]'" in outcome.err


@pytest.mark.parametrize(
    "arguments, words",
    [
        ("plot buckets iris.csv --column sepalwidth --method odd", "--method 'odd' is"),
        (
            "plot buckets iris.csv --column sepalwidth --n-buckets 1",
            "--n-buckets 1 must",
        ),
        ("plot regions m iris.csv --y odd", "--y 'odd' is not a numeric attribute"),
        (
            "plot regions m iris.csv --fixed odd=1",
            "--fixed odd=1: 'odd' is not an attribute",
        ),
        (
            "plot learning-curve iris.csv --target class --recipe odd",
            "--recipe 'odd' is",
        ),
        ("lesson iris.csv --target class --pruning odd", "--pruning 'odd' is unknown"),
    ],
)
def test_messages_name_the_options_of_the_shell(tool, arguments, words):
    shutil.copy(TABLES / "iris.csv", "iris.csv")
    spinney.grow("iris.csv", "class", recipe="id3").save("m")
    outcome = tool(*arguments.split())
    assert outcome.code == 2
    assert words in outcome.err


@pytest.mark.parametrize("command", ["show", "explore", "rules"])
def test_of_a_table_one_learns_to_grow_first(tool, command):
    shutil.copy(TABLES / "iris.csv", "my iris.csv")
    outcome = tool(command, "my iris.csv")
    assert outcome.code == 4
    assert outcome.err == (
        "spinney: error: 'my iris.csv' is a table, not a model: grow a model with "
        "spinney grow 'my iris.csv' --target COLUMN -o 'my iris.spinney', and name "
        "that file\n"
    )
