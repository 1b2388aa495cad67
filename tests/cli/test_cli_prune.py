"""spinney prune."""

import json

import pytest
from tests.helpers.strategies import TABLES

import spinney
from spinney import ParameterError
from spinney.output.file.model_files import load_model
from spinney.recipes import Recipe

TRAIN = TABLES / "watermelon_2.0_train.csv"
VALID = TABLES / "watermelon_2.0_valid.csv"


@pytest.fixture
def full(works):
    arguments = (
        "--target ripe --ignore id --recipe id3 --tie-break-order umbilicus --quiet -o"
    )
    works("grow", TRAIN, *arguments.split(), "full.spinney")
    return "full.spinney"


def test_the_steps_and_what_became_of_the_tree(tool, full):
    outcome = tool("prune", full, "--validation", VALID, "-o", "small.spinney")
    assert outcome.err == "spinney: saved to small.spinney\n"
    assert outcome.out.splitlines() == [
        "before, after: accuracy; risk: on the training rows",
        "node  before   after  risk  after          branch",
        "   9  0.4286  0.5714     0      1  pruned  color = dark",
        "   8  0.5714  0.5714     1      1  kept    root = slightly curly",
        "   2  0.5714  0.7143     1      2  pruned  umbilicus = hollow",
        "   6  0.7143  0.7143     2      3  kept    umbilicus = slightly hollow",
        "   0  0.7143  0.4286     2      5  kept    (root)",
        "",
        "leaves: 11, now 7",
        "training risk: 0, now 2",
    ]
    expected = spinney.load(full).prune("reduced-error", validation=VALID)
    assert str(spinney.load("small.spinney")) == str(expected)
    assert len(load_model(full).tree) > len(load_model("small.spinney").tree)


def test_json(works, full):
    found = json.loads(works("prune", full, "--node", 2, "--node", 6, "--json"))
    assert found["schema"] == "spinney/prune/1"
    assert found["leaves"] == {"before": 11, "after": 3}
    assert [step["node"] for step in found["steps"]] == [2, 6]
    assert found["training_risk"]["before"] == 0
    assert "sequence" not in found
    arguments = ("prune", full, "--pruning", "cost-complexity", "--data", TRAIN)
    found = json.loads(works(*arguments, "--folds", 5, "--random-state", 1, "--json"))
    assert found["sequence"][-1]["leaves"] == 1
    assert sum(row["chosen"] for row in found["sequence"]) == 1


def test_the_table_of_the_sequence(works, full):
    arguments = ("prune", full, "--pruning", "cost-complexity")
    by_alpha = works(*arguments, "--alpha", 0.6, "--ascii")
    assert "before, after: risk + 0.6 x leaves" in by_alpha
    assert "    1  0.200000       0       1    1.00000" in by_alpha
    by_folds = works(*arguments, "--data", TRAIN, "--rule", "minimum")
    assert "xerror" in by_folds
    assert "chosen" in by_folds


@pytest.mark.parametrize(
    "method", ["mdl", "pessimistic", "simplify", "error-based", "collapse"]
)
def test_methods_that_need_nothing(works, full, method):
    assert "leaves: 11, now" in works("prune", full, "--pruning", method)


def test_as_c45_prunes(works, refused, full):
    arguments = ("prune", full, "--pruning", "error-based", "--confidence", "0.3")
    told = works(*arguments, "--data", TRAIN)
    assert "before, after: estimated errors of the node; risk" in told
    found = json.loads(works(*arguments, "--data", TRAIN, "--raising", "--json"))
    assert {step["action"] for step in found["steps"]} >= {"replaced"}
    works(*arguments, "--no-raising")
    line = refused(2, *arguments, "--raising")
    assert "--raising needs the training rows, which the model does not store" in line


@pytest.mark.parametrize(
    "code, arguments, message",
    [
        (2, [], "--pruning 'reduced-error' needs a table with the target column"),
        (2, ["--pruning", "mld"], "--pruning 'mld' is unknown: did you mean 'mdl'?"),
        (2, ["--node", "99"], "--node: there is no node 99"),
        (2, ["--node", "1"], "--node: node 1 is a leaf"),
        (2, ["--pruning", "mdl", "--alpha", "1"], "--alpha: of no use to the method"),
        (
            2,
            ["--pruning", "cost-complexity", "--alpha", "-1"],
            "--alpha -1.0 must be a number of at least 0",
        ),
        (
            2,
            ["--pruning", "cost-complexity", "--data", TRAIN, "--rule", "best"],
            "--rule 'best' is unknown",
        ),
        (
            2,
            ["--pruning", "cost-complexity", "--data", TRAIN, "--folds", "99"],
            "--folds 99 must be a whole number from 2",
        ),
        (
            3,
            ["--pruning", "cost-complexity", "--data", VALID],
            "--data has 7 rows of weight 7",
        ),
        (2, ["--pruning", "mdl", "-o", "full.spinney"], "file exists: name another"),
        (2, ["--pruning", "mdl", "-o", "-"], "standard output takes no model"),
    ],
)
def test_refusals(refused, full, code, arguments, message):
    assert message in refused(code, "prune", full, *arguments)


def test_overwriting_if_told_so(works, full):
    works("prune", full, "--pruning", "mdl", "-o", full, "--overwrite")
    assert len(load_model(full).tree) == 1


def test_what_is_not_saved_is_said(tool, full, folder):
    before = sorted(folder.iterdir())
    outcome = tool("prune", full, "--pruning", "mdl", "--json")
    assert outcome.err == "spinney: nothing was saved; -o FILE saves the pruned model\n"
    assert json.loads(outcome.out)["schema"] == "spinney/prune/1"
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("method", ["reduced-error", "pre-pruning"])
def test_methods_that_need_rows_which_a_tree_is_not_grown_on(refused, method):
    line = refused(2, "grow", TRAIN, "--target", "ripe", "--pruning", method)
    assert line.endswith(
        f"--pruning {method!r} needs rows that the tree is not grown on: reserve some "
        "(--validation-share 0.3), or give a table of them (--validation TABLE)"
    )


@pytest.mark.parametrize(("method", "remedy"), [("manual", "--node NODE")])
def test_methods_that_need_a_grown_model(refused, method, remedy):
    line = refused(2, "grow", TRAIN, "--target", "ripe", "--pruning", method)
    advice = f"spinney prune MODEL --pruning {method!r} {remedy}"
    assert line.endswith(f"--pruning {method!r} needs a grown model: {advice}")
    with pytest.raises(
        ParameterError, match=rf"model\.prune\(pruning={method!r}, \w+="
    ):
        Recipe.named("c4.5").changed(pruning=method)


def test_the_numbers_to_prune_by(works, refused, full):
    lines = works("show", full, "--numbers").splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(len(lines)))
    limited = works("show", full, "--numbers", "--max-depth", "1").splitlines()
    plain = works("show", full, "--max-depth", "1").splitlines()
    assert [line[4:] for line in limited] == plain
    assert "--numbers cannot be used with --json" in refused(
        2, "show", full, "--numbers", "--json"
    )
    for command in ("explain", "prune"):
        assert "spinney show --numbers" in " ".join(works(command, "--help").split())


def test_an_alpha_that_no_tree_pays(works, full):
    text = works("prune", full, "--pruning", "cost-complexity", "--alpha", "1e308")
    assert "risk + 1e+308" in text
    assert max(map(len, text.splitlines())) < 200


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--no-raising", "--data", TRAIN], "--data is only needed to raise branches"),
        (["--raising"], "pass them (--data TABLE), or remove it"),
        (["--weight", "w"], "--weight needs --data"),
    ],
)
def test_refusals_name_options_and_no_parameters(refused, full, arguments, message):
    line = refused(2, "prune", full, "--pruning", "error-based", *arguments)
    assert message in line
    assert "=" not in line
    line = refused(2, "prune", full, "--pruning", "cost-complexity")
    assert "an alpha (--alpha ALPHA), or the training table (--data TABLE)" in line
    assert "=" not in line


def test_the_sequence_by_other_rows(works, full):
    """Document 004: training and validation error of each step, side by side."""
    arguments = ("prune", full, "--pruning", "cost-complexity", "--validation", VALID)
    text = works(*arguments)
    assert "leaves  training error  validation error  std error" in text
    assert "     4             0.2           0.28571    0.17075  chosen" in text
    found = json.loads(works(*arguments, "--rule", "1-se", "--json"))["sequence"]
    assert [row["training_error"] for row in found] == [0, 0.2, 0.5]
    assert [row["chosen"] for row in found] == [False, True, False]


def test_rows_are_reserved_while_growing(tool, works):
    melons = TABLES / "watermelon_2.0.csv"
    arguments = (
        "grow",
        melons,
        "--target",
        "ripe",
        "--ignore",
        "id",
        "--recipe",
        "id3",
    )
    share = ("--validation-share", 0.3)
    outcome = tool(*arguments, *share, "--pruning", "pre-pruning")
    assert outcome.err == (
        "spinney: validation set: 5 of 17 rows (pre-pruning); --json lists "
        "them as validation_rows\n"
        "spinney: importance: texture 100 %\n"
        "spinney: accuracy 91.7 % on training rows; new rows not measured: "
        "`spinney evaluate`\n"
    )
    found = json.loads(works(*arguments, *share, "--json"))
    model = spinney.grow(
        melons, "ripe", ignore=["id"], recipe="id3", validation_share=0.3
    )
    assert found["validation_rows"] == (model.validation_rows_ + 1).tolist()
    assert found["recipe"]["pruning"] == "reduced-error"
    text = works(
        "grow",
        TRAIN,
        *arguments[2:],
        "--validation",
        VALID,
        "--tie-break-order",
        "color",
    )
    assert "color = green → true" in text


def test_how_each_node_does_on_a_table(works, refused, full):
    lines = works("show", full, "--data", VALID, "--numbers").splitlines()
    assert "[on watermelon_2.0_valid.csv: 3 of 7 right as a leaf, 3 of 7 by" in lines[0]
    assert lines[2].endswith("[2 of 3 right as a leaf, 1 of 3 by its branches]")
    found = json.loads(works("show", full, "--data", VALID, "--json"))
    assert found["nodes"][2]["on_data"]["loss_as_leaf"] == 1
    assert found["data"]["name"] == "watermelon_2.0_valid.csv"
    works("show", full, "--data", VALID, "--weight", "id", "--svg", "tree.svg")
    message = "--weight id needs --data TABLE"
    assert message in refused(2, "show", full, "--weight", "id")
    iris = TABLES / "iris.csv"
    assert "the model needs the columns" in refused(3, "show", full, "--data", iris)
