"""Damaged model files are refused, or are models all the same.

``python -m tools.fuzz_files`` tries many more, and keeps what it finds.
"""

import json
import os
import signal
import subprocess
import zlib
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers.models import with_entries
from tools import damage, fuzz_files
from tools.fuzz_files import (
    AS_JSON,
    DAMAGED,
    FULLY,
    IN_MEMORY,
    RULES,
    bounded,
    file_name,
    main,
    mutation,
    originals,
    rows_for,
    run_piece,
    tried,
)

import spinney
from spinney.output.explain.explanation_text import gain_ratio
from spinney.output.file.container import FREELY_UNPACKED, pack

MUTATIONS = 20_000  # the nightly script tries a million
OF_TEXTS = 2_000  # of models as JSON, besides
USED = 8  # of so many that load, one is also printed, predicted with and exported


def shares():
    """Return how many of the mutations are of each file: more of what loads faster."""
    texts = {f"{stem}.json" for stem in AS_JSON}
    parts = {
        name: 1 + (len(data) < 7100) + (len(data) < 2500)
        for name, data in originals().items()
        if name not in texts
    }
    files = {
        n: -(-MUTATIONS * part // sum(parts.values())) for n, part in parts.items()
    }
    return files | dict.fromkeys(texts, -(-OF_TEXTS // len(texts)))


def test_the_files_are_of_every_kind():
    kinds = {name.partition(".")[0] for name in originals()}
    assert {"watermelon_id3", "forest", "melon_recipes", "five_means"} <= kinds
    assert {f"{stem}.json" for stem in AS_JSON} <= set(originals())
    assert {"melon_prototypes", "cpu_m5", f"golf{RULES.partition('.')[0]}"} <= kinds


@pytest.mark.parametrize("name", originals())
def test_sound_files_can_be_used(name, tmp_path):
    rows = rows_for(name)
    tried(originals()[name], tmp_path / file_name(name), rows)  # compiles
    trial = tried(originals()[name], tmp_path / file_name(name), rows, fully=True)
    assert (trial.outcome, trial.problem) == ("used", "")


@pytest.mark.parametrize("name", originals())
def test_mutations_are_refused_or_do_no_harm(name, tmp_path):
    rows, outcomes = rows_for(name), Counter()
    tried(originals()[name], tmp_path / file_name(name), rows)  # compiles
    with TemporaryDirectory(dir=IN_MEMORY) as folder, bounded():
        path = Path(folder) / file_name(name)
        for number in range(shares()[name]):
            data = mutation(name, 0, number)
            use = outcomes["loaded"] >= USED * outcomes["used"]
            fully = outcomes["used"] % FULLY == 0
            trial = tried(data, path, rows, use=use, fully=fully)
            assert not trial.problem, (trial, number)
            outcomes[trial.outcome] += 1
    assert outcomes["refused"] > outcomes["loaded"] >= outcomes["used"] > 0


@pytest.mark.parametrize("path", sorted(DAMAGED.glob("*")), ids=lambda path: path.name)
def test_what_was_found_once_does_no_harm(path, tmp_path):
    stem = path.name.partition("-")[0]
    name = next(name for name in originals() if name.startswith(stem))
    data, rows = path.read_bytes(), rows_for(name)
    assert not tried(data, tmp_path / path.name, rows, fully=True).problem


def test_a_mutation_is_the_same_again():
    name = next(iter(originals()))
    assert mutation(name, 1, 2) == mutation(name, 1, 2) != mutation(name, 1, 3)
    assert mutation(name, 2, 2) != mutation(name, 1, 2)


@pytest.mark.parametrize(
    "error, outcome",
    [(ZeroDivisionError, "ZeroDivisionError"), (RuntimeWarning, "RuntimeWarning")],
)
def test_errors_and_warnings_are_finds(error, outcome, tmp_path, monkeypatch, capsys):
    def fail(*_):
        message = "found"
        raise error(message)

    monkeypatch.setattr(fuzz_files, "rows_for", lambda _: {})
    sound = fuzz_files.loaded
    monkeypatch.setattr(
        fuzz_files,
        "loaded",
        lambda path: fail() if path.name == "m.spinney" else sound(path),
    )
    monkeypatch.setattr(fuzz_files, "used", lambda *_: None)
    trial = tried(b"", tmp_path / "m.spinney", {})
    assert (trial.outcome, "found" in trial.problem) == (outcome, True)
    monkeypatch.setattr(fuzz_files, "warmed", lambda *_: None)
    run_piece(0, 0, 3, tmp_path / "kept", tmp_path)
    assert len(list((tmp_path / "kept").iterdir())) == 1
    assert capsys.readouterr().out.count('"find"') == 1


@pytest.mark.slow
def test_a_hundred_thousand_mutations(tmp_path):
    assert main(["--count", "100000", "--keep", str(tmp_path)]) == 0


def test_what_hangs_is_ended_by_the_system(tmp_path, monkeypatch):
    def hang(_):
        while True:
            pass

    monkeypatch.setattr(fuzz_files, "HANGS", 0.05)
    monkeypatch.setattr(fuzz_files, "loaded", hang)
    child = os.fork()
    if not child:
        tried(b"", tmp_path / "m.spinney", {})
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGVTALRM


def test_a_run_goes_on_where_it_was_ended(tmp_path, monkeypatch, capsys):
    """By its record, if that is of this code and this seed."""
    begun = []

    def run(command, **_):
        begun.append(int(command[command.index("--first") + 1]))
        lines = [
            {"outcomes": {"refused": 3}, "slowest": 0.1, "memory": 9},
            {"find": "somewhere", "kept": "forest-0.spinney", "says": "slow"},
        ]
        return subprocess.CompletedProcess(
            command, 0, "\n".join(json.dumps(line) for line in lines[: len(begun)])
        )

    monkeypatch.setattr(subprocess, "run", run)
    record = tmp_path / "record.json"
    options = ["--keep", str(tmp_path / "kept"), "--record", str(record)]
    assert main(["--count", "3", *options]) == 0
    assert main(["--count", "6", *options]) == 1
    facts = json.loads(record.read_text("utf-8"))
    assert (facts["version"], facts["mutations"]) == (spinney.__version__, 6)
    assert facts["finds"] == {"forest-0.spinney": "slow"}
    assert "6 mutations of 29 files: 6 refused" in capsys.readouterr().out
    assert main(["--count", "9", *options]) == 1
    facts = json.loads(record.read_text("utf-8"))
    assert facts["mended"] == {"forest-0.spinney": "slow"}  # it is not kept: no harm
    assert main(["--count", "3", "--seed", "1", *options]) == 1
    assert begun == [0, 3, 6, 0]


def test_what_is_kept_and_does_harm_is_a_find(tmp_path, monkeypatch):
    def fail(_):
        raise ZeroDivisionError

    (tmp_path / "forest-0.spinney").write_bytes(b"")
    assert fuzz_files.replayed(tmp_path) == {}
    rows_for("forest.packed.spinney")
    monkeypatch.setattr(fuzz_files, "loaded", fail)
    assert "ZeroDivisionError" in fuzz_files.replayed(tmp_path)["forest-0.spinney"]


def test_what_ends_the_process_is_a_find(tmp_path, monkeypatch, capsys):
    """The next child goes on behind the mutation that ended the one before."""
    begun = []

    def run(command, **_):
        first = int(command[command.index("--first") + 1])
        begun.append(first)
        if first == 0:
            Path(command[command.index("--piece") + 1], "number").write_text("2")
            return subprocess.CompletedProcess(command, -signal.SIGSEGV, "")
        line = {"outcomes": {"refused": 2}, "slowest": 0.1, "memory": 9}
        return subprocess.CompletedProcess(command, 0, json.dumps(line))

    monkeypatch.setattr(subprocess, "run", run)
    assert main(["--count", "5", "--keep", str(tmp_path)]) == 1
    assert begun == [0, 3]
    said = capsys.readouterr()
    assert "ended by SIGSEGV" in said.err
    assert "2 tried before that, 2 refused, 1 SIGSEGV" in said.out
    name = list(originals())[2]
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [mutation(name, 0, 2)]


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
        (_bomb(FREELY_UNPACKED + 8), "more than 100 times the size"),
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


def test_damage_leaves_what_it_damages_with_as_it_is():
    """Else a mutation would depend on those before it, and end in a list in itself."""
    before = repr(damage.PLAIN)
    for number in range(1000):
        content, random = {"a": [1, [2, {"b": 3}]], "c": {"d": [4]}}, Random(number)
        for _ in range(3):
            damage._change(content, random)
    assert repr(damage.PLAIN) == before


def test_a_gain_that_pays_and_divides_nothing_has_no_ratio():
    """A damaged table may leave all the weight to one branch of a threshold."""
    line = SimpleNamespace(
        gain=0.5, correction=0.1, split_information=0.0, gain_ratio=0.0
    )
    assert gain_ratio(line) == 0.0
