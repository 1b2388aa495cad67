"""Forests in the shell."""

import json

import numpy as np
import pytest
from tests.cli.conftest import TABLES
from tests.helpers.models import GOLDEN

import spinney
from spinney.growth.forest import forest_growth as growing


def test_from_growing_to_predicting(works, folder):
    out = works(
        *("forest", TABLES / "iris.csv", "--target", "class", "-o", "iris.spinney"),
        *("--n-estimators", "20", "--permutation-importances"),
    )
    assert out.startswith("class: 20 trees, ")
    assert "out-of-bag accuracy 0.9" in out
    assert "permutation importance" in out
    told = works("predict", "iris.spinney", TABLES / "iris.csv", "--probabilities")
    assert told.splitlines()[0].startswith("class,p(Iris-setosa)")
    assert len(told.splitlines()) == 151
    info = json.loads(works("info", "iris.spinney", "--json"))
    assert info["size"]["trees"] == 20
    assert info["forest"]["seed"] == 0
    model = spinney.load("iris.spinney")
    labels = model.predict(TABLES / "iris.csv")
    assert [line.split(",")[0] for line in told.splitlines()[1:]] == labels.tolist()


def test_json(works):
    out = works(
        *("forest", TABLES / "watermelon_3.0.csv", "--target", "ripe", "--json"),
        *(
            "--ignore",
            "id",
            "--n-estimators",
            "10",
            "--class-weight",
            "balanced_subsample",
        ),
    )
    data = json.loads(out)
    assert data["schema"] == "spinney/forest/1"
    assert data["out_of_bag"]["measure"] == "accuracy"
    shares = [entry["mean"] for entry in data["importances"]]
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)
    assert data["permutation_importances"] is None


def test_numbers(works):
    out = works(
        *(
            "forest",
            TABLES / "cpu_prp.csv",
            "--target",
            "class",
            "--n-estimators",
            "20",
        ),
        "--ascii",
    )
    assert "out-of-bag R2 0." in out
    assert out.isascii()


def test_the_same_seed_gives_the_same_file(works, folder):
    for name, seed in (("a", 4), ("b", 4), ("c", 5)):
        works(
            *(
                "forest",
                TABLES / "vote.csv",
                "--target",
                "Class",
                "--n-estimators",
                "3",
            ),
            *("--random-state", seed, "-o", name, "--quiet", "--missing-values", "?"),
        )
    a, b, c = (((folder / name).read_bytes()) for name in "abc")
    assert a == b != c


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--n-estimators", "0"), "--n-estimators 0 must be a whole number"),
        (("--max-features", "2.5"), "--max-features 2.5"),
        (("--max-samples", "0"), "--max-samples 0"),
        (("--recipe", "auto"), "cannot be used in a forest"),
        (("--voting", "loud"), "voting"),
        (("-o", "-"), "standard output"),
        (("--quiet", "--json"), "cannot be used with"),
        (("--no-bootstrap", "--permutation-importances"), "cannot be used with"),
        (("--no-bootstrap", "--no-replace"), "cannot be used with"),
        (("--n-jobs", "0"), "--n-jobs 0"),
        (("--class-weight", "Iris-rosa=2"), "--class-weight: no class"),
        (("--class-weight", "Iris-setosa=1e308"), "beyond floats"),
        (("--shrinkage", "-1"), "--shrinkage -1"),
    ],
)
def test_refusals(tool, arguments, words):
    outcome = tool("forest", TABLES / "iris.csv", "--target", "class", *arguments)
    assert outcome.code == 2
    assert words in outcome.err


def test_commands_for_one_tree_say_how_to_name_one(works, tool):
    grow_minds(works)
    data = ("show", "--data", "x", "--weight", "nonsense", "--decimal", ",")
    for command in (("rules",), ("explain",), data):
        outcome = tool(command[0], "f", *command[1:])
        assert outcome.code == 2
        assert "'f' holds a forest of 4 trees: name one, --tree 0 to" in outcome.err
    outcome = tool("predict", "f", TABLES / "iris.csv", "--leaf")
    assert outcome.code == 2
    assert "--leaf" in outcome.err
    outcome = tool("show", "f", "--tree", "4")
    assert (outcome.code, "--tree 4: 'f' holds a forest of 4" in outcome.err) == (
        2,
        True,
    )
    outcome = tool("prune", "f", "--node", "1", "-o", "g")
    assert outcome.code == 4
    assert "it holds a forest" in outcome.err
    assert "restore" not in outcome.err


def grow_minds(works):
    works(
        *("forest", TABLES / "iris.csv", "--target", "class", "-o", "f", "--quiet"),
        *(
            "--n-estimators",
            "4",
            "--recipe",
            "id3",
            "--recipe",
            "c4.5",
            "--recipe",
            "cart",
        ),
    )


def test_a_tree_of_a_forest_is_read_as_a_tree(works, folder):
    grow_minds(works)
    tree = spinney.load("f").trees[1]
    assert works("show", "f", "--tree", "1") == f"{tree}\n"
    assert works("rules", "f", "--tree", "1") == f"{tree.rules()}\n"
    assert works("explain", "f", "--tree", "1") == f"{tree.explain(node=0)}\n"
    labels = works("predict", "f", TABLES / "iris.csv", "--tree", "1", "--leaf")
    assert labels.splitlines()[1] == "Iris-setosa,1"
    info = json.loads(works("info", "f", "--tree", "1", "--json"))
    assert (info["recipe"]["name"], info["member"]) == ("c4.5", {"number": 1, "of": 4})
    works("show", "f", "--tree", "1", "--svg", "f.svg")
    assert (folder / "f.svg").read_text().startswith("<svg")
    lines = [" ".join(line.split()) for line in works("info", "f").splitlines()]
    assert "1 c4.5, 4 leaves, height 3" in lines
    assert "criterion gain, gain_ratio, gini" in lines


def test_tree_numbers_are_of_forests(works, tool):
    works("grow", TABLES / "iris.csv", "--target", "class", "-o", "t", "--quiet")
    outcome = tool("show", "t", "--tree", "0")
    assert outcome.code == 2
    assert "--tree 0: 't' holds a single tree, not a forest" in outcome.err
    outcome = tool("info", "--tree", "0")
    assert (outcome.code, "needs MODEL" in outcome.err) == (2, True)


def test_a_forest_is_shown_by_its_most_typical_tree(works):
    grow_minds(works)
    out = works("show", "f")
    model = spinney.load("f")
    number = model.forest_.typical.number
    assert out.startswith("class: 4 trees (id3, c4.5, cart in turn), ")
    assert f"most typical: tree {number} (" in out
    assert out.endswith(f"{model.trees[number]}\n")
    data = json.loads(works("show", "f", "--json"))
    assert data["typical"]["number"] == number
    assert [tree["recipe"] for tree in data["trees"]] == ["id3", "c4.5", "cart", "id3"]
    assert "petallength" in {entry["attribute"] for entry in data["importances"]}
    old = works("show", GOLDEN / "forest.v1.spinney")
    assert "this file has no most typical tree; --tree 0 to" in old


def test_importances_by_groups(works):
    given = ("forest", TABLES / "iris.csv", "--target", "class", "--n-estimators", "3")
    out = works(*given, "--grouped-importances", "0.7")
    assert "importance of groups of associated attributes\n  sepallength + " in out
    data = json.loads(works(*given, "--grouped-importances", "0.9", "--json"))
    groups = [entry["attributes"] for entry in data["grouped_importances"]]
    assert ["petallength", "petalwidth"] in groups
    assert sum(e["mean"] for e in data["grouped_importances"]) == pytest.approx(1)


def test_rows_of_a_bag_without_bags_are_refused_in_words_of_the_shell(tool):
    given = ("forest", TABLES / "iris.csv", "--target", "class", "--no-bootstrap")
    outcome = tool(*given, "--max-samples", "0.5")
    assert outcome.code == 2
    assert "--max-samples 0.5 cannot be used with --no-bootstrap" in outcome.err
    assert "bootstrap=" not in outcome.err


@pytest.mark.parametrize(
    "about_classes", [("--voting", "majority"), ("--class-weight", "balanced")]
)
def test_what_is_about_classes_is_refused_for_numbers(tool, about_classes):
    numbers = (TABLES / "cpu_prp.csv", "--target", "class", "--n-estimators", "2")
    outcome = tool("forest", *numbers, *about_classes)
    assert outcome.code == 2
    assert f"{about_classes[0]} {about_classes[1]!r} is about classes" in outcome.err


def test_an_interrupt_writes_nothing(tool, folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    for grower in (growing.TreeGrower, growing.KernelGrower):
        monkeypatch.setattr(grower, "grow", interrupted)
    outcome = tool("forest", TABLES / "iris.csv", "--target", "class", "-o", "f")
    assert outcome.code == 130
    assert list(folder.iterdir()) == []


def test_without_bags(works):
    out = works(
        *("forest", TABLES / "iris.csv", "--target", "class", "--n-estimators", "3"),
        *("--no-bootstrap", "--extra-random", "--max-features", "all"),
    )
    assert "out-of-bag" not in out
    assert np.all(["sepal" in out, "petal" in out])


def test_evaluate_beside_trees(works, tool):
    table = (TABLES / "iris.csv", "--target", "class", "--folds", "3")
    small = "forest:n_estimators=10,trees=id3,max-depth=3,buckets=k-means"
    out = works(
        *("evaluate", *table, "--recipe", "cart", "--recipe", small, "--json"),
    )
    results = json.loads(out)
    assert {"cart", small} <= {fold["recipe"] for fold in results["folds"]}
    for recipe, words in (
        ("forest:trees=auto", "cannot be used in a forest"),
        ("forest:leaves=linear", "leaves='linear' needs a target that is a number"),
        ("forest:tie_break_order=x", "a forest has no 'tie_break_order'"),
        ("forest:n_estimators=0", "n_estimators=0"),
    ):
        outcome = tool("evaluate", *table, "--recipe", recipe)
        assert outcome.code == 2
        assert words in outcome.err
    numbers = (TABLES / "cpu_prp.csv", "--target", "class", "--folds", "2")
    works("evaluate", *numbers, "--recipe", "forest:n_estimators=5")
    outcome = tool("evaluate", *numbers, "--recipe", "forest:voting=majority")
    assert outcome.code == 2
    assert "about classes" in outcome.err
