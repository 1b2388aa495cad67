"""Faults 46 and 47: model files.

``tests/output/test_damaged_files.py`` damages many more.
"""

import pickle
import time

import pytest
from tests.faults.fault_rows import AB, grown, random_rows
from tests.helpers.models import set_at, with_arrays, with_texts

import spinney
from spinney import ModelFormatError


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Return the bytes of a tree's file."""
    path = tmp_path_factory.mktemp("sound") / "m"
    grown(random_rows(40)).save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "name, place, value",
    [
        pytest.param("node.parent", 1, 1, id="its own parent"),
        pytest.param("node.parent", 1, 2, id="a cycle"),
        pytest.param("node.parent", 2, -5, id="negative"),
        pytest.param("node.parent", 2, 99, id="out of range"),
        pytest.param("node.parent", 2, -1, id="an orphan"),
        pytest.param("node.branch", 2, 7, id="a branch that is none"),
        pytest.param("candidate.attribute", 0, 7, id="no such attribute"),
        pytest.param("candidate.attribute", 0, -1, id="a negative attribute"),
        pytest.param("node.rows", 0, -1, id="a negative count"),
    ],
)
def test_fault_46_cycles_and_indices_that_are_none(name, place, value, sound, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(with_arrays(sound, set_at(name, place, value)))
    with pytest.raises(ModelFormatError):
        spinney.load(path)


DEEP = "[" * 100_000 + "]" * 100_000
DAMAGES = {
    "empty": lambda _: b"",
    "truncated": lambda good: good[:-1],
    "truncated to half": lambda good: good[: len(good) // 2],
    "appended": lambda good: good + b"\0",
    "a bit flipped": lambda good: good[:200] + bytes([good[200] ^ 1]) + good[201:],
    "other byte order": lambda good: good[:8][::-1] + good[8:],
    "a length beyond the data": lambda good: good[:12] + b"\xff" * 8 + good[20:],
    "a pickle": lambda _: pickle.dumps({"a": 1}),
    "text": lambda _: b"x,y\n1,2\n",
    "newer": lambda good: with_texts(good, format_version="9", min_reader_version="9"),
    "nested": lambda good: with_texts(good, model=DEEP),
    "NaN": lambda good: with_texts(good, model='{"a": NaN}'),
    "Infinity": lambda good: with_texts(good, model='{"a": 1e999}'),
    "a key twice": lambda good: with_texts(good, model='{"a": 1, "a": 2}'),
    "a giant integer": lambda good: with_texts(good, model='{"a": ' + "9" * 5000 + "}"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_fault_47_files_that_are_something_else(damage, sound, tmp_path):
    path = tmp_path / "m.spinney"
    path.write_bytes(DAMAGES[damage](sound))
    began = time.process_time()
    with pytest.raises(ModelFormatError, match="cannot load"):
        spinney.load(path)
    assert time.process_time() - began < 2


def test_fault_47_a_pickle_is_never_run(tmp_path):
    class Harm:
        def __reduce__(self):
            return (open, (str(tmp_path / "harm"), "w"))

    path = tmp_path / "m.spinney"
    path.write_bytes(pickle.dumps(Harm()))
    with pytest.raises(ModelFormatError):
        spinney.load(path)
    assert not (tmp_path / "harm").exists()
    assert grown({"x": [1, 1, 2, 2], "y": AB}).tree.n_leaves == 2
