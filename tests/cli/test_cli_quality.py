"""The shell says how good a tree is."""

from tests.helpers.strategies import TABLES

import spinney

IRIS = str(TABLES / "iris.csv")


def test_grow_and_info_say_it(tool, works):
    outcome = tool("grow", IRIS, "--target", "class", "-o", "iris.spinney")
    line = str(spinney.grow(IRIS, "class").quality_)
    assert outcome.err.splitlines()[-1] == f"spinney: {line}"
    assert line in works("info", "iris.spinney")


def test_it_can_be_turned_off(tool):
    arguments = ("grow", IRIS, "--target", "class", "--recipe", "id3")
    assert "accuracy" in tool(*arguments).err
    assert "accuracy" not in tool(*arguments, "--no-measure-quality").err
