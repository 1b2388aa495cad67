"""Saving a model is whole or not at all."""

import errno
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.models import mixed_model, textbook_model

import spinney
from spinney.data.schema import Target
from spinney.errors import ParameterError
from spinney.growth.model import Model
from spinney.output.file.model_files import load_model, save_model
from spinney.recipes import RECIPES
from spinney.trees import Candidate, Tree
from spinney.trees.counts import CountTable
from spinney.trees.split import Threshold

ROOT = Path(__file__).parents[2]


def test_mode_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        save_model(mixed_model(), tmp_path / "m")
    finally:
        os.umask(before)
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o640


def test_mode_of_an_old_file_is_kept(tmp_path):
    (tmp_path / "m").write_bytes(b"old")
    (tmp_path / "m").chmod(0o604)
    save_model(mixed_model(), tmp_path / "m")
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o604


def test_symbolic_link_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    save_model(mixed_model(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert len(load_model(tmp_path / "real").tree) == 10


def test_without_force_an_old_file_stays(tmp_path):
    (tmp_path / "m").write_bytes(b"old")
    with pytest.raises(ParameterError, match="exists: choose another name"):
        save_model(mixed_model(), tmp_path / "m", overwrite=False)
    assert (tmp_path / "m").read_bytes() == b"old"
    save_model(mixed_model(), tmp_path / "new", overwrite=False)
    assert (tmp_path / "new").exists()


def assert_save_fails(directory: Path, match: str) -> None:
    path = directory / "m"
    path.write_bytes(b"old")
    with pytest.raises(ParameterError, match=match) as caught:
        save_model(mixed_model(), path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in directory.iterdir()] == ["m"]


@pytest.mark.parametrize("function", ["open", "fsync", "replace"])
@pytest.mark.parametrize(
    "number, remedy",
    [
        (errno.ENOSPC, "make room"),
        (errno.EROFS, "that you may write to"),
        (errno.EIO, "choose another place"),
    ],
)
def test_failing_system_call_leaves_the_old_file(
    tmp_path, monkeypatch, function, number, remedy
):
    def fail(*_args: object, **_keywords: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail)
        assert_save_fails(tmp_path, remedy)


def test_full_disk_leaves_the_old_file(tmp_path):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        assert_save_fails(tmp_path, "File too large; make room")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_interrupt_leaves_the_old_file(tmp_path, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "m").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_model(mixed_model(), tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["m"]


# A child is killed in the middle of each call by which a file is written.
KILLED = """
import builtins, os, signal, sys
from tests.helpers.models import mixed_model
from spinney.output.file.model_files import save_model

model, path = mixed_model(), sys.argv[1]
for holder, name in (
    (os, "open"), (builtins, "open"), (os, "fsync"), (os, "replace"), (os, "stat"),
):
    child = os.fork()
    if not child:
        setattr(holder, name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        save_model(model, path)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL, name
    assert open(path, "rb").read() == b"old", name
save_model(model, path)
assert open(path, "rb").read() != b"old"
"""


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_killed_at_any_moment_leaves_the_old_file(tmp_path):
    (tmp_path / "m").write_bytes(b"old")
    command = [sys.executable, "-c", KILLED, str(tmp_path / "m")]
    subprocess.run(command, cwd=ROOT, check=True)


# Children that save again and again are killed at any time, between the calls too.
KILLED_AT_TIMES = """
import os, random, signal, sys, time
from tests.helpers.models import mixed_model
from spinney.output.file.model_files import save_model

path, whole, moment = sys.argv[1], set(), random.Random(0)
models = [mixed_model(), mixed_model(n_rows=41)]
for model in models:
    save_model(model, path)
    whole.add(open(path, "rb").read())
for _ in range(100):
    child = os.fork()
    while not child:
        for model in models:
            save_model(model, path)
    time.sleep(moment.random() / 50)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert open(path, "rb").read() in whole
assert len(whole) == 2
"""


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_killed_at_a_hundred_moments_a_whole_file_is_there(tmp_path):
    command = [sys.executable, "-c", KILLED_AT_TIMES, str(tmp_path / "m")]
    subprocess.run(command, cwd=ROOT, check=True)
    assert len(load_model(tmp_path / "m").tree) > 1
    left = {entry.name for entry in tmp_path.iterdir()} - {"m"}
    assert all(name.startswith(".spinney-") for name in left)


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere"
)
def test_read_only_directory(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ParameterError, match="that you may write to"):
        save_model(mixed_model(), tmp_path / "m")


def test_target_that_is_no_file(tmp_path):
    with pytest.raises(ParameterError, match="it is a directory; add a file name"):
        save_model(mixed_model(), tmp_path)
    with pytest.raises(ParameterError, match="create the directory first"):
        save_model(mixed_model(), tmp_path / "nowhere" / "m")
    with pytest.raises(ParameterError, match="NUL"):
        save_model(mixed_model(), "a\0b")
    with pytest.raises(ParameterError, match="device or pipe"):
        save_model(mixed_model(), os.devnull)


def relabelled(model: Model, **changes: object) -> Model:
    nodes = (replace(model.tree.root, **changes), *model.tree.nodes[1:])
    return replace(model, tree=Tree(model.schema, nodes))


@pytest.mark.parametrize(
    "classes, why",
    [
        (("apple", "\ud800"), "surrogate"),
        (("apple", float("nan")), "not finite"),
        (("apple", 10**39), "digits"),
        (("apple", "apple"), "same value twice"),
        (("apple", None), "nothing"),
        (("apple", b"pear"), "neither text"),
    ],
)
def test_value_that_no_file_can_hold_is_refused_at_save(tmp_path, classes, why):
    model = textbook_model("watermelon_2.0", RECIPES["id3"])
    schema = replace(model.schema, target=Target("t", classes))
    wrong = replace(model, tree=Tree(schema, model.tree.nodes))
    with pytest.raises(ParameterError, match=f"cannot be saved: .*{why}"):
        save_model(wrong, tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"children": (1,)}, "children of node 0"),
        ({"number": 3}, "numbered 3"),
        ({"label": 7}, "is not that of"),
        ({"weights": np.ones(5)}, "do not fit its schema"),
        ({"weights": np.ones(6)}, "do not fit its schema"),
        ({"weights": np.array([np.nan, 1, 1])}, "a negative or infinite weight"),
    ],
)
def test_tree_that_could_not_be_loaded_is_refused_at_save(tmp_path, changes, why):
    with pytest.raises(ParameterError, match=why):
        save_model(relabelled(mixed_model(), **changes), tmp_path / "m")


def test_candidate_of_an_unknown_attribute_is_refused_at_save(tmp_path):
    table = CountTable.of([[1, 1, 1]])
    stray = Candidate(Threshold(99, 0.5, (0.5, 0.5)), table, 0.0, 0.0)
    model = relabelled(mixed_model(), candidates=(stray,))
    with pytest.raises(ParameterError, match="do not fit its schema"):
        save_model(model, tmp_path / "m")


@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_a_split_by_whether_a_category_is_known_is_kept(tmp_path):
    b = ["u", "v", None, "u", "v", None, "u", "v"]
    rows = {"b": b, "y": list("kkmkkmkk")}
    model = spinney.grow(rows, "y", recipe="optimal")
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    assert loaded.tree.root.split == model.tree.root.split
    cells = {"b": [None, "u", "never seen"]}
    assert loaded.predict(cells).tolist() == ["m", "k", "m"]
