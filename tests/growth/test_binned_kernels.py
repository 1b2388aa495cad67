"""The compiled kernels beside plain ones."""

import itertools
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney._support.column_hash import column_hash
from spinney._support.jit.compile import entry
from spinney._support.jit.loading_time import MIN_KERNEL_WORK
from spinney._support.kernels.hashing import hash_columns
from spinney._support.matrix_view import matrix_behind
from spinney._support.row_order import row_copies
from spinney.growth.binned.binned_dataset import class_labels
from spinney.growth.binned.kernels import packed_rows, split_scores
from spinney.growth.binned.kernels import sort as sorting
from spinney.growth.binned.kernels.encoding import (
    LOOKUP_CELLS,
    ColumnEncoding,
    bin_edges,
    encode_rows,
    index_edges,
)
from spinney.growth.binned.kernels.layout import (
    BINS,
    INSIDE,
    LEFT,
    LENGTH,
    MISSING_CODE,
    RIGHT,
    VECTORS,
)
from spinney.growth.binned.kernels.packed_rows import pack_rows
from spinney.growth.binned.kernels.split_scores import (
    DEVIATION,
    ENTROPY,
    ERRORS,
    GINI,
    POISSON,
    ROOT,
    SQUARES,
    TWOING,
)


@entry
def worth(kind, vectors, at):
    return split_scores.side_score(kind, vectors, at)


@entry
def score_bound(kind, vectors, floor, tried):
    return split_scores.score_bound(kind, vectors, floor, tried)


@entry
def slope_of(kind, vectors):
    return split_scores._slope_bound(kind, vectors)


@entry
def unpack_words(labels, words, unpacked):
    for i in range(len(words)):
        unpacked[i, 0] = packed_rows.row_of(words[i])
        unpacked[i, 1] = packed_rows.class_of(words[i])
        unpacked[i, 2] = packed_rows.weight_of(labels, words[i])


@entry
def sort_values(values, keys, waiting):
    for place in range(len(values)):
        keys[place] = sorting.sort_key(values[place], place)
    sorting.sort(keys, None, len(values), waiting)
    sorting.order_rounded(keys, len(values), values)


numbers = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 1.0, 1.5, -7.0, np.inf, -np.inf, np.nan, 5e-324, 1e308]
    ),
    st.floats(-100, 100),
    st.floats(),
)


def coding_for(q, n_rows):
    """Return room to code q columns, expecting nothing of their bins."""
    return ColumnEncoding(
        edges=np.full((q, BINS), np.inf),
        n_edges=np.zeros(q, np.int64),
        first=np.zeros((q, LOOKUP_CELLS), np.uint8),
        low=np.zeros(q),
        scale=np.zeros(q),
        steps=np.zeros(q, np.int64),
        values=np.zeros((q, BINS)),
        expected=np.zeros(q, np.bool_),
        attributes=np.arange(q),
        codes=np.empty((n_rows, q), np.uint8),
        by_attribute=np.empty((q, n_rows), np.uint8),
    )


def coded(matrix, sample):
    """Code a matrix by edges from a sample of it."""
    q = matrix.shape[1]
    coding = coding_for(q, len(matrix))
    for j in range(q):
        edges, _ = bin_edges(sample[:, j].astype(float))
        coding.edges[j, : len(edges)], coding.n_edges[j] = edges, len(edges)
    index_edges(coding)
    encode_rows(coding, matrix, 0, len(matrix), np.arange(q), np.zeros(q, np.int64))
    codes, edges, n_edges = coding.codes, coding.edges, coding.n_edges
    np.testing.assert_array_equal(codes, coding.by_attribute.T)
    return codes, edges, n_edges


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(cells=st.lists(numbers, min_size=1, max_size=60), half=st.booleans())
@settings(max_examples=examples(60))
def test_a_code_is_how_many_edges_lie_below(dtype, cells, half):
    with np.errstate(over="ignore"):
        matrix = np.array(cells).astype(dtype)[:, None]
    sample = matrix[: (len(matrix) + 1) // 2] if half else matrix
    codes, edges, n_edges = coded(matrix, sample)
    own = edges[0, : n_edges[0]]
    assert np.all(np.diff(own) > 0)
    for cell, code in zip(matrix[:, 0], codes[:, 0], strict=True):
        expected = MISSING_CODE if np.isnan(cell) else int(np.sum(own < cell))
        assert code == expected


def test_many_values_make_255_bins_and_few_one_each():
    matrix = np.random.default_rng(0).normal(size=(5000, 1))
    codes, _, _ = coded(matrix, matrix)
    assert len(np.unique(codes)) == MISSING_CODE
    assert np.bincount(codes[:, 0]).max() < 60
    few = np.round(matrix, 1)
    codes, _, _ = coded(few, few)
    assert len(np.unique(codes)) == len(np.unique(few))
    assert np.all(np.diff(codes[np.argsort(few[:, 0]), 0].astype(int)) >= 0)


@given(
    st.lists(
        st.one_of(
            st.sampled_from([-1.0, 0.0, 0.5, 9.0, 1e9, -np.inf, np.inf, 1.0]),
            # Two numbers that round to one.
            st.sampled_from([1 + 1e-12, 1 + 2e-12, -1 - 1e-12, 5e-324, 1e300]),
            st.floats(allow_nan=False),
        ),
        max_size=300,
    )
)
@settings(max_examples=examples(100))
def test_keys_are_sorted_with_their_places(cells):
    values, keys = np.array(cells, dtype=float) + 0.0, np.empty(len(cells), np.uint64)
    with np.errstate(over="ignore"):
        sort_values(values, keys, np.zeros(LENGTH, np.int64))
    places = (keys & np.uint64(0xFFFFFFFF)).astype(int)
    assert values[places].tolist() == sorted(values)
    assert sorted(places) == list(range(len(cells)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(st.integers(0, 2**32 - 1), st.integers(1, 5000), st.integers(1, 4))
@settings(max_examples=examples(20))
def test_words_of_columns_are_those_of_plain_sums(dtype, seed, n_rows, n_columns):
    matrix = np.random.default_rng(seed).normal(size=(n_rows, n_columns)).astype(dtype)
    marks = np.zeros(n_columns, np.uint64)
    middle = n_rows // 2
    hash_columns(matrix, 0, middle, marks)
    hash_columns(matrix, middle, n_rows, marks)
    assert marks.tolist() == [column_hash(column) for column in matrix.T]
    plain = 0
    for place, number in enumerate(matrix[:, 0].astype(float).tolist()):
        word = int.from_bytes(struct.pack("<d", number), "little")
        word = word * 0x9E3779B97F4A7C15 % 2**64
        plain += (2 * place + 1) * (word ^ word >> 29)
    assert column_hash(matrix[:, 0]) == plain % 2**64


def test_the_matrix_behind_columns_is_found_and_of_one_type():
    cells = np.arange(12.0).reshape(4, 3)  # a view of another array
    locked = cells.copy()
    locked.flags.writeable = False
    for matrix in (cells, cells.copy(), cells.astype(np.float32), locked, cells[1:]):
        found = matrix_behind(list(matrix.T))
        assert np.shares_memory(found, matrix)
        assert found.flags.writeable
        np.testing.assert_array_equal(found, matrix)
    del matrix, locked
    np.testing.assert_array_equal(found, cells[1:])


@pytest.mark.parametrize(
    "columns",
    [
        [],
        [None, None],
        list(np.ones((3, 4))[:, :2].T),
        list(np.ones((3, 2)).T)[::-1],
        list(np.asfortranarray(np.ones((3, 2))).T),
        list(np.ones((3, 2), int).T),
        [np.ones(3), np.ones(3)],
        [*np.ones((3, 2)).T, np.ones(3)],
    ],
    ids=["none", "absent", "some", "turned", "F", "whole", "apart", "one_more"],
)
def test_no_matrix_is_behind_other_columns(columns):
    assert matrix_behind(columns) is None


def test_rows_are_stirred_as_by_plain_sums(monkeypatch):
    matrix = np.random.default_rng(0).normal(size=(9000, 3))
    matrix[::7, 1], matrix[::11, 2] = np.nan, -0.0
    columns = (*matrix.T, np.arange(9000) % 5)
    plain = row_copies(columns, ranked=False)
    monkeypatch.setitem(MIN_KERNEL_WORK, "hash", 0)
    compiled = row_copies(columns, ranked=False)
    np.testing.assert_array_equal(plain.places, compiled.places)


weights_of_rows = st.one_of(
    st.sampled_from([0.0, 1.0, 255.0, 65_535.0, 65_536.0, 0.5, 1e9]),
    st.floats(0, 1e6),
)


@given(
    st.lists(st.tuples(st.integers(0, 65_535), weights_of_rows), min_size=1),
    st.booleans(),
)
def test_a_row_word_tells_number_class_and_weight(rows, unit):
    classes, weights = (np.array(column) for column in zip(*rows, strict=True))
    labels = class_labels(classes, None if unit else weights, 65_536)
    words, unpacked = pack_rows(labels), np.zeros((len(rows), 3))
    unpack_words(labels, words, unpacked)
    for number, (label, weight) in enumerate(rows):
        assert unpacked[number].tolist() == [number, label, 1.0 if unit else weight]
    some = np.arange(0, len(rows), 2)
    np.testing.assert_array_equal(pack_rows(labels, some), words[some])


def plain_worth(kind, side):
    if kind >= SQUARES:
        if not side[0]:
            return 0.0
        mean, square = (side[1] + side[2]) / side[0], side[3] / side[0]
        spread = max(square - mean * mean, 0.0)
        spread = 0.0 if spread < 1e-12 * square else spread
        return (
            side[0]
            * {
                SQUARES: mean**2,
                POISSON: 2 * mean * np.log(mean) if mean > 0 else 0.0,
                DEVIATION: -(spread**0.5),
                ROOT: -(spread**0.2),
            }[kind]
        )
    size = sum(side)
    if not size:
        return 0.0
    if kind == GINI:
        return sum(weight * weight for weight in side) / size
    if kind == ERRORS:
        return max(side)
    return sum(w * np.log2(w / size) for w in side if w)


def plain_cut(kind, left, right):
    if kind != TWOING:
        return plain_worth(kind, left) + plain_worth(kind, right)
    one, other = sum(left), sum(right)
    if not one or not other:
        return 0.0
    apart = sum(abs(a / one - b / other) for a, b in zip(left, right, strict=True))
    return one * other / (one + other) / 4 * apart**2


@pytest.mark.parametrize(
    ("kind", "most"),
    [(GINI, 1), (GINI, 8), (ENTROPY, 1), (ENTROPY, 8), (ERRORS, 8), (TWOING, 8)],
)
@pytest.mark.parametrize("width", [2, 3, 4])
@given(data=st.data())
@settings(max_examples=examples(60))
def test_no_cut_inside_a_bin_exceeds_its_bound(kind, width, most, data):
    """By its corners, or by slopes where it has more classes than ``most``."""
    counts = st.lists(st.integers(0, 9), min_size=width, max_size=width)
    left, right = data.draw(counts), data.draw(counts)
    inside = data.draw(st.lists(st.integers(0, 3), min_size=width, max_size=width))
    vectors = np.zeros((VECTORS, width))
    vectors[LEFT], vectors[INSIDE], vectors[RIGHT] = left, inside, right
    if most == 1 and sum(n > 0 for n in inside) > 2:
        bound = slope_of(kind, vectors)
    else:
        bound = score_bound(kind, vectors, np.inf, False)
    vectors[LEFT] = left
    if kind != TWOING:
        assert worth(kind, vectors, LEFT) == pytest.approx(plain_worth(kind, left))
    worths = [
        plain_cut(
            kind,
            [a + b for a, b in zip(left, part, strict=True)],
            [a + b - c for a, b, c in zip(right, inside, part, strict=True)],
        )
        for part in itertools.product(*(range(n + 1) for n in inside))
    ]
    assert max(worths) <= bound + 1e-9


@pytest.mark.parametrize("kind", [GINI, ENTROPY])
@given(data=st.data())
@settings(max_examples=examples(100))
def test_a_bin_is_left_closed_only_where_an_edge_is_as_good(kind, data):
    """Three classes, and a floor that its own edges have set."""
    counts = st.lists(st.integers(0, 30), min_size=3, max_size=3)
    left, right = data.draw(counts), data.draw(counts)
    inside = data.draw(st.lists(st.integers(0, 4), min_size=3, max_size=3))
    vectors = np.zeros((VECTORS, 3))
    vectors[LEFT], vectors[INSIDE], vectors[RIGHT] = left, inside, right

    def cut(part):
        one = [a + b for a, b in zip(left, part, strict=True)]
        other = [a + b - c for a, b, c in zip(right, inside, part, strict=True)]
        return plain_worth(kind, one) + plain_worth(kind, other)

    floor = max(cut([0, 0, 0]), cut(inside))
    best = max(map(cut, itertools.product(*(range(n + 1) for n in inside))))
    if score_bound(kind, vectors, floor, True) < floor:
        assert best <= floor + 1e-9
    elif sum(n > 0 for n in inside) < 2 and any(left):
        # With nothing on its left the lower edge is no cut, and does not come first.
        pytest.fail("a bin of one class was opened")


@pytest.mark.parametrize("kind", [SQUARES, POISSON, DEVIATION, ROOT])
@given(data=st.data())
@settings(max_examples=examples(80))
def test_no_cut_inside_a_bin_of_numbers_exceeds_its_bound(kind, data):
    numbers = st.integers(0 if kind == POISSON else -5, 5)
    rows = st.lists(st.tuples(st.integers(1, 3), numbers), max_size=6)
    vectors = np.zeros((VECTORS, 4))
    groups = {LEFT: data.draw(rows), INSIDE: data.draw(rows), RIGHT: data.draw(rows)}

    def moments(lines):
        side = np.zeros(4)
        for weight, y in lines:
            side += weight, weight * max(y, 0), weight * min(y, 0), weight * y * y
        return side

    for place, lines in groups.items():
        vectors[place] = moments(lines)
    bound = score_bound(kind, vectors, -np.inf, True)
    for mask in itertools.product([0, 1], repeat=len(groups[INSIDE])):
        halves = [
            [row for row, m in zip(groups[INSIDE], mask, strict=True) if m == side]
            for side in (0, 1)
        ]
        cut = sum(
            plain_worth(kind, moments(groups[place] + half))
            for place, half in zip((LEFT, RIGHT), halves, strict=True)
        )
        assert cut <= bound + 1e-9
