"""Packed arrays: large files are smaller, and nothing that they claim is believed."""

import json
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.models import (
    GOLDEN,
    assert_same_model,
    bytes_of,
    chain_model,
    contents,
    mixed_model,
    refusal,
    signed,
    with_entries,
)
from tests.output.test_forest_file import told

import spinney
from spinney.errors import ModelFormatError
from spinney.output.file.container import PACKED_FROM, pack, read_header, unpack
from spinney.output.file.kind import FileLimits
from spinney.output.file.model_files import load_model, save_model
from spinney.output.file.strict_json import DamageError
from spinney.output.tree_json import to_json


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return a file whose arrays are packed."""
    return bytes_of(chain_model(200), tmp_path_factory.mktemp("large"))


def unpacked_bytes(data):
    return sum(array.nbytes for array in contents(data)[0].values())


def test_large_files_are_packed_and_small_ones_are_as_they_were(large, tmp_path):
    small = bytes_of(mixed_model(), tmp_path)
    assert unpacked_bytes(small) < PACKED_FROM <= unpacked_bytes(large)
    assert not read_header(small).packed
    assert read_header(small).texts["min_reader_version"] == "2"
    assert read_header(large).texts["min_reader_version"] == "3"
    assert len(large) < unpacked_bytes(large) / 2


def test_round_trip_and_the_same_bytes_again(large, tmp_path):
    model = chain_model(200)
    assert bytes_of(model, tmp_path) == large
    loaded = load_model(tmp_path / "model.spinney")
    assert_same_model(loaded, model)
    save_model(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == large


@given(
    st.lists(st.integers(-(2**40), 2**40) | st.just(0), max_size=300),
    st.sampled_from(["f8", "f4", "i8", "u1"]),
    st.booleans(),
)
def test_any_array_comes_back(numbers, dtype, wide):
    array = np.array(numbers, np.int64).astype(dtype)
    array = np.stack([array, array], axis=1) if wide else array
    parts = b"".join(pack({"a": array, "b": array[:0]}, {"c": "d"}, packed=True))
    header = read_header(parts)
    assert header.texts == {"c": "d"}
    for name, back in unpack(parts, header).items():
        expected = array if name == "a" else array[:0]
        assert back.dtype == expected.dtype
        assert back.shape == expected.shape
        assert back.tobytes() == expected.tobytes()


def test_golden_files_of_packed_arrays():
    tree = load_model(GOLDEN / "penguins_chaid.packed.spinney")
    golden = (GOLDEN / "penguins_chaid.v2.json").read_text(encoding="utf-8")
    assert json.loads(to_json(tree)) == json.loads(golden)
    forest = spinney.load(GOLDEN / "forest.packed.spinney")
    golden = (GOLDEN / "forest.v1.json").read_text(encoding="utf-8")
    assert told(forest) == json.loads(golden)


# What may be wrong about them


def changed_forms(data, change):
    """Return a file that says something else of its packed arrays."""

    def changed(entries):
        forms = json.loads(entries["__metadata__"]["packed"])
        change(forms)
        entries["__metadata__"]["packed"] = json.dumps(forms)

    return with_entries(data, changed)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"shape": [10**12]}, "over the limit"),
        ({"shape": [7]}, "is not what its shape needs"),
        ({"shape": [0]}, "is not what its shape needs"),
        ({"shape": [-1]}, "the shape of the packed array 'node.rows'"),
        ({"shape": [1, 2, 3]}, "has 3 dimensions"),
        ({"shape": "8"}, "the shape of the packed array 'node.rows'"),
        ({"dtype": "F32"}, "'node.rows' has the dtype of another"),
        ({"dtype": "BOOL"}, "which models do not use"),
        ({"dtype": 7}, "which models do not use"),
        ({"note": 1}, "the packed array 'node.rows'"),
    ],
)
def test_form_of_a_packed_array(large, tmp_path, change, why):
    bad = changed_forms(large, lambda forms: forms["node.rows"].update(change))
    assert why in refusal(bad, tmp_path)


def test_form_of_an_array_that_is_not_there(large, tmp_path):
    form = {"dtype": "I64", "shape": [3]}
    for name in ("nobody", "sha256"):
        bad = changed_forms(large, lambda forms, name=name: forms.update({name: form}))
        assert f"{name!r} is not there as bytes" in refusal(bad, tmp_path)


@pytest.mark.parametrize("written", ["[]", "3", "{", '{"node.rows": 3}'])
def test_text_that_says_nothing_of_packed_arrays(large, tmp_path, written):
    bad = with_entries(large, lambda e: e["__metadata__"].update(packed=written))
    assert refusal(bad, tmp_path)


def test_array_that_is_not_said_to_be_packed(large, tmp_path):
    bad = changed_forms(large, lambda forms: forms.pop("node.rows"))
    assert "has the dtype of another" in refusal(bad, tmp_path)


@pytest.mark.parametrize(
    "packed",
    [
        b"not packed at all",
        zlib.compress(bytes(8 * 10))[:-1],
        zlib.compress(bytes(8 * 10))[:-4] + b"1234",
        zlib.compress(bytes(8 * 10)) + b"!",
        zlib.compress(bytes(8 * 9)),
        zlib.compress(bytes(8 * 11)),
    ],
)
def test_bytes_that_were_not_packed_so(packed):
    parts = pack(
        {"a": np.frombuffer(packed, np.uint8)},
        {"packed": '{"a": {"dtype": "I64", "shape": [10]}}'},
    )
    data = b"".join(parts)
    with pytest.raises(DamageError, match="'a' is not what its shape needs"):
        unpack(data, read_header(data))


def test_limit_of_what_is_unpacked(large, tmp_path):
    header = read_header(large)
    size = sum(form.size for form in header.packed.values())
    (tmp_path / "m").write_bytes(large)
    load_model(tmp_path / "m", limits=FileLimits(unpacked_bytes=size))
    limits = FileLimits(unpacked_bytes=size - 1)
    assert f"unpack to {size} bytes, over the limit" in refusal(large, tmp_path, limits)


def test_small_file_that_would_become_large(tmp_path):
    """What an array becomes beyond what was told is not made."""
    bomb = zlib.compress(bytes(1 << 28))
    parts = pack(
        {"a": np.frombuffer(bomb, np.uint8)},
        {"packed": '{"a": {"dtype": "I64", "shape": [10]}}'},
    )
    data = b"".join(parts)
    tracemalloc.start()
    with pytest.raises(DamageError, match="'a' is not what its shape needs"):
        unpack(data, read_header(data))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 22


def test_flipped_bits_of_a_packed_file(large, tmp_path):
    random = np.random.default_rng(1)
    path, refused = tmp_path / "m", 0
    for place in random.integers(0, (len(large) - 32) * 8, 300).tolist():
        damaged = bytearray(large)
        damaged[place // 8] ^= 1 << place % 8
        assert "cannot load" in refusal(bytes(damaged), tmp_path)
        path.write_bytes(signed(bytes(damaged)))
        try:
            save_model(load_model(path), tmp_path / "again")
        except ModelFormatError:
            refused += 1
    assert refused > 200


def test_what_readers_would_not_unpack_unasked_is_not_packed(tmp_path, monkeypatch):
    from dataclasses import replace

    from spinney.output.file import model_files

    small = replace(model_files.TREE, limits=FileLimits(unpacked_bytes=PACKED_FROM))
    monkeypatch.setattr(model_files, "TREE", small)
    data = bytes_of(chain_model(200), tmp_path)
    assert not read_header(data).packed
    assert_same_model(load_model(tmp_path / "model.spinney"), chain_model(200))
