"""Damaged containers: each rule of the loader is broken once, all else in order."""

import itertools
import os
import time

import numpy as np
import pytest
from tests.helpers.models import (
    FINGERPRINT,
    assert_same_model,
    bytes_of,
    good_file,
    mixed_model,
    refusal,
    signed,
    with_arrays,
    with_entries,
    with_header,
)

from spinney.data.schema import Schema, Target
from spinney.errors import ModelFormatError
from spinney.growth.model import Model
from spinney.output.file.kind import FileLimits
from spinney.output.file.model_files import load_model, save_model
from spinney.output.tree_json import to_json
from spinney.recipes import RECIPES
from spinney.trees import Node, Reason, Tree

good = good_file  # the fixture, by the name that tests ask for


def test_file_over_the_limit(tmp_path, good):
    limits = FileLimits(file_bytes=len(good) - 1)
    assert "over the limit" in refusal(good, tmp_path, limits)


def test_header_over_the_limit(tmp_path, good):
    limits = FileLimits(header_bytes=100)
    assert "its header has" in refusal(good, tmp_path, limits)


def test_nodes_over_the_limit(tmp_path, good):
    assert "more than the limit of 9" in refusal(good, tmp_path, FileLimits(nodes=9))
    (tmp_path / "m").write_bytes(good)
    assert len(load_model(tmp_path / "m", limits=FileLimits(nodes=10)).tree) == 10


@pytest.mark.parametrize("n_extra", [1, 8, 32])
def test_appended_bytes(tmp_path, good, n_extra):
    assert "but its header says" in refusal(good + b"\0" * n_extra, tmp_path)
    assert "but its header says" in refusal(signed(good + b"\0" * 32), tmp_path)


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
    leaf = Node(
        number=0,
        parent=None,
        branch=0,
        depth=0,
        weights=np.ones(1),
        n_rows=1,
        distribution=np.ones(1),
        label=0,
        reason=Reason.PURE,
    )
    model = Model(Tree(schema, (leaf,)), RECIPES["id3"], FINGERPRINT)
    small = bytes_of(model, tmp_path)
    for length in range(len(small)):
        assert refusal(small[:length], tmp_path)


def test_flipped_bits(tmp_path, good):
    random = np.random.default_rng(1)
    for place in random.integers(0, len(good) * 8, 600).tolist():
        damaged = bytearray(good)
        damaged[place // 8] ^= 1 << place % 8
        assert refusal(bytes(damaged), tmp_path)


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
    assert "its header has" in refusal(signed(good[:8][::-1] + good[8:]), tmp_path)


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


@pytest.mark.parametrize("dtype", ["F16", "BOOL", "BF16", "object", "O", 3, None, []])
def test_dtype_that_a_model_has_not(tmp_path, good, dtype):
    damaged = with_entries(good, lambda e: e["node.parent"].update(dtype=dtype))
    assert "which models do not use" in refusal(damaged, tmp_path)


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
