"""The kernels of forests and of hashes, against plain Python and NumPy."""

import struct
from collections import Counter

import numpy as np
import pytest
from tests.helpers.plain_kernels import plain

from spinney._support.seed_sequences import generator_words

draws, path_sums, hashing = plain(
    "spinney.growth.forest.kernels.draw_bags",
    "spinney.growth.forest.kernels.path_sums",
    "spinney._support.kernels.hashing",
)
WORD = 2**64 - 1


def test_a_leaf_is_the_root_and_the_steps_down_each_by_its_part():
    #     0        4
    #    1 2       (a tree of one node)
    #   3
    # Node 1 groups codes: the first goes to its branch, and a missing one nowhere.
    paths = path_sums.Paths(
        parent=np.array([-1, 0, 0, 1, -1]),
        column=np.array([0, 1, -1, -1, -1]),
        cut=np.array([2.0, np.nan, 0.0, 0.0, 0.0]),
        branch=np.array([1, -1, -1, -1, -1]),
        listed=np.array([0, 1, 0, 0, 0]),
        branches=np.array([0]),
        cuts=np.zeros(0),
        entries=np.zeros((5, 2), np.int64),
        outputs=np.array([[0.5, 0.5], [0.8, 0.2], [0.1, 0.9], [1.0, 0.0], [0.3, 0.7]]),
        factors=np.array([[1.0, 0.5], [1.0, 0.25], [0, 0], [0, 0], [0, 0]]),
        links=np.empty((2, 6), np.int64),
    )
    cells = np.array([[2.0, 0.0], [np.nan, 0.0], [1.0, np.nan], [1.0, 1.0]])
    out = np.array([[True, True], [True, False], [True, True], [True, True]])
    sums, divided = np.zeros((4, 2)), np.zeros(4, np.bool_)
    own = np.array([0, 1, 0, 0])
    path_sums.add_paths(paths, np.array([0, 4]), cells, out, own, sums, divided)
    assert divided.tolist() == [False, False, True, True]
    first = [0.5 + 0.3 + 0.2 + 0.3, 0.5 + 0.3 * 0.5 + 0.2 * 0.25 + 0.3]
    np.testing.assert_allclose(sums[:2], [first, [0.9, 0.7]])


def bits(number):
    return int.from_bytes(struct.pack("<d", number), "little")


def test_columns_are_hashed_by_sums_of_words():
    matrix, words = (
        np.array([[1.5, -2.0], [0.0, 7.0], [3.0, 1e300]]),
        np.zeros(2, np.uint64),
    )
    with np.errstate(over="ignore"):
        hashing.hash_columns(matrix, 0, 3, words)
    for j in range(2):
        total = 0
        for i in range(3):
            word = bits(matrix[i, j]) * 0x9E3779B97F4A7C15 & WORD
            total += (2 * i + 1) * (word ^ word >> 29)
        assert words[j] == total & WORD


def mixed(word):
    word = word + 0x9E3779B97F4A7C15 & WORD
    word = (word ^ word >> 33) * 0xFF51AFD7ED558CCD & WORD
    word = (word ^ word >> 33) * 0xC4CEB9FE1A85EC53 & WORD
    return word ^ word >> 33


def test_rows_are_hashed_cell_by_cell_whatever_stands_for_missing():
    matrix = np.array([[1.5, np.nan], [-0.0, 7.0], [0.0, 7.0]])
    keys = np.array([5, 6, 6], np.uint64)
    with np.errstate(over="ignore"):
        hashing.hash_rows(matrix, 0, 3, keys)
    expected = mixed(mixed(5 ^ mixed(bits(1.5))) ^ mixed(bits(float("nan"))))
    assert keys[0] == expected
    assert keys[1] == keys[2] == mixed(mixed(6 ^ mixed(0)) ^ mixed(bits(7.0)))


class Counts(Counter):
    """Counts of so many rows that no array holds them."""

    def __init__(self, n_trees, n_rows):
        super().__init__()
        self.shape = n_trees, n_rows


# Of 3 · 2³⁰ rows a quarter of the draws are refused, and drawn again.
@pytest.mark.parametrize("n_rows", [2, 5, 1000, 3 * 2**30, 2**32 - 1])
def test_bags_are_those_of_numpys_generator(n_rows):
    seeds = np.array([0, 9, 2**63 + 5, 2**64 - 1], np.uint64)
    drawn = Counts(len(seeds), n_rows)
    with np.errstate(over="ignore"):
        draws.draw_bags(generator_words(seeds), 41, drawn)
    expected = Counter()
    for tree, seed in enumerate(seeds.tolist()):
        rows = np.random.default_rng(seed).integers(0, n_rows, 41)
        expected.update((tree, row) for row in rows.tolist())
    assert drawn == expected
