"""The model file: what is saved comes back, and nothing else is believed."""

import json
import os
import pickle
import subprocess
import sys
import zipfile
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from tests.helpers.fuzz import examples
from tests.helpers.models import (
    FINGERPRINT,
    GOLDEN,
    assert_same_model,
    bytes_of,
    chain_model,
    good_file,
    mixed_model,
    refusal,
    textbook_model,
    wide_model,
    with_policy,
)
from tests.helpers.strategies import CLASS_RECIPES, Rows, tables

from spinney.data.schema import Attribute, Fingerprint, Schema, Target
from spinney.data.times import DAY_UNIT
from spinney.errors import ModelFormatError
from spinney.growth.model import Member, Model, RecipeScore
from spinney.growth.plain.learner import grow_tree
from spinney.output.file import forest_file
from spinney.output.file.header import ADDED, FORMAT_VERSION
from spinney.output.file.model_files import load_model, save_model
from spinney.output.tree_json import to_json
from spinney.recipes import RECIPES
from spinney.search.missing_values import POLICIES
from spinney.trees import Candidate, Node, Reason, Tree
from spinney.trees.certificate import Certificate
from spinney.trees.counts import CountTable
from spinney.trees.linear import LinearModel, Term
from spinney.trees.split import Groups, Intervals, Surrogate, Threshold

ROOT = Path(__file__).parents[2]

good = good_file  # the fixture, by the name that tests ask for


# What is saved comes back


@pytest.mark.parametrize("recipe", CLASS_RECIPES)
@pytest.mark.parametrize("missing", POLICIES)
@pytest.mark.parametrize("table", ["watermelon_2.0", "watermelon_2.0a"])
def test_round_trip_of_textbook_trees(tmp_path, table, recipe, missing):
    model = textbook_model(table, with_policy(RECIPES[recipe], missing))
    save_model(model, tmp_path / "m")
    assert_same_model(load_model(tmp_path / "m"), model)


@settings(
    max_examples=examples(150),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    rows=tables(),
    recipe=st.sampled_from(CLASS_RECIPES),
    missing=st.sampled_from(sorted(POLICIES)),
    max_leaves=st.none() | st.integers(1, 9),
)
def test_round_trip_of_random_trees(
    tmp_path: Path, rows: Rows, recipe: str, missing: str, max_leaves: int | None
) -> None:
    how = with_policy(RECIPES[recipe], missing).changed(max_leaves=max_leaves)
    model = Model(grow_tree(rows.source, how), how, FINGERPRINT)
    save_model(model, tmp_path / "m")
    assert_same_model(load_model(tmp_path / "m"), model)


def test_round_trip_of_the_question_whether_a_value_is_known(tmp_path):
    model = mixed_model("own-category")
    splits = [c.split for node in model.tree for c in node.candidates]
    assert any(isinstance(s, Threshold) and s.threshold == np.inf for s in splits)
    save_model(model, tmp_path / "m")
    assert_same_model(load_model(tmp_path / "m"), model)


@pytest.mark.parametrize(
    "values",
    [
        ("1", "1.0", "true", "", "é\n\t\0\u2028", "</script>", '"\\'),
        (False, True),
        (False, True, 0, 1, "0"),
        (-0.0, 0.1, 5e-324, 1.7976931348623157e308),
        (2**53 + 1, -(2**63), 2**64, 10**39 - 1),
        (1.0, 2, "\U0001f34e"),
    ],
)
def test_values_keep_their_type(tmp_path, values):
    schema = Schema(
        (Attribute("a", "nominal", values), Attribute("n", "numeric", (), DAY_UNIT)),
        Target("t", values),
    )
    n = len(values)
    leaf = Node(
        number=0,
        parent=None,
        branch=0,
        depth=0,
        weights=np.ones(n),
        n_rows=n,
        distribution=np.full(n, 1 / n),
        label=n - 1,
        reason=Reason.EXHAUSTED,
    )
    model = Model(Tree(schema, (leaf,)), RECIPES["id3"], FINGERPRINT)
    save_model(model, tmp_path / "m")
    assert_same_model(load_model(tmp_path / "m"), model)


def test_recipe_and_forced_nodes_come_back(tmp_path):
    model = mixed_model()
    nodes = tuple(replace(node, forced=True) for node in model.tree.nodes)
    recipe = model.recipe.changed(max_leaves=9, min_gain=0.1, min_samples_leaf=2.5)
    changed = Model(Tree(model.schema, nodes), recipe, FINGERPRINT)
    save_model(changed, tmp_path / "m")
    assert_same_model(load_model(tmp_path / "m"), changed)


def test_markers_of_missing_cells_come_back(tmp_path):
    model = mixed_model()
    schema = replace(model.schema, markers=("?", "n/a", ""))
    marked = replace(model, tree=Tree(schema, model.tree.nodes))
    save_model(marked, tmp_path / "m")
    assert load_model(tmp_path / "m").schema.markers == ("?", "n/a", "")


def test_target_may_be_named_as_an_attribute(tmp_path):
    """In ``fit(X, y)`` nobody keeps them apart."""
    model = mixed_model()
    schema = replace(model.schema, target=replace(model.schema.target, name="size"))
    same = replace(model, tree=Tree(schema, model.tree.nodes))
    save_model(same, tmp_path / "m")
    assert_same_model(load_model(tmp_path / "m"), same)


def test_a_new_field_must_enter_the_format():
    """Where this fails, teach the model file the field and then name it here."""
    known = {
        # Steps, sequence, validation rows and what was learned are not kept.
        Model: "tree recipe fingerprint steps sequence recipe_scores validation_rows "
        "member update_state stream_stats quality",
        Member: "number of",
        RecipeScore: "name risk deviation leaves chosen",
        Tree: "schema nodes certificate",
        Certificate: "loss bound depth price leaves one_by_one max_leaves objective",
        Schema: "attributes target markers text_format",
        Attribute: "name kind values unit cost formula _codes",
        Target: "name classes origin costs",
        Fingerprint: "n_rows weight digest version",
        Node: "number parent branch depth weights n_rows distribution label "
        "candidates chosen children reason forced model surrogates default_branch",
        LinearModel: "intercept terms coefficients",
        Term: "attribute codes missing",
        Surrogate: "split agreement adjusted reversed",
        Candidate: "split table gain merit exact p_value given bound",
        CountTable: "values weights rows missing missing_rows",
        Threshold: "attribute threshold shares missing",
        Groups: "attribute groups shares missing",
        Intervals: "attribute cuts shares missing",
    }
    for kind, names in known.items():
        assert [field.name for field in fields(kind)] == names.split()


def test_the_codes_of_reasons_never_change():
    names = "PURE EXHAUSTED IDENTICAL DEPTH LEAVES ROWS_TO_SPLIT ROWS_IN_LEAF MIN_GAIN"
    late = "SIGNIFICANCE DEVIATION"
    in_trees = f"{names} EMPTY PRUNED {late} BEST UNDECIDED".split()
    assert [Reason.of_code(code).name for code in range(len(Reason))] == in_trees
    assert [Reason[name].code for name in in_trees] == list(range(len(Reason)))
    in_forests = [Reason.of_code(code) for code in forest_file.REASONS.tolist()]
    expected = [Reason[name] for name in f"{names} {late} EMPTY PRUNED".split()]
    assert in_forests == [None, *expected]


@pytest.mark.parametrize(
    "model", [chain_model(3000), wide_model(3000)], ids=["chain", "wide"]
)
def test_deep_and_wide_trees(tmp_path, model):
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert_same_model(loaded, model)


def test_same_model_gives_the_same_bytes(tmp_path):
    one, other = bytes_of(mixed_model(), tmp_path), bytes_of(mixed_model(), tmp_path)
    assert one == other
    save_model(load_model(tmp_path / "model.spinney"), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == one


def test_hash_seed_does_not_change_the_bytes(tmp_path, good):
    code = (
        "from tests.helpers.models import mixed_model; "
        "from spinney.output.file.model_files import save_model; "
        f"save_model(mixed_model(), {str(tmp_path / 'm')!r})"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run(
            [sys.executable, "-c", code], env=environment, cwd=ROOT, check=True
        )
        assert (tmp_path / "m").read_bytes() == good


def test_safetensors_can_open_the_file(tmp_path, good):
    path = tmp_path / "m"
    path.write_bytes(good)
    arrays = load_file(path)
    assert len(arrays["node.parent"]) == len(mixed_model().tree)
    with safe_open(path, framework="numpy") as file:
        assert file.metadata()["format"] == "spinney-tree"


def test_loaded_arrays_cannot_be_changed(tmp_path, good):
    (tmp_path / "m").write_bytes(good)
    root = load_model(tmp_path / "m").tree.root
    with pytest.raises(ValueError, match="read-only"):
        root.weights[0] = 5


def test_golden_file_still_loads():
    model = load_model(GOLDEN / "watermelon_id3.v1.spinney")
    text = (GOLDEN / "watermelon_id3.v1.json").read_text(encoding="utf-8")
    written, golden = json.loads(to_json(model)), json.loads(text)
    golden["recipe"] = {**written["recipe"], **golden["recipe"]}  # later settings
    golden["attributes"] = [
        {**entry, "cost": 0.0, "formula": None} for entry in golden["attributes"]
    ]
    for node in golden["nodes"]:
        node.update(surrogates=[], otherwise=None)
        for candidate in node["candidates"]:
            candidate["p_value"] = None
    assert written == {**golden, **ADDED, "version": FORMAT_VERSION}
    fresh = textbook_model("watermelon_2.0", RECIPES["id3"])
    assert [n.label for n in model.tree] == [n.label for n in fresh.tree]


# What is no file of ours


def test_missing_path(tmp_path):
    with pytest.raises(ModelFormatError, match=r"No such file.*check the path"):
        load_model(tmp_path / "nothing")


def test_directory(tmp_path):
    with pytest.raises(ModelFormatError, match="it is a directory; name the model"):
        load_model(tmp_path)


def test_device(tmp_path):
    with pytest.raises(ModelFormatError, match="not a regular file"):
        load_model(os.devnull)


def test_path_with_a_nul():
    with pytest.raises(ModelFormatError, match="null byte"):
        load_model("a\0b")


def test_empty_file(tmp_path):
    assert "it is empty" in refusal(b"", tmp_path)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_is_not_run(tmp_path, protocol):
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(tmp_path / "trapped"),)

    message = refusal(pickle.dumps(Trap(), protocol), tmp_path)
    assert not (tmp_path / "trapped").exists()
    assert protocol < 2 or "looks like a pickle" in message


def test_zip_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr("a", "b" * 100)
    assert "zip archive" in refusal((tmp_path / "z").read_bytes(), tmp_path)


@pytest.mark.parametrize(
    "data, why",
    [
        (b"\x1f\x8b\x08" + b"\0" * 50, "gzip"),
        (b'{"format": "spinney-tree"}', "JSON text"),
        (b"id,colour\n1,green\n", "it is text, such as a table"),
        (b"abc", "ends before its header"),
        (b"\0" * 8, "no JSON"),
        (b"\0" * 100, "no JSON"),
        (b"\xff" * 100, "header has 18446744073709551615 bytes"),
    ],
)
def test_other_files(tmp_path, data, why):
    assert why in refusal(data, tmp_path)


def test_a_table_is_no_damaged_model(tmp_path):
    said = refusal(b"id,colour\n1,green\n", tmp_path)
    assert said.endswith("grow a model on it, save it, and load the saved file")
    assert "restore" not in said


def test_safetensors_of_somebody_else(tmp_path):
    save_file({"w": np.zeros(3)}, tmp_path / "s")
    message = refusal((tmp_path / "s").read_bytes(), tmp_path)
    assert "not a Spinney model" in message


@pytest.mark.parametrize(
    "path",
    sorted(p for p in GOLDEN.glob("*.v2.spinney") if p.with_suffix(".json").exists()),
    ids=lambda p: p.name,
)
def test_golden_files_of_this_version(path):
    """Formulas, surrogates, intervals, linear models, costs: as they were written.

    ``predictions.json`` has what the others predict.
    """
    model = load_model(path)
    golden = path.with_suffix(".json").read_text(encoding="utf-8")
    assert json.loads(to_json(model)) == json.loads(golden)
