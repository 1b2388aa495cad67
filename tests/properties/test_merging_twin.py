"""CHAID's merging against its naive twin: the same groups, the same figures."""

from fractions import Fraction
from functools import partial
from math import log
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.merged_values import merge
from tests.twins.naive_merging import TESTS, Rows, Twin

from spinney.search.chaid import categories as portions
from spinney.search.chaid.merge_values import (
    METHODS,
    STATISTICS,
    Merging,
    merge_batch,
)
from spinney.trees.counts import CountTable
from spinney.trees.table_batch import TableBatch

ALPHAS = ((0.05, 0.049), (0.05, 0.0), (0.3, 0.29), (0.6, 0.599), (1.0, 0.5))

weights = st.sampled_from((Fraction(1), Fraction(2), Fraction(1, 3), Fraction(9)))


def class_table(categories: list[Rows], missing: Rows, n_classes: int) -> CountTable:
    def line(rows: Rows) -> list[float]:
        return [float(sum(w for y, w in rows if y == c)) for c in range(n_classes)]

    cells = np.array([line(rows) for rows in categories]).reshape(-1, n_classes)
    return CountTable.of(cells, line(missing))


def moment_table(categories: list[Rows], missing: Rows) -> CountTable:
    def line(rows: Rows) -> list[float]:
        return [float(sum(w * y**k for y, w in rows)) for k in range(3)]

    return CountTable(
        np.arange(len(categories)),
        np.array([line(rows) for rows in categories]).reshape(-1, 3),
        np.array([[len(rows)] for rows in categories]),
        np.array(line(missing)),
        np.array([len(missing)]),
    )


@st.composite
def categories(draw: st.DrawFn, n_targets: int) -> tuple[list[Rows], Rows]:
    weight = draw(st.sampled_from((st.just(Fraction(1)), weights)))
    row = st.tuples(st.integers(0, n_targets - 1), weight)
    most = draw(st.sampled_from((3, 8, 25)))
    lists = st.lists(row, max_size=most)
    known = draw(st.lists(lists, min_size=1, max_size=6))
    return known, draw(st.one_of(st.just([]), lists))


settings_of_merging = st.builds(
    lambda method, statistic, alphas, least: Merging(
        method, statistic, alphas[0], alphas[1], least
    ),
    st.sampled_from(METHODS),
    st.sampled_from(sorted(STATISTICS)),
    st.sampled_from(ALPHAS),
    st.sampled_from((0.0, 0.0, 3.0, 7.5)),
)


def check(
    table: CountTable,
    known: list[Rows],
    missing: Rows,
    *,
    kind: str,
    test: str,
    chosen: Merging,
) -> Twin:
    found = merge(table, kind=kind, settings=chosen)
    floats = len(known) if missing else None
    rows = [*known, missing] if missing else known
    twin = Twin(rows, ordered=kind == "ordinal", missing=floats, test=TESTS[test])
    if not any(known):
        assert len(found.groups) == 1
        assert found.log_p == 0
        return twin
    if chosen.method == "exhaustive":
        twin.exhaustive()
    else:
        twin.chaid(chosen.alpha_merge, chosen.alpha_split_merged)
    twin.absorb(chosen.least)
    assert (found.groups, found.missing) == twin.placed()
    statistic, log_p = twin.test([twin.rows_of(group) for group in twin.groups])
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-9)
    assert found.log_p == pytest.approx(log_p, rel=1e-9, abs=1e-11)
    multiplier = twin.multiplier(exhaustive=chosen.method == "exhaustive")
    assert found.log_multiplier == pytest.approx(log(multiplier), rel=1e-12)
    assert 0 <= found.p <= found.adjusted_p <= 1
    assert found.exact
    return twin


@given(categories(3), st.sampled_from(("nominal", "ordinal")), settings_of_merging)
@settings(max_examples=examples(250))
def test_merging_of_classes(drawn, kind, chosen):
    known, missing = drawn
    table = class_table(known, missing, 3)
    check(table, known, missing, kind=kind, test=chosen.statistic, chosen=chosen)


@given(categories(6), st.sampled_from(("nominal", "ordinal")), settings_of_merging)
@settings(max_examples=examples(250))
def test_merging_of_moments(drawn, kind, chosen):
    known, missing = drawn
    table = moment_table(known, missing)
    check(table, known, missing, kind=kind, test="f", chosen=chosen)


@given(
    st.booleans(),
    st.lists(st.tuples(categories(3), st.booleans()), min_size=2, max_size=7),
    settings_of_merging,
    st.booleans(),
    st.sampled_from((1 << 18, 1)),
)
@settings(max_examples=examples(150))
def test_a_stack_merges_as_its_tables_do_alone(numeric, drawn, chosen, floating, cells):
    made = moment_table if numeric else partial(class_table, n_classes=3)
    tables = [made(known, missing) for (known, missing), _ in drawn]
    ordinal = np.array([in_order for _, in_order in drawn])
    stack = TableBatch.of([{0: table} for table in tables])
    with patch.object(portions, "CELLS", cells):  # 1 merges each by itself
        found = merge_batch(stack, ordinal=ordinal, floating=floating, settings=chosen)
    for number, table in enumerate(tables):
        kind = ("nominal", "ordinal")[int(ordinal[number])]
        alone = merge(table, kind=kind, floating=floating, settings=chosen)
        lines = slice(stack.start[number], stack.start[number + 1])
        branch = found.branch[lines].tolist()
        for group, positions in enumerate(alone.groups):
            assert [p for p, own in enumerate(branch) if own == group] == [*positions]
        assert found.n_groups[number] == len(alone.groups)
        at = found.missing[number]
        assert alone.missing == (None if at < 0 else at)
        assert found.log_multiplier[number] == alone.log_multiplier
        assert found.exact[number] == alone.exact


# Tables whose merged groups are split again; random ones seldom are. With "missing"
# the last row is the missing one, and is in the group that is split.
SPLIT_AGAIN = [
    ("nominal", 0.2, [[2, 5], [4, 2], [6, 0], [6, 1], [5, 1]]),
    ("nominal", 0.2, [[6, 5], [14, 0], [3, 6], [0, 2], [14, 4]]),
    ("nominal", 0.05, [[2, 1, 7, 4], [2, 0, 1, 7], [4, 2, 0, 7], [6, 12, 0, 12]]),
    ("ordinal", 0.05, [[14, 14], [10, 4], [5, 0], [0, 1]]),
    ("ordinal", 0.05, [[6, 4], [0, 3], [8, 14], [0, 6], [2, 2]]),
    ("ordinal", 0.05, [[2, 1, 7, 3], [6, 5, 4, 1], [6, 1, 0, 3], [1, 6, 0, 1]]),
    ("nominal, missing", 0.05, [[0, 1], [6, 2], [1, 7], [6, 0], [5, 4], [3, 4]]),
    ("ordinal, missing", 0.05, [[0, 2], [6, 6], [0, 7], [7, 5], [0, 2]]),
    ("ordinal, missing", 0.2, [[1, 6], [3, 7], [4, 5], [0, 5], [4, 5]]),
    ("ordinal, missing", 0.2, [[2, 3, 2, 6], [7, 4, 7, 2], [1, 4, 5, 5], [6, 3, 4, 5]]),
    ("nominal, numeric", 0.05, [[6, 0], [0, 7], [6, 2], [3, 4]]),
    ("nominal, numeric", 0.05, [[10, 0], [5, 1], [1, 6], [4, 3]]),
    ("ordinal, numeric", 0.2, [[6, 10], [5, 2], [4, 0], [6, 2], [6, 4], [5, 5]]),
    ("ordinal, numeric, missing", 0.05, [[10, 0], [5, 1], [1, 6], [4, 3]]),
]


@pytest.mark.parametrize("kind, alpha, counts", SPLIT_AGAIN)
def test_merging_where_groups_are_split_again(kind, alpha, counts):
    kind, *more = kind.split(", ")
    known = [
        [(label, Fraction(count)) for label, count in enumerate(line) if count]
        for line in counts
    ]
    missing = known.pop() if "missing" in more else []
    chosen = Merging(alpha_merge=alpha, alpha_split_merged=alpha - 0.001)
    if "numeric" in more:
        table, test = moment_table(known, missing), "f"
    else:
        table, test = class_table(known, missing, len(counts[0])), "pearson"
    twin = check(table, known, missing, kind=kind, test=test, chosen=chosen)
    assert twin.made
