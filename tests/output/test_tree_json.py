"""The readable twin of the model file."""

import json

import numpy as np
import pytest
from tests.helpers.models import (
    FINGERPRINT,
    chain_model,
    mixed_model,
    textbook_model,
    wide_model,
)

from spinney.data.schema import Schema, Target
from spinney.errors import ParameterError
from spinney.growth.model import Model
from spinney.output.file.header import FORMAT_VERSION
from spinney.output.tree_json import to_json
from spinney.recipes import RECIPES
from spinney.trees import Tree


@pytest.mark.parametrize(
    "model", [chain_model(3000), wide_model(3000)], ids=["chain", "wide"]
)
def test_deep_and_wide_trees(model):
    nodes = json.loads(to_json(model))["nodes"]
    assert len(nodes) == len(model.tree.nodes)
    assert [node.get("parent") for node in nodes] == [
        node.parent for node in model.tree.nodes
    ]


@pytest.mark.parametrize(
    "classes",
    [(False, True), (0, 1), (0.0, 1.0), ("0", 0), (2**53 + 1, 2**64), ("\0\n", '"é')],
)
def test_classes_keep_their_type(classes):
    model = textbook_model("watermelon_2.0", RECIPES["id3"])
    schema = model.schema
    typed = Tree(Schema(schema.attributes, Target("t", classes)), model.tree.nodes)
    data = json.loads(to_json(Model(typed, model.recipe, FINGERPRINT)))
    labels = [node["label"] for node in data["nodes"]]
    assert labels == [classes[node.label] for node in model.tree.nodes]
    assert {type(label) for label in labels} == {type(each) for each in classes}


def test_numpy_values_are_written_as_their_own():
    model = textbook_model("watermelon_2.0", RECIPES["id3"])
    classes = (np.bool_(False), np.bool_(True))
    schema = Schema(model.schema.attributes, Target("t", classes))
    text = to_json(Model(Tree(schema, model.tree.nodes), model.recipe, FINGERPRINT))
    assert json.loads(text)["classes"] == [False, True]


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


def test_model_that_could_not_be_read_back_is_refused():
    model = textbook_model("watermelon_2.0", RECIPES["id3"])
    schema = Schema(model.schema.attributes, Target("t", ("a", "\ud800")))
    with pytest.raises(ParameterError, match=r"as JSON: .*surrogate"):
        to_json(Model(Tree(schema, model.tree.nodes), model.recipe, FINGERPRINT))
