"""Costs, priors and prices of questions in the shell."""

import json

from tests.cli.conftest import TABLES

KYPHOSIS = TABLES / "rpart_kyphosis.csv"
GROW = (
    "grow",
    KYPHOSIS,
    "--target",
    "Kyphosis",
    "--recipe",
    "cart",
    "--max-depth",
    "1",
)


def test_costs_from_a_file(folder, works):
    (folder / "costs.csv").write_text(
        "actual,predicted,cost\nabsent,present,1\npresent,absent,9\n", encoding="utf-8"
    )
    works(*GROW, "--cost-matrix", "costs.csv", "-o", "m.spinney")
    told = works("explain", "m.spinney", "--node", "0")
    assert "all  altered Gini index" in told
    assert "class weights in splits, altered by costs:" in told
    told = works("predict", "m.spinney", KYPHOSIS).split()
    assert told.count("present") > 40


def test_priors_and_prices(works, refused):
    even = works(*GROW, "--prior", "absent=0.5", "--prior", "present=0.5")
    assert "absent 40.5 (50 %)" in even
    assert "Start" not in works(*GROW, "--test-cost", "Start=1000")
    line = refused(2, *GROW, "--prior", "absent=0.5")
    assert "--prior" in line
    assert "a probability to each class" in line
    assert "--test-cost 'Start' must be" in refused(2, *GROW, "--test-cost", "Start")
    assert "Strt" in refused(2, *GROW, "--test-cost", "Strt=1")


def test_costs_are_in_the_information(folder, works):
    (folder / "costs.csv").write_text(
        "actual,predicted,cost\nabsent,present,1\npresent,absent,9\n", encoding="utf-8"
    )
    costly = ("--cost-matrix", "costs.csv", "--test-cost", "Age=2")
    works(*GROW, *costly, "-o", "m.spinney")
    lines = [line.split() for line in works("info", "m.spinney").splitlines()]
    place = lines.index(
        ["costs", "labels", "are", "those", "of", "least", "expected", "cost"]
    )
    assert lines[place + 1 : place + 5] == [
        ["absent", "where", "present", "9"],
        ["present", "where", "absent", "1"],
        ["test_costs"],
        ["Age", "2"],
    ]
    told = json.loads(works("info", "m.spinney", "--json"))
    assert told["costs"][0] == {"actual": "present", "predicted": "absent", "cost": 9}
    assert told["test_costs"] == {"Age": 2}
    works(*GROW, "-o", "plain.spinney")
    lines = [line.split() for line in works("info", "plain.spinney").splitlines()]
    assert ["costs", "-"] in lines
    assert ["test_costs", "-"] in lines


def test_the_table_of_a_tree_with_costs_is_known(folder, works, tool):
    (folder / "costs.csv").write_text(
        "actual,predicted,cost\nabsent,present,1\npresent,absent,9\n", encoding="utf-8"
    )
    works(*GROW, "--cost-matrix", "costs.csv", "-o", "m.spinney")
    told = tool("rules", "m.spinney", "--simplify", KYPHOSIS).err
    assert "not the one" not in told
    assert "simplified rules count errors" in told
    works(*GROW, "--test-cost", "Age=2", "-o", "free.spinney")
    assert tool("rules", "free.spinney", "--simplify", KYPHOSIS).err == ""
