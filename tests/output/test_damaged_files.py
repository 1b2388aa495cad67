"""Damaged model files are refused, or are models all the same.

``python -m tools.fuzz_files`` tries many more, and keeps what it finds.
"""

import resource
import zlib
from collections import Counter

import numpy as np
import pytest
from tests.helpers.models import with_entries
from tools.fuzz_files import DAMAGED, RULES, main, mutated, originals, rows_for, tried

import spinney
from spinney.output.file.container import FREELY_UNPACKED, pack

MUTATIONS = 4_000  # some seconds; the nightly script tries a million


def test_the_files_are_of_every_kind():
    kinds = {name.partition(".")[0] for name in originals()}
    assert {"watermelon_id3", "forest", "melon_recipes", "five_means"} <= kinds
    assert {"melon_prototypes", "cpu_m5", f"golf{RULES.partition('.')[0]}"} <= kinds


@pytest.mark.parametrize("name", originals())
def test_sound_files_can_be_used(name, tmp_path):
    path = tmp_path / (f"m{RULES}" if RULES in name else "m.spinney")
    assert tried(originals()[name], path, rows_for(name)).outcome == "used"


@pytest.mark.parametrize("name", originals())
def test_mutations_are_refused_or_do_no_harm(name, tmp_path):
    random, outcomes = np.random.default_rng(len(name)), Counter()
    path = tmp_path / (f"m{RULES}" if RULES in name else "m.spinney")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(MUTATIONS // len(originals())):
        data = mutated(name, random)
        trial = tried(data, path, rows_for(name))
        assert not trial.problem, (trial, data)
        outcomes[trial.outcome] += 1
    assert outcomes["refused"] > outcomes["used"] > 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 18


@pytest.mark.parametrize("path", sorted(DAMAGED.glob("*")), ids=lambda path: path.name)
def test_what_was_found_once_does_no_harm(path, tmp_path):
    stem = path.name.partition("-")[0]
    name = next(name for name in originals() if name.startswith(stem))
    assert not tried(path.read_bytes(), tmp_path / path.name, rows_for(name)).problem


def test_finds_are_kept_and_counted(tmp_path, monkeypatch, capsys):
    def fail(*_):
        message = "found"
        raise ZeroDivisionError(message)

    monkeypatch.setattr(spinney, "load", fail)
    monkeypatch.setattr(spinney.RuleSet, "from_json", fail)
    monkeypatch.setattr("tools.fuzz_files.rows_for", lambda _: {})
    assert main(["--count", "3", "--keep", str(tmp_path / "kept")]) == 1
    assert len(list((tmp_path / "kept").iterdir())) == 1
    told = capsys.readouterr()
    assert "3 ZeroDivisionError" in told.out
    assert "1 finds" in told.out
    assert "found" in told.err


@pytest.mark.slow
def test_a_hundred_thousand_mutations(tmp_path):
    assert main(["--count", "100000", "--keep", str(tmp_path)]) == 0


# Bombs


def _bomb(size, dtype="F64"):
    """Return a small file that says to become some bytes of one array of a tree."""
    squeezed = np.frombuffer(zlib.compress(bytes(size), 9), np.uint8)
    forms = f'{{"node.weights": {{"dtype": "{dtype}", "shape": [{size // 8}]}}}}'
    texts = {"format": "spinney-tree", "packed": forms}
    return b"".join(pack({"node.weights": squeezed}, texts))


@pytest.mark.parametrize(
    "bomb, words",
    [
        (_bomb(FREELY_UNPACKED + 8), "over 100 times its own"),
        (_bomb(1 << 20, "I64"), "'node.weights' has the dtype of another"),
    ],
)
def test_a_packed_bomb_is_not_unpacked(bomb, words, tmp_path, monkeypatch):
    path = tmp_path / "bomb.spinney"
    path.write_bytes(bomb)
    monkeypatch.setattr(zlib, "decompressobj", None)  # to unpack anything would fail
    with pytest.raises(spinney.ModelFormatError, match=words):
        spinney.load(path)


def test_what_would_be_a_bomb_is_not_packed():
    zeros = {"a": np.zeros(FREELY_UNPACKED // 8 + 1)}
    assert sum(map(len, pack(zeros, {}, packed=True))) > FREELY_UNPACKED


@pytest.mark.parametrize("shape", [[2**62, 2**62], [2**63, 2], [3, 2**64 // 3 + 1]])
def test_shapes_whose_product_overflows(shape, tmp_path):
    path = tmp_path / "m.spinney"
    name = "node.rows"
    path.write_bytes(
        with_entries(
            originals()["watermelon_id3.v2.spinney"],
            lambda entries: entries[name].update(shape=shape),
        )
    )
    with pytest.raises(spinney.ModelFormatError, match=r"node\.rows"):
        spinney.load(path)
