"""Rows of a small node walked in order, or counted by code: against all cuts tried."""

import numpy as np
import pytest
from tests.helpers.plain_kernels import (
    BINNED,
    best_cut,
    coded_cells,
    labels_of,
    layout,
    plain,
    search_of,
    vector,
)

ordered_rows, search_kernels = plain(BINNED + "ordered_rows", BINNED + "search")


@pytest.fixture(autouse=True)
def _words_overflow():
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        yield


def planted(n, *, seed, few=True, least=0.0):
    """Return a search of random rows with one attribute, and its values."""
    rng = np.random.default_rng(seed)
    codes, numbers = rng.integers(0, 7, (n, 1)), None
    values = codes[:, 0].astype(float)
    if not few:  # several numbers a bin, some of them equal
        values = codes[:, 0] + rng.integers(0, 4, n) / 4
        numbers = values[:, None]
    cells = coded_cells(codes, numbers=numbers, columns=() if few else [0])
    labels = labels_of(rng.integers(0, 3, n), weights=rng.integers(1, 5, n))
    search = search_of(cells, labels, width=3, min_branch_weight=least)
    search.work.members[:n] = search.rows
    return search, values


def found_by_walk(search, n, slack=1e-9):
    search_kernels.set_node_weight(search, 0)
    assert search_kernels._search_by_walk(search, n, 0, 0, slack)
    return search.work.cuts[0]


# Of 30 rows codes are counted, of 8 rows put in order by insertion; with several
# numbers a bin rows are put in order, of many by their codes first.
@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("n", [1, 2, 8, 30])
@pytest.mark.parametrize("seed", range(3))
def test_a_walk_finds_the_best_cut(few, n, seed):
    search, values = planted(n, seed=seed, few=few)
    cut = found_by_walk(search, n)
    cut_score, low = best_cut(search, values)
    assert cut[layout.SCORE] == pytest.approx(cut_score)
    if cut_score == -np.inf:
        assert np.isnan(cut[layout.BIN])
        return
    after = values[values > low].min()
    if few:
        assert (cut[layout.BIN], cut[layout.HIGH]) == (low, after)
    else:
        assert (cut[layout.LOW], cut[layout.HIGH]) == (low, after)
    ordered_rows.set_left_totals(search.cells, search.labels, n, 0, search.work)
    left = vector(search, np.flatnonzero(values <= low))
    assert cut[layout.TOTALS : layout.TOTALS + 3].tolist() == left.tolist()
    assert not cut[layout.TOTALS + 3 :].any()


@pytest.mark.parametrize("n", [8, 30])
def test_counts_and_order_agree_to_the_last_bit(n, monkeypatch):
    scores = []
    for cells_of_a_row in (0, 10**6):
        monkeypatch.setattr(ordered_rows, "CELLS_PER_SORTED_ROW", cells_of_a_row)
        search, _ = planted(n, seed=5)
        scores.append(found_by_walk(search, n).tolist())
    assert repr(scores[0]) == repr(scores[1])


@pytest.mark.parametrize("n", [8, 30])
def test_both_sides_are_heavy_enough(n):
    search, _ = planted(n, seed=1, least=0.4 * n)
    cut = found_by_walk(search, n)
    ordered_rows.set_left_totals(search.cells, search.labels, n, 0, search.work)
    left = cut[layout.TOTALS : layout.TOTALS + 3].sum()
    assert min(left, search.stack.weights[0].sum() - left) >= 0.4 * n
    search, _ = planted(n, seed=1, least=100.0 * n)
    cut = found_by_walk(search, n)
    assert (cut[layout.SCORE], cut[layout.BIN]) == (-np.inf, -1)


@pytest.mark.parametrize("n", [8, 30])
def test_a_missing_cell_is_left_to_others(n):
    search, _ = planted(n, seed=2)
    search.cells.codes[3, 0] = layout.MISSING_CODE
    search_kernels.set_node_weight(search, 0)
    assert not search_kernels._search_by_walk(search, n, 0, 0, 1e-9)
