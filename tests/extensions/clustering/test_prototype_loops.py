"""The loops of k-prototypes on small planted arrays, beside plain loops."""

import numpy as np
import pytest

from spinney.extensions.clustering.prototypes.kernels.assign import (
    MixedTask,
    assign_rows,
)

NONE = np.nan
NUMBERS = np.array([[0.0, 1.0], [4.0, NONE], [NONE, NONE], [8.0, 2.0]])
# Values 0 and 1 of the first column, 2 and 3 of the second; 4 is a missing cell.
CODES = np.array([[0, 2], [1, 3], [1, 4], [4, 3]], np.int32)
POINTS = np.array([[0.0, 8.0], [0.0, 2.0]])  # column × cluster
UNLIKE = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.5], [0.5, 0.0], [0.0, 0.0]])
GAMMA = 3.0
TASK = MixedTask(NUMBERS, CODES, POINTS, UNLIKE, GAMMA)


def distance(row, cluster):
    """Return the distance of a row, what is missing left out."""
    known = [column for column in range(2) if not np.isnan(NUMBERS[row, column])]
    squares = sum((NUMBERS[row, c] - POINTS[c, cluster]) ** 2 for c in known)
    return squares + GAMMA * sum(UNLIKE[code, cluster] for code in CODES[row])


@pytest.mark.parametrize("weights", [np.empty(0), np.array([1.0, 2.0, 3.0, 4.0])])
def test_rows_are_sent_and_what_clusters_hold_is_kept(weights):
    before = [-1, 1, 0, 0]
    labels = np.array(before, np.int32)
    sums, counts = np.zeros((2, 2, 5), np.int64), np.zeros((5, 2), np.int64)
    workspace, scales = (sums, counts, np.empty((2, 2))), np.ones((3, 5))
    span = np.array([0, 4])
    changed = assign_rows(TASK, weights, labels, scales, workspace, span)
    nearest = [min((0, 1), key=lambda k: (distance(row, k), k)) for row in range(4)]
    assert nearest == [0, 1, 1, 1]
    assert labels.tolist() == nearest
    assert changed == 3
    by_hand, tallied = np.zeros((2, 5)), np.zeros((5, 2))
    for row in range(4):
        weight = weights[row] if len(weights) else 1.0
        known = ~np.isnan(NUMBERS[row])
        part = weight * np.concatenate([np.where(known, NUMBERS[row], 0), known, [1]])
        for cluster, sign in ((nearest[row], 1), (before[row], -1)):
            if cluster >= 0 and nearest[row] != before[row]:
                by_hand[cluster] += sign * part
                for code in CODES[row]:
                    tallied[code, cluster] += sign * weight
    np.testing.assert_array_equal(sums[0], by_hand)
    assert not sums[1].any()
    np.testing.assert_array_equal(counts, tallied)


def test_a_row_between_two_prototypes_goes_to_the_first():
    labels, middle = np.array([-1], np.int32), np.array([[4.0, 1.0]])
    workspace = (
        np.zeros((2, 2, 5), np.int64),
        np.zeros((5, 2), np.int64),
        np.empty((2, 2)),
    )
    codes = np.array([[4, 4]], np.int32)
    scales, span = np.ones((3, 5)), np.array([0, 1])
    task = TASK._replace(numbers=middle, codes=codes)
    arguments = (task, np.empty(0), labels, scales, workspace, span)
    assert assign_rows(*arguments) == 1
    assert assign_rows(*arguments) == 0
    assert labels.tolist() == [0]
