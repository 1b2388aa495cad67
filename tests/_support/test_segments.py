"""Arrays of many parts, against loops over the parts."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney._support.segments import (
    counts_by,
    first_best_by,
    maxima,
    owners_of,
    running_sums,
    starts_of,
    sums_by,
)
from spinney._support.ties import first_best

PARTS = st.lists(
    st.lists(st.sampled_from([0.1, 0.2, 0.3, 1.0, 2.0, 1e-9, 7 / 3]), max_size=9),
    min_size=1,
    max_size=7,
)
WHOLE = st.lists(st.lists(st.integers(0, 2**50), max_size=9), min_size=1, max_size=7)


def laid_out(parts: list[list[float]], kind: type) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.array([len(part) for part in parts])
    return np.array([v for part in parts for v in part], dtype=kind), starts_of(lengths)


@given(PARTS | WHOLE)
@settings(max_examples=examples(200))
def test_sums_are_those_of_each_part_bit_for_bit(parts: list[list[float]]):
    values, start = laid_out(parts, np.float64)
    columns = np.stack([values, values / 3], axis=1)
    sums = sums_by(owners_of(start), columns, len(parts))
    running = running_sums(columns, start)
    for number, (one, other) in enumerate(pairwise(start)):
        own = np.cumsum(columns[one:other], axis=0)
        np.testing.assert_array_equal(running[one:other], own)
        np.testing.assert_array_equal(sums[number], own[-1] if len(own) else [0, 0])


@given(WHOLE)
@settings(max_examples=examples(50))
def test_whole_numbers_are_counted_exactly(parts: list[list[int]]):
    values, start = laid_out([[v % 1000 for v in part] for part in parts], np.int64)
    counts = counts_by(owners_of(start), values[:, None], len(parts))
    assert counts[:, 0].tolist() == [sum(v % 1000 for v in part) for part in parts]


@given(PARTS, st.sampled_from([1.0, 1e-3]))
@settings(max_examples=examples(200))
def test_the_first_best_of_each_part_is_that_of_the_rule_for_ties(
    parts: list[list[float]], unit: float
):
    values, start = laid_out(parts, np.float64)
    first = first_best_by(values, start, unit=unit)
    expected = [
        start[number] + first_best(np.array(part), unit=unit) if part else -1
        for number, part in enumerate(parts)
    ]
    assert first.tolist() == expected
    assert maxima(values, start).tolist() == [max(p, default=-np.inf) for p in parts]
