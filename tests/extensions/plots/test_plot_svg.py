"""Importances, confusion matrix and ROC curves as SVG need no Matplotlib."""

import re
import sys
from xml.etree import ElementTree

import pytest
from tests.helpers.strategies import TABLES

import spinney
from spinney import ParameterError, plots
from spinney.cli import run
from spinney.extensions.plots.plot_svg import confusion_svg, importances_svg, roc_svg

IRIS = str(TABLES / "iris.csv")


@pytest.fixture(scope="module")
def iris():
    return spinney.grow(IRIS, "class", recipe="c4.5")


def texts(svg):
    return [
        e.text for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("text")
    ]


def widths(svg, kind):
    bars = ElementTree.fromstring(svg).iter()
    return [float(e.get("width")) for e in bars if e.get("class") == kind]


def test_bars_are_as_long_as_importances(iris):
    svg, axes = importances_svg(iris, most=30), plots.importances(iris)
    values = [value for _, value, _ in iris.importances().ranked()]
    expected = [260 * value / values[0] for value in values]
    assert widths(svg, "k0") == pytest.approx(expected, abs=0.1)
    assert {axes.get_title(), axes.get_xlabel(), *iris.schema.names} <= {*texts(svg)}


def test_a_forest_has_its_spread():
    forest = spinney.grow_forest(IRIS, "class", n_estimators=5)
    shown = texts(importances_svg(forest, most=2))
    assert "decrease in impurity (normalised) ± SD over trees" in shown
    assert "variable importance for class, 2 more not shown" in shown


def test_cells_are_those_of_score(iris):
    svg = confusion_svg(iris, IRIS)
    counts = spinney.score(iris, IRIS).confusion.ravel()
    shown = texts(svg)
    numbers = [t for t in shown if re.fullmatch(r"\d+|·", t)]
    assert numbers == [str(int(n)) if n else "·" for n in counts]
    axes = plots.confusion(iris, IRIS)
    assert {axes.get_xlabel(), axes.get_ylabel(), axes.get_title()} <= {*shown}


def test_numbers_have_no_confusion_matrix():
    table = str(TABLES / "cpu_prp.csv")
    with pytest.raises(ParameterError, match="a confusion matrix needs classes"):
        confusion_svg(spinney.grow(table, "class", recipe="cart"), table)


def test_curves_are_those_of_the_plot(iris):
    svg, axes = roc_svg(iris, IRIS), plots.roc(iris, IRIS)
    paths = [p.get("d") for p in ElementTree.fromstring(svg).iter() if p.get("d")]
    assert len(paths) == 3
    for path, curve in zip(paths, axes.lines[1:], strict=True):
        assert path.count("L") == len(curve.get_xdata()) - 1
    labels = {text.get_text() for text in axes.get_legend().get_texts()}
    assert labels | {axes.get_xlabel(), axes.get_ylabel()} <= {*texts(svg)}


def test_the_shell_writes_svg_without_matplotlib(tmp_path, iris, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.chdir(tmp_path)
    iris.save("m.spinney")
    for arguments in (("importances",), ("confusion", IRIS), ("roc", IRIS)):
        name, *table = arguments
        assert run(["plot", name, "m.spinney", *table, "-o", f"{name}.svg"]) == 0
        assert (tmp_path / f"{name}.svg").read_text("utf-8").startswith("<svg")
    assert run(["plot", "importances", "m.spinney", "-o", "p.png"]) != 0
