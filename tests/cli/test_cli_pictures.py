"""spinney show --svg."""

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
    given = ("--style", "teaching", "--horizontal", "--depth", "1", "--bars")
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
        ("--style teaching", "--style teaching says nothing without --svg"),
        ("--horizontal", "--horizontal says nothing without --svg"),
        ("--bars", "--bars says nothing without --svg"),
        ("--force", "--force says nothing without --svg"),
        ("--decimal ,", "--decimal , says nothing without --data"),
        ("--svg a.svg --json", "--json and --svg exclude each other"),
        ("--svg a.svg --numbers", "--numbers and --svg exclude each other"),
        ("--svg a.svg --ascii", "--ascii and --svg exclude each other"),
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
    arguments = "--target class --trees 3 --quiet -o f"
    works("forest", TABLES / "iris.csv", *arguments.split())
    works("show", "f", "--svg", "f.svg", "--depth", "1", "--bars")
    drawn = spinney.load("f").plot(max_depth=1, bars=True).svg
    assert Path("f.svg").read_text("utf-8") == drawn + "\n"
    columns = ("--columns", "density,sugar", "--k", "2", "--model", "k", "--quiet")
    works("cluster", TABLES / "watermelon_3.0.csv", *columns)
    printed = works("show", "k", "--svg", "-")
    assert printed == spinney.load("k").export("svg")
    outcome = tool("show", "k", "--svg", "k.svg", "--bars")
    assert outcome.code == 2
    assert "--bars is of trees" in outcome.err
    assert not Path("k.svg").exists()


def test_an_old_file_is_kept_unless_forced(tool, works, melons):
    Path("melons.svg").write_text("mine")
    outcome = tool("show", melons, "--svg", "melons.svg")
    assert outcome.code == 2
    assert "--force" in outcome.err
    assert Path("melons.svg").read_text() == "mine"
    works("show", melons, "--svg", "melons.svg", "--force")
    assert Path("melons.svg").read_text("utf-8").startswith("<svg")
