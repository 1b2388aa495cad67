"""Rows in model files: they come back as they were, or the file is refused."""

import numpy as np
import pytest

import spinney
from spinney.output.file.strict_json import DamageError
from spinney.output.file.tree_file import TREE
from spinney.output.file.update_state_file import (
    CELLS,
    KEPT,
    TARGET,
    WEIGHTS,
    read_stored_rows,
)

SHOP = {
    "size": [1, 2, 3, None, 2.5],
    "kind": ["a", None, "b", "a", "b"],
    "many": [1, 2, 1, 2, 1],
    "sold": ["no", "no", "yes", "yes", "yes"],
}
MORE = {"size": [7, 8], "kind": ["c", "a"], "many": [3, 1], "sold": ["late", "no"]}
GIVEN = (
    {"recipe": "id3"},
    {"recipe": "c4.5", "weight": "many"},
    {"recipe": "cart", "class_weight": {"no": 2.0}},
    {"recipe": "cart", "class_weight": "balanced", "tie_break_order": ["kind"]},
    {"recipe": "id3", "forced_splits": {(): "kind"}, "test_costs": {"size": 2}},
    {"recipe": "cart", "ccp_alpha": 0.01},
    {},
)


@pytest.mark.parametrize("given", GIVEN)
def test_a_loaded_model_is_updated_as_the_saved_one(given, tmp_path):
    model = spinney.grow(SHOP, "sold", keep_rows=True, **given)
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    expected = model.updated(MORE)
    assert str(loaded.updated(MORE)) == str(expected)
    expected.save(tmp_path / "one.spinney")
    loaded.updated(MORE).save(tmp_path / "other.spinney")
    one, other = ((tmp_path / f"{n}.spinney").read_bytes() for n in ("one", "other"))
    assert one == other
    model.export("json", path=tmp_path / "m.json")
    assert str(spinney.load(tmp_path / "m.json").updated(MORE)) == str(expected)


def test_costs_are_those_of_the_classes(tmp_path):
    costs = {"no": {"yes": 3.0}, "yes": {"no": 1.0}}
    model = spinney.grow(SHOP, "sold", recipe="cart", keep_rows=True, cost_matrix=costs)
    model.save(tmp_path / "m.spinney")
    more = {name: cells[:1] for name, cells in SHOP.items()}
    loaded = spinney.load(tmp_path / "m.spinney").updated(more)
    assert str(loaded) == str(model.updated(more))


def test_a_file_without_rows_has_none(tmp_path):
    spinney.grow(SHOP, "sold", recipe="id3").save(tmp_path / "m.spinney")
    assert spinney.load(tmp_path / "m.spinney").model_.update_state is None


@pytest.mark.parametrize(
    ("name", "change", "what"),
    [
        (CELLS, lambda a: a[:, :1], "entries where"),
        (CELLS, lambda a: np.where(a == 1.0, 9.0, a), "unknown value"),
        (CELLS, lambda a: np.where(np.isnan(a), np.inf, a), "infinite"),
        (TARGET, lambda a: a + 0.5, "unknown value"),
        (TARGET, lambda a: a[:0], "entries where"),
        (WEIGHTS, lambda a: np.zeros(5), "no weight"),
    ],
)
def test_rows_that_are_none_are_refused(name, change, what):
    model = spinney.grow(SHOP, "sold", recipe="id3", keep_rows=True).model_
    header, arrays = TREE.parts(model)
    damaged = {**arrays, name: change(arrays[name])}
    with pytest.raises(DamageError, match=what):
        read_stored_rows(header, damaged, model.schema)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("recipe", {}),
        ("tries", ["cart"]),
        ("declared", [3]),
        ("weight", 3),
        ("given", {"class_weight": [["no"]]}),
        ("given", {"cost_matrix": [[0.0]]}),
        ("given", {"ccp_alpha": "much"}),
        ("given", {"no": 1}),
    ],
)
def test_what_is_said_of_rows_is_checked(key, value):
    model = spinney.grow(SHOP, "sold", recipe="id3", keep_rows=True).model_
    header, arrays = TREE.parts(model)
    damaged = {KEPT: {**header[KEPT], key: value}}
    with pytest.raises(DamageError):
        read_stored_rows(damaged, arrays, model.schema)
