"""Clusters of mixed tables in the shell, and how options go together."""

import json

import pytest
from tests.cli.conftest import TABLES

import spinney

PENGUINS = TABLES / "penguins.csv"
FIVE = TABLES / "kmeans_five.csv"
NAMES = "\n".join(["hue,size", *["red,small", "blue,large"] * 4, "red,large"])


@pytest.fixture
def names(write):
    return write("names.csv", NAMES)


def test_k_is_chosen(works, tool):
    arguments = ("cluster", PENGUINS, "--ignore", "species", "--standardise")
    out = works(*arguments, "--model", "m", "--explain")
    assert "k = 2 by silhouette: its silhouette, 0.509" in out
    assert "344 rows, 344 of them distinct; 4 restarts per k, seed 0" in out
    assert "cluster 1 (124 rows): " in out
    assert len(spinney.load("m").cluster_centers_) == 2
    data = json.loads(
        works(*arguments, "--n-clusters", "2-4", "--rule", "elbow", "--json")
    )
    assert data["choice"]["rule"] == "elbow"
    assert [line["k"] for line in data["choice"]["curve"]] == [2, 3, 4]
    told = tool(*arguments, "--n-clusters", "1-2")
    assert "k = 2 is the largest candidate" in told.err


def test_the_curve_is_drawn(works, folder):
    pytest.importorskip("matplotlib")
    arguments = ("cluster", PENGUINS, "--ignore", "species", "--standardise")
    works(*arguments, "--elbow", "chosen.svg")
    # The elbow would choose 5, too: what was given is told as given.
    works(*arguments, "-k", 5, "--elbow", "given.svg", "--init", "cao")
    for name in ("chosen", "given"):
        assert "<svg" in (folder / f"{name}.svg").read_text()


def test_the_curve_of_a_given_k(monkeypatch, works):
    pytest.importorskip("matplotlib")
    from spinney.extensions.plots import plot_pictures

    told = []

    def elbow(choice, k, path, *, is_k_fixed):
        told.append((choice.k, choice.rule, k, is_k_fixed))
        return b"picture"

    monkeypatch.setattr(plot_pictures, "elbow_picture", elbow)
    arguments = ("cluster", PENGUINS, "--ignore", "species", "--standardise")
    works(*arguments, "-k", 5, "--elbow", "e.png")
    works(*arguments, "--n-clusters", "2-4", "--elbow", "f.png")
    assert told == [(5, "elbow", 5, True), (2, "silhouette", 2, False)]


def test_k_modes(works, refused, names):
    out = works("cluster", names, "--method", "k-modes", "-k", 2)
    assert "inertia 1 (k-prototypes" in out
    line = refused(3, "cluster", FIVE, "--method", "k-modes", "--n-clusters", 2)
    assert "column 'entity' is numeric, and k-modes needs categories" in line
    assert "--nominal entity" in line


def test_gamma_is_told_where_it_counts(works, refused, names):
    assert "categorical mismatch: γ = 1" in works("cluster", names, "-k", 2)
    numbers = ("cluster", FIVE, "--ignore", "entity", "--method", "k-prototypes")
    assert "gamma" not in works(*numbers, "-k", 2)
    line = refused(2, *numbers, "-k", 2, "--gamma", 1)
    assert "gamma 1.0 applies to nominal columns" in line


def test_a_rule_needs_a_choice(refused):
    line = refused(2, "cluster", FIVE, "--n-clusters", 2, "--rule", "elbow")
    assert "--rule 'elbow' chooses among several k, but --n-clusters 2 is one" in line
    line = refused(2, "cluster", PENGUINS, "--rule", "gap")
    assert "--rule 'gap' applies to k-means" in line
    assert "column 'species' is nominal: use silhouette or elbow" in line


def test_infinite_cells(refused, works, write):
    path = write("inf.csv", "a,b,c\n1,2,x\ninf,3,y\n4,5,x\n")
    for arguments in ((), ("--columns", "a,b")):
        line = refused(3, "cluster", path, "--n-clusters", 2, *arguments)
        assert "holds inf: trees cannot cut at infinity, nor clusters measure" in line
        assert "--missing-values inf" in line
    assert "k-prototypes" in works(
        "cluster", path, "--n-clusters", 2, "--missing-values", "inf"
    )


def test_columns_that_name_rows_are_warned_of(tool, write):
    told = tool("cluster", FIVE, "--n-clusters", 2)
    assert "column 'entity' numbers the rows: it looks like" in told.err
    assert "--ignore entity" in told.err
    assert tool("cluster", FIVE, "--columns", "entity", "--n-clusters", 2).err == ""
    assert tool("cluster", FIVE, "--ignore", "entity", "--n-clusters", 2).err == ""
    rows = [f"n{place % 19},{place * place}" for place in range(20)]
    path = write("nearly.csv", "\n".join(["name,x", *rows]))
    said = tool("cluster", path, "--nominal", "name", "--n-clusters", 2).err
    assert "column 'name' has 19 values in 20 rows" in said


def test_other_spellings(works):
    british = works(
        "cluster", FIVE, "--ignore", "entity", "--n-clusters", 2, "--standardise"
    )
    american = works("cluster", FIVE, "--ignore", "entity", "-k", 2, "--standardize")
    assert british == american


def test_a_column_that_decides_alone_is_told(tool, write):
    told = tool("cluster", PENGUINS, "--ignore", "species", "-k", 3)
    line = "column 'body_mass_g' has over 99.9 % of the total variance"
    assert line in told.err
    assert "--standardise gives columns equal" in told.err
    for option in ("--standardise", "--quiet"):
        told = tool("cluster", PENGUINS, "--ignore", "species", "-k", 3, option)
        assert told.err == ""
    # Shares of 990 / 991 and of 81 / 82.
    rows = [f"{9.9**0.5 * sign * 10},{sign}" for sign in (-1, 1)] * 2
    told = tool("cluster", write("ten.csv", "\n".join(["a,b", *rows])), "-k", 2)
    assert "column 'a' has 99.9 % of the total variance" in told.err
    rows = [f"{sign * 9},{sign}" for sign in (-1, 1)] * 2
    path = write("nine.csv", "\n".join(["a,b", *rows]))
    assert "variance" not in tool("cluster", path, "-k", 2).err
