"""What new users stumbled over: said once, and in the same way everywhere."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import spinney
from spinney.cli import run
from spinney.errors import DataError, SpinneyNote, SpinneyWarning
from spinney.extensions.explorer.tree_data import cut_digits
from spinney.growth.folds import recipe_choice

MARKED = pd.DataFrame({"x": [*"?1234567"]})
LABELS = ["a", "b"] * 4


@pytest.mark.parametrize(
    "model", [spinney.TreeClassifier("cart"), spinney.ForestClassifier(2)]
)
def test_fit_doubts_a_question_mark_as_grow_does(model):
    with pytest.warns(SpinneyWarning, match=r"'\?' is read as a value in 'x'"):
        model.fit(MARKED, LABELS)
    with pytest.warns(SpinneyWarning, match=r"'\?' is read as a value in 'x'"):
        spinney.grow(MARKED.assign(y=LABELS), "y", recipe="cart")


@pytest.mark.filterwarnings("error::spinney.SpinneyWarning")
def test_fit_knows_what_is_declared_missing():
    spinney.TreeClassifier("cart", missing_values=["?"]).fit(MARKED, LABELS)


@pytest.mark.parametrize("other", ["Yes", "yes ", " YES", "y es"])
def test_classes_that_read_alike(other):
    data = {"x": [*range(6)], "sold": ["yes", "no", other] * 2}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        spinney.grow(data, "sold", recipe="cart")
    alike = [str(each.message) for each in told if "look alike" in str(each.message)]
    assert len(alike) == (other != "y es")


def test_the_shell_says_how_many_leaves_the_tree_of_all_rows_has(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(recipe_choice, "MAX_COMPARED", 60)  # trees of some rows only
    random = np.random.default_rng(3)
    cells = random.normal(size=(150, 3))
    high = cells[:, 0] + random.normal(size=150) / 2 > 0
    lines = [f"{a},{b},{c},{h}" for (a, b, c), h in zip(cells, high, strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,c,high", *lines]), encoding="utf-8")
    run(["grow", str(path), "--target", "high"])
    model = spinney.grow(str(path), "high")
    (chosen,) = [each for each in model.recipe_scores_ if each.chosen]
    assert chosen.leaves != model.tree.n_leaves
    assert f"on all rows: {model.tree.n_leaves} leaves" in capsys.readouterr().err


def test_the_explorer_shows_a_cut_in_six_digits():
    data = {"x": [5095.0, 5096.0, 7000.0], "y": ["a", "b", "b"]}
    tree = spinney.grow(data, "y", recipe="cart").tree
    digits = int(cut_digits(tree.arrays, tree.nodes.candidate_arrays)[0])
    assert f"{tree.root.split.threshold:.{digits}g}" == "5095.5"


def test_a_tree_of_a_forest_prints():
    forest = spinney.ForestClassifier(2, random_state=0).fit(
        [[1], [2], [3], [4]], LABELS[:4]
    )
    assert str(forest.trees[0]).startswith("y")
    assert "Model(" not in str(forest.trees[0])


def test_trees_are_grown_without_scikit_learn():
    script = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from spinney.models import grow_from\n"
        "from spinney.sources.training_data import TableInput\n"
        "data = {'x': [*range(40)], 'y': ['a', 'b'] * 20}\n"
        "print(len(grow_from(TableInput(data=data, target='y')).tree))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 1


def test_a_lesson_asks_no_identifier(tmp_path, capfd):
    path = tmp_path / "shop.csv"
    lines = [f"n{at},{at % 3},{'ab'[at % 3 > 1]}" for at in range(12)]
    path.write_text("\n".join(["name,size,sold", *lines]), encoding="utf-8")
    page = tmp_path / "lesson.html"
    assert run(["lesson", str(path), "--target", "sold", "-o", str(page)]) == 0
    assert "column 'name'" in capfd.readouterr().err
    assert "name = n1" not in page.read_text(encoding="utf-8")
    kept = ["lesson", str(path), "--target", "sold", "--nominal", "name"]
    assert run([*kept, "--overwrite", "-o", str(page)]) == 0
    assert "name = n1" in page.read_text(encoding="utf-8")


def test_look_tells_of_a_target_of_one_class():
    shop = {"size": [2, 1, 4], "sold": ["no", "no", "no"]}
    assert "1 class, no: a tree would be one leaf" in str(spinney.look(shop, "sold"))


def test_a_column_that_a_model_of_decimal_commas_misses_is_named(tmp_path):
    path = tmp_path / "shop.csv"
    path.write_text("size;sold\n1,5;no\n2,5;no\n3,5;yes\n4,5;yes\n")
    with pytest.warns(SpinneyNote, match="4,5"):
        model = spinney.grow(path, "sold", recipe="id3")
    with pytest.raises(DataError, match="'size'"):
        model.predict({"weight": [1.0]})


def test_the_shell_says_that_a_small_model_tree_has_short_formulas(capsys):
    """`--max-depth 2` doubled the error of m5 without a word."""

    def said(*options):
        table = ["grow", "tests/tables/cpu_prp.csv", "--target", "class"]
        assert run([*table, "--numeric", "class", "--recipe", *options]) == 0
        return capsys.readouterr().err

    words = said("m5", "--max-depth", "2", "--max-leaves", "3")
    assert (
        "--max-depth 2 and --max-leaves 3 leaves few columns for the linear models"
        in words
    )
    assert "limit the tree by --min-samples-leaf instead" in words
    assert "linear models" not in said("m5")
    assert "linear models" not in said("m5", "--max-depth", "2", "--quiet")
    assert "linear models" not in said("cart", "--max-depth", "2")


def test_who_predicts_does_not_look_at_the_target(tmp_path, capsys):
    """A price to be decided, `tbd`, was a reason to refuse the row."""
    table, model = tmp_path / "flats.csv", tmp_path / "flats.spinney"
    lines = [f"{40 + 5 * at},{90000.5 + 11000 * at}" for at in range(30)]
    table.write_text("\n".join(["sqm,price", *lines]), encoding="utf-8")
    assert run(["grow", str(table), "--target", "price", "-o", str(model)]) == 0
    later = tmp_path / "later.csv"
    later.write_text("sqm,price\n70,tbd\n", encoding="utf-8")
    capsys.readouterr()
    assert run(["predict", str(model), str(later), "--append"]) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert (head, line[:7]) == ("sqm,price,predicted price", "70,tbd,")
    assert run(["explain", str(model), "--row", str(later)]) == 0
    assert spinney.load(model).predict({"sqm": [70], "price": ["tbd"]}) > 0
    assert run(["score", str(model), str(later)]) == 3
    assert "'tbd'" in capsys.readouterr().err


def test_a_picture_shows_the_cut_between_years():
    """The cut 1979.5 was drawn as 1980, a year on the wrong side of it."""
    years = {"built": [1976, 1977, 1978, 1981, 1983, 1985], "kind": [*"aaabbb"]}
    picture = spinney.grow(years, "kind", recipe="cart").plot().svg
    assert "≤ 1979.5<" in picture
    assert "1980" not in picture


@pytest.mark.parametrize(
    "recipes, accuracies",
    [("auto", [False]), ("forest", [False]), (["auto", "cart"], [False, False])],
)
def test_what_is_evaluated_is_what_would_be_grown(recipes, accuracies):
    """Every recipe leaves out what counts the rows: some were measured with it."""
    drawn = np.random.default_rng(1).random(100)
    table = {"PassengerId": range(1, 101), "x": drawn, "y": ["yes"] * 50 + ["no"] * 50}
    with pytest.warns(SpinneyWarning, match="the rows and was excluded") as told:
        found = spinney.evaluate(table, "y", recipes)
    assert len(told) == 1
    right = [line["accuracy"] > 0.9 for line in found.as_dict()["table"]]
    assert right == accuracies


def test_a_lesson_says_once_how_it_read_and_by_which_recipe(tmp_path, capsys):
    """`grow` has grown another tree by default, and the note stood there twice."""
    path, page = tmp_path / "shop.csv", tmp_path / "lesson.html"
    path.write_text("size;sold\n1,5;no\n2,5;no\n3,5;yes\n4,5;yes\n", encoding="utf-8")
    assert run(["lesson", str(path), "--target", "sold", "-o", str(page)]) == 0
    said = capsys.readouterr().err
    assert "slides by recipe id3, with rows of" in said
    assert said.count("'4,5' is 4.5") == 1
