"""The shell says how good a tree is."""

import json

from tests.helpers.strategies import TABLES

import spinney

IRIS = str(TABLES / "iris.csv")


def test_grow_and_info_say_it(tool, works):
    outcome = tool("grow", IRIS, "--target", "class", "-o", "iris.spinney")
    line = str(spinney.grow(IRIS, "class").quality_)
    assert outcome.err.splitlines()[-1] == f"spinney: {line}"
    assert line in works("info", "iris.spinney")


def test_grow_and_info_say_which_columns_matter(tool, works):
    err = tool("grow", IRIS, "--target", "class", "-o", "iris.spinney").err
    importances = spinney.load("iris.spinney").importances()
    assert f"spinney: {importances.summary()}" in err.splitlines()
    text = works("info", "iris.spinney")
    for name, share, bar, _ in importances.bars():
        assert name in text
        assert f"{share}  {bar}\n" in text
    facts = json.loads(works("info", "iris.spinney", "--json"))
    assert facts["importances"] == {
        name: {"importance": importance, "gain": gain}
        for name, importance, gain in importances.ranked()
    }


def test_it_can_be_turned_off(tool):
    arguments = ("grow", IRIS, "--target", "class", "--recipe", "id3")
    assert "accuracy" in tool(*arguments).err
    assert "accuracy" not in tool(*arguments, "--no-measure-quality").err
