"""ID3 on real tables, beside the trees that Weka's Id3 printed of them.

Each leaf of theirs has its counterpart, also those of values without rows, which
Weka's Id3 answers by ``null``.
"""

import json

import pytest
from tests.helpers.real_tables import needs_tables
from tests.oracle.test_id3 import HERE, NULL, grown, printed
from tests.slow.test_j48 import with_header

import spinney

FIXTURES = HERE / "fixtures" / "id3"
SUMMARY = json.loads((FIXTURES / "summary.json").read_text(encoding="utf-8"))

pytestmark = [pytest.mark.slow, needs_tables]


@pytest.mark.parametrize("name", ["car", "tic_tac_toe"])
def test_every_leaf_has_its_counterpart(name):
    model = spinney.grow(**with_header(name), recipe="id3")
    theirs = printed((FIXTURES / f"{name}.txt").read_text(encoding="utf-8"))
    ours, expected = grown(model.tree), SUMMARY[name]["default"]
    assert len(theirs) == expected["leaves"]
    assert list(theirs.values()).count(NULL) == expected["empty_leaves"]
    assert ours == theirs


def test_the_size_of_nursery():
    model = spinney.grow(**with_header("nursery"), recipe="id3")
    expected = SUMMARY["nursery"]["default"]
    assert model.tree.n_leaves == expected["leaves"]
    assert len(model.tree) == expected["size"]
