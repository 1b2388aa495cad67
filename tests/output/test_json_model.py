"""JSON is an exchange format: read back it is the same model, and damage is refused."""

import json
import random
from contextlib import suppress
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from tests.helpers.export_cases import CASES, grown, outputs_of, rows_of, table

import spinney
from spinney.errors import ModelFormatError, SpinneyError
from spinney.models import load_model
from spinney.models.load import ALL_KINDS

SCHEMA = json.loads(Path("docs/model.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)


def loaded(text, path):
    path.write_text(text, "utf-8")
    return load_model(path, kinds=ALL_KINDS)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_model_is_the_same_after_json(case, tmp_path):
    model, rows = grown(case), rows_of(case)
    text = model.export("json")
    again = loaded(text, tmp_path / "model.json")
    outputs, labels = outputs_of(model, rows)
    np.testing.assert_array_equal(outputs_of(again, rows)[0], outputs)
    assert outputs_of(again, rows)[1] == labels
    assert str(again) == str(model)
    assert again.export("json") == text
    if model.kind == "tree":
        assert str(again.explain(0)) == str(model.explain(0))
        again.save(tmp_path / "again.spinney")
        model.save(tmp_path / "model.spinney")
        files = [tmp_path / f"{name}.spinney" for name in ("again", "model")]
        assert files[0].read_bytes() == files[1].read_bytes()
    VALIDATOR.validate(json.loads(text))


def test_what_few_models_have_is_in_the_schema(tmp_path):
    """How it was chosen, which tree of a forest it is, recipes in turn, costs."""
    data = table(missing=0.1)
    del data["value"]
    recipes = ["c4.5", "cart"]
    forest = spinney.grow_forest(data, "class", recipe=recipes, n_estimators=3)
    costs = [[0, 9, 1], [1, 0, 1], [7, 1, 0]]
    classes = data["class"]
    others = {name: cells for name, cells in data.items() if name != "class"}
    dear = spinney.TreeClassifier(recipe="c4.5", cost_matrix=costs).fit(others, classes)
    for model in (spinney.grow(data, "class"), forest, forest.trees[1], dear):
        text = model.export("json")
        VALIDATOR.validate(json.loads(text))
        assert loaded(text, tmp_path / "model.json").export("json") == text


def test_the_library_reads_it_by_its_content(tmp_path):
    shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
    model = spinney.grow(shop, "sold", recipe="c4.5")
    model.export("json", path=tmp_path / "model.txt")
    again = spinney.load(tmp_path / "model.txt")
    assert again.predict({"size": [1, 4]}).tolist() == ["no", "yes"]
    model.ruleset(shop).export("json", path=tmp_path / "rules.json")
    assert spinney.load(tmp_path / "rules.json").default in ("no", "yes")


def changed(change):
    case = next(case for case in CASES if case.recipe == "chaid")
    data = json.loads(grown(case).export("json"))
    change(data)
    return json.dumps(data)


def with_array(**entries):
    return lambda data: data["arrays"]["node.parent"].update(entries)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d.pop("arrays"), "without arrays"),
        (lambda d: d.pop("version"), "version"),
        (lambda d: d.update(version=99), "newer"),
        (lambda d: d.update(format="spinney-map"), "not a Spinney model"),
        (lambda d: d.pop("nodes"), "its nodes contradict its arrays"),
        (lambda d: d["nodes"][0].update(rows=7), "its nodes contradict"),
        (lambda d: d.update(arrays=[]), "must be an object"),
        (lambda d: d["arrays"].pop("node.parent"), "node.parent"),
        (lambda d: d["attributes"].pop(), "attribute"),
        (with_array(dtype="F16"), "has the dtype 'F16'"),
        (with_array(dtype="F64"), "has the dtype of another"),
        (with_array(data=[True]), "not what its shape needs"),
        (with_array(shape=[1], data=[True]), "not an integer of its type"),
        (with_array(shape=[1], data=[2**70]), "not an integer of its type"),
        (with_array(shape=[-1]), "shape"),
        (with_array(shape=[1 << 60, 1 << 60]), "not what its shape needs"),
        (with_array(more=1), "more"),
    ],
)
def test_damaged_text_is_refused_in_words(change, problem, tmp_path):
    path = tmp_path / "model.json"
    with pytest.raises(ModelFormatError, match=r"cannot load .*model\.json") as error:
        loaded(changed(change), path)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", "no model"),
        ('{"a": 1}', "no model"),
        ('{"format": "spinney-tree", ', "no JSON at line 1"),
        ('{"format": 7, "arrays": {}}', "version"),
    ],
)
def test_other_json_is_no_model(text, problem, tmp_path):
    with pytest.raises(ModelFormatError, match=problem):
        loaded(text, tmp_path / "other.json")


def test_the_schema_is_one():
    VALIDATOR.check_schema(SCHEMA)


def test_the_schema_refuses_what_is_no_model():
    for text in (changed(lambda d: d.pop("nodes")), changed(with_array(dtype="F16"))):
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(json.loads(text))


def test_a_command_that_reads_no_rules_says_so(tmp_path):
    case = next(case for case in CASES if case.kind == "rules")
    path = tmp_path / "rules.json"
    grown(case).export("json", path=path)
    with pytest.raises(ModelFormatError, match="it holds rules, and this reads tree"):
        load_model(path)


@pytest.mark.parametrize("kind", ["chaid", "KMeans", "rules"])
def test_any_damage_is_refused_or_harmless(kind, tmp_path):
    """A character changed, dropped or doubled: the text loads, or is refused."""
    case = next(case for case in CASES if kind in str(case))
    text, draw = grown(case).export("json"), random.Random(0)
    for _ in range(60):
        at = draw.randrange(len(text))
        instead = draw.choice(["", text[at] * 2, *'0179-.e"[]{},:nx'])
        try:
            model = loaded(text[:at] + instead + text[at + 1 :], tmp_path / "bad.json")
        except ModelFormatError:
            continue
        str(model)
        with suppress(SpinneyError):  # where a column has another name now
            outputs_of(model, rows_of(case)[:3])
