"""Bonferroni's multipliers against counted partitions."""

from collections.abc import Iterator
from math import comb, exp, inf, log

import pytest

from spinney.errors import ParameterError
from spinney.search.chaid import bonferroni as module
from spinney.search.chaid.bonferroni import bonferroni


def partitions(members: list[int]) -> Iterator[list[list[int]]]:
    """Yield every way to put members into groups."""
    if not members:
        yield []
        return
    first, *rest = members
    for groups in partitions(rest):
        yield [[first], *groups]
        for place, group in enumerate(groups):
            yield [*groups[:place], [first, *group], *groups[place + 1 :]]


def in_order(group: list[int], missing: int | None) -> bool:
    known = sorted(member for member in group if member != missing)
    return known == list(range(known[0], known[0] + len(known))) if known else True


@pytest.mark.parametrize("categories", range(1, 8))
def test_multipliers_count_partitions(categories):
    ways = list(partitions(list(range(categories))))
    last = categories - 1
    for groups in range(1, categories + 1):
        of_size = [way for way in ways if len(way) == groups]
        assert exp(bonferroni(categories, groups)) == pytest.approx(len(of_size))
        for floating in (False, True) if categories > 1 else (False,):
            missing = last if floating else None
            count = sum(all(in_order(g, missing) for g in way) for way in of_size)
            found = bonferroni(categories, groups, kind="ordinal", floating=floating)
            assert exp(found) == pytest.approx(count)


@pytest.mark.parametrize("categories", range(2, 12))
def test_exhaustive_multipliers_are_sums_over_stages(categories):
    stages = range(2, categories + 1)
    nominal = bonferroni(categories, 2, exhaustive=True)
    assert exp(nominal) == pytest.approx(sum(comb(k, 2) for k in stages))
    ordinal = bonferroni(categories, 2, kind="ordinal", exhaustive=True)
    assert exp(ordinal) == pytest.approx(sum(k - 1 for k in stages))
    # The values in order, then a place for the missing.
    floating = bonferroni(categories, 2, kind="ordinal", floating=True, exhaustive=True)
    in_line = sum(k - 1 for k in range(2, categories))
    assert exp(floating) == pytest.approx(in_line + categories - 1)


def test_stirling_by_its_recurrence():
    # S(n, k) = k S(n − 1, k) + S(n − 1, k − 1)
    row = [1]
    for n in range(1, 61):
        row = [
            k * (row[k] if k < n else 0) + (row[k - 1] if k else 0)
            for k in range(n + 1)
        ]
    for k in range(1, 61):
        assert bonferroni(60, k) == pytest.approx(log(row[k]), rel=1e-14, abs=1e-14)


def test_beyond_whole_numbers(monkeypatch):
    pairs = [
        (1500, k) for k in (1, 2, 9, 150, 190, 200, 240, 600, 1000, 1480, 1498, 1499)
    ]
    kinds = [("nominal", False), ("ordinal", False), ("ordinal", True)]
    near = {
        (pair, kind): bonferroni(*pair, kind=kind[0], floating=kind[1])
        for pair in pairs
        for kind in kinds
    }
    bonferroni.cache_clear()
    monkeypatch.setattr(module, "EXACT", 2000)
    for (pair, kind), found in near.items():
        exact = bonferroni(*pair, kind=kind[0], floating=kind[1])
        assert found == pytest.approx(exact, abs=0.001, rel=0)
    bonferroni.cache_clear()


def test_a_million_categories_are_no_trouble():
    assert bonferroni(1_000_000, 2) == pytest.approx(999_999 * log(2))
    assert 0 < bonferroni(1_000_000, 1000) < inf
    assert bonferroni(1_000_000, 1) == 0


@pytest.mark.parametrize("categories, groups", [(3, 0), (3, 4), (0, 0)])
def test_impossible_numbers_are_refused(categories, groups):
    with pytest.raises(ParameterError, match="groups"):
        bonferroni(categories, groups)
