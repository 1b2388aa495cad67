"""Fast k-prototypes is plain k-prototypes: the same clusters, bit for bit."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.twins.naive_prototypes import k_prototypes as naive

from spinney._support.jit.compile import OFF
from spinney.extensions.clustering.lloyd import iterate
from spinney.extensions.clustering.prototypes.compiled_mixed_rows import (
    CompiledMixedRows,
)
from spinney.extensions.clustering.prototypes.fit_k_prototypes import (
    ColumnDistributions,
    KPrototypesMethod,
    cao_initial_rows,
    huang_initial_rows,
)
from spinney.extensions.clustering.prototypes.mixed_cells import (
    MixedCells,
    Prototypes,
)
from spinney.extensions.clustering.prototypes.mixed_rows import (
    MixedRows,
    exact_deviations,
    overall_prototype,
)
from spinney.extensions.clustering.random_rows import RandomStream

NONE = np.empty(0)
LEVELS = 4  # of each nominal column


def numeric_cells(rows, kinds):
    """Return rows of the naive form as numbers and codes."""
    numeric = [c for c, kind in enumerate(kinds) if kind == "numeric"]
    coded = [c for c, kind in enumerate(kinds) if kind != "numeric"]
    sizes = [LEVELS if kinds[c] == "nominal" else kinds[c] for c in coded]
    first = np.append(0, np.cumsum(sizes)).astype(np.int64)
    numbers = [[np.nan if row[c] is None else row[c] for c in numeric] for row in rows]
    codes = [
        [
            first[-1] if row[c] is None else row[c] + first[j]
            for j, c in enumerate(coded)
        ]
        for row in rows
    ]
    return MixedCells(
        np.array(numbers, dtype=float).reshape(len(rows), len(numeric)),
        np.array(codes, dtype=np.int32).reshape(len(rows), len(coded)),
        first,
        np.array([kinds[c] != "nominal" for c in coded], dtype=bool),
    )


def recode_training_rows(prototypes, cells, kinds):
    """Return prototypes in the naive form."""
    numbers, codes = list(prototypes.numbers.T), list(prototypes.codes.T)
    columns, place = [], 0
    for kind in kinds:
        if kind == "numeric":
            columns.append([float(x) for x in numbers.pop(0)])
        else:
            columns.append([int(c - cells.first[place]) for c in codes.pop(0)])
            place += 1
    return [list(row) for row in zip(*columns, strict=True)]


@st.composite
def tables(draw, *, whole_weights=False):
    """Return rows, kinds, a start, weights and γ."""
    kinds = draw(
        st.lists(
            st.sampled_from(["numeric", "nominal", 1, 2, 5]), min_size=1, max_size=4
        )
    )
    number = draw(
        st.sampled_from(
            [
                st.integers(-3, 3).map(float),
                st.floats(-1e3, 1e3, width=32).filter(
                    lambda x: x == 0 or abs(x) > 1e-3
                ),
            ]
        )
    )
    known = [
        number
        if kind == "numeric"
        else st.integers(0, (LEVELS if kind == "nominal" else kind) - 1)
        for kind in kinds
    ]
    gaps = draw(st.booleans())
    row = st.tuples(*[st.one_of(cell, st.none()) if gaps else cell for cell in known])
    rows = [list(row) for row in draw(st.lists(row, min_size=1, max_size=20))]
    start = [
        list(row) for row in draw(st.lists(st.tuples(*known), min_size=1, max_size=7))
    ]
    some = [0.0, 1.0, 2.0, 3.0] if whole_weights else [0.0, 1.0, 2.0, 0.5, 0.25, 3.0]
    weight = st.sampled_from(some)
    weights = draw(st.lists(weight, min_size=len(rows), max_size=len(rows)))
    weights[0] = 1.0
    gamma = draw(st.sampled_from([0.0, 1.0, 0.3, 7.0]))
    return rows, kinds, start, weights, gamma


def both(table):
    rows, kinds, _, weights, gamma = table
    cells, own = numeric_cells(rows, kinds), np.array(weights)
    return MixedRows(cells, own, gamma), CompiledMixedRows(cells, own, gamma, 1)


@settings(max_examples=examples(300))
@given(tables(), st.sampled_from([1, 2, 40]))
def test_both_ways_are_the_naive_one(table, most):
    rows, kinds, start, weights, gamma = table
    expected = naive(rows, kinds, start, weights, gamma, max_iterations=most)
    for own in both(table):
        begin = numeric_cells(start, kinds).as_prototypes()
        found = iterate(own, begin, max_iterations=most)
        assert found.labels.tolist() == expected.labels
        assert (
            recode_training_rows(found.centroids, own.cells, kinds)
            == expected.prototypes
        )
        assert found.n_iterations == expected.n_iterations


@given(tables())
def test_cost_never_rises(table):
    rows, kinds, start, weights, gamma = table
    costs = naive(rows, kinds, start, weights, gamma, max_iterations=60).costs
    for before, after in pairwise(costs):
        assert after <= before * (1 + 1e-9) + 1e-12
    own = both(table)[1]
    begin = numeric_cells(start, kinds).as_prototypes()
    found = [iterate(own, begin, max_iterations=n).inertia for n in range(1, 5)]
    for before, after in pairwise([costs[0], *found]):
        assert after <= before * (1 + 1e-9) + 1e-12


@given(tables(), st.integers(0, 3), st.booleans())
def test_both_ways_start_from_the_same_rows(table, seed, dense):
    weights, n_clusters = np.array(table[3]), len(table[2])
    found = []
    for own in both(table):
        distributions = ColumnDistributions(own.cells, weights)
        if dense:
            middle = overall_prototype(own)
            densities = distributions.densities(
                exact_deviations(own.cells, weights, middle)
            )
            found.append(cao_initial_rows(own, n_clusters, densities, middle).tolist())
        else:
            draws = RandomStream(seed)
            found.append(
                huang_initial_rows(own, n_clusters, draws, distributions).tolist()
            )
    assert found[0] == found[1]
    rows = [table[0][row] for row in found[0]]
    if not dense:  # all different, as long as there are different ones
        distinct = {tuple(row) for row, w in zip(table[0], weights, strict=True) if w}
        assert len({tuple(row) for row in rows}) == min(n_clusters, len(distinct))


KNOWN_BY_NOBODY = (
    [[None, None], [None, 0.0]],
    ["numeric", "numeric"],
    [[0.0, 0.0]],
    [1.0, 0.0],
    0.0,
)


@given(tables(whole_weights=True), st.sampled_from(["huang", "cao", "given"]))
@example(KNOWN_BY_NOBODY, "huang")
def test_weights_are_copies(table, start):
    rows, kinds, given_start, weights, _ = table
    copies = [row for row, w in zip(rows, weights, strict=True) for _ in range(int(w))]
    first = start
    if start == "given":
        first = numeric_cells(given_start, kinds).as_prototypes()
    k = len(given_start) if start == "given" else min(len(given_start), len(copies))
    method = KPrototypesMethod(init=first, n_init=1, seed=3, max_iter=40)
    one = method.fit(numeric_cells(rows, kinds), k, weights=np.array(weights))
    two = method.fit(numeric_cells(copies, kinds), k)
    assert one.gamma == pytest.approx(two.gamma, rel=1e-12)
    kept = np.repeat(one.labels, np.array(weights).astype(int))
    assert kept.tolist() == two.labels.tolist()
    assert one.centroids.is_unchanged(two.centroids) or np.allclose(
        one.centroids.numbers, two.centroids.numbers, equal_nan=True
    )
    assert one.inertia == pytest.approx(two.inertia, rel=1e-9, abs=1e-12)


@given(tables(), st.randoms(use_true_random=False))
def test_order_of_rows_changes_no_start(table, random):
    rows, kinds, start, weights, gamma = table
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = [rows[i] for i in order], [weights[i] for i in order]
    found = []
    for some, heavy in ((rows, weights), shuffled):
        own = MixedRows(numeric_cells(some, kinds), np.array(heavy), gamma)
        distributions = ColumnDistributions(own.cells, np.array(heavy))
        chosen = huang_initial_rows(own, len(start), RandomStream(5), distributions)
        found.append([some[row] for row in chosen])
    assert found[0] == found[1]


def mixed(n, *, seed=0, gaps=0.1):
    """Return many rows of every kind, some cells missing."""
    random = np.random.default_rng(seed)
    middles = random.normal(size=(5, 3)) * 3
    own = random.integers(5, size=n)
    numbers = middles[own] + random.normal(size=(n, 3))
    sizes = np.array([4, 9, 3, 7])
    first = np.append(0, np.cumsum(sizes))
    codes = (own[:, None] + random.integers(2, size=(n, 4))) % sizes + first[:-1]
    numbers[random.random(numbers.shape) < gaps] = np.nan
    codes[random.random(codes.shape) < gaps] = first[-1]
    ordinal = np.array([False, False, True, True])
    return MixedCells(numbers, codes.astype(np.int32), first, ordinal)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_in_threads(weighted):
    cells = mixed(5_000 if OFF else 20_000)
    weights = np.random.default_rng(1).random(len(cells)) if weighted else NONE
    found = []
    for own in (
        MixedRows(cells, weights, 1.7),
        *[swift(cells, weights, n) for n in (1, 2)],
    ):
        distributions = ColumnDistributions(cells, weights)
        start = huang_initial_rows(own, 6, RandomStream(1), distributions)
        first = cells[start].as_prototypes()
        middle = overall_prototype(own)
        first = Prototypes(
            np.where(np.isnan(first.numbers), middle.numbers, first.numbers),
            np.where(first.codes == cells.missing, middle.codes, first.codes),
        )
        found.append(iterate(own, first, max_iterations=15))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].labels, other.labels)
        assert found[0].centroids.is_unchanged(other.centroids)
        assert found[0].inertia == other.inertia
        assert found[0].n_iterations == other.n_iterations


def swift(cells, weights, n_jobs):
    own = CompiledMixedRows(cells, weights, 1.7, 1)
    own.n_jobs = n_jobs
    return own
