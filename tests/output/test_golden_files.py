"""Files of every kind and version load for ever, and predict what they did.

``tests/golden/predictions.json`` has rows and answers of each, of the day it was made.
"""

import json
from hashlib import sha256

import numpy as np
import pytest
from tests.helpers.golden_models import GOLDEN, MODELS, PREDICTIONS, answers
from tools.fuzz_files import RULES, golden_files, loaded

import spinney
from spinney.extensions.clustering.cluster_file import CLUSTERINGS
from spinney.output.file.container import pack, read_header, unpack
from spinney.output.file.forest_file import FORESTS
from spinney.output.file.header import with_present_names
from spinney.output.file.tree_file import TREE

STORED = json.loads(PREDICTIONS.read_text("utf-8"))
FILES = [name for name in golden_files() if not name.endswith(RULES)]


def header(name):
    return read_header(golden_files()[name])


@pytest.mark.parametrize("name", golden_files())
def test_a_file_predicts_what_it_did(name):
    stored = STORED[name]
    said = answers(loaded(GOLDEN / name), stored["rows"])
    for way in said:
        if way == "predict" and isinstance(said[way][0], str):
            assert said[way] == stored[way]
        else:
            np.testing.assert_allclose(said[way], stored[way], rtol=1e-12)
    assert said.keys() == stored.keys() - {"rows"}


@pytest.mark.parametrize("name", FILES)
def test_what_is_loaded_is_written_with_the_same_content(name, tmp_path):
    """Files from before the format was frozen lack keys that were added since."""
    spinney.load(GOLDEN / name).save(tmp_path / "again.spinney")
    again = (tmp_path / "again.spinney").read_bytes()
    before, after = (unpack(b, read_header(b)) for b in (golden_files()[name], again))
    for key, array in before.items():
        np.testing.assert_array_equal(array, after[key])
    spinney.load(tmp_path / "again.spinney").save(tmp_path / "third.spinney")
    assert (tmp_path / "third.spinney").read_bytes() == again


@pytest.mark.parametrize("name", MODELS)
def test_what_is_loaded_is_written_byte_for_byte(name, tmp_path):
    spinney.load(GOLDEN / name).save(tmp_path / "again.spinney")
    again = (tmp_path / "again.spinney").read_bytes()
    golden, ours = header(name).texts, read_header(again).texts
    written = json.loads(golden["model"], object_hook=with_present_names)
    assert json.loads(ours["model"]) == written
    # The library's version and former names of settings are all that may differ.
    kept = {key: golden[key] for key in ("library_version", "model")}
    assert relabelled(again, **kept) == golden_files()[name]


def relabelled(data, **texts):
    """Return a file with other texts in its header."""
    read = read_header(data)
    return b"".join(pack(unpack(data, read), {**read.texts, **texts}))


def test_another_version_of_the_library_changes_its_name_only():
    data = golden_files()["melon_c45.v2.spinney"]
    other = relabelled(data, library_version="9.9.9")
    assert other != data
    version = header("melon_c45.v2.spinney").texts["library_version"]
    assert relabelled(other, library_version=version) == data


def test_every_kind_has_its_file():
    texts = [header(name).texts for name in FILES]
    for kind in (TREE, FORESTS, CLUSTERINGS):
        versions = {t["format_version"] for t in texts if t["format"] == kind.format}
        assert str(kind.version) in versions, kind.format
    models = [json.loads(each["model"]) for each in texts]
    assert {each["method"] for each in models if "method" in each} == {
        "k-means",
        "mini-batch k-means",
        "k-prototypes",
    }
    assert set(MODELS) <= set(FILES)


def test_no_file_was_written_anew():
    """The sums are kept beside the files: a line is added with one, never changed."""
    sums = (GOLDEN / "SHA256SUMS").read_text("utf-8").splitlines()
    kept = dict(reversed(line.split("  ")) for line in sums)
    ours = {name: sha256(data).hexdigest() for name, data in golden_files().items()}
    assert kept == ours
