"""The recipe that the shell takes where none is named, and what it says of a leaf."""

import json
import re

import pytest
from tests.cli.conftest import TABLES

WEATHER = ("grow", TABLES / "weather_nominal.csv", "--target", "play")


def recipe_of(text):
    return json.loads(text)["recipe"]["name"]


def test_auto_unless_the_rows_stay_in_duckdb(works):
    given = ("grow", TABLES / "iris.csv", "--target", "class", "--json")
    assert recipe_of(works(*given)) == "auto"
    assert recipe_of(works(*given, "--engine", "memory")) == "auto"
    assert recipe_of(works(*given, "--engine", "duckdb")) == "c4.5"
    assert recipe_of(works(*given, "--recipe", "cart")) == "cart"


def test_a_model_says_by_what_it_was_grown(works):
    works(*WEATHER, "-o", "m.spinney", "--quiet")
    lines = [line.split() for line in works("info", "m.spinney").splitlines()]
    assert ["name", "auto"] in lines


def test_folds_are_refused_in_duckdb(refused):
    folds = ("--recipe", "cart", "--pruning", "cost-complexity")
    line = refused(2, *WEATHER, *folds, "--engine", "duckdb")
    assert "(recipe 'cart') needs the rows" in line
    assert "--engine 'memory'" in line


def test_the_help_names_the_default(works):
    words = " ".join(works("grow", "--help").split())
    assert "[default: auto; in a database c4.5]" in words
    words = " ".join(works("evaluate", "--help").split())
    assert "[default: auto, c4.5 and pruned cart; with --learning-curve auto]" in words


@pytest.mark.parametrize("quiet", [False, True])
def test_a_tree_pruned_to_a_leaf_says_so_in_one_line(tool, write, quiet):
    lines = [f"{row},{'no' if row % 3 else 'yes'}" for row in range(36)]
    write("noise.csv", "\n".join(["x,y", *lines]))
    noise = ("grow", "noise.csv", "--target", "y")
    outcome = tool(*noise, *(["--quiet"] if quiet else []))
    assert outcome.code == 0
    assert outcome.out == (
        "" if quiet else "y → no  (36: no 24 (67 %), yes 12 (33 %))\n"
    )
    line, *rest = outcome.err.splitlines()
    assert len(rest) == (not quiet)
    assert all(" on training rows" in each for each in rest)
    assert line.startswith(
        "spinney: pruned to a single leaf: no split improves the cross-validated "
        "error; "
    )
    assert 0 < line.index("--recipe c4.5") < line.index("--pruning none")
    for remedy in (("--pruning", "none"), ("--recipe", "cart")):
        outcome = tool(*noise, *remedy)
        assert outcome.err.count("\n") == 2
        assert outcome.out.count("\n") > 3


def test_a_leaf_of_rare_classes_offers_balanced_weights(tool, write):
    """One in 25 buys, and one in eight above 0.7: the error rate sees no split."""
    lines = [
        f"{row / 400},{'yes' if row % (8 if row > 280 else 100) == 0 else 'no'}"
        for row in range(400)
    ]
    write("rare.csv", "\n".join(["x,y", *lines]))
    outcome = tool("grow", "rare.csv", "--target", "y")
    assert "; --class-weight balanced makes rare classes count; " in outcome.err
    outcome = tool("grow", "rare.csv", "--target", "y", "--class-weight", "balanced")
    assert outcome.out.count("\n") > 1
    assert "makes rare classes count" not in outcome.err


def test_what_was_tried_is_said_in_one_line(tool):
    iris = ("grow", TABLES / "iris.csv", "--target", "class")
    outcome = tool(*iris, "-o", "m.spinney")
    saved, line, *_ = outcome.err.splitlines()
    assert saved == "spinney: saved to m.spinney"
    assert re.fullmatch(
        r"spinney: chosen by folds: cart \(risk 0\.\d+ ± 0\.\d+, \d leaves\); "
        r"also tried: cart by gain \(.*\), c4\.5 \(.*\)",
        line,
    )
    assert "chosen" not in outcome.out
    explained = tool("explain", "m.spinney", "--node", "0").out
    assert explained.rstrip().endswith(line.removeprefix("spinney: "))
    assert tool(*iris, "--quiet").err == ""
    assert "chosen" not in tool(*iris, "--recipe", "cart").err


def test_a_small_table_says_that_no_folds_were_drawn(tool):
    outcome = tool(*WEATHER, "-o", "m.spinney")
    line = "a small table: grown by c4.5, not pruned by folds"
    assert outcome.err.splitlines()[-3] == f"spinney: {line}"
    assert "outlook = overcast → yes" in outcome.out
    explained = tool("explain", "m.spinney", "--node", "0").out
    assert explained.rstrip().endswith(f"recipe: {line}")
    assert "gain ratio" in explained


def test_a_tree_that_asks_nothing_says_why(tool, write):
    write("t.csv", "x,y\n1,a\n2,b\n")
    outcome = tool("grow", "t.csv", "--target", "y")
    assert outcome.err.startswith(
        "spinney: the tree is a single leaf: every split would leave too few rows in a "
        "branch (--min-samples-leaf 1 allows any)\n"
    )
    write("u.csv", "x,y\n1,a\n1,b\n")
    outcome = tool("grow", "u.csv", "--target", "y")
    assert outcome.err.startswith(
        "spinney: the tree is a single leaf: no attribute tells its rows apart\n"
    )


def test_numbers_pruned_to_a_leaf(tool, write):
    write("t.csv", "x,y\n1,1.5\n2,2.5\n3,7.5\n4,1.2\n")
    outcome = tool("grow", "t.csv", "--target", "y")
    assert outcome.err.startswith(
        "spinney: pruned to a single leaf; --pruning none keeps the splits\n"
    )
