"""What ``spinney cluster`` refuses, in the words of the shell."""

import json

import pytest
from tests.cli.conftest import TABLES

FIVE = TABLES / "kmeans_five.csv"


@pytest.mark.parametrize(
    ("code", "arguments", "words"),
    [
        (
            2,
            ("--n-clusters", "0"),
            "--n-clusters 0 must be a whole number of at least 1",
        ),
        (
            2,
            ("--n-clusters", "two"),
            "--n-clusters 'two' must be an integer, a range such as 2-15",
        ),
        (2, ("--n-clusters", "5-2"), "--n-clusters '5-2' must be"),
        (2, ("--n-clusters", "0-2"), "--n-clusters 0 must be"),
        (3, ("--n-clusters", "6"), "--n-clusters 6 exceeds the 5 rows"),
        (3, ("--n-clusters", "2-9"), "5 distinct rows"),
        (2, ("--rule", "best"), "--rule 'best' is unknown"),
        (
            2,
            ("--n-clusters", "2", "--rule", "gap"),
            "--rule 'gap' chooses among several",
        ),
        (
            2,
            ("--init", "two.csv", "--rule", "gap"),
            "--rule 'gap' chooses among several",
        ),
        (
            2,
            ("--init", "two.csv", "--n-init", "3"),
            "--n-init 3 has no effect",
        ),
        (
            2,
            ("--n-clusters", "2", "--explain-rows", "3"),
            "--explain-rows needs --explain",
        ),
        (2, ("--method", "k-medians"), "--method 'k-medians' is unknown"),
        (3, ("--columns", "attr3"), "no column 'attr3': did you mean"),
        (3, ("--ignore", "attr3"), "attr3"),
        (2, ("--columns", "attr1", "--ignore", "attr1"), "remove one of the two"),
        (3, ("--ignore", "attr1", "--ignore", "attr2", "--ignore", "entity"), "every"),
        (2, ("--n-clusters", "2", "--init", "nearby"), "--init 'nearby' is neither"),
        (2, ("--n-clusters", "2", "--init", "cao"), "--init 'cao' is for mixed tables"),
        (3, ("--n-clusters", "2", "--init", "none.csv"), "there is no file 'none.csv'"),
        (2, ("--n-clusters", "2", "--init", "optimal"), "one column"),
        (2, ("--n-clusters", "2", "--n-init", "0"), "--n-init 0"),
        (2, ("--n-clusters", "2", "--max-iter", "0"), "--max-iter 0"),
        (2, ("--n-clusters", "2", "--tol", "-1"), "--tol -1.0"),
        (2, ("--n-clusters", "2", "--random-state", "-1"), "--random-state -1"),
        (2, ("--n-clusters", "2", "--n-jobs", "0"), "--n-jobs 0"),
        (
            2,
            ("--n-clusters", "2", "--gamma", "1"),
            "gamma 1.0 applies to nominal columns",
        ),
        (3, ("--n-clusters", "2", "--weight", "w"), "no column 'w'"),
        (2, ("--quiet", "--json"), "exclude each other"),
        (2, ("--quiet", "--explain"), "exclude each other"),
        (2, ("-o", "-", "--json"), "remove --json and --explain"),
        (2, ("--model", "-"), "--model cannot write"),
        (2, ("--model", "a", "-o", "a"), "and -o name the same file"),
        (2, ("--model", "nowhere/a"), "--model 'nowhere/a': there is no folder"),
    ],
)
def test_refusals(refused, write, code, arguments, words):
    write("two.csv", "attr1,attr2\n1,1\n5,7\n")
    assert words in refused(code, "cluster", FIVE, *arguments)


@pytest.mark.parametrize(
    ("code", "arguments", "words"),
    [
        (2, ("--rule", "gap"), "column 'hue' is nominal"),
        (3, ("--n-clusters", "2", "--method", "k-means"), "column 'hue' is nominal"),
        (2, ("--n-clusters", "2", "--ignore", "id", "--tol", "1"), "--tol 1.0"),
        (
            2,
            ("--n-clusters", "2", "--ignore", "id", "--init", "random"),
            "huang or cao",
        ),
        (2, ("--n-clusters", "2", "--ignore", "id", "--gamma", "-1"), "--gamma -1.0"),
    ],
)
def test_refusals_of_mixed_tables(refused, mixed, code, arguments, words):
    assert words in refused(code, "cluster", mixed, *arguments)


def test_files_that_are_there_stay(refused, write):
    write("labels.csv", "mine")
    write("model", "mine")
    assert "file exists" in refused(
        2, "cluster", FIVE, "--n-clusters", 2, "--model", "new", "-o", "labels.csv"
    )
    assert "--model 'model': file exists" in refused(
        2, "cluster", FIVE, "--n-clusters", 2, "--model", "model", "-o", "new.csv"
    )


def test_start_of_other_columns(refused, write):
    path = write("start.csv", "attr1\n1\n2\n")
    assert "needs the column 'attr2'" in refused(
        3, "cluster", FIVE, "--ignore", "entity", "--init", path
    )
    path.write_text("attr1,attr2\n1,1\n2,\n")
    assert "missing cells" in refused(
        3, "cluster", FIVE, "--ignore", "entity", "--init", path
    )
    path.write_text("attr1,attr2\n1,1\n2,2\n3,3\n")
    assert "has 3 rows, but 2 centroids are needed" in refused(
        3, "cluster", FIVE, "--ignore", "entity", "--init", path, "--n-clusters", 2
    )


def test_options_of_trees_are_refused(works, refused, folder):
    works(
        "cluster",
        FIVE,
        "--ignore",
        "entity",
        "--n-clusters",
        2,
        "--model",
        "m",
        "--quiet",
    )
    for arguments in (
        ("show", "m", "--max-depth", 1),
        ("show", "m", "--numbers"),
        ("predict", "m", FIVE, "--leaf"),
        ("predict", "m", FIVE, "--probabilities"),
    ):
        assert "needs a tree, but this file holds clusters" in refused(2, *arguments)
    for command in (("rules", "m"), ("explain", "m"), ("prune", "m", "-o", "p")):
        assert "it holds clusters" in refused(4, *command)
    data = json.loads(works("show", "m", "--json"))
    assert data["schema"] == "spinney/clusters/1"
    (folder / "m").write_bytes((folder / "m").read_bytes()[:-1])
    assert "cannot load m" in refused(4, "show", "m")


def test_refusals_name_options(refused, write):
    for method in ("k-means", "k-prototypes"):
        numbers = ("cluster", FIVE, "--ignore", "entity", "--method", method)
        line = refused(3, *numbers, "--n-clusters", "2-999")
        assert "error: --n-clusters contains 999, but there are 5 distinct rows" in line
        far = write("far.csv", "attr1,attr2\n1,1\n1e300,2\n")
        line = refused(3, *numbers, "--init", far)
        assert "error: --init contains 1e+300, and the rows nothing beyond" in line
    line = refused(2, "cluster", FIVE, "--n-clusters", 2, "--init", "optimal")
    assert "error: --init 'optimal' is for one column, not 3" in line


def test_infinity_in_a_later_table(works, refused, write):
    works(
        "cluster",
        FIVE,
        "--ignore",
        "entity",
        "--n-clusters",
        2,
        "--model",
        "m",
        "--quiet",
    )
    works("grow", TABLES / "iris.csv", "--target", "class", "-o", "t")
    later = write("later.csv", "attr1,attr2,petalwidth,petallength\n1,inf,inf,1\n")
    for model, name in (("m", "attr2"), ("t", "petalwidth")):
        line = refused(3, "predict", model, later)
        assert f"column '{name}' holds inf: trees cannot cut at infinity" in line
        assert line.strip().endswith("; fix that cell, or remove the row")
