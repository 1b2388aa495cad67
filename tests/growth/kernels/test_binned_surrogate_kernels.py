"""The kernels that find surrogates, against every cut of a small node."""

import numpy as np
import pytest
from tests.helpers.plain_kernels import BINNED, coded_cells, layout, nodes, plain

bins, surrogates = plain(BINNED + "surrogate_bins", BINNED + "surrogates")


def search_of(cells, left, weights, *, small, most=3):
    """Return the search at a root that asks whether attribute 0 is at most 0."""
    n, p = cells.codes.shape
    ints, floats = np.full((3, 9), -1, np.int32), np.zeros((3, 4))
    ints[0, [nodes.ATTRIBUTE, nodes.LEFT_CHILD, nodes.RIGHT_CHILD]] = 0, 1, 2
    spans = np.array([[0, n], [0, sum(left)], [sum(left), n]])
    work = bins.SurrogateWorkspace(
        packed_counts=np.zeros((p, layout.BINS), np.uint64),
        bin_weights=np.zeros((p, layout.BINS, 2)),
        cuts=np.zeros((p, bins.N_CUT_FIELDS)),
        masks=np.zeros((p, layout.BINS), np.uint8),
        marks=np.zeros(layout.BINS, np.int64),
        subbins=np.zeros((bins.SUBBIN_FIELDS, bins.SUBBINS)),
        keys=np.empty(layout.BINS),
        places=np.empty(layout.BINS, np.int64),
        row_bins=np.empty(layout.BINS, np.uint8),
    )
    records = surrogates.SurrogateRecords(
        line_of=np.array([0, -1, -1]),
        attributes=np.full((1, most), -1, np.int32),
        floats=np.zeros((1, most, surrogates.RECORD_SIZE)),
        masks=np.zeros((1, most, layout.BINS), np.uint8),
    )
    return surrogates.SurrogateSearch(
        cells=cells,
        weights=weights,
        unit=bool(np.all(weights == 1)),
        ints=ints,
        floats=floats,
        by_code=np.zeros((0, 2), np.int64),
        spans=spans,
        rows=np.arange(n, dtype=np.uint32),
        small=small,
        work=work,
        records=records,
    )


def best_agreement(values, left, weights):
    """Return the greatest agreement of a cut with two rows or more on each side."""
    best = 0.0
    for low in np.unique(values)[:-1]:
        goes = values <= low
        if min(goes.sum(), (~goes).sum()) >= bins.MIN_ROWS:
            agreeing = weights[goes == left].sum()
            best = max(best, agreeing, weights.sum() - agreeing)
    return best / weights.sum()


@pytest.mark.parametrize("small", [0, 100])
@pytest.mark.parametrize("fine", [bins.MAX_SORTED_ROWS, 4])
@pytest.mark.parametrize("unit", [True, False])
def test_surrogates_agree_as_well_as_the_best_cut(small, fine, unit, monkeypatch):
    monkeypatch.setattr(bins, "MAX_SORTED_ROWS", fine)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        n = 40
        left = rng.random(n) < 0.4
        weights = np.ones(n) if unit else rng.integers(1, 4, n).astype(float)
        numbers = rng.normal(size=n) + 1.5 * left
        near = (left + (rng.random(n) < 0.2)) % 2
        codes = np.column_stack([~left, np.digitize(numbers, [-1, 0, 1]), 2 * near])
        cells = coded_cells(codes, nominal=[2], numbers=numbers[:, None], columns=[1])
        search = search_of(cells, left, weights, small=small)
        surrogates.find_surrogates(search, (0, 1), (0, 3), (True, True, True))
        records = search.records
        majority = max(weights[left].sum(), weights[~left].sum()) / weights.sum()
        expected = {
            1: best_agreement(numbers, left, weights),
            2: weights[(near == 1) == left].sum() / weights.sum(),
        }
        expected = {a: share for a, share in expected.items() if share > majority}
        order = sorted(expected, key=lambda a: -expected[a])
        own = records.attributes[0]
        assert own[own >= 0].tolist() == order
        for k, a in enumerate(order):
            figures = records.floats[0, k]
            assert figures[surrogates.AGREEMENT] == pytest.approx(expected[a])
            adjusted = (expected[a] - majority) / (1 - majority)
            assert figures[surrogates.ADJUSTED] == pytest.approx(adjusted)
            if a == 1:
                goes = numbers <= figures[surrogates.RECORD_LOW]
                goes = goes != (figures[surrogates.REVERSED] > 0)
                agreement = weights[goes == left].sum() / weights.sum()
                assert agreement == pytest.approx(expected[a])
            else:
                assert records.masks[0, k, [0, 1, 2]].tolist() == [2, 0, 1]


def test_rows_of_both_branches_stand_in_halves_of_a_word():
    word = 3 * bins.ONE_FIRST + 5 * bins.ONE_SECOND
    assert bins.rows_in(word) == 8
    # D was 2 before a part with 1 and 4 of the branches, of 10 and 6 in all.
    assert bins.agreement_bound(10.0, 6.0, 2.0, 1.0, 4.0) == max(6 + 2 + 1, 10 - 2 + 4)
