"""CHAID's merging beside other programs; fixtures/README.md says which and how."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from math import log
from pathlib import Path

import pytest
from benchmarks.tables import markers_of
from tests.helpers.merged_values import merge
from tests.helpers.real_tables import FOLDER, facts_of, needs_tables
from tests.helpers.strategies import TABLES

from spinney.search.chaid.bonferroni import bonferroni
from spinney.search.chaid.merge_values import Merging
from spinney.trees.counts import CountTable
from spinney.trees.criteria.significance import chi_square_test

FIXTURES = Path(__file__).parent / "fixtures" / "chaid"


def fixture(name: str) -> dict:
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


# Multipliers


@pytest.mark.parametrize("entry", fixture("multipliers"))
def test_multipliers_of_chaidr(entry):
    kind = "nominal" if entry["kind"] == "nominal" else "ordinal"
    exhaustive = entry["method"] == "exhaustive"
    found = bonferroni(
        entry["values"],
        entry["groups"] or 2,
        kind=kind,
        floating=entry["kind"] == "floating",
        exhaustive=exhaustive,
    )
    # chaidr's default for these is c (c² − 1) / 2; ours is the sum over the stages.
    factor = 3 if exhaustive and kind == "nominal" else 1
    assert found == pytest.approx(log(entry["multiplier"] / factor), abs=1e-12)


# The election of 2000, as R's CHAID prints it


def splits_of_the_vote() -> Iterator[tuple[dict, list[list[float]]]]:
    nodes = fixture("r_chaid_usvote")["nodes"]
    for node in nodes:
        if node["split"]:
            children = [n["counts"] for n in nodes if n["parent"] == node["node"]]
            yield node["split"], children


@pytest.mark.parametrize("split, counts", list(splits_of_the_vote()))
def test_splits_of_r_chaid(split, counts):
    test = chi_square_test(counts)
    assert test.statistic == pytest.approx(split["chi2"], abs=1e-6)
    assert test.degrees == split["dof"]
    ways = bonferroni(split["values"], split["groups"], kind=split["kind"])
    adjusted = float(test.log_p) + ways
    assert adjusted == pytest.approx(log(split["adjusted_p"]), abs=0.001)


# Merging at the root, by CHAID 5.5.1


def cells_of(name: str) -> tuple[list[dict[str, str]], str]:
    """Return the rows of a table, and what marks a missing cell."""
    path, marker = TABLES / f"{name}.csv", "?"
    if not path.exists():
        facts = facts_of(name)
        path = Path(FOLDER, facts["file"])
        marker = "".join(markers_of(facts))
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)), marker


def table_of(
    rows: list[dict[str, str]], attribute: str, facts: dict, marker: str
) -> CountTable:
    target, values = facts["target"], facts["levels"][attribute]
    weights = Counter()
    for row in rows:
        # Titanic comes as a table of frequencies.
        weights[row[attribute], row[target]] += float(row.get("Freq", 1))
    known = [[weights[value, label] for label in facts["classes"]] for value in values]
    return CountTable.of(known, [weights[marker, label] for label in facts["classes"]])


def check_root(file: str, name: str) -> int:
    """Compare all attributes of a table; return how many of them have a split."""
    facts = fixture(file)[name]
    rows, marker = cells_of(name)
    split = 0
    for attribute, expected in facts["root"].items():
        table = table_of(rows, attribute, facts, marker)
        whole = Merging(alpha_split_merged=0)
        found = merge(table, kind=expected["kind"], settings=whole)
        if expected["split"] is None:
            # It merges two groups, too; here their p says that they are one.
            assert found.p >= 0.05
            continue
        split += 1
        levels = facts["levels"][attribute]
        groups = [{levels[place] for place in group} for group in found.groups]
        if found.missing is not None:
            groups[found.missing].add(None)
        assert sorted(map(repr, map(sorted_of, groups))) == sorted(
            map(repr, map(sorted_of, expected["split"]["groups"]))
        )
        assert found.statistic == pytest.approx(expected["split"]["chi2"], rel=1e-9)
        assert found.degrees == expected["split"]["dof"]
        assert found.p == pytest.approx(expected["split"]["p"], rel=1e-8, abs=1e-300)
    return split


def sorted_of(group: set[str | None]) -> list[str | None]:
    return sorted(group, key=lambda value: (value is None, value or ""))


def test_watermelons_are_merged_as_by_chaid():
    assert check_root("chaid_nominal", "watermelon_2.0") == 2


@pytest.mark.slow
@needs_tables
@pytest.mark.parametrize("file", ["chaid_nominal", "chaid_ordinal"])
def test_real_tables_are_merged_as_by_chaid(file):
    assert sum(check_root(file, name) for name in fixture(file)) > 80
