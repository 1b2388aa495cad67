"""The kernel that sends rows by surrogates, on a node that was written down by hand."""

import numpy as np
import pytest
from tests.helpers.plain_kernels import (
    BINNED,
    coded_cells,
    labels_of,
    layout,
    nodes,
    plain,
)

route, surrogates, packed_rows = plain(
    BINNED + "route_missing", BINNED + "surrogates", BINNED + "packed_rows"
)

MISSING = layout.MISSING_CODE
# The node asks for attribute 0; rows 5 … 9 lack it. Its surrogates ask, in turn, for a
# number, reversed, and for a name whose third value no other row has.
CODES = np.array(
    [
        [0, 4, 0],
        [0, 4, 0],
        [1, 1, 1],
        [1, 1, 1],
        [1, 0, 1],
        [MISSING, 3, 1],
        [MISSING, 0, 0],
        [MISSING, MISSING, 0],
        [MISSING, MISSING, 2],
        [MISSING, MISSING, MISSING],
    ]
)


def routing_of(own, *, most=2):
    """Return the routing of the node; rows 0, 3, 6 and 9 are of the second class."""
    labels = labels_of(np.arange(10) % 3 == 0)
    ints = np.full((1, 9), -1, np.int32)
    ints[0, [nodes.ATTRIBUTE, nodes.LEFT_CHILD]] = 0, 1
    records = surrogates.SurrogateRecords(
        np.array([0]),
        np.array([[1, 2]], np.int32)[:, :most],
        np.array([[[1, 4, 1, 1, 1], [np.nan, np.nan, 1, 1, 0]]])[:, :most],
        np.array([[[0, 0, 0], [1, 2, 0]]], np.uint8)[:, :most],
    )
    return route.MissingRouting(
        cells=coded_cells(CODES, nominal=[2]),
        labels=labels,
        kind=0,
        row_weights=np.asarray(own, float),
        rows=packed_rows.pack_rows(labels),
        ints=ints,
        spans=np.array([[0, 5], [0, 2], [2, 5]]),
        ends=np.array([10]),
        records=records,
        sums=np.zeros((1, route.N_TOTALS, 2)),
        counts=np.zeros((1, route.N_TOTALS, 2), np.int64),
    )


@pytest.mark.parametrize(
    ("own", "most", "left"),
    [
        (np.ones(10), 2, {0, 1, 5, 7}),
        # The first branch is the heavier one: it has those that no surrogate knows.
        ([9, 9, 1, 1, 1, 1, 1, 1, 1, 1], 2, {0, 1, 5, 7, 8, 9}),
        ([9, 9, 1, 1, 1, 1, 1, 1, 1, 1], 0, {0, 1, 5, 6, 7, 8, 9}),
        (np.ones(10), 0, {0, 1}),
        # Of equals the first.
        ([3, 3, 2, 2, 2, 1, 1, 1, 1, 1], 1, {0, 1, 5, 7, 8, 9}),
    ],
)
def test_rows_go_by_the_first_surrogate_that_knows_them(own, most, left):
    routing = routing_of(own, most=most)
    route.route_missing_rows(routing)
    middle = routing.spans[1, 1]
    numbers = [int(packed_rows.row_of(word)) for word in routing.rows]
    assert set(numbers[:middle]) == left
    assert sorted(numbers) == list(range(10))
    assert routing.spans.tolist() == [[0, 5], [0, middle], [middle, 10]]
    sent = left - {0, 1}
    for line, rows in enumerate((left, set(range(10)) - left, sent)):
        classes = np.bincount([row % 3 == 0 for row in rows], minlength=2)
        assert routing.counts[0, line].tolist() == classes.tolist()
        assert routing.sums[0, line].tolist() == classes.tolist()


def test_a_threshold_lies_before_the_next_value_of_any_row():
    routing = routing_of(np.ones(10))
    route.route_missing_rows(routing)
    low, high = routing.records.floats[
        0, 0, [surrogates.RECORD_LOW, surrogates.RECORD_HIGH]
    ]
    assert (low, high) == (1, 3)
    assert np.isnan(routing.records.floats[0, 1, surrogates.RECORD_LOW])
