"""The written specification says what the code does."""

import re
from pathlib import Path

import numpy as np
import pytest

from spinney.extensions.clustering.cluster_file import (
    CLUSTERINGS,
    KEYS,
    SETTINGS,
    SETTINGS_BY_METHOD,
)
from spinney.output.file.container import DTYPES
from spinney.output.file.forest_file import FORESTS, REASONS
from spinney.output.file.header import KEYS as KEYS_OF_TREES
from spinney.output.file.tree_file import TREE
from spinney.trees import Reason

PAGE = (Path(__file__).parents[2] / "docs" / "model-files.md").read_text("utf-8")


def section(title):
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize(
    "title, kind", [("Trees", TREE), ("Forests", FORESTS), ("Clusters", CLUSTERINGS)]
)
def test_arrays_and_their_types(title, kind):
    lines = re.findall(r"^\| `([\w.]+)` \| ([\w ]+) \|", section(title), re.MULTILINE)
    written = {
        name: {DTYPES[word].type for word in words.split(" or ")}
        for name, words in lines
    }
    assert written == {name: set(types) for name, types in kind.dtypes.items()}


def test_versions():
    lines = re.findall(
        r"^\| (`[\w-]+`)? ?\| (\d) \|", section("Versions"), re.MULTILINE
    )
    newest, kind = {}, ""
    for name, version in lines:
        kind = name.strip("`") or kind
        newest[kind] = int(version)
    kinds = (TREE, FORESTS, CLUSTERINGS)
    assert newest == {kind.format: kind.newest for kind in kinds}


def test_keys():
    assert all(f"| `{key}` |" in PAGE for key in KEYS_OF_TREES)
    words = (
        *KEYS,
        *SETTINGS,
        *(name for names in SETTINGS_BY_METHOD.values() for name in names),
    )
    assert all(f"`{key}`" in section("Clusters") for key in words)


def test_reasons_keep_their_numbers():
    """Numbers of reasons are part of the format: a new one comes last."""
    codes = [reason.name for reason in sorted(Reason, key=lambda reason: reason.code)]
    assert codes == [
        *("PURE", "EXHAUSTED", "IDENTICAL", "DEPTH", "LEAVES", "ROWS_TO_SPLIT"),
        *("ROWS_IN_LEAF", "MIN_GAIN", "EMPTY", "PRUNED", "SIGNIFICANCE", "DEVIATION"),
        *("BEST", "UNDECIDED"),
    ]
    assert np.asarray(REASONS).tolist() == [-1, 0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 8, 9]
