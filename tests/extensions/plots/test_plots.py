"""Each plot draws the numbers that the model, the table or the study has."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import TABLES

import spinney
from spinney.cli import run
from spinney.errors import DataError, MissingExtraError, ParameterError
from spinney.extensions import plots

IRIS = TABLES / "iris.csv"


@pytest.fixture(scope="module")
def iris():
    return spinney.grow(IRIS, "class", recipe="cart", max_depth=3)


@pytest.fixture(scope="module")
def forest():
    return spinney.grow_forest(IRIS, "class", n_estimators=5, random_state=0)


# Regions


def filled(axes):
    """Return the edges across and upwards, and the cells between them."""
    mesh = axes.collections[0]
    corners = mesh.get_coordinates()
    return corners[0, :, 0], corners[:, 0, 1], np.asarray(mesh.get_array())


def test_003_regions_of_the_fruit_are_its_rectangles():
    model = spinney.grow(TABLES / "fruit.csv", "type", ignore=["id"], recipe="id3")
    axes = plots.regions(model, TABLES / "fruit.csv")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("width", "height")
    across, up, cells = filled(axes)
    assert across[1:-1].tolist() == [5.65]
    assert up[1:-1].tolist() == [8.65]
    assert cells.reshape(2, 2).tolist() == [[0, 1], [0, 0]]  # orange: wide and low


def test_000_regions_of_watermelons_by_density_and_sugar():
    table = spinney.read_table(TABLES / "watermelon_3.0.csv")
    names = [n for n in table.names if n not in ("density", "sugar", "ripe")]
    path = TABLES / "watermelon_3.0.csv"
    model = spinney.grow(path, "ripe", ignore=names, recipe="id3")
    axes = plots.regions(model, path)
    across, up, cells = filled(axes)
    cells = cells.reshape(len(up) - 1, len(across) - 1)
    codes = np.searchsorted(across, table["density"].cells) - 1
    rows = np.searchsorted(up, table["sugar"].cells) - 1
    predicted = model.predict(path)
    classes = list(model.schema.target.classes)
    assert [classes[int(c)] for c in cells[rows, codes]] == predicted.tolist()
    # Lines stand where neighbouring cells differ, and nowhere else.
    lines = axes.collections[1].get_segments()
    differ = (cells[:, 1:] != cells[:, :-1]).sum() + (cells[1:] != cells[:-1]).sum()
    assert len(lines) == differ


def test_regions_hold_what_is_on_no_axis(iris):
    axes = plots.regions(iris, IRIS, x="petalwidth", y="sepallength")
    assert axes.get_xlabel() == "petalwidth"
    assert "petallength = 4.35" in axes.get_title()
    axes = plots.regions(iris, IRIS, y="petalwidth", fixed={"sepalwidth": 3.0})
    assert axes.get_ylabel() == "petalwidth"


def test_rows_that_differ_from_the_fixed_values_are_faded():
    """Of a row that is drawn as others are, the model says what its place does."""
    path = TABLES / "penguins.csv"
    model = spinney.grow(path, "species", recipe="cart")
    axes = plots.regions(model, path, x="bill_length_mm", y="flipper_length_mm")
    drawn = [(c.get_alpha(), len(c.get_offsets())) for c in axes.collections[2:]]
    pale = sum(size for alpha, size in drawn if alpha < 1)
    assert sum(size for _, size in drawn) == 342  # two rows lack both numbers
    assert 0 < pale < 172
    table = spinney.read_table(path)
    held = dict(re.findall(r"(\w+) = ([\w.]+)", axes.get_title()))
    cells = {
        name: table[name].cells
        if name in ("bill_length_mm", "flipper_length_mm")
        else [held[name]] * 344
        for name in model.asked
    }
    known = np.isfinite(cells["bill_length_mm"])
    assert pale == (model.predict(cells) != model.predict(path))[known].sum()
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[-1] == "faded: rows that differ\nin the other variables"
    alone = spinney.grow(path, "species", recipe="cart", max_depth=1)
    axes = plots.regions(alone, path, x="bill_length_mm", y="flipper_length_mm")
    assert all(each.get_alpha() == 1 for each in axes.collections[2:])


def test_regions_of_forests_and_numbers(forest):
    across, _, _ = filled(plots.regions(forest, IRIS))
    assert len(across) == 301
    model = spinney.grow(TABLES / "cpu_prp.csv", "class", recipe="cart", max_depth=2)
    _, _, cells = filled(plots.regions(model, TABLES / "cpu_prp.csv"))
    assert cells.max() == pytest.approx(1069.67, abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"x": "petal"}, "x='petal' is not a numeric attribute.*petal"),
        ({"x": "petalwidth", "y": "petalwidth"}, "name two"),
        ({"fixed": {"colour": 1}}, "not an attribute of the model"),
        ({"fixed": {"petalwidth": 1}}, "on an axis"),
    ],
)
def test_regions_that_cannot_be(iris, arguments, words):
    with pytest.raises(ParameterError, match=words):
        plots.regions(iris, IRIS, **arguments)


def test_regions_need_two_numbers():
    model = spinney.grow({"a": list("xyxy"), "b": [1, 2, 3, 4], "c": list("ppqq")}, "c")
    with pytest.raises(ParameterError, match="two numeric attributes"):
        plots.regions(model, {"a": ["x"], "b": [1]})


def test_regions_of_columns_without_any_value(iris):
    """What is on no axis is held as missing; an axis wants numbers."""
    table = {name: [1.0, 2.0] for name in ("sepallength", "sepalwidth", "petalwidth")}
    table |= {"petallength": [None, None], "class": ["setosa", "virginica"]}
    axes = plots.regions(iris, table, x="petalwidth", y="sepallength")
    assert "petallength = missing" in axes.get_title()
    with pytest.raises(DataError, match="'petallength' has no numbers"):
        plots.regions(iris, table, x="petallength")


def test_no_row_of_a_forest_of_numbers_is_pale():
    path = TABLES / "cpu_prp.csv"
    forest = spinney.grow_forest(path, "class", n_estimators=2, random_state=0)
    axes = plots.regions(forest, path)
    assert [each.get_alpha() for each in axes.collections[1:]] == [1.0]


# Models


def test_importances_are_those_of_the_model(iris, forest):
    axes = plots.importances(iris)
    widths = [bar.get_width() for bar in axes.patches]
    assert sorted(widths) == pytest.approx(sorted(iris.tree.importances))
    assert widths == sorted(widths)
    axes = plots.importances(forest, most=2)
    assert len(axes.patches) == 2
    assert "2 more not shown" in axes.get_title()


def test_pruning_path_has_the_sequence(iris):
    axes = plots.pruning_path(iris)
    (line,) = axes.lines
    assert line.get_ydata()[-1] == 1  # the root alone
    pruned = iris.prune("cost-complexity", data=IRIS, folds=5)
    axes = plots.pruning_path(pruned)
    leaves = [row.leaves for row in pruned.sequence_.subtrees]
    assert axes.lines[0].get_xdata().tolist() == leaves
    assert f"selected: {pruned.tree.n_leaves}" in axes.get_xlabel()
    errors = [row.error for row in pruned.sequence_.subtrees]
    assert axes.lines[1].get_ydata().tolist() == pytest.approx(errors)
    assert legend_of(axes)[1].startswith("cross-validation")


def test_pruning_path_by_validation_rows_has_the_same_unit(iris):
    # Of the table itself, so that both lines are one.
    pruned = iris.prune("cost-complexity", validation=IRIS)
    axes = plots.pruning_path(pruned)
    training, validation = axes.lines[0], axes.lines[1]
    assert validation.get_ydata()[-1] == pytest.approx(1)
    assert validation.get_ydata().tolist() == pytest.approx(
        training.get_ydata().tolist()
    )
    assert legend_of(axes)[1].startswith("validation set")


def legend_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_what_is_no_model_is_refused():
    with pytest.raises(ParameterError, match=r"plots\.tree draws a tree.*not dict"):
        plots.tree({})
    with pytest.raises(ParameterError, match="axes must be Axes"):
        plots.buckets([1, 2, 3], "here")


# Models on tables


def test_confusion_is_that_of_score(iris):
    axes = plots.confusion(iris, IRIS)
    counts = spinney.score(iris, IRIS).confusion
    texts = [text.get_text() for text in axes.texts]
    assert texts == [f"{c:g}" if c else "·" for c in counts.ravel()]


def test_confusion_of_many_classes_has_no_figures():
    rows = {"a": [*range(15)] * 2, "c": [f"c{at}" for at in range(15)] * 2}
    axes = plots.confusion(spinney.grow(rows, "c", recipe="cart"), rows)
    assert not axes.texts
    assert len(axes.get_xticks()) == 15


def test_roc_of_two_classes_is_of_the_last():
    path = TABLES / "vote.csv"
    target = spinney.read_table(path).names[-1]
    model = spinney.grow(path, target, recipe="c4.5", max_depth=1, missing_values=["?"])
    axes = plots.roc(model, path)
    assert len(axes.lines) == 2
    auc = spinney.score(model, path).measures["auc"]
    assert f"AUC = {auc:.3f}" in axes.lines[1].get_label()


def test_calibration_has_the_shares_by_hand():
    model = spinney.grow(
        {"a": list("xxxxyyyy"), "c": list("ppqqqqqp")}, "c", recipe="id3", max_depth=1
    )
    axes = plots.calibration(model, {"a": list("xxyyy"), "c": list("pqqqq")})
    # q has the share ½ where a = x, and ¾ where a = y; there it was ½ and 1.
    line = axes.lines[1]
    assert line.get_xdata().tolist() == [0.5, 0.75]
    assert line.get_ydata().tolist() == [0.5, 1.0]
    with pytest.raises(ParameterError, match="n_bins=1"):
        plots.calibration(model, {"a": ["x"], "c": ["p"]}, n_bins=1)
    with pytest.raises(DataError, match="one class"):
        plots.roc(model, {"a": ["x"], "c": ["p"]})


def test_numbers_have_no_classes():
    model = spinney.grow(TABLES / "cpu_prp.csv", "class", recipe="cart", max_depth=1)
    for draw in (plots.confusion, plots.roc, plots.calibration):
        with pytest.raises(ParameterError, match="classes"):
            draw(model, TABLES / "cpu_prp.csv")


# Studies, buckets, clusters


def test_studies_have_their_means():
    curve = spinney.learning_curve(IRIS, "class", "cart", sizes=[20, 60], folds=3)
    (line,) = plots.learning_curve(curve).lines
    assert line.get_xdata().tolist() == [20, 60]
    means = [row["accuracy"] for row in curve.table]
    assert line.get_ydata().tolist() == pytest.approx(means)
    bad = spinney.robustness(
        IRIS, "class", "cart", noise=[0, 0.2], missing_rate=[], outliers=[], folds=3
    )
    axes = plots.robustness(bad, measure="auc")
    assert [line.get_label() for line in axes.lines] == [
        "cart, class noise",
        "cart, attribute noise",
    ]
    with pytest.raises(ParameterError, match=r"spinney\.robustness returns"):
        plots.robustness(curve)
    with pytest.raises(ParameterError, match="measure='rmse' was not measured"):
        plots.learning_curve(curve, measure="rmse")


def test_buckets_are_those_of_discretise():
    numbers = [22, 25, 27, 27, 41, 44, 70, None]
    axes = plots.buckets(numbers, n_buckets=3, name="age")
    assert [line.get_xdata()[0] for line in axes.lines] == [34, 57]
    assert [text.get_text() for text in axes.texts] == ["4", "2", "1"]
    many = plots.buckets([*range(40)], method="equal-width", n_buckets=13)
    assert len(many.lines) == 12
    assert not many.texts  # there is no room for thirteen
    with pytest.raises(DataError, match="number"):
        plots.buckets([None, None])


def test_001_iterations_of_the_five_entities():
    from spinney.extensions.clustering import explain_k_means

    five = np.array([[1, 1], [1.5, 2], [3, 4], [5, 7], [3.5, 5]])
    axes = plots.iterations(explain_k_means(five, five[[1, 3]]))
    ways = [line.get_xydata().round(2).tolist() for line in axes.lines[::3]]
    assert ways == [
        [[1.5, 2.0], [1.83, 2.33], [1.83, 2.33]],
        [[5.0, 7.0], [4.25, 6.0], [4.25, 6.0]],
    ]
    one = plots.iterations(explain_k_means(five[:, :1], five[[1, 3], :1]))
    assert one.get_xlabel() == "x0"


def test_measures_by_k():
    choice = spinney.choose_k([[1.0], [1.1], [5.0], [5.2], [9.0]], [2, 3, 4])
    axes = plots.by_k(choice, measure="silhouette")
    drawn = axes.lines[0].get_ydata().tolist()
    assert drawn == [line.silhouette for line in choice.curve]
    with pytest.raises(ParameterError, match="measure='beauty'"):
        plots.by_k(choice, measure="beauty")


# The shell


@pytest.fixture
def here(tmp_path, monkeypatch, iris):
    monkeypatch.chdir(tmp_path)
    iris.save("iris.spinney")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "tree iris.spinney --style rules -o tree.pdf",
        "importances iris.spinney",
        "pruning iris.spinney",
        "regions iris.spinney {iris} --x petalwidth --fixed sepalwidth=3",
        "confusion iris.spinney {iris}",
        "roc iris.spinney {iris} -o roc.svg",
        "calibration iris.spinney {iris}",
        "learning-curve {iris} --target class --recipe cart:max_depth=1 --folds 2",
        "robustness {melons} --target ripe --ignore id --recipe id3 --folds loo "
        "--outliers 0.1",
        "robustness {iris} --target class --recipe cart --folds 2 --noise 0.1",
        "buckets {iris} --column petallength --method equal-width --n-buckets 4",
        "clusters {iris} --ignore class -k 2",
        "iterations {iris} --ignore class -k 2",
        "elbow {iris} --columns petallength",
    ],
)
def test_each_kind_from_the_shell(here, capfd, words):
    melons = IRIS.with_name("watermelon_3.0.csv")
    arguments = words.format(iris=IRIS, melons=melons).split()
    assert run(["plot", *arguments]) == 0
    name = words.split(" -o ")[1] if " -o " in words else f"{arguments[0]}.png"
    assert capfd.readouterr().err.endswith(f"spinney: drawn to {name}\n")
    begin = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<svg"}[Path(name).suffix]
    assert Path(name).read_bytes().startswith(begin)
    assert run(["plot", *arguments]) == 2
    assert "--overwrite" in capfd.readouterr().err


def test_a_tree_from_the_shell_keeps_its_title_and_description(here):
    assert (
        run(["plot", "tree", "iris.spinney", "--style", "rules", "-o", "tree.svg"]) == 0
    )
    drawn = Path("tree.svg").read_text("utf-8")
    assert drawn == spinney.load("iris.spinney").plot(style="rules").svg + "\n"
    assert "<title" in drawn
    assert "<desc" in drawn


@pytest.mark.parametrize(
    ("words", "code", "answer"),
    [
        ("tree iris.spinney -o -", 2, "name a file"),
        ("tree iris.spinney -o tree.gif", 2, ".png, .svg, .pdf"),
        ("buckets {iris} --column petal", 3, "no column 'petal'"),
        ("buckets {iris} --column class", 3, "is nominal"),
        ("iterations {iris} -k 2", 2, "--columns"),
        ("pruning iris.spinney --folds 3", 2, "--data"),
        ("regions iris.spinney {iris} --fixed sepalwidth", 2, "COLUMN=VALUE"),
        ("piechart iris.spinney", 2, "piechart"),
    ],
)
def test_what_the_shell_refuses(here, capfd, words, code, answer):
    assert run(["plot", *words.format(iris=IRIS).split()]) == code
    assert answer in capfd.readouterr().err
    assert {path.name for path in here.iterdir()} == {"iris.spinney"}


def test_without_matplotlib(monkeypatch, iris):
    with monkeypatch.context() as hidden:
        hidden.setitem(sys.modules, "matplotlib.pyplot", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'spinney\[plot\]'"):
            plots.importances(iris)
