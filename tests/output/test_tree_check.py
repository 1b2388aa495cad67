"""Damaged arrays of a model file, one rule each.

In the sound tree 0 has the children 1, 4 and 7, and each of these two leaves;
candidate 0 is groups, 1 ordinal and 2 numeric.
"""

from collections.abc import Callable

import numpy as np
import pytest
from tests.helpers.models import (
    Arrays,
    contents,
    good_file,
    refusal,
    setter,
    with_arrays,
)

from spinney.output.file.model_files import load_model
from spinney.trees import Reason

good = good_file  # the fixture, by the name that tests ask for
BIG = 2**62


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
    "root with a parent": (setter("node.parent", 0, 0), "root and has a parent"),
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
    "weight NaN": (setter("node.weights", (2, 0), np.nan), "node 2 has a negative or"),
    "weight infinite": (
        setter("node.weights", (2, 0), np.inf),
        "node 2 has a negative or",
    ),
    "weight negative": (setter("node.weights", (2, 0), -1), "node 2 has a negative or"),
    "rows negative": (setter("node.rows", 2, -1), "node 2 has an impossible count"),
    "rows huge": (setter("node.rows", 2, BIG), "node 2 has an impossible count"),
    "weight without rows": (weight_without_rows, "node 2 has weight without rows"),
    "share NaN": (
        setter("node.distribution", (2, 0), np.nan),
        "node 2 has an impossible",
    ),
    "share negative": (
        setter("node.distribution", (2, 0), -1),
        "node 2 has an impossible",
    ),
    "distribution": (
        setter("node.distribution", (2, 0), 0.9),
        "of node 2 does not add",
    ),
    "label": (setter("node.label", 0, 0), "label of node 0 is not that of"),
    "label negative": (setter("node.label", 0, -1), "label of node 0"),
    "label too great": (setter("node.label", 0, 3), "label of node 0"),
    "forced": (setter("node.forced", 0, 2), "invalid flag (forced)"),
    "children's weights": (heavier_root, "children of node 0 do not add up"),
    "children's rows": (more_rows_above, "children of node 0 lack"),
    "chosen too great": (setter("node.chosen", 0, 3), "node 0 has a chosen"),
    "chosen negative": (setter("node.chosen", 0, -2), "node 0 has a chosen"),
    "chosen at a leaf": (setter("node.chosen", 2, 0), "node 2 has a chosen"),
    "nothing chosen": (setter("node.chosen", 0, -1), "node 0 must have both a split"),
    "leaf that asks": (leaf_that_asks, "node 1 must have both a split"),
    "reason of an inner node": (setter("node.reason", 0, 0), "node 0 must have a"),
    "no reason at a leaf": (setter("node.reason", 2, -1), "node 2 must have a"),
    "unknown reason": (setter("node.reason", 2, len(Reason)), "unknown reason"),
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
    "attribute": (setter("candidate.attribute", 0, 3), "unknown attribute"),
    "attribute negative": (setter("candidate.attribute", 0, -1), "unknown attribute"),
    "form": (setter("candidate.form", 0, 3), "neither a threshold, groups nor"),
    "form negative": (setter("candidate.form", 0, -1), "neither a threshold, groups"),
    "threshold of a nominal": (threshold_of_groups, "a threshold without two"),
    "missing branch": (setter("candidate.missing", 0, 3), "sends missing values"),
    "missing negative": (setter("candidate.missing", 0, -2), "sends missing values"),
    "gain NaN": (
        setter("candidate.gain", 1, np.nan),
        "'candidate.gain' is not a number",
    ),
    "merit infinite": (setter("candidate.merit", 1, np.inf), "'candidate.merit' is no"),
    "exact": (setter("candidate.exact", 0, 3), "invalid flag (exact)"),
    "threshold NaN": (setter("split.thresholds", 1, np.nan), "no finite threshold"),
    "threshold -∞": (setter("split.thresholds", 1, -np.inf), "no finite threshold"),
    "three sides": (three_sides, "1 is a threshold without two branches"),
    "known or not": (known_without_branch, "has no branch for missing ones"),
    "ordinal threshold": (setter("split.thresholds", 0, 2.0), "outside of its"),
    "ordinal below": (setter("split.thresholds", 0, -0.5), "outside of its"),
    "code of a group": (setter("split.codes", 0, 3), "0 has a code that its"),
    "code negative": (setter("split.codes", 0, -1), "0 has a code that its"),
    "code twice": (setter("split.codes", 0, 1), "0 has one code twice"),
    "empty branch": (two_codes, "empty branch that is not for missing"),
    "code of no branch": (lost_code, "counts a code that has no branch"),
    "value NaN": (setter("table.numbers", 0, np.nan), "value that is not a number"),
    "value infinite": (
        setter("table.numbers", 1, np.inf),
        "value that is not a number",
    ),
    "values fall": (setter("table.numbers", 0, 1e9), "values that do not increase"),
    "codes fall": (setter("table.codes", 0, 1), "values that do not increase"),
    "code counted": (setter("table.codes", 2, 3), "counts a code that its attribute"),
    "code counted negative": (setter("table.codes", 0, -1), "counts a code that its"),
    "cell NaN": (
        setter("table.weights", (0, 0), np.nan),
        "0 has a negative or infinite",
    ),
    "cell negative": (
        setter("table.weights", (0, 0), -1),
        "0 has a negative or infinite",
    ),
    "cell rows": (setter("table.rows", (0, 0), -1), "0 has an impossible count"),
    "cell without rows": (cell_without_rows, "candidate 0 has weight without rows"),
    "missing weight": (
        setter("candidate.missing_weights", (2, 0), np.inf),
        "2 has a negative or infinite",
    ),
    "missing rows": (
        setter("candidate.missing_rows", (2, 0), BIG),
        "2 has an impossible count",
    ),
    "counts of another node": (swapped_weights, "counts of candidate 0 are not"),
    "rows of another node": (setter("table.rows", (0, 0), 99), "counts of candidate 0"),
    "branch share NaN": (
        setter("split.shares", 0, np.nan),
        "0 has an impossible branch",
    ),
    "branch share < 0": (setter("split.shares", 0, -0.1), "0 has an impossible branch"),
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
