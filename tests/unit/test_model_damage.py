"""Damaged model files: each rule of the loader is broken once, all else in order."""

import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.models import (
    FINGERPRINT,
    Arrays,
    assert_same_model,
    contents,
    mixed_model,
    setter,
    signed,
    with_arrays,
    with_entries,
    with_header,
    with_model,
    with_texts,
)

from spinney.errors import ModelFormatError
from spinney.export.json import to_json
from spinney.files.model_file import Limits, load_model, save_model
from spinney.model import Model
from spinney.recipe import RECIPES
from spinney.schema import Schema, Target
from spinney.tree import Node, Reason, Tree

BIG = 2**62


def bytes_of(model: Model, directory: Path) -> bytes:
    path = directory / "model.spinney"
    save_model(model, path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a file with every kind of attribute, and with missing values."""
    return bytes_of(mixed_model(), tmp_path_factory.mktemp("good"))


def refusal(data: bytes, directory: Path, limits: Limits | None = None) -> str:
    """Return what the loader says of a file that it must refuse."""
    path = directory / "bad.spinney"
    path.write_bytes(data)
    with pytest.raises(ModelFormatError) as caught:
        load_model(path, limits=limits)
    message = str(caught.value)
    assert message.startswith(f"cannot load {path}: ")
    assert "\n" not in message
    return message


# The container


def test_file_over_the_limit(tmp_path, good):
    limits = Limits(file_bytes=len(good) - 1)
    assert "over the limit" in refusal(good, tmp_path, limits)


def test_header_over_the_limit(tmp_path, good):
    limits = Limits(header_bytes=100)
    assert "header of" in refusal(good, tmp_path, limits)


def test_nodes_over_the_limit(tmp_path, good):
    assert "more than the limit of 9" in refusal(good, tmp_path, Limits(nodes=9))
    (tmp_path / "m").write_bytes(good)
    assert len(load_model(tmp_path / "m", limits=Limits(nodes=10)).tree) == 10


@pytest.mark.parametrize("n_extra", [1, 8, 32])
def test_appended_bytes(tmp_path, good, n_extra):
    assert "where its header tells" in refusal(good + b"\0" * n_extra, tmp_path)
    assert "where its header tells" in refusal(signed(good + b"\0" * 32), tmp_path)


def test_file_that_grows_while_it_is_read(tmp_path, good, monkeypatch):
    real = os.stat

    def shorter(path: object, **keywords: object) -> os.stat_result:
        found = list(real(path, **keywords))  # type: ignore[arg-type]
        found[6] -= 5
        return os.stat_result(found)

    (tmp_path / "m").write_bytes(good)
    monkeypatch.setattr(os, "stat", shorter)
    with pytest.raises(ModelFormatError, match="changed while it was read"):
        load_model(tmp_path / "m")


def test_truncation_at_every_byte(tmp_path):
    schema = Schema((), Target("t", ("a",)))
    leaf = Node(0, None, 0, 0, np.ones(1), 1, np.ones(1), 0, reason=Reason.PURE)
    model = Model(Tree(schema, (leaf,)), RECIPES["id3"], FINGERPRINT)
    small = bytes_of(model, tmp_path)
    for length in range(len(small)):
        refusal(small[:length], tmp_path)


def test_flipped_bits(tmp_path, good):
    random = np.random.default_rng(1)
    for place in random.integers(0, len(good) * 8, 600).tolist():
        damaged = bytearray(good)
        damaged[place // 8] ^= 1 << place % 8
        refusal(bytes(damaged), tmp_path)


def test_flipped_bits_under_a_fitting_checksum(tmp_path, good):
    """A file that loads in spite of it must be a tree all the same."""
    random = np.random.default_rng(2)
    path = tmp_path / "m"
    refused = 0
    for place in random.integers(0, (len(good) - 32) * 8, 600).tolist():
        damaged = bytearray(good)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(signed(bytes(damaged)))
        try:
            model = load_model(path)
        except ModelFormatError:
            refused += 1
        else:
            save_model(model, tmp_path / "again")
            to_json(model)
    assert refused > 300


def test_checksum(tmp_path, good):
    damaged = good[:-33] + bytes([good[-33] ^ 1]) + good[-32:]
    assert "checksum does not match" in refusal(damaged, tmp_path)


def test_no_checksum(tmp_path, good):
    def rename(entries):
        entries["other"] = entries.pop("sha256")

    assert "no checksum at its end" in refusal(with_entries(good, rename), tmp_path)


def test_header_length_of_the_other_endian(tmp_path, good):
    assert "header of" in refusal(signed(good[:8][::-1] + good[8:]), tmp_path)


def test_header_longer_than_the_file(tmp_path, good):
    damaged = (len(good) * 2).to_bytes(8, "little") + good[8:]
    assert "ends before its header does" in refusal(damaged, tmp_path)


@pytest.mark.parametrize(
    "header, why",
    [
        (b'{"\xff": 1}', "not in UTF-8"),
        (b"[1, 2]", "no JSON object"),
        (b"", "no JSON"),
        (b'{"a": 1} x', "no JSON at line 1, column 10"),
        (b'{"a": NaN}', "holds NaN"),
        (b'{"a": -Infinity}', "holds -Infinity"),
        (b'{"a": 1e999}', "out of range"),
        (b'{"a": 1, "a": 1}', "key 'a' occurs twice"),
        (b'{"a": ' + b"9" * 5000 + b"}", "more than 39 digits"),
        (b"[" * 100_000, "nested deeper than 16"),
        (b'{"a":' * 100_000, "nested deeper than 16"),
        (b'"' + b'\\"' * 200_000, "no JSON"),
        (b'{"__metadata__": {"a": "\\ud800"}}', "surrogate"),
        (b'{"__metadata__": 3}', "texts are no JSON object"),
        (b'{"__metadata__": {"a": 3}}', "the text 'a' must be text"),
        (b'{"a": 3}', "must be an object"),
        (b'{"a": {"dtype": "F64"}}', "has no 'shape'"),
    ],
    ids=itertools.count(),
)
def test_header_that_cannot_be_read(tmp_path, good, header, why):
    start = time.perf_counter()
    assert why in refusal(with_header(good, lambda _: header), tmp_path)
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize("dtype", ["F32", "BOOL", "BF16", "object", "O", 3, None, []])
def test_dtype_that_a_model_has_not(tmp_path, good, dtype):
    damaged = with_entries(good, lambda e: e["node.parent"].update(dtype=dtype))
    assert "which a model has not" in refusal(damaged, tmp_path)


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"shape": [2**40, 2**40]}, "not what its shape needs"),
        ({"shape": [2**61]}, "not what its shape needs"),
        ({"shape": [-1]}, "at least 0"),
        ({"shape": [2**64]}, "at least 0"),
        ({"shape": [True]}, "at least 0"),
        ({"shape": [10.0]}, "at least 0"),
        ({"shape": 10}, "must be a list"),
        ({"shape": []}, "0 dimensions"),
        ({"shape": [1] * 9}, "9 dimensions"),
        ({"data_offsets": [0]}, "two numbers"),
        ({"data_offsets": [80, 0]}, "not what its shape needs"),
        ({"data_offsets": [0, 2**70]}, "at least 0"),
        ({"data_offsets": [0, 80]}, "does not follow"),
        ({"data_offsets": [2**40, 2**40 + 80]}, "does not follow"),
        ({"stride": 8}, "unknown key 'stride'"),
    ],
)
def test_place_of_an_array(tmp_path, good, changes, why):
    damaged = with_entries(good, lambda e: e["node.parent"].update(changes))
    assert why in refusal(damaged, tmp_path)


def test_overlapping_arrays(tmp_path, good):
    def overlap(entries):
        entries["node.parent"]["data_offsets"] = entries["node.label"]["data_offsets"]

    assert "does not follow" in refusal(with_entries(good, overlap), tmp_path)


def test_array_that_is_not_there(tmp_path, good):
    damaged = with_arrays(good, lambda arrays: arrays.pop("node.depth"))
    assert "has no 'node.depth'" in refusal(damaged, tmp_path)


def test_array_that_nobody_knows(tmp_path, good):
    damaged = with_arrays(good, lambda arrays: arrays.update(extra=np.zeros(2)))
    assert "unknown key 'extra'" in refusal(damaged, tmp_path)


def test_array_that_later_versions_call_optional(tmp_path, good):
    added = {"optional.extra": np.zeros(2)}
    (tmp_path / "m").write_bytes(with_arrays(good, lambda arrays: arrays.update(added)))
    assert_same_model(load_model(tmp_path / "m"), mixed_model())


@pytest.mark.parametrize("name", ["node.parent", "candidate.gain"])
def test_array_of_another_dtype(tmp_path, good, name):
    def swap(arrays):
        other = np.int64 if arrays[name].dtype == np.float64 else np.float64
        arrays[name] = arrays[name].astype(other)

    assert "dtype of another" in refusal(with_arrays(good, swap), tmp_path)


# The texts


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"format": None}, "not a Spinney model"),
        ({"format": "other"}, "not a Spinney model"),
        ({"format_version": None}, "versions make no sense"),
        ({"format_version": "0"}, "versions make no sense"),
        ({"min_reader_version": "-1"}, "versions make no sense"),
        ({"min_reader_version": "²"}, "versions make no sense"),
        ({"library_version": None}, "has no 'library_version'"),
        ({"model": None}, "has no 'model'"),
        ({"model": "{"}, "no JSON"),
        ({"model": "[]"}, "must be an object"),
        ({"model": '{"target": NaN}'}, "holds NaN"),
        ({"other": "text"}, "unknown key 'other'"),
    ],
)
def test_texts(tmp_path, good, changes, why):
    assert why in refusal(with_texts(good, **changes), tmp_path)


def test_newer_version(tmp_path, good):
    newer = with_texts(
        good, format_version="3", min_reader_version="2", library_version="7.0"
    )
    message = refusal(newer, tmp_path)
    assert "written by a newer Spinney (7.0)" in message
    assert "upgrade" in message


def test_newer_version_that_old_readers_may_read(tmp_path, good):
    newer = with_texts(good, format_version="2", **{"optional.note": "new"})
    (tmp_path / "m").write_bytes(newer)
    assert_same_model(load_model(tmp_path / "m"), mixed_model())


def test_newer_version_with_something_unknown(tmp_path, good):
    newer = with_texts(good, format_version="2", note="new")
    assert "newer Spinney: upgrade" in refusal(newer, tmp_path)


SCHEMA_DAMAGE = {
    "no classes": (lambda m: m.update(classes=[]), "has no classes"),
    "classes twice": (lambda m: m.update(classes=["a", "b", "a"]), "twice"),
    "1 and 1.0": (lambda m: m.update(classes=[1, 1.0, 2]), "twice"),
    "class null": (lambda m: m.update(classes=["a", "b", None]), "nothing"),
    "class a list": (lambda m: m.update(classes=["a", "b", []]), "a list"),
    "classes no list": (lambda m: m.update(classes="ab"), "must be a list"),
    "too few classes": (lambda m: m["classes"].pop(), "entries where"),
    "target no text": (lambda m: m.update(target=3), "must be text"),
    "names twice": (lambda m: m["attributes"][0].update(name="size"), "one name"),
    "name no text": (lambda m: m["attributes"][0].update(name=None), "must be text"),
    "kind": (lambda m: m["attributes"][0].update(kind="other"), "unknown kind"),
    "kind a list": (lambda m: m["attributes"][0].update(kind=[]), "unknown kind"),
    "numeric values": (lambda m: m["attributes"][2].update(values=["a"]), "numeric"),
    "values twice": (lambda m: m["attributes"][0].update(values=["a", "a"]), "twice"),
    "unit": (lambda m: m["attributes"][2].update(unit="x since y"), "unknown unit"),
    "unit of no date": (
        lambda m: m["attributes"][2].update(unit="days since then"),
        "unknown unit",
    ),
    "unit no text": (lambda m: m["attributes"][2].update(unit=3), "must be text"),
    "attribute key": (lambda m: m["attributes"][0].update(x=1), "unknown key 'x'"),
    "attribute lost": (lambda m: m["attributes"].pop(), "attribute that is not there"),
    "attributes no list": (lambda m: m.update(attributes={}), "must be a list"),
    "marker": (lambda m: m.update(markers=[1]), "must be text"),
    "markers": (lambda m: m.update(markers="?"), "must be a list"),
    "surrogate": (lambda m: m.update(classes=["a", "b", "\udc00"]), "surrogate"),
    "unknown key": (lambda m: m.update(x=1), "unknown key 'x'"),
    "no recipe": (lambda m: m.pop("recipe"), "has no 'recipe'"),
    "criterion": (lambda m: m["recipe"].update(criterion="x"), "recipe is none"),
    "criterion a list": (lambda m: m["recipe"].update(criterion=[]), "recipe is none"),
    "policy": (lambda m: m["recipe"].update(missing=1), "recipe is none"),
    "grouping": (lambda m: m["recipe"].update(grouping={}), "recipe is none"),
    "max_depth": (lambda m: m["recipe"].update(max_depth="3"), "recipe is none"),
    "min_gain": (lambda m: m["recipe"].update(min_gain=-1), "recipe is none"),
    "recipe name": (lambda m: m["recipe"].update(name=1), "must be text"),
    "recipe key": (lambda m: m["recipe"].update(x=1), "unknown key 'x'"),
    "recipe lacks": (lambda m: m["recipe"].pop("criterion"), "has no 'criterion'"),
    "recipe no object": (lambda m: m.update(recipe=[]), "must be an object"),
    "n_rows": (lambda m: m["fingerprint"].update(n_rows=-1), "at least 0"),
    "n_rows huge": (lambda m: m["fingerprint"].update(n_rows=2**63), "at least 0"),
    "weight": (lambda m: m["fingerprint"].update(weight=-1.0), "negative"),
    "weight text": (lambda m: m["fingerprint"].update(weight="1"), "must be a number"),
    "digest": (lambda m: m["fingerprint"].update(digest=1), "must be text"),
}


@pytest.mark.parametrize("change, why", SCHEMA_DAMAGE.values(), ids=SCHEMA_DAMAGE)
def test_damaged_schema(tmp_path, good, change, why):
    assert why in refusal(with_model(good, change), tmp_path)


def test_setting_that_older_files_lack(tmp_path, good):
    older = with_model(good, lambda m: m["recipe"].pop("min_gain"))
    (tmp_path / "m").write_bytes(older)
    assert_same_model(load_model(tmp_path / "m"), mixed_model())


# The arrays, one rule each. In the sound tree 0 has the children 1, 4 and 7, and
# each of these two leaves; candidate 0 is groups, 1 ordinal and 2 numeric.


def test_the_sound_tree_is_as_the_damages_suppose(good):
    arrays, _ = contents(good)
    assert arrays["node.parent"].tolist() == [-1, 0, 1, 1, 0, 4, 4, 0, 7, 7]
    assert arrays["candidate.attribute"].tolist() == [0, 1, 2] + [1, 2] * 3
    assert arrays["node.candidates"].tolist() == [3, 2, 0, 0, 2, 0, 0, 2, 0, 0]
    assert arrays["candidate.values"].tolist()[:3] == [3, 3, 2]


def no_nodes(arrays: Arrays) -> None:
    for name in arrays:
        arrays[name] = arrays[name][:0]


def adopt(arrays: Arrays) -> None:
    """Make node 8 a child of node 4, whose branch is finished."""
    arrays["node.parent"][8] = 4


def double(arrays: Arrays) -> None:
    arrays["node.weights"] = np.hstack([arrays["node.weights"]] * 2)


def flat(arrays: Arrays) -> None:
    arrays["table.rows"] = arrays["table.rows"].reshape(-1)


def stacked(arrays: Arrays) -> None:
    arrays["split.shares"] = arrays["split.shares"][None]


def column(name: str) -> Callable[[Arrays], None]:
    """Return a change of a list into a table of one column."""

    def change(arrays: Arrays) -> None:
        arrays[name] = arrays[name][:, None]

    return change


def one_group_more(arrays: Arrays) -> None:
    arrays["split.groups"] = np.append(arrays["split.groups"], 0)


def one_number_more(arrays: Arrays) -> None:
    """Count the last code as a number."""
    arrays["table.numbers"] = np.append(arrays["table.numbers"], 1e9)
    arrays["table.codes"] = arrays["table.codes"][:-1]


def one_threshold_more(arrays: Arrays) -> None:
    arrays["split.thresholds"] = np.append(arrays["split.thresholds"], 1.0)


def threshold_of_groups(arrays: Arrays) -> None:
    """Make the groups of candidate 0 a threshold with three branches."""
    arrays["candidate.form"][0] = 0
    arrays["split.thresholds"] = np.append(1.0, arrays["split.thresholds"])
    arrays["split.groups"] = arrays["split.groups"][:0]
    arrays["split.codes"] = arrays["split.codes"][:0]


def three_sides(arrays: Arrays) -> None:
    """Give the threshold of candidate 1 a third branch."""
    arrays["candidate.branches"][1] = 3
    arrays["split.shares"] = np.insert(arrays["split.shares"], 5, 0.0)


def no_code(arrays: Arrays) -> None:
    """Take the code of the first branch away."""
    arrays["split.groups"][0] = 0
    arrays["split.codes"] = arrays["split.codes"][1:]


def two_codes(arrays: Arrays) -> None:
    """Give the first two codes to the first branch, none to the second."""
    arrays["split.groups"][:2] = [2, 0]


def lost_code(arrays: Arrays) -> None:
    """Let the first branch be that of missing values, its code have none."""
    no_code(arrays)
    arrays["candidate.missing"][0] = 0


def known_without_branch(arrays: Arrays) -> None:
    arrays["split.thresholds"][0] = np.inf
    arrays["candidate.missing"][1] = -1


def heavier_root(arrays: Arrays) -> None:
    arrays["node.weights"][0] *= 1 + 1e-5
    arrays["table.weights"][:8] *= 1 + 1e-5


def more_rows_above(arrays: Arrays) -> None:
    arrays["node.rows"][0] += 1000


def weight_without_rows(arrays: Arrays) -> None:
    arrays["node.rows"][2] = 0


def cell_without_rows(arrays: Arrays) -> None:
    arrays["table.rows"][0, :] = 0


def swapped_weights(arrays: Arrays) -> None:
    arrays["table.weights"][0, 0] += 1.0
    arrays["table.rows"][0, 0] += 1


def leaf_that_asks(arrays: Arrays) -> None:
    arrays["node.candidates"][1:3] = [0, 2]
    arrays["node.chosen"][1:3] = [-1, 0]


ARRAY_DAMAGE = {
    "no nodes": (no_nodes, "has no nodes"),
    "root with a parent": (setter("node.parent", 0, 0), "root has a parent"),
    "own parent": (setter("node.parent", 1, 1), "node 1 does not come before"),
    "cycle": (setter("node.parent", 1, 2), "node 1 does not come before"),
    "parent after": (setter("node.parent", 2, 9), "node 2 does not come before"),
    "orphan": (setter("node.parent", 4, -1), "node 4 does not come before"),
    "negative parent": (setter("node.parent", 4, -7), "node 4 does not come before"),
    "huge parent": (setter("node.parent", 4, BIG), "node 4 does not come before"),
    "not in printing order": (adopt, "node 8 is not in printing order"),
    "depth": (setter("node.depth", 2, 1), "node 2 is at depth 2, not 1"),
    "depth of the root": (setter("node.depth", 0, 1), "node 0 is at depth 0"),
    "negative depth": (setter("node.depth", 9, -1), "node 9 is at depth 2"),
    "branch": (setter("node.branch", 4, 2), "node 4 is at branch 1, not 2"),
    "branch of the root": (setter("node.branch", 0, 1), "node 0 is at branch 0"),
    "weight NaN": (setter("node.weights", (2, 0), np.nan), "node 2 has a weight"),
    "weight infinite": (setter("node.weights", (2, 0), np.inf), "node 2 has a weight"),
    "weight negative": (setter("node.weights", (2, 0), -1), "node 2 has a weight"),
    "rows negative": (setter("node.rows", 2, -1), "node 2 has an impossible count"),
    "rows huge": (setter("node.rows", 2, BIG), "node 2 has an impossible count"),
    "weight without rows": (weight_without_rows, "node 2 has weight without rows"),
    "share NaN": (setter("node.distribution", (2, 0), np.nan), "node 2 has a share"),
    "share negative": (setter("node.distribution", (2, 0), -1), "node 2 has a share"),
    "distribution": (
        setter("node.distribution", (2, 0), 0.9),
        "of node 2 does not add",
    ),
    "label": (setter("node.label", 0, 0), "label of node 0 is not the majority"),
    "label negative": (setter("node.label", 0, -1), "label of node 0"),
    "label too great": (setter("node.label", 0, 3), "label of node 0"),
    "forced": (setter("node.forced", 0, 2), "bad mark (forced)"),
    "children's weights": (heavier_root, "children of node 0 do not add up"),
    "children's rows": (more_rows_above, "children of node 0 lack"),
    "chosen too great": (setter("node.chosen", 0, 3), "node 0 chose"),
    "chosen negative": (setter("node.chosen", 0, -2), "node 0 chose"),
    "chosen at a leaf": (setter("node.chosen", 2, 0), "node 2 chose"),
    "nothing chosen": (setter("node.chosen", 0, -1), "node 0 has children but no"),
    "leaf that asks": (leaf_that_asks, "node 1 has children but no split"),
    "reason of an inner node": (setter("node.reason", 0, 0), "node 0 must have a"),
    "no reason at a leaf": (setter("node.reason", 2, -1), "node 2 must have a"),
    "unknown reason": (setter("node.reason", 2, 10), "unknown reason"),
    "negative reason": (setter("node.reason", 2, -2), "unknown reason"),
    "children and branches": (setter("node.chosen", 0, 1), "node 0 has more or fewer"),
    "wrong shape": (double, "'node.weights' has 10 × 6 entries"),
    "flat table": (flat, "'table.rows' has"),
    "stacked shares": (stacked, "'split.shares' has 1 × "),
    "count of candidates": (setter("node.candidates", 0, 4), "'node.candidates'"),
    "count negative": (setter("node.candidates", 2, -1), "'node.candidates'"),
    "count huge": (setter("node.candidates", slice(0, 4), BIG), "'node.candidates'"),
    "one branch": (setter("candidate.branches", 0, 1), "'candidate.branches'"),
    "branches huge": (setter("candidate.branches", 0, BIG), "'candidate.branches'"),
    "no values": (setter("candidate.values", 0, 0), "'candidate.values'"),
    "count of codes": (setter("split.groups", 0, 2), "'split.groups'"),
    "groups": (one_group_more, "'split.groups' has 4 entries where 3"),
    "numbers": (one_number_more, "'table.numbers' has"),
    "column of codes": (column("table.codes"), "'table.codes' has"),
    "column of numbers": (column("table.numbers"), "'table.numbers' has"),
    "thresholds": (one_threshold_more, "'split.thresholds' has 9 entries where 8"),
    "attribute": (setter("candidate.attribute", 0, 3), "attribute that is not there"),
    "attribute negative": (setter("candidate.attribute", 0, -1), "that is not there"),
    "form": (setter("candidate.form", 0, 2), "neither a threshold nor groups"),
    "form negative": (setter("candidate.form", 0, -1), "neither a threshold nor"),
    "threshold of a nominal": (threshold_of_groups, "does not suit its attribute"),
    "missing branch": (setter("candidate.missing", 0, 3), "sends missing values"),
    "missing negative": (setter("candidate.missing", 0, -2), "sends missing values"),
    "gain NaN": (setter("candidate.gain", 1, np.nan), "'candidate.gain' is no number"),
    "merit infinite": (setter("candidate.merit", 1, np.inf), "'candidate.merit' is no"),
    "exact": (setter("candidate.exact", 0, 2), "bad mark (exact)"),
    "threshold NaN": (setter("split.thresholds", 1, np.nan), "no finite threshold"),
    "threshold -∞": (setter("split.thresholds", 1, -np.inf), "no finite threshold"),
    "three sides": (three_sides, "1 is a threshold without two branches"),
    "known or not": (known_without_branch, "has no branch for what is not"),
    "ordinal threshold": (setter("split.thresholds", 0, 2.0), "outside of its"),
    "ordinal below": (setter("split.thresholds", 0, -0.5), "outside of its"),
    "code of a group": (setter("split.codes", 0, 3), "0 has a code that its"),
    "code negative": (setter("split.codes", 0, -1), "0 has a code that its"),
    "code twice": (setter("split.codes", 0, 1), "0 has one code twice"),
    "empty branch": (two_codes, "empty branch that is not for missing"),
    "code of no branch": (lost_code, "counts a code that has no branch"),
    "value NaN": (setter("table.numbers", 0, np.nan), "value that is no number"),
    "value infinite": (setter("table.numbers", 1, np.inf), "value that is no number"),
    "values fall": (setter("table.numbers", 0, 1e9), "values that do not rise"),
    "codes fall": (setter("table.codes", 0, 1), "values that do not rise"),
    "code counted": (setter("table.codes", 2, 3), "counts a code that its attribute"),
    "code counted negative": (setter("table.codes", 0, -1), "counts a code that its"),
    "cell NaN": (setter("table.weights", (0, 0), np.nan), "0 has a weight that is no"),
    "cell negative": (setter("table.weights", (0, 0), -1), "0 has a weight that is no"),
    "cell rows": (setter("table.rows", (0, 0), -1), "0 has an impossible count"),
    "cell without rows": (cell_without_rows, "candidate 0 has weight without rows"),
    "missing weight": (
        setter("candidate.missing_weights", (2, 0), np.inf),
        "2 has a weight that is no",
    ),
    "missing rows": (
        setter("candidate.missing_rows", (2, 0), BIG),
        "2 has an impossible count",
    ),
    "counts of another node": (swapped_weights, "counts of candidate 0 are not"),
    "rows of another node": (setter("table.rows", (0, 0), 99), "counts of candidate 0"),
    "branch share NaN": (setter("split.shares", 0, np.nan), "0 has a share that is no"),
    "branch share < 0": (setter("split.shares", 0, -0.1), "0 has a share that is no"),
    "branch shares": (setter("split.shares", 0, 0.9), "shares of candidate 0 do not"),
}


@pytest.mark.parametrize("change, why", ARRAY_DAMAGE.values(), ids=ARRAY_DAMAGE)
def test_damaged_arrays(tmp_path, good, change, why):
    message = refusal(with_arrays(good, change), tmp_path)
    assert why in message
    assert message.endswith("restore it from a copy, or grow the tree again")


def test_fractional_rows_may_lose_a_rounding(tmp_path, good):
    def lose(arrays: Arrays) -> None:
        arrays["node.weights"][0] *= 1 + 1e-9

    (tmp_path / "m").write_bytes(with_arrays(good, lose))
    assert len(load_model(tmp_path / "m").tree) == 10


def test_cases_of_damage_differ_from_the_sound_file(good):
    for name, (change, _) in ARRAY_DAMAGE.items():
        assert with_arrays(good, change) != good, name
