"""Rule sets as JSON: back to the same rules, and damage refused by name."""

import copy
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from tests.extensions.rulesets.test_ruleset import training_of
from tests.helpers.fuzz import examples
from tests.helpers.strategies import recipes, tables

import spinney
from spinney.errors import ModelFormatError, ParameterError
from spinney.extensions.rulesets import tree_ruleset
from spinney.growth.plain.learner import grow_tree

MELONS = str(Path(__file__).parents[2] / "tables" / "watermelon_3.0.csv")


@pytest.fixture(scope="module")
def ruleset():
    """Return rules over every kind of attribute."""
    random = np.random.default_rng(3)
    size = random.integers(0, 4, 200)
    colour, width = random.integers(0, 3, 200), random.normal(size=200)
    label = (size > 1) ^ (colour == 2) ^ (abs(width) < 0.5)
    table = {
        "size": np.array(["s", "m", "l", "xl"])[size].tolist(),
        "colour": np.array(["blue", "green", "red"])[colour].tolist(),
        "width": width.tolist(),
        "good": label.tolist(),
    }
    model = spinney.grow(
        table, "good", recipe="cart", ordinal={"size": ["s", "m", "l", "xl"]}
    )
    found = model.ruleset(table)
    assert {c.attribute.kind for r in found.rules for c in r.conditions} == {
        "nominal",
        "ordinal",
        "numeric",
    }
    return found


def test_back_and_forth(ruleset):
    text = ruleset.to_json()
    read = spinney.RuleSet.from_json(text)
    assert read == ruleset
    assert read.to_json() == text
    assert str(read) == str(ruleset)


def test_rules_that_were_kept_predict_the_same():
    model = spinney.grow(MELONS, "ripe", ignore=["id"], recipe="c4.5")
    found = model.ruleset(MELONS)
    read = spinney.RuleSet.from_json(found.to_json())
    np.testing.assert_array_equal(read.predict(MELONS), found.predict(MELONS))
    np.testing.assert_array_equal(
        read.predict_proba(MELONS), found.predict_proba(MELONS)
    )
    np.testing.assert_array_equal(read.apply(MELONS), found.apply(MELONS))


@given(tables(), recipes())
@settings(max_examples=examples(40))
def test_any_rules_come_back(table, recipe):
    tree = grow_tree(table.source, recipe)
    training = training_of(table)
    for simplify in (True, False):
        found = tree_ruleset(tree, training, simplify=simplify)
        read = spinney.RuleSet.from_json(found.to_json())
        assert str(read) == str(found)
        assert read.to_json() == found.to_json()


def setter(*path):
    """Return a change of what stands at a path; the last part is the new value."""
    *steps, last, value = path

    def change(data):
        for step in steps:
            data = data[step]
        data[last] = value

    return change


def bounds(above, at_most):
    def change(data):
        for rule in data["rules"]:
            for condition in rule["if"]:
                if condition["attribute"] in ("width", "size"):
                    condition["above"], condition["at_most"] = above, at_most

    return change


def on(name, key, value):
    def change(data):
        for rule in data["rules"]:
            for condition in rule["if"]:
                if condition["attribute"] == name:
                    condition[key] = value

    return change


def twice(data):
    data["rules"][0]["if"] = data["rules"][0]["if"][:1] * 2


DAMAGES = {
    "is a number": lambda data: data.update(classes=[], origin=0.5),
    "no format": setter("format", "spinney-tree"),
    "newer Spinney": setter("version", 2),
    "the version must": setter("version", "1"),
    "unknown key 'more'": setter("more", 1),
    "the level is not": setter("level", 1.0),
    "level is not between": setter("level", "high"),
    "the rules must be a list": setter("rules", {}),
    "rule 0 must be an object": setter("rules", 0, 7),
    "out of order": setter("rules", 0, "order", 1),
    "the order of rule 0": setter("rules", 0, "order", -1),
    "none of the classes": setter("rules", 0, "then", "label", "no such"),
    "label that is none": setter("rules", 0, "then", "target", "other"),
    "the prediction of a rule": setter("rules", 0, "then", None),
    "the weights must be a list": setter("rules", 0, "weights", 1),
    "one for each class": setter("rules", 0, "weights", [1.0]),
    "none below 0": setter("rules", 0, "weights", [1.0, -1.0]),
    "add up to infinity": setter("rules", 0, "weights", [1.7e308, 1.7e308]),
    "a weight must be a number": setter("class_weights", ["1", 2]),
    "the estimated error of rule 0 is": setter("rules", 0, "estimated_error", 1.5),
    "the estimated error of rule 0 must": setter("rules", 0, "estimated_error", None),
    "the default has conditions": setter("default", "if", [{}]),
    "which is no attribute": setter("rules", 0, "if", 0, "attribute", "zzz"),
    "the attribute of a condition": setter("rules", 0, "if", 0, "attribute", 1),
    "true, false or null": setter("rules", 0, "if", 0, "missing", 1),
    "the text of a condition": setter("rules", 0, "if", 0, "text", 1),
    "two conditions on": twice,
    "has no values": lambda data: [
        c.pop("values")
        for r in data["rules"]
        for c in r["if"]
        if c["attribute"] == "colour"
    ],
    "unknown one": on("colour", "values", ["pink"]),
    "value twice": on("colour", "values", ["red", "red"]),
    "has values where bounds are due": on("width", "values", ["red"]),
    "no value of": bounds(2, 1),
    "bound of 'size'": lambda data: (
        on("size", "above", 17)(data) or on("size", "at_most", None)(data)
    ),
    "two attributes have one name": setter("attributes", 0, "name", "width"),
}


@pytest.mark.parametrize("words", DAMAGES)
def test_damage(ruleset, words):
    data = copy.deepcopy(json.loads(ruleset.to_json()))
    DAMAGES[words](data)
    with pytest.raises(ModelFormatError) as caught:
        spinney.RuleSet.from_json(json.dumps(data))
    message = str(caught.value)
    assert words in message
    assert message.startswith("this JSON is no rule set: ")
    assert message.endswith("write it again by to_json")


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "{", '{"format": "spinney-ruleset"}', "[" * 99, "NaN"]
)
def test_texts_that_are_no_rules(text):
    with pytest.raises(ModelFormatError, match="this JSON is no rule set"):
        spinney.RuleSet.from_json(text)


def test_every_key_is_needed(ruleset):
    data = json.loads(ruleset.to_json())
    for key in data:
        less = {name: value for name, value in data.items() if name != key}
        with pytest.raises(ModelFormatError):
            spinney.RuleSet.from_json(json.dumps(less))
    for key in data["rules"][0]:
        less = copy.deepcopy(data)
        del less["rules"][0][key]
        with pytest.raises(ModelFormatError, match=f"has no '{key}'"):
            spinney.RuleSet.from_json(json.dumps(less))


def test_bytes_are_no_text():
    with pytest.raises(ParameterError, match="must be the text that to_json wrote"):
        spinney.RuleSet.from_json(b"{}")


def test_conditions_on_what_is_missing_come_back():
    table = {"x": [1.0, 1.0, 1.0, None, None, None], "t": list("aaabbb")}
    model = spinney.grow(table, "t", recipe="cart", missing_policy="own-category")
    found = model.ruleset(table)
    assert {c.text() for r in found.rules for c in r.conditions} == {
        "x is known",
        "x is missing",
    }
    read = spinney.RuleSet.from_json(found.to_json())
    assert read.predict({"x": [None, 7.0]}).tolist() == ["b", "a"]
    assert math.inf in {c.low for r in read.rules for c in r.conditions}
