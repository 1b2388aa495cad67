"""What a model makes of the table that it is given for its rule set."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.extensions.rulesets.test_ruleset import GOLF

import spinney
from spinney.errors import DataError, ParameterError, SpinneyWarning

TABLES = Path(__file__).parents[2] / "tables"


def melons():
    return str(TABLES / "watermelon_3.0.csv")


def test_another_table_is_told(recwarn):
    model = spinney.grow(melons(), "ripe", ignore=["id"], recipe="c4.5")
    model.ruleset(melons())
    assert not recwarn.list
    table = spinney.read_table(melons())
    with pytest.warns(SpinneyWarning, match="not the one that the tree was grown on"):
        model.ruleset(table.take(slice(0, 12)))


def test_costs_make_no_other_table(recwarn):
    table = str(TABLES / "rpart_kyphosis.csv")
    settings = {"recipe": "cart", "max_depth": 1}
    costs = {"present": {"absent": 1}, "absent": {"present": 9}}
    dear = spinney.grow(table, "Kyphosis", cost_matrix=costs, **settings)
    spinney.grow(table, "Kyphosis", test_costs={"Age": 2}, **settings).ruleset(table)
    dear.ruleset(table, simplify=False)
    frame = spinney.read_table(table)
    assert not recwarn.list
    with pytest.warns(SpinneyWarning, match="simplified rules count errors") as caught:
        rules = dear.ruleset(table)
    assert len(caught) == 1
    assert (rules.predict(frame) != dear.predict(frame)).any()


def test_the_rows_of_a_database_are_known_by_their_number():
    model = spinney.grow(
        melons(), "ripe", ignore=["id"], engine="duckdb", recipe="c4.5"
    )
    assert len(model.ruleset(melons())) >= 1
    with pytest.warns(SpinneyWarning, match="not the one"):
        model.ruleset(spinney.read_table(melons()).take(slice(0, 12)))


def test_a_fitted_model_takes_rows_and_classes():
    rows = [["sunny", 30], ["rain", 18], ["rain", 25], ["sunny", 21]] * 3
    labels = ["no", "no", "yes", "yes"] * 3
    weights = np.arange(1.0, 13.0)
    model = spinney.TreeClassifier("id3").fit(rows, labels, weights)
    ruleset = model.ruleset(rows, labels, sample_weight=weights)
    assert ruleset.score(np.array(rows, dtype=object), labels) == 1.0
    assert sum(ruleset.class_weights) == weights.sum()
    with pytest.warns(SpinneyWarning, match="not the one"):
        model.ruleset(rows, labels)


def test_a_frame_that_was_fitted_on():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(GOLF)
    attributes, labels = frame.drop(columns="play"), frame["play"]
    model = spinney.TreeClassifier("id3").fit(attributes, labels)
    one = model.ruleset(attributes, labels)
    assert one == model.ruleset(frame)
    assert one.score(frame) == one.score(attributes, labels) == 1.0


def test_what_cannot_be_used():
    model = spinney.grow(GOLF, "play", recipe="c4.5")
    with pytest.raises(ParameterError, match=r"confidence=1\.5 must be a number"):
        model.ruleset(GOLF, confidence=1.5)
    with pytest.raises(DataError, match="no column 'play'"):
        model.ruleset({name: GOLF[name] for name in GOLF if name != "play"})
    with pytest.raises(DataError, match="needs the column 'windy'"):
        model.ruleset({name: GOLF[name] for name in GOLF if name != "windy"})
    with pytest.raises(DataError, match="y has 2 labels and the table 14 rows"):
        model.ruleset(GOLF, ["no", "yes"])
    with pytest.raises(DataError, match="sample_weight must be 14 numbers"):
        model.ruleset(GOLF, sample_weight=[1.0])
    with pytest.raises(DataError, match="sample_weight must be 14 numbers"):
        model.ruleset(GOLF, sample_weight=[-1.0] * 14)
    with pytest.raises(DataError, match="sample_weight is zero for every row"):
        model.ruleset(GOLF, sample_weight=[0.0] * 14)
    ruleset = model.ruleset(GOLF)
    with pytest.raises(DataError, match="pass 14 labels"):
        ruleset.score(GOLF, ["no"])
    with pytest.raises(DataError, match="needs the column"):
        ruleset.predict({"windy": [True]})


def test_plain_data_and_texts():
    model = spinney.grow(GOLF, "play", recipe="id3")
    ruleset = model.ruleset(GOLF)
    *rules, last = json.loads(json.dumps(ruleset.as_dicts(), allow_nan=False))
    assert [rule["order"] for rule in rules] == list(range(len(ruleset)))
    assert last["order"] == -1
    assert last["then"] == {"target": "play", "label": ruleset.default}
    assert rules[0]["coverage"] == ruleset.rules[0].coverage
    assert str(ruleset) == ruleset.text()
    assert len(str(ruleset).splitlines()) == len(ruleset) + 1
    assert ruleset.text(ascii_only=True).isascii()
    assert repr(ruleset).startswith(f"<RuleSet of {len(ruleset)} rules")
    assert str(ruleset.rules[0]) == str(ruleset).splitlines()[0]


def test_a_tree_of_numbers_has_no_rule_set():
    table = {"x": [1.0, 2.0, 3.0, 4.0], "y": [0.5, 1.5, 2.5, 9.5]}
    model = spinney.TreeRegressor().fit([[x] for x in table["x"]], table["y"])
    with pytest.raises(
        ParameterError, match="is numeric, but a rule set needs classes"
    ):
        model.ruleset(table)


def test_the_confidence_is_that_of_pruning():
    from inspect import signature

    from spinney.growth.prune import CONFIDENCE
    from spinney.models import FittedTree

    confidence = signature(FittedTree.ruleset).parameters["confidence"]
    assert confidence.default == CONFIDENCE
