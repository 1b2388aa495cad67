"""The readable twin of the model file."""

import copy
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models import (
    FINGERPRINT,
    GOLDEN,
    assert_same_model,
    chain_model,
    mixed_model,
    textbook_model,
    wide_model,
    with_policy,
)
from tests.strategies import CLASS_RECIPES, Rows, tables

from spinney.errors import ModelFormatError, ParameterError
from spinney.export.json import from_json, to_json
from spinney.files.model_file import load_model
from spinney.files.model_header import FORMAT_VERSION
from spinney.learner import grow_tree
from spinney.missing import POLICIES
from spinney.model import Model
from spinney.recipe import RECIPES
from spinney.schema import Schema, Target
from spinney.tree import Tree

Data = dict[str, Any]
SOUND: Data = json.loads(to_json(mixed_model()))


def refusal(text: str) -> str:
    with pytest.raises(ModelFormatError) as caught:
        from_json(text)
    message = str(caught.value)
    assert message.startswith("this JSON is no tree: ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("missing", POLICIES)
def test_round_trip(missing):
    model = mixed_model(missing)
    text = to_json(model)
    assert_same_model(from_json(text), model)
    assert to_json(from_json(text)) == text


@settings(max_examples=100)
@given(
    rows=tables(),
    recipe=st.sampled_from(CLASS_RECIPES),
    missing=st.sampled_from(sorted(POLICIES)),
)
def test_round_trip_of_random_trees(rows: Rows, recipe: str, missing: str) -> None:
    how = with_policy(RECIPES[recipe], missing)
    model = Model(grow_tree(rows.source, how), how, FINGERPRINT)
    assert_same_model(from_json(to_json(model)), model)


@pytest.mark.parametrize(
    "model", [chain_model(6_000), wide_model(10_000)], ids=["chain", "wide"]
)
def test_deep_and_wide_trees_take_seconds(model):
    start = time.perf_counter()
    assert_same_model(from_json(to_json(model)), model)
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    "classes",
    [(False, True), (0, 1), (0.0, 1.0), ("0", 0), (2**53 + 1, 2**64), ("\0\n", '"é')],
)
def test_classes_keep_their_type(classes):
    model = textbook_model("watermelon_2.0", RECIPES["id3"])
    schema = model.schema
    typed = Tree(Schema(schema.attributes, Target("t", classes)), model.tree.nodes)
    changed = Model(typed, model.recipe, FINGERPRINT)
    text = to_json(changed)
    assert_same_model(from_json(text), changed)
    assert json.loads(text)["nodes"][0]["label"] == classes[0]


@pytest.mark.parametrize("scale", [1e-300, 1e300, 1 / 3, 2.0**53])
def test_weights_of_any_size_come_back(scale):
    leaf = mixed_model().tree.nodes[2]
    weights = np.array([1.0, 0.0, 2.0]) * scale
    alone = replace(
        leaf,
        number=0,
        parent=None,
        depth=0,
        weights=weights,
        distribution=weights / weights.sum(),
        label=2,
    )
    tree = Tree(mixed_model().schema, (alone,))
    model = Model(tree, RECIPES["id3"], FINGERPRINT)
    assert_same_model(from_json(to_json(model)), model)


def test_numpy_values_are_written_as_their_own():
    model = textbook_model("watermelon_2.0", RECIPES["id3"])
    classes = (np.bool_(False), np.bool_(True))
    schema = Schema(model.schema.attributes, Target("t", classes))
    text = to_json(Model(Tree(schema, model.tree.nodes), model.recipe, FINGERPRINT))
    assert from_json(text).schema.target.classes == (False, True)


def test_text_is_strict_and_reads_well():
    text = to_json(textbook_model("watermelon_2.0", RECIPES["id3"]))

    def refuse(name: str) -> None:
        raise AssertionError(name)

    data = json.loads(text, parse_constant=refuse)
    assert list(data)[:3] == ["format", "version", "target"]
    assert data["format"], data["version"] == ("spinney-tree", FORMAT_VERSION)
    root, first = data["nodes"][:2]
    assert root["weights"] == [9, 8]
    assert root["split"]["attribute"] == "texture"
    assert root["children"] == [1, 2, 11]
    assert first["condition"] == "texture = blurry"
    assert first["label"] == "false"
    assert first["reason"] == "pure"
    assert '      "weights": [9, 8],\n' in text
    assert text.endswith("}\n")


def test_known_is_written_without_infinity():
    data = json.loads(to_json(mixed_model("own-category")))
    splits = [c["split"] for node in data["nodes"] for c in node["candidates"]]
    known = [split for split in splits if split["asks"] == "known"]
    assert known
    assert all(split["threshold"] is None for split in known)


def test_golden_text_still_reads():
    text = (GOLDEN / "watermelon_id3.v1.json").read_text(encoding="utf-8")
    model = from_json(text)
    assert_same_model(model, load_model(GOLDEN / "watermelon_id3.v1.spinney"))


def test_condition_is_not_read_back():
    data = copy.deepcopy(SOUND)
    data["nodes"][1]["condition"] = "worded another way"
    assert_same_model(from_json(json.dumps(data)), mixed_model())


def test_optional_keys_are_passed_over():
    data = {**SOUND, "optional.note": "new"}
    assert_same_model(from_json(json.dumps(data)), mixed_model())


def test_model_that_could_not_be_read_back_is_refused():
    model = textbook_model("watermelon_2.0", RECIPES["id3"])
    schema = Schema(model.schema.attributes, Target("t", ("a", "\ud800")))
    with pytest.raises(ParameterError, match=r"as JSON: .*surrogate"):
        to_json(Model(Tree(schema, model.tree.nodes), model.recipe, FINGERPRINT))


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "no JSON"),
        ("[]", "no format"),
        ("{}", "no format"),
        ('{"format": "spinney-tree"}', "the version must be"),
        ('{"format": "spinney-tree", "version": 0}', "the version must be"),
        ('{"format": "spinney-tree", "version": 99}', "newer Spinney.*upgrade"),
        ('{"format": "spinney-tree", "version": 1}', "has no 'target'"),
        ("[" * 100_000, "nested deeper"),
        ('{"a": NaN}', "holds NaN"),
        ('{"a": 1, "a": 2}', "twice"),
        ("9" * 10_000, "digits"),
        ("\ufeff{}", "no JSON"),
    ],
)
def test_text_that_is_no_tree(text, why):
    with pytest.raises(ModelFormatError, match=why):
        from_json(text)


def at(*path: object, value: object) -> Callable[[Data], None]:
    """Return a change of what is found along a path."""

    def change(data: Data) -> None:
        place: Any = data
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def node(number: int, key: str, value: object) -> Callable[[Data], None]:
    return at("nodes", number, key, value=value)


def split(candidate: int, key: str, value: object) -> Callable[[Data], None]:
    """Return a change of a candidate's split that was not chosen at the root."""
    return at("nodes", 0, "candidates", candidate, "split", key, value=value)


def table(key: str, value: object) -> Callable[[Data], None]:
    return at("nodes", 0, "candidates", 1, "table", key, value=value)


DAMAGE: dict[str, tuple[Callable[[Data], object], str]] = {
    "no nodes": (at("nodes", value=[]), "no nodes"),
    "nodes no list": (at("nodes", value={}), "must be a list"),
    "node no object": (at("nodes", 0, value=3), "must be an object"),
    "node key": (node(0, "x", 1), "unknown key 'x'"),
    "node lacks": (lambda d: d["nodes"][0].pop("depth"), "has no 'depth'"),
    "number": (node(1, "number", 2), "node 1 is numbered 2"),
    "number a truth": (node(1, "number", True), "must be a whole number"),
    "cycle": (node(1, "parent", 3), "does not come before"),
    "orphan": (node(1, "parent", None), "does not come before"),
    "parent text": (node(1, "parent", "0"), "must be a whole number"),
    "shared child": (node(1, "children", [2, 4]), "children of node 1"),
    "child lost": (node(1, "children", [2]), "children of node 1"),
    "child of a leaf": (node(2, "children", [9]), "children of node 2"),
    "child negative": (node(1, "children", [-2, 3]), "must be a whole number"),
    "depth": (node(1, "depth", 5), "at depth 1, not 5"),
    "branch": (node(1, "branch", 1), "at branch 0, not 1"),
    "rows": (node(1, "rows", 1.5), "must be a whole number"),
    "weights short": (node(1, "weights", [1, 2]), "must have 3 entries, not 2"),
    "weights text": (node(1, "weights", [1, 2, "3"]), "must be a number"),
    "weights off": (node(1, "weights", [900, 900, 900]), "do not add up"),
    "distribution": (node(1, "distribution", [1, 1, 1]), "does not add up to 1"),
    "label": (node(1, "label", "cherry"), "none of the classes"),
    "label a list": (node(1, "label", []), "none of the classes"),
    "chosen": (node(0, "chosen", 9), "is not the candidate"),
    "chosen and split": (node(0, "chosen", 9), "is not the candidate"),
    "split": (node(0, "split", None), "is not the candidate"),
    "condition": (node(0, "condition", 3), "must be text"),
    "reason": (node(2, "reason", "tired"), "unknown reason"),
    "reason a list": (node(2, "reason", []), "unknown reason"),
    "no reason": (node(2, "reason", None), "must have a reason"),
    "forced": (node(0, "forced", 1), "true or false"),
    "candidates": (node(0, "candidates", None), "must be a list"),
    "candidate": (at("nodes", 0, "candidates", 0, value=[]), "must be an object"),
    "exact": (at("nodes", 0, "candidates", 0, "exact", value=0), "true or false"),
    "gain": (at("nodes", 0, "candidates", 0, "gain", value=None), "must be a number"),
    "attribute": (split(1, "attribute", "smell"), "which is no attribute"),
    "attribute null": (split(1, "attribute", None), "must be text"),
    "other attribute": (split(1, "attribute", "weight"), "must be a number"),
    "asks": (split(1, "asks", "nothing"), "must ask for"),
    "asks known": (split(1, "asks", "known"), "must ask for"),
    "asks groups": (split(1, "asks", "groups"), "must ask for"),
    "groups too": (split(1, "groups", []), "must ask for"),
    "threshold": (split(1, "threshold", None), "must be a number"),
    "threshold far": (split(1, "threshold", 7), "outside of its"),
    "shares short": (split(1, "shares", [1]), "must have 2 entries"),
    "shares of groups": (split(0, "shares", [1]), "must have 3 entries, not 1"),
    "shares": (split(1, "shares", [0.5, 0.6]), "shares of candidate 1"),
    "missing": (split(1, "missing", 2), "sends missing values"),
    "values": (table("values", ["small", "medium", "huge"]), "does not know"),
    "values fall": (table("values", ["medium", "small", "large"]), "do not rise"),
    "values short": (table("values", ["small"]), "must have 1 entries, not 3"),
    "cells": (table("weights", [[1, 2, 3]]), "must have 3 entries, not 1"),
    "cell rows": (table("rows", [[1, 2, -3]] * 3), "must be a whole number"),
    "other counts": (table("missing", [0, 0, 0]), "counts of candidate 1"),
    "missing rows": (table("missing_rows", [1, 2]), "must have 3 entries"),
    "classes": (at("classes", value=["a"]), "none of the classes"),
    "recipe": (at("recipe", "criterion", value="x"), "recipe is none"),
    "fingerprint": (at("fingerprint", value={}), "has no 'n_rows'"),
}


@pytest.mark.parametrize("change, why", DAMAGE.values(), ids=DAMAGE)
def test_damage(change, why):
    data = copy.deepcopy(SOUND)
    change(data)
    assert why in refusal(json.dumps(data))


def test_group_with_an_unknown_value():
    data = copy.deepcopy(SOUND)
    data["nodes"][0]["candidates"][0]["split"]["groups"][0] = ["violet"]
    assert "a group has a value" in refusal(json.dumps(data))


def test_nodes_over_the_limit(monkeypatch):
    monkeypatch.setattr("spinney.export.json_reader.MAX_NODES", 9)
    assert "more than 9 nodes" in refusal(json.dumps(SOUND))


def test_truncation_anywhere():
    text = to_json(textbook_model("watermelon_2.0", RECIPES["c4.5"]))
    for length in range(0, len(text) - 2, 7):
        assert refusal(text[:length])


def test_changed_characters_never_raise_anything_else():
    text = to_json(mixed_model())
    random = np.random.default_rng(3)
    for _ in range(300):
        place = int(random.integers(len(text)))
        letter = chr(random.integers(32, 127))
        try:
            model = from_json(text[:place] + letter + text[place + 1 :])
        except ModelFormatError:
            continue
        assert_same_model(from_json(to_json(model)), model)
