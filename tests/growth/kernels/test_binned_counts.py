"""The kernels that count and draw, each against plain sums."""

import numpy as np
import pytest
from tests.helpers.plain_kernels import (
    BINNED,
    coded_cells,
    grow_kernels,
    labels_of,
    layout,
    nodes,
    packed_rows,
    plain,
    search_of,
    split_scores,
)

from spinney._support import keyed_random

count, draw, send = plain(*(BINNED + name for name in ("histograms", "draw", "route")))
MISSING_CODE = layout.MISSING_CODE

CODES = np.array([[0, 2], [1, 2], [1, 0], [MISSING_CODE, 1], [0, MISSING_CODE], [2, 2]])


@pytest.fixture(autouse=True)
def _words_overflow():
    with np.errstate(over="ignore"):
        yield


def by_hand(codes, rows, labels, weights, *, kind):
    """Count by attribute, bin and class or moment."""
    lines = np.zeros(
        (codes.shape[1], layout.BINS, 4 if kind == split_scores.SQUARES else 2)
    )
    for row in rows:
        for a, code in enumerate(codes[row]):
            w, y = weights[row], labels[row]
            if kind == split_scores.SQUARES:
                lines[a, code] += w, w * max(y, 0), w * min(y, 0), w * y * y
            else:
                lines[a, code, y] += w
    return lines


@pytest.mark.parametrize("halves", [False, True])
def test_classes_are_counted_by_bin(halves):
    classes, weights = [0, 1, 1, 0, 1, 1], [1, 2, 1, 3, 1, 1]
    labels = labels_of(classes, weights=weights, packs_classes=halves)
    search = search_of(coded_cells(CODES), labels)
    count.count(search, 1, 6, 0, 2, search.work.histograms)
    expected = by_hand(CODES, range(1, 6), classes, weights, kind=split_scores.GINI)
    np.testing.assert_array_equal(search.work.histograms, expected)


def test_moments_are_added_up_by_bin():
    numbers, weights = [1.5, -2.0, 0.0, 4.0, -1.0, 3.0], np.ones(6)
    labels = labels_of(numbers, kind=split_scores.SQUARES)
    search = search_of(coded_cells(CODES), labels, kind=split_scores.SQUARES, width=4)
    count.count(search, 0, 6, 0, 2, search.work.histograms)
    expected = by_hand(CODES, range(6), numbers, weights, kind=split_scores.SQUARES)
    np.testing.assert_array_equal(search.work.histograms, expected)


def test_flags_are_counted_by_what_is_not_0():
    flags = np.zeros((5, 8), int)
    flags[[0, 3, 3, 4], [1, 1, 7, 2]] = 1
    flags[2, 0] = MISSING_CODE
    classes = [0, 1, 2, 1, 0]
    labels = labels_of(classes)
    cells = coded_cells(flags, n_bins=[2] * 8, tail=0)
    search = search_of(cells, labels, width=3)
    count.count(search, 0, 5, 0, 8, search.work.histograms)
    for a in range(8):
        for code in (0, 1, MISSING_CODE):
            own = [classes[i] for i in range(5) if flags[i, a] == code]
            expected = np.bincount(own, minlength=3)
            np.testing.assert_array_equal(search.work.histograms[a, code], expected)


@pytest.mark.parametrize("kind", [split_scores.GINI, split_scores.SQUARES])
@pytest.mark.parametrize("halves", [False, True])
def test_drawn_attributes_are_counted_and_their_codes_kept(kind, halves):
    numeric = kind == split_scores.SQUARES
    target = [1.0, -2.0, 3.0, 0.0, 5.0, 1.0] if numeric else [0, 1, 1, 0, 1, 1]
    labels = labels_of(target, kind=kind, packs_classes=halves and not numeric)
    width = 4 if numeric else 2
    search = search_of(coded_cells(CODES), labels, kind=kind, width=width, n_drawn=1)
    search.work.order[layout.ATTRIBUTE] = 1, 0
    count.count_drawn(search, 0, 6, 0, 1, search.work.histograms)
    expected = by_hand(CODES, range(6), target, np.ones(6), kind=kind)
    np.testing.assert_array_equal(search.work.histograms[1], expected[1])
    assert search.work.order[layout.CODES_LINE].tolist() == [-1, 0]
    np.testing.assert_array_equal(search.work.drawn_codes[0], CODES[:, 1])


def test_keys_and_draws_are_those_of_plain_python():
    key = np.uint64(keyed_random.root_key(5))
    assert draw.mix(np.uint64(5)) == key
    assert draw.branch_key(key, 1) == keyed_random.branch_key(int(key), 1)
    state, x = np.array([key]), int(key)
    for n in (2, 7, 1000):
        x ^= x >> 12
        x = (x ^ x << 25) % 2**64
        x ^= x >> 27
        high = x * 0x2545F4914F6CDD1D % 2**64 >> 32
        assert draw.draw_below(state, n) == high * n >> 32
    assert state[0] == x


def test_a_row_word_has_number_class_and_weight():
    word = packed_rows.pack_row(7, 3, 9)
    assert (packed_rows.row_of(word), packed_rows.class_of(word)) == (7, 3)
    labels = labels_of([0] * 8, weights=[0.5] * 8)
    assert packed_rows.weight_of(labels, word) == 9
    assert packed_rows.weight_of(labels, packed_rows.pack_row(7, 3, 0)) == 0.5
    whole = labels._replace(weights=np.full(8, 70_000.0))
    upper = packed_rows.packed_count_of(whole, packed_rows.pack_row(7, 1, 0))
    assert upper == 70_000 << 32


@pytest.mark.parametrize("base", [[], [0.5, 1.0, 2.0]])
def test_a_tree_begins_with_the_rows_of_its_bag(base):
    labels = labels_of([0, 1, 1], weights=base)
    search = search_of(coded_cells([[0], [1], [2]]), labels)
    times, seeds = np.array([[1, 1, 1], [2, 0, 3]], np.uint8), np.array([3, 4])
    own = grow_kernels.Bags(
        times, np.array(base), seeds.astype(np.uint64), np.zeros(2, int)
    )
    search.stack.state[nodes.N_WAITING] = 0
    grow_kernels.begin_tree(search._replace(bags=own), 1)
    of_bag = [2 * w for w in base[:1]] + [3 * w for w in base[2:]] or [2.0, 3.0]
    assert search.stack.weights[0].tolist() == of_bag
    assert search.stack.counts[0].tolist() == [1, 1]
    assert search.stack.entries[0, : nodes.MIDDLE].tolist() == [0, 2, 0, -1, 0, -1]
    assert [int(packed_rows.row_of(word)) for word in search.rows[:2]] == [0, 2]
    assert search.stack.keys[0] == keyed_random.root_key(4)


def test_rows_are_sent_to_both_children_in_their_order():
    codes = [[2, 0], [0, 1], [1, 0], [MISSING_CODE, 1], [1, 1]]
    numbers = np.array([[0.1], [0.9], [0.4], [np.nan], [0.3]])
    cells = coded_cells(
        np.column_stack([codes, [0] * 5]), nominal=[1], numbers=numbers, columns=[2]
    )
    whole, real = np.full((3, 9), -1), np.zeros((3, 4))
    whole[0, [nodes.LEFT_CHILD, nodes.RIGHT_CHILD]] = 1, 2
    whole[0, [nodes.FIRST_LINE, nodes.N_LINES]] = 0, 2
    by_code = np.array([[0, 2], [1, 1]])
    # Codes up to 1, and missing ones; the code 1; numbers up to 0.4.
    for a, low, missing, left in (
        (0, 1, 0, [1, 2, 3, 4]),
        (1, 0, 1, [1, 3, 4]),
        (2, 0.4, 1, [0, 2, 4]),
    ):
        whole[0, nodes.ATTRIBUTE] = a
        real[0, [nodes.CUT_LOW, nodes.CUT_MISSING]] = low, missing
        spans, rows = np.zeros((3, 2), int), np.arange(5)
        spans[0] = 0, 5
        tree = send.RoutedTree(cells, whole, real, by_code, spans, rows)
        send.route_node(tree, 0, np.zeros(layout.BINS, int), np.zeros(5, int))
        assert rows.tolist() == left + [i for i in range(5) if i not in left]
        assert spans[1:].tolist() == [[0, len(left)], [len(left), 5]]
