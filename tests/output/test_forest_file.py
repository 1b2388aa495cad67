"""Forests as files: the same after loading, and no damage goes unnoticed."""

import json
from functools import cache

import numpy as np
import pytest
from tests.helpers.models import (
    GOLDEN,
    NEWER,
    refused,
    set_at,
    signed,
    with_arrays,
    with_model,
    with_texts,
)

import spinney
from spinney import ForestClassifier, ForestRegressor
from spinney.errors import ModelFormatError, ParameterError
from spinney.output.file.container import pack, read_header, unpack
from spinney.output.file.forest_file import ARRAYS, REASONS
from spinney.output.file.kind import FOREST
from spinney.output.file.model_files import load_model, save_model
from spinney.output.file.strict_json import dump, parse
from spinney.output.tree_text import to_text

TABLE = {
    "size": [1.0, 2.5, 3.0, 4.0, 5.0, 6.0, None, 8.0] * 5,
    "shade": ["a", "b", "c", None, "d"] * 8,
    "even": [0, 1] * 20,
}
CLASSES = (["no"] * 3 + ["yes"] * 3 + ["never"] * 2) * 5
NUMBERS = [float(place % 7) + 0.1 for place in range(40)]


@cache
def forests():
    return [
        ForestClassifier(4, random_state=0).fit(TABLE, CLASSES),
        ForestClassifier(4, "c4.5", random_state=0, class_weight={"no": 2.0}).fit(
            TABLE, CLASSES, sample_weight=np.linspace(0.1, 2, 40)
        ),
        ForestClassifier(3, "chaid", missing_policy="own-category", random_state=1).fit(
            TABLE, CLASSES
        ),
        ForestRegressor(4, random_state=0).fit(TABLE, NUMBERS),
        ForestRegressor(3, "id3", extra_random=True, random_state=0).fit(
            TABLE, NUMBERS
        ),
    ]


def golden_forest():
    """Return the forest that stands in the golden file, grown anew."""
    return ForestClassifier(4, shrinkage=3, random_state=5, n_jobs=1).fit(
        TABLE, CLASSES
    )


def told(model):
    """Return all that a forest is, as JSON has it; reasons as files number them."""
    forest = model.forest_
    nodes = []
    for member in forest.members:
        in_file = np.searchsorted(np.sort(REASONS), member.reason)
        arrays = {name: getattr(member, name) for name in ARRAYS}
        arrays["reason"] = np.argsort(REASONS)[in_file]
        nodes.append(
            {
                name: [str(value) for value in array.ravel().tolist()]
                for name, array in arrays.items()
            }
        )
    settings = {
        name: getattr(forest.settings, name)
        for name in type(forest.settings).__dataclass_fields__
    }
    return {
        "settings": settings,
        "shrinkage": forest.shrinkage,
        "recipe": forest.recipes[0].name,
        "classes": list(forest.schema.target.classes),
        "attributes": [
            [a.name, a.kind, list(a.values)] for a in forest.schema.attributes
        ],
        "outputs": model.outputs(TABLE).round(12).tolist(),
        "trees": nodes,
    }


def test_the_golden_file_still_loads():
    golden = (GOLDEN / "forest.v1.json").read_text(encoding="utf-8")
    loaded = spinney.load(GOLDEN / "forest.v1.spinney")
    assert told(loaded) == json.loads(golden)


def test_the_golden_forest_still_grows():
    grown, loaded = golden_forest(), spinney.load(GOLDEN / "forest.v1.spinney")
    assert [str(m.tree) for m in grown.trees] == [str(m.tree) for m in loaded.trees]
    np.testing.assert_allclose(grown.outputs(TABLE), loaded.outputs(TABLE), rtol=1e-12)


@pytest.fixture(scope="module", params=range(5))
def forest(request):
    return forests()[request.param]


def test_a_round_trip(forest, tmp_path):
    path = tmp_path / "f.spinney"
    forest.save(path)
    assert read_header(path.read_bytes()).texts["format"] == FOREST
    loaded = spinney.load(path)
    assert type(loaded) is type(forest)
    for name in ("schema", "recipes", "fingerprint", "settings", "typical"):
        assert getattr(loaded.forest_, name) == getattr(forest.forest_, name)
    for one, other in zip(loaded.forest_.members, forest.forest_.members, strict=True):
        for name in ARRAYS:
            left, right = getattr(one, name), getattr(other, name)
            assert left.dtype == right.dtype
            np.testing.assert_array_equal(left, right)
    np.testing.assert_array_equal(loaded.outputs(TABLE), forest.outputs(TABLE))
    loaded.save(tmp_path / "again.spinney")
    assert (tmp_path / "again.spinney").read_bytes() == path.read_bytes()


def test_a_tree_is_no_forest(tmp_path):
    tree = spinney.grow({**TABLE, "y": CLASSES}, "y", recipe="cart")
    tree.save(tmp_path / "t.spinney")
    with pytest.raises(ModelFormatError, match=r"not a forest.* forest again$"):
        load_model(tmp_path / "t.spinney", kinds=["forest"])
    forests()[0].save(tmp_path / "f.spinney")
    with pytest.raises(ModelFormatError, match="holds a forest"):
        load_model(tmp_path / "f.spinney")
    with pytest.raises(ParameterError, match="exists"):
        save_model(forests()[0].forest_, tmp_path / "t.spinney", overwrite=False)


@pytest.fixture
def saved(tmp_path):
    """Return a file of a forest."""
    path = tmp_path / "f.spinney"
    forests()[0].save(path)
    return path


DAMAGES = [
    (set_at("nodes", 0, 0), "no node.*; restore .* or grow the forest again$"),
    (set_at("nodes", 0, 99), "entries where"),
    (set_at("parent", 0, 0), "root"),
    (set_at("parent", 1, -1), "does not come before"),
    (set_at("parent", 1, 5), "does not come before"),
    (set_at("parent", 2, 0), "printing order|branch"),
    (set_at("attribute", 0, 3), "unknown attribute"),
    (set_at("attribute", 0, -1), "must have both a split and branches"),
    (set_at("missing", 0, 2), "missing values to an unknown branch"),
    (set_at("gain", 0, np.nan), "gain"),
    (set_at("weights", 0, np.nan), "impossible weights"),
    (set_at("weights", 0, -1), "impossible weights"),
    (set_at("weights", 0, 0), "rows without weight"),
    (set_at("weights", 1, 17), "add up"),
    (set_at("rows", 0, 0), "no rows"),
    (set_at("rows", 0, -1), "number of rows"),
    (set_at("absent", 0, 1000), "more missing rows"),
    (set_at("reason", 0, 200), "reason"),
    (set_at("reason", 0, 1), "reason"),
    (set_at("branches", 0, 17), "no branch"),
    (lambda arrays: arrays.pop("cut"), "no 'cut'"),
    (lambda arrays: arrays.update(more=np.zeros(1)), "unknown key 'more'"),
    (
        lambda arrays: arrays.update(gain=arrays["gain"].astype("f4")),
        "dtype of another",
    ),
    (lambda arrays: arrays.update(gain=arrays["gain"][:-1]), "entries where"),
]


@pytest.mark.parametrize(("change", "words"), DAMAGES)
def test_damaged_arrays(change, words, saved):
    refused(saved, with_arrays(saved.read_bytes(), change), words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m["settings"].update(voting="loud"), "settings"),
        (lambda m: m["settings"].pop("seed"), "no 'seed'"),
        (lambda m: m["settings"].update(class_weight=[1.0]), "class weights"),
        (lambda m: m["settings"].update(class_weight={}), "class weights"),
        (lambda m: m["recipe"].update(forest=0.5), "forest's recipe is invalid"),
        (lambda m: m.pop("settings"), "no 'settings'"),
        (lambda m: m.update(costs=[[0.0, 1.0]]), "square"),
        (
            lambda m: m["attributes"].pop(),
            "unknown attribute|does not suit",
        ),
    ],
)
def test_damaged_headers(change, words, saved):
    refused(saved, with_model(saved.read_bytes(), change), words)


def test_versions(saved):
    newer = with_texts(saved.read_bytes(), **NEWER)
    refused(saved, newer, "newer Spinney .*, and this one .*; upgrade Spinney$")


@pytest.mark.parametrize("seed", range(300))
def test_any_damage_is_refused_or_does_no_harm(seed, tmp_path):
    random = np.random.default_rng(seed)
    path = tmp_path / "f.spinney"
    forests()[seed % 5].save(path)
    data = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(data[:8], "little") if random.random() < 0.8 else 0
    for _ in range(int(random.integers(1, 4))):
        place = int(random.integers(start, len(data)))
        data[place] = int(random.choice([0, 1, 2, 127, 128, 255, random.integers(256)]))
    path.write_bytes(signed(bytes(data)))
    try:
        loaded = spinney.load(path)
    except ModelFormatError:
        return
    loaded.outputs(TABLE)
    for tree in loaded.trees:
        assert len(str(tree.tree.n_leaves)) > 0
        to_text(tree.tree)


def test_several_recipes_are_kept_in_their_order(tmp_path):
    """Older readers are told that they cannot read such a file."""
    path = tmp_path / "f.spinney"
    model = ForestClassifier(5, ["id3", "cart"], random_state=0).fit(TABLE, CLASSES)
    model.typical(TABLE)
    model.save(path)
    loaded = spinney.load(path)
    assert loaded.forest_.recipes == model.forest_.recipes
    assert loaded.forest_.typical == model.forest_.typical
    np.testing.assert_array_equal(loaded.outputs(TABLE), model.outputs(TABLE))
    again = loaded.fit(TABLE, CLASSES)
    np.testing.assert_array_equal(again.outputs(TABLE), model.outputs(TABLE))
    assert read_header(path.read_bytes()).texts["min_reader_version"] == "3"
    alone = tmp_path / "one.spinney"
    ForestClassifier(2, ["cart"], random_state=0).fit(TABLE, CLASSES).save(alone)
    assert read_header(alone.read_bytes()).texts["min_reader_version"] == "1"


@pytest.mark.parametrize(
    "change, words",
    [
        ({"recipes": []}, "the recipes must be a list that begins with the recipe"),
        ({"recipes": "id3"}, "the recipes must be a list"),
        (
            {"optional.typical": {"number": 5, "agreement": 1.0, "rows": 9}},
            "typical tree",
        ),
        ({"optional.typical": {"number": 0, "agreement": 2.0, "rows": 9}}, "agreement"),
        ({"optional.typical": 3}, "the typical tree must be an object"),
    ],
)
def test_recipes_and_a_typical_tree_that_cannot_be(change, words, tmp_path):
    path = tmp_path / "f.spinney"
    model = ForestClassifier(5, ["id3", "cart"], random_state=0).fit(TABLE, CLASSES)
    model.save(path)
    data = path.read_bytes()
    header = read_header(data)
    texts = dict(header.texts)
    texts["model"] = dump({**parse(texts["model"]), **change})
    path.write_bytes(b"".join(pack(unpack(data, header), texts)))
    with pytest.raises(ModelFormatError, match=words):
        spinney.load(path)
