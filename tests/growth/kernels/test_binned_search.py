"""The kernels that search, split and record a node, each against all cuts tried."""

from itertools import product

import numpy as np
import pytest
from tests.helpers.plain_kernels import (
    BINNED,
    best_cut,
    coded_cells,
    grow_kernels,
    labels_of,
    layout,
    nodes,
    phi,
    plain,
    search_of,
    split_scores,
    vector,
)

between_bins, inside_bins, competitors, search_kernels = plain(
    *(
        BINNED + name
        for name in ("histogram_cuts", "refined_cuts", "competitors", "search")
    )
)
choosing, sort, sorted_cuts, split, subsets = plain(
    *(
        BINNED + name
        for name in (
            "best_attribute",
            "sort",
            "sorted_cuts",
            "split",
            "category_subsets",
        )
    )
)
GINI, ENTROPY, SQUARES = split_scores.GINI, split_scores.ENTROPY, split_scores.SQUARES
OF_CLASSES = [GINI, ENTROPY, split_scores.ERRORS]
OF_NUMBERS = [SQUARES, split_scores.DEVIATION, split_scores.ROOT]
KINDS = pytest.mark.parametrize("kind", [*OF_CLASSES, *OF_NUMBERS])
MISSING_CODE, BINS = layout.MISSING_CODE, layout.BINS


@pytest.fixture(autouse=True)
def _words_overflow():
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        yield


def planted(kind, *, codes=None, seed=0, n=30, width=None, **rules):
    """Return a search of random rows, and the values of its attributes by row.

    The first attribute has one value a bin, the second several.
    """
    rng = np.random.default_rng(seed)
    numbers = rng.permutation(n).astype(float)
    if codes is None:
        codes = np.column_stack([rng.integers(0, 6, n), numbers // 8])
    cells = coded_cells(codes, numbers=numbers[:, None], columns=[1])
    if kind in OF_NUMBERS:
        labels, width = rng.normal(size=n) + (numbers > n / 3), 4
    else:
        width = 3 if width is None else width
        labels = (rng.integers(0, width, n) + (numbers > n / 3)) % width
    labels = labels_of(labels, kind=kind)
    search = search_of(cells, labels, kind=kind, width=width, **rules)
    values = np.where(codes == MISSING_CODE, np.nan, np.array(codes, float))
    values[values[:, 1] == values[:, 1], 1] = numbers[values[:, 1] == values[:, 1]]
    return search, values


def counted(search):
    lines = search.work.histograms
    search_kernels.count(
        search, 0, len(search.rows), 0, len(search.cells.n_bins), lines
    )
    return lines


@KINDS
def test_the_score_of_a_side_is_its_definition(kind):
    numeric = kind in OF_NUMBERS
    side = np.array([[5.0, 2.0, -1.0, 3.0]] if numeric else [[3.0, 0.0, 2.0]])
    assert split_scores.side_score(kind, side, 0) == pytest.approx(phi(kind, side[0]))
    assert split_scores.side_weight(kind, side, 0) == 5
    assert split_scores.side_score(kind, 0 * side, 0) == 0


def test_a_line_is_summed_up_from_its_first_bin_to_its_last():
    search = search_of(
        coded_cells([[1], [3], [3], [MISSING_CODE]], n_bins=[6]),
        labels_of([0, 1, 1, 0]),
    )
    lines, work = counted(search), search.work
    assert between_bins.sum_histogram(GINI, lines, 0, 6, work.floats, work.vectors) == (
        1,
        3,
        True,
    )
    assert work.floats[layout.SIZES, 1:5].tolist() == [0, 1, 1, 3]
    sums = work.floats[layout.SUMS : layout.SUMS + 2]
    assert sums[:, [2, 4, 6]].tolist() == [[1, 1, 1], [0, 2, 2]]
    assert work.vectors[layout.MISSING].tolist() == [1, 0]


@KINDS
@pytest.mark.parametrize("absent", [False, True])
def test_the_best_edge_is_the_best_cut_between_bins(kind, absent):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        codes = np.column_stack([rng.choice([0, 2, 3, 7], 30), np.zeros(30, int)])
        codes[:5, 0] = MISSING_CODE if absent else 3
        search, values = planted(kind, codes=codes, seed=seed)
        search_kernels.search_edges(search, counted(search), 0, 1e-12)
        cut_score, low = best_cut(search, values[:, 0], kind=kind)
        assert search.work.cuts[0, layout.SCORE] == pytest.approx(cut_score)
        assert search.work.cuts[0, layout.BIN] == low
        assert (search.work.cuts[0, layout.MISSING_SIDE] >= 0) == absent
        after = between_bins.next_bin(
            kind, search.cells, 0, search.work.histograms, search.work.cuts
        )
        assert after == min(code for code in (2, 3, 7) if code > low)


def test_a_bin_that_may_hold_a_better_cut_is_marked():
    # The classes change within the bin 1; the edges beside it are worse.
    numbers = np.arange(12.0)
    codes = np.column_stack([np.zeros(12, int), numbers // 4])
    cells = coded_cells(codes, numbers=numbers[:, None], columns=[1])
    search = search_of(cells, labels_of([0] * 6 + [1] * 6))
    lines, work, rules = counted(search), search.work, search.rules
    first, last, absent = between_bins.sum_histogram(
        GINI, lines, 1, 3, work.floats, work.vectors
    )
    assert between_bins.max_bound(rules, 3, first, last, absent, work) >= 12
    work.cuts[1, [layout.SCORE, layout.BIN]] = -np.inf, -1
    n = between_bins.mark_bins(rules, lines, 1, 3, first, last, absent, 11.9, 0, work)
    assert n == 1
    assert work.ints[layout.IS_OPEN, :3].tolist() == [0, 1, 0]


@KINDS
@pytest.mark.parametrize("absent", [0, 4])
def test_a_search_inside_bins_finds_the_best_cut_of_all(kind, absent):
    for seed in range(8):
        codes = planted(kind, seed=seed)[0].cells.codes.astype(int)
        codes[:absent, 1] = MISSING_CODE
        search, values = planted(kind, codes=codes, seed=seed)
        search.cells.doubles[:absent] = np.nan
        lines = counted(search)
        search_kernels.search_edges(search, lines, 1, 1e-12)
        search_kernels.refine_cut(search, 0, 30, lines, 1, -np.inf, 1e-12)
        cut_score, low = best_cut(search, values[:, 1], kind=kind)
        cut = search.work.cuts[1]
        assert cut[layout.SCORE] == pytest.approx(cut_score)
        if cut[layout.LOW] == cut[layout.LOW]:
            assert cut[layout.LOW] == low
        else:
            assert cut[layout.BIN] == low // 8


def test_rows_of_an_open_bin_are_looked_at_in_parts():
    search, values = planted(GINI, n=30, width=2)
    work, classes = search.work, search.labels.classes
    own = np.flatnonzero(values[:, 1] < 16)  # in the bins 0 and 1, both open
    between_bins.sum_histogram(GINI, counted(search), 1, 4, work.floats, work.vectors)
    work.ints[layout.IS_OPEN, :4] = 1, 1, 0, 0
    work.members[: len(own)], work.values[: len(own)] = search.rows[own], values[own, 1]
    work.row_bins[: len(own)] = values[own, 1] // 8
    assert inside_bins.refine_bins(
        search.rules, search.labels, len(own), 4, False, -np.inf, 1e-12, True, work
    )
    scores = {}
    for low in [*range(7), *range(8, 15)]:
        left = np.bincount(classes[values[:, 1] <= low], minlength=2)
        scores[low] = phi(GINI, left) + phi(
            GINI, np.bincount(classes, minlength=2) - left
        )
    assert work.cuts[-1, layout.SCORE] == pytest.approx(max(scores.values()))
    assert scores[work.cuts[-1, layout.LOW]] == pytest.approx(max(scores.values()))


@KINDS
def test_sorted_keys_are_cut_where_the_score_is_greatest(kind):
    search, values = planted(kind)
    work, n = search.work, len(search.rows)
    for i in range(n):
        work.keys[i] = sort.sort_key(values[i, 1], i)
    work.members[:n], work.values[:n] = search.rows, values[:, 1]
    sort.sort(work.keys, None, n, work.ints[layout.SORT_STACK])
    work.cuts[1, layout.SCORE] = -np.inf
    work.vectors[layout.LEFT], work.vectors[layout.RIGHT] = 0, vector(search, range(n))
    sorted_cuts.scan_sorted(search.rules, 0, n, search.labels, False, 1e-12, work, 1, 5)
    cut_score, low = best_cut(search, values[:, 1], kind=kind)
    assert work.cuts[1, layout.SCORE] == pytest.approx(cut_score)
    assert work.cuts[1, [layout.BIN, layout.LOW, layout.HIGH]].tolist() == [
        5,
        low,
        low + 1,
    ]


def test_a_cut_with_too_light_a_branch_is_no_improvement():
    search, _ = planted(GINI, min_branch_weight=3.0, width=2)
    work = search.work
    work.cuts[0, layout.SCORE] = -np.inf
    work.vectors[layout.LEFT], work.vectors[layout.RIGHT] = [2, 0], [0, 5]
    assert not sorted_cuts.keep_if_better(search.rules, False, 0.0, work, 0)
    work.vectors[layout.LEFT] = 3, 0
    assert sorted_cuts.keep_if_better(search.rules, False, 0.0, work, 0)
    assert work.cuts[0, layout.SCORE] == 8
    assert work.vectors[layout.BEST].tolist() == [3, 0]


@pytest.mark.parametrize("kind", [*OF_CLASSES, SQUARES])
@pytest.mark.parametrize("width", [2, 3])
def test_the_best_subset_is_the_best_of_all(kind, width):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        codes = rng.choice([0, 1, 3, 4], 40)[:, None]
        numeric = kind in OF_NUMBERS
        target = rng.normal(size=40) if numeric else rng.integers(0, width, 40)
        own = 4 if numeric else width
        labels = labels_of(target, kind=kind)
        search = search_of(
            coded_cells(codes, nominal=[0]), labels, kind=kind, width=own
        )
        lines, work = counted(search), search.work
        first, last, absent = between_bins.sum_histogram(
            kind, lines, 0, 5, work.floats, work.vectors
        )
        work.cuts[0, layout.SCORE] = -np.inf
        subsets.best_subset(search.rules, lines, 0, 5, first, last, absent, 1e-12, work)
        best = -np.inf
        for goes in product([False, True], repeat=4):
            left = np.isin(codes[:, 0], np.array([0, 1, 3, 4])[list(goes)])
            sides = (vector(search, np.flatnonzero(side)) for side in (left, ~left))
            best = max(
                best,
                sum(phi(kind, side) for side in sides)
                if any(goes) and not all(goes)
                else -np.inf,
            )
        assert work.cuts[0, layout.SCORE] == pytest.approx(best)
        assert work.masks[0, [0, 2]].tolist() == [1, 0]
        left = np.flatnonzero(work.masks[0, codes[:, 0]] == 1)
        right = np.flatnonzero(work.masks[0, codes[:, 0]] == 2)
        cut_score = phi(kind, vector(search, left)) + phi(kind, vector(search, right))
        assert cut_score == pytest.approx(best)


@KINDS
@pytest.mark.parametrize("small", [0, 100])
def test_a_node_is_split_by_the_attribute_of_the_best_cut(kind, small):
    for seed in range(6):
        search, values = planted(kind, seed=seed, small_node_rows=small)
        chosen, varies = search_kernels.search_node(
            search, 0, search.work.histograms, False
        )
        cuts = [best_cut(search, values[:, a], kind=kind) for a in range(2)]
        assert varies
        assert chosen == int(np.argmax([cut_score for cut_score, _ in cuts]))
        assert search.work.cuts[chosen, layout.SCORE] == pytest.approx(cuts[chosen][0])


def test_by_ratio_the_attribute_wins_that_gains_most_for_its_information():
    # The first gains more than the second, but its sides are even.
    classes = np.array([0] * 6 + [1] * 6)
    even = np.array([0] * 5 + [1] * 5 + [0, 1])
    rare = np.array([1] * 3 + [0] * 9)
    search = search_of(
        coded_cells(np.column_stack([even, rare])),
        labels_of(classes),
        kind=ENTROPY,
        by_ratio=True,
        average_slack=1.0,
    )
    lines = search.work.histograms
    assert search_kernels.search_node(search, 0, lines, False) == (1, True)
    gains = [choosing.best_gain(search, 0, a) for a in range(2)]
    information = [phi(ENTROPY, sides) / -12 for sides in ([6, 6], [9, 3])]
    assert gains[0] / information[0] < gains[1] / information[1]
    rules = search.rules._replace(by_ratio=False)
    by_gain = search._replace(rules=rules)
    chosen, _ = search_kernels.search_node(by_gain, 0, lines, False)
    assert chosen == int(np.argmax(gains))
    # Only who gains the average competes, whatever the ratio.
    rules = search.rules._replace(average_slack=0.0)
    chosen, _ = search_kernels.search_node(
        search._replace(rules=rules), 0, lines, False
    )
    assert chosen == int(np.argmax(gains))


@pytest.mark.parametrize("small", [0, 100])
def test_a_side_weighs_more_than_its_share_of_the_node(small):
    numbers = np.arange(10.0)
    cells = coded_cells(
        (numbers // 5)[:, None].astype(int), numbers=numbers[:, None], columns=[0]
    )
    labels = labels_of([0] * 2 + [1] * 8)
    lows = {}
    for share in (0.0, 0.2):
        search = search_of(
            cells, labels, small_node_rows=small, min_branch_fraction=share
        )
        search_kernels.search_node(search, 0, search.work.histograms, False)
        lows[share] = search.work.cuts[0, layout.LOW]
    assert lows == {0.0: 1, 0.2: 2}
    search = search_of(cells, labels, small_node_rows=small, min_cut_fraction=0.4)
    search_kernels.search_node(search, 0, search.work.histograms, False)
    left = search.work.cuts[0, layout.TOTALS : layout.TOTALS + 2].sum()
    assert left == 4


def test_rows_in_buckets_are_cut_between_them_alone():
    numbers = np.arange(10.0)
    cells = coded_cells(
        (numbers // 5)[:, None].astype(int), numbers=numbers[:, None], columns=[0]
    )
    for small in (0, 100):
        search = search_of(
            cells,
            labels_of([0] * 2 + [1] * 8),
            small_node_rows=small,
            refine_bins=False,
        )
        search_kernels.search_node(search, 0, search.work.histograms, False)
        left = search.work.cuts[0, layout.TOTALS : layout.TOTALS + 2]
        assert left.tolist() == [2, 3]


def test_attributes_that_do_not_vary_are_drawn_in_vain():
    codes = np.column_stack([np.zeros(8, int), np.repeat([0, 1], 4), np.zeros(8, int)])
    search = search_of(coded_cells(codes), labels_of([0] * 4 + [1] * 4), n_drawn=1)
    assert search_kernels.search_node(search, 0, search.work.histograms, False) == (
        1,
        True,
    )
    assert search.work.order[layout.ATTRIBUTE].tolist() == [0, 1, 2]


@pytest.mark.parametrize("tally", [False, True])
@pytest.mark.parametrize("absent", [False, True])
def test_a_split_orders_the_rows_and_sums_up_both_sides(tally, absent):
    search, values = planted(GINI, count_rows=tally)
    if absent:
        search.cells.codes[3, 1] = search.cells.by_attribute[1, 3] = MISSING_CODE
        search.cells.doubles[3], values[3, 1] = np.nan, np.nan
    lines = counted(search)
    search_kernels.search_edges(search, lines, 1, 1e-12)
    search_kernels.refine_cut(search, 0, 30, lines, 1, -np.inf, 1e-12)
    left = split.split_node(search, 0, 1, lines)
    _, low = best_cut(search_of(search.cells, search.labels, width=3), values[:, 1])
    missing = search.records.floats[0, nodes.CUT_MISSING]
    goes = (values[:, 1] <= low) | (np.isnan(values[:, 1]) & (missing == 0))
    numbers = (search.rows & np.uint64(0xFFFFFFFF)).tolist()
    assert numbers == [*np.flatnonzero(goes), *np.flatnonzero(~goes)]
    assert left == goes.sum()
    classes = search.labels.classes
    for side, own in enumerate((goes, ~goes, np.isnan(values[:, 1]))):
        expected = np.bincount(classes[own], minlength=3)
        assert search.stack.child_weights[side].tolist() == expected.tolist()
        assert search.stack.child_counts[side].tolist() == expected.tolist()
    ends = search.records.floats[0, [nodes.CUT_LOW, nodes.CUT_HIGH]]
    known = values[values[:, 1] == values[:, 1], 1]
    assert ends.tolist() == [low, known[known > low].min()]


def test_sides_are_counted_where_they_cannot_be_inferred():
    numbers = np.array([1.0, -2.0, 4.0, 0.5])
    search = search_of(
        coded_cells([[0], [0], [1], [MISSING_CODE]]),
        labels_of(numbers, kind=SQUARES),
        kind=SQUARES,
        width=4,
    )
    nodes.count_children(search, 0, 2, 4, 0)
    sides = [[2, 1, -2, 5], [2, 4.5, 0, 16.25], [1, 0.5, 0, 0.25]]
    assert search.stack.child_weights.tolist() == sides
    assert search.stack.child_counts.tolist() == [[2], [2], [1]]


def test_why_a_node_is_a_leaf_before_it_is_searched():
    search, _ = planted(GINI, width=2)
    stack, rules = search.stack, search.rules
    assert nodes.reason_to_stop(rules, stack, 0) == nodes.INNER
    assert nodes.reason_to_stop(rules._replace(max_depth=0), stack, 0) == nodes.DEPTH
    few = rules._replace(min_node_weight=31.0)
    assert nodes.reason_to_stop(few, stack, 0) == nodes.ROWS_TO_SPLIT
    search = search_of(
        coded_cells([[0], [1]]),
        labels_of([1.0, -1.0], kind=SQUARES),
        kind=SQUARES,
        width=4,
    )
    for least, reason in ((0.9, nodes.INNER), (1.1, nodes.DEVIATION)):
        own = search.rules._replace(min_deviation=least)
        assert nodes.reason_to_stop(own, search.stack, 0) == reason
    stack.counts[0] = 30, 0
    assert nodes.reason_to_stop(few, stack, 0) == nodes.PURE


def test_a_side_waits_with_its_totals_and_is_opened_as_a_leaf():
    search, _ = planted(GINI, width=2)
    stack, records = search.stack, search.records
    nodes.begin_record(records, 0, stack, 0)
    stack.child_weights[1], stack.child_counts[1] = [2.5, 1], [2, 1]
    nodes.push_node(stack, 4, 7, 3, 0, 1, -1, np.uint64(9))
    assert stack.entries[1, : nodes.MIDDLE].tolist() == [4, 7, 3, 0, 1, -1]
    nodes.begin_record(records, 5, stack, 1)
    assert records.ints[0, [nodes.ATTRIBUTE, nodes.RIGHT_CHILD]].tolist() == [-1, 5]
    assert records.ints[
        5, [nodes.PARENT_NODE, nodes.PARENT_BRANCH, nodes.NODE_DEPTH]
    ].tolist() == [0, 1, 3]
    assert records.weights[5].tolist() == [2.5, 1, 0, 0]


def test_what_lost_is_recorded_with_its_cut_and_its_codes():
    codes = np.array([[0, 0, 0], [0, 1, 2], [1, 1, 0], [1, 1, 2], [1, 0, 5]])
    classes = [0, 0, 1, 1, 1]
    search = search_of(coded_cells(codes, nominal=[2]), labels_of(classes))
    lines = counted(search)
    for a in range(3):
        search_kernels.search_edges(search, lines, a, 1e-12)
    competitors.record_competitors(search, 0, 4, 0, 3, 0, False, lines)
    state, records = search.stack.state, search.competitors
    assert state[nodes.N_COMPETITORS] == 2
    assert records.ints[:2, nodes.ATTRIBUTE].tolist() == [1, 2]
    assert records.ints[:2, nodes.PARENT_NODE].tolist() == [4, 4]
    assert records.floats[0, [nodes.CUT_LOW, nodes.CUT_HIGH]].tolist() == [0, 1]
    assert records.counts[0, :2].tolist() == [1, 1]  # left of the cut
    gain = (phi(GINI, [1, 1]) + phi(GINI, [1, 2]) - phi(GINI, [2, 3])) / 5
    assert records.floats[0, nodes.GAIN] == pytest.approx(max(gain, 0))
    listed = search.code_counts
    assert listed.codes[:3, 0].tolist() == [0, 2, 5]
    assert listed.counts[:3].tolist() == [[1, 1], [1, 1], [0, 1]]
    assert records.ints[1, [nodes.FIRST_LINE, nodes.N_LINES]].tolist() == [0, 3]
    # The same lines, from the rows of a node that was sorted.
    assert nodes.count_codes(search, 0, 5, 2, 10) == 3
    np.testing.assert_array_equal(listed.counts[10:13], listed.counts[:3])


@pytest.mark.parametrize("small", [0, 100])
def test_a_planted_tree_is_grown_in_printing_order(small):
    # Class 1 where both attributes are 1.
    codes = np.array(list(product([0, 1], repeat=2)) * 3)
    search = search_of(
        coded_cells(codes), labels_of(codes.min(axis=1)), small_node_rows=small
    )
    grow_kernels.run_task(search, grow_kernels.Task.GROW, 0, 0, 0.0)
    whole = search.records.ints[: search.stack.state[nodes.N_NODES]]
    assert whole[:, nodes.ATTRIBUTE].tolist() == [0, -1, 1, -1, -1]
    assert whole[:, nodes.PARENT_NODE].tolist() == [-1, 0, 0, 2, 2]
    reasons = [nodes.INNER, nodes.PURE, nodes.INNER, nodes.PURE, nodes.PURE]
    assert whole[:, nodes.REASON].tolist() == reasons
    totals = [[9, 3], [6, 0], [3, 3], [3, 0], [0, 3]]
    assert search.records.weights[:5, :2].tolist() == totals
    assert search.stack.state[nodes.N_FREE] == 4


def test_a_node_can_be_done_task_by_task():
    search, values = planted(GINI, width=2)
    task = grow_kernels.Task
    for each in (task.COUNT, task.EDGES):
        grow_kernels.run_task(search, each, 0, 2, 0.0)
    grow_kernels.run_task(
        search, task.INSIDE, 0, 2, search.work.cuts[:, layout.SCORE].max()
    )
    cuts = [best_cut(search, values[:, a])[0] for a in range(2)]
    chosen = int(np.argmax(cuts))
    assert search.work.cuts[chosen, layout.SCORE] == pytest.approx(max(cuts))
    middle = grow_kernels.run_task(search, task.SPLIT, chosen, chosen, 0.0)
    assert 0 < middle < 30
    grow_kernels.run_task(search, task.COMPETITORS, 0, 2, 0.0)
    assert search.competitors.ints[0, nodes.ATTRIBUTE] == 1 - chosen


def test_the_tree_of_every_bag_begins_at_its_root():
    search, _ = planted(GINI, width=2, n_drawn=1, subtract=False)
    search.stack.state[nodes.N_WAITING] = 0
    times = np.ones((2, 30), np.uint8)
    times[1, :10] = 0
    own = search.bags._replace(
        counts=times, seeds=np.array([1, 2], np.uint64), roots=np.zeros(2, int)
    )
    grow_kernels.run_task(search._replace(bags=own), grow_kernels.Task.TREES, 0, 0, 0.0)
    roots = np.flatnonzero(
        search.records.ints[: search.stack.state[nodes.N_NODES], nodes.PARENT_NODE] < 0
    )
    assert own.roots.tolist() == roots.tolist()
    assert search.records.counts[roots, :2].sum(axis=1).tolist() == [30, 20]
