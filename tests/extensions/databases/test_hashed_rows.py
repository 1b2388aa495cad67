"""Numbers of rows, and what is drawn by them: the same in memory, engines and parts."""

from contextlib import contextmanager
from itertools import compress

import numpy as np
import pytest
from tests.extensions.databases.test_bins import rows_of
from tests.sources.tables_away import placed
from tests.twins.naive_hash import sample_fraction as naive_numbers

from spinney.extensions.partitions import hashed_partitions
from spinney.sources import ROOT
from spinney.sources.rows import (
    HashedTrainingSet,
    hash_mixing,
    sample_bag,
    sample_fraction,
)
from spinney.sources.rows.row_hashing import (
    BAND_RANGE,
    band_minimum,
    band_of,
    rank_copies,
)
from spinney.sources.rows.sampleable_rows import CELL_BYTES
from spinney.sources.training_data import TableInput, open_data, open_source

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")


@pytest.fixture(autouse=True)
def some_room(monkeypatch):
    """Let 100 of the 150 rows have room, of parts too."""
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: 100 * CELL_BYTES * 9)


PLACES = ("memory", "duckdb", "postgres", "parts")


def table_of(seed, *, weights=True):
    """Return a table in which rows of several parts are copies of each other."""
    columns = rows_of(seed, missing=0.1, n_rows=90)
    columns = {n: [*cells, *cells[:30], *cells[:30]] for n, cells in columns.items()}
    columns["name"] = [None if n % 7 == 0 else "abc"[n % 3] for n in range(150)]
    if not weights:
        del columns["w"]
    else:
        columns["w"] = [1.0 + n % 4 for n in range(150)]
    return columns


@contextmanager
def hashed(place, columns, folder, request, target="y"):
    """Give the rows of a table with their numbers, in some place."""
    with placed(place, columns, folder, request) as (data, how):
        weight = "w" if "w" in columns else None
        table = TableInput(data=data, target=target, weight=weight, **how)
        with open_source(table, sampleable=True) as rows:
            yield rows.sampleable or HashedTrainingSet(rows.in_memory_rows)


def rows_query(rows, numbers):
    """Return rows as sorted lines: cells, class, weight and number."""
    cells = [np.nan_to_num(c.astype(float), nan=-9.0) for c in rows.columns]
    lines = zip(*cells, rows.classes, rows.sample_weights, numbers, strict=True)
    return sorted(tuple(map(float, line)) for line in lines)


@pytest.mark.parametrize("target", ["y", "third"])
@pytest.mark.parametrize("place", PLACES[1:])
def test_numbers_and_draws_are_those_of_memory(place, target, tmp_path, request):
    columns = table_of(1)
    if target == "third":
        columns["third"] = [0.5 if cell is None else cell for cell in columns["third"]]
    half = sample_fraction(0.5, hash_mixing(3))
    bag = sample_bag(1.0, hash_mixing(1, 2), replace=True)
    scale = np.array([1.0, 3.0, 0.5]) if target == "y" else None
    answers = []
    for each in ("memory", place):
        with hashed(each, columns, tmp_path, request, target) as rows:
            fetched = rows_query(*rows.fetch_sample(half))
            with rows.sampled_source(bag, half, class_weights=scale) as source:
                root = source.root()
                sums = pytest.approx(root.weights, rel=1e-12)
                answers.append((fetched, root.rows.tolist(), root.weights, sums))
            assert rows.root().rows.sum() == 150
    (lines, rows, weights, _), (others, other_rows, _, sums) = answers
    assert lines == others
    assert rows == other_rows
    assert weights == sums
    assert 45 < len(lines) < 105


def test_numbers_are_those_of_the_naive_twin(tmp_path, request):
    columns = table_of(2, weights=False)
    names = [name for name in columns if name != "y"]
    with hashed("memory", columns, tmp_path, request) as rows:
        numbers = rows.hashes
    cells = [columns[name] for name in names]
    cells[-1] = [None if c is None else "abc".index(c) for c in cells[-1]]
    labels = sorted(set(columns["y"]))
    cells.append([labels.index(label) for label in columns["y"]])
    naive = naive_numbers(cells, codes=[False] * (len(names) - 1) + [True, True])
    assert naive == numbers.tolist()


@pytest.mark.parametrize("far", [1e15, -1e25, 1e139])
def test_numbers_beside_one_that_is_far_away(far, monkeypatch, tmp_path, request):
    # All others are nearly the same share of the range, and differ all the same.
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: 100 * CELL_BYTES * 4)
    random = np.random.default_rng(5)
    x = [far, 1e-9, 0.0, 1.0, -256.0, *random.normal(size=145).round(3).tolist()]
    columns = {"x": x, "y": ["pq"[n] for n in random.integers(0, 2, 150)]}
    naive = naive_numbers(
        [x, ["pq".index(label) for label in columns["y"]]], codes=[False, True]
    )
    assert np.abs(np.sort(naive) - np.arange(150) / 150).max() < 0.15
    for place in PLACES:
        with hashed(place, columns, tmp_path, request) as rows:
            for draw in sample_fraction(0.5), sample_fraction(0.5).complement:
                _, numbers = rows.fetch_sample(draw)
                drawn = [bool(times) for times in draw.counts(np.array(naive))]
                assert sorted(numbers.tolist()) == sorted(compress(naive, drawn))
    order = random.permutation(150)
    shuffled = {name: [cells[at] for at in order] for name, cells in columns.items()}
    with hashed("memory", shuffled, tmp_path, request) as rows:
        assert sorted(rows.hashes.tolist()) == sorted(naive)


def test_numbers_by_their_bands():
    assert [band_of(n) for n in (1.0, -255.9, 256.0, 0.99, 0.0)] == [0, 0, 1, -1, -124]
    assert (band_of(5e-324), band_of(1.7e308)) == BAND_RANGE
    for band in (BAND_RANGE[0] + 1, -1, 0, 3, BAND_RANGE[1]):
        assert band_of(band_minimum(band)) == band
        assert band_of(np.nextafter(band_minimum(band), 0)) == band - 1
    # Powers of 256, alike but for their bands.
    powers = [256.0**n for n in range(-17, 18)]
    assert len(set(naive_numbers([powers], codes=[False]))) == 35


def test_copies_in_several_pieces(monkeypatch, tmp_path, request):
    columns = table_of(3)
    everything = sample_fraction(1.0)
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: 1 << 20)
    answers = []
    for size in (10, 1000):
        monkeypatch.setattr(hashed_partitions, "ROWS_IN_SLICE", size)
        with hashed("parts", columns, tmp_path, request) as rows:
            answers.append(rows_query(*rows.fetch_sample(everything)))
    assert answers[0] == answers[1]


def test_copies_are_counted_from_the_lightest():
    sums, weights = np.array([2.0, 1.0, 2.0, 2.0]), np.array([3.0, 1.0, 1.0, 2.0])
    assert rank_copies(sums, weights).tolist() == [3, 1, 1, 2]
    assert rank_copies(sums, None).tolist() == [1, 1, 2, 3]


def test_bags_are_drawn_by_poissons_law():
    # Of copies of one row too: their numbers are evenly spread, their draws are not.
    draw = sample_bag(1.0, hash_mixing(7), replace=True)
    assert draw.limits[:3] == pytest.approx([0.367879, 0.735759, 0.919699], abs=1e-6)
    assert draw.times[:4] == (0, 1, 2, 3)
    random = np.random.default_rng(0).random(2000)
    copies = np.mod(np.arange(2000) * (5**0.5 - 1) / 2, 1.0)
    for numbers in (random, copies):
        bags = np.array(
            [
                sample_bag(1.0, hash_mixing(0, n), replace=True).counts(numbers)
                for n in range(200)
            ]
        )
        assert bags.mean() == pytest.approx(1.0, abs=0.01)
        assert bags.var() == pytest.approx(1.0, abs=0.02)
        assert bags.sum(axis=1).var() / 2000 == pytest.approx(1.0, abs=0.3)
        between = np.corrcoef(bags)[np.triu_indices(200, 1)]
        assert between.std() * 2000**0.5 == pytest.approx(1.0, abs=0.05)


def test_without_replacement_a_row_is_drawn_once():
    numbers = np.random.default_rng(1).random(5000)
    times = sample_bag(0.632, hash_mixing(4), replace=False).counts(numbers)
    assert set(times.tolist()) == {0, 1}
    assert times.mean() == pytest.approx(0.632, abs=0.02)


def test_nothing_is_left_behind_by_draws(tmp_path, request):
    columns = table_of(4)
    with hashed("duckdb", columns, tmp_path, request) as rows:
        before = list(rows._engine._stored)
        with rows.sampled_source(sample_fraction(0.7, hash_mixing(1))) as source:
            source.root()
            assert len(rows._engine._stored) > len(before)
        assert rows._engine._stored == before
        with pytest.raises(KeyError), rows.sampled_source(sample_fraction(0.7)):
            raise KeyError(ROOT)
        assert rows._engine._stored == before
