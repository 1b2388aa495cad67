"""The steps of CHAID's merging: they lead to its groups, and p is that of each pair."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.merged_values import merge

import spinney
from spinney.search.chaid.merge_values import MergeStep, Merging, merge_batch
from spinney.trees.counts import CountTable
from spinney.trees.criteria import chi_square_test
from spinney.trees.table_batch import TableBatch

cells = st.integers(0, 30)
lines = st.tuples(cells, cells, cells).filter(any)


def steps_of(table: CountTable, settings: Merging, *, ordinal: bool) -> list[MergeStep]:
    steps: list[MergeStep] = []
    merge_batch(
        TableBatch.of([{0: table}]),
        ordinal=np.array([ordinal]),
        floating=True,
        settings=settings,
        steps=steps,
    )
    return steps


@given(
    st.lists(lines, min_size=2, max_size=6),
    st.just((0, 0, 0)) | lines,
    st.booleans(),
    st.sampled_from((0.0, 20.0)),
)
@settings(max_examples=examples(60))
def test_replayed_steps_give_the_groups(known, missing, ordinal, least):
    table = CountTable.of(known, list(missing))
    settings_ = Merging(least=least)
    kind = "ordinal" if ordinal else "nominal"
    found = merge(table, kind=kind, settings=settings_)
    groups = {frozenset([float(line)]) for line in range(len(known))}
    if any(missing):
        groups.add(frozenset(["missing"]))
    weights = {**dict(enumerate(map(np.array, known))), "missing": np.array(missing)}
    for step in steps_of(table, settings_, ordinal=ordinal):
        one, other = (
            frozenset("missing" if isnan(v) else v for v in side)
            for side in (step.one, step.other)
        )
        pair = [sum(weights[value] for value in side) for side in (one, other)]
        assert step.p == pytest.approx(float(chi_square_test(CountTable.of(pair)).p))
        if step.what == "split again":
            groups.remove(one | other)
            groups |= {one, other}
            continue
        assert {one, other} <= groups
        if step.what == "kept apart":
            assert step.p <= settings_.alpha_merge * (1 + 1e-9)
        else:
            groups -= {one, other}
            groups.add(one | other)
    ours = [{float(value) for value in group} for group in found.groups]
    if found.missing is not None:
        ours[found.missing].add("missing")
    assert groups == set(map(frozenset, ours))


def test_the_merging_of_the_classes_of_titanic(request):
    table = request.config.rootpath / "tests" / "tables" / "titanic.csv"
    model = spinney.grow(table, "Survived", recipe="chaid", weight="Freq")
    told = model.explain(0, attribute="Class")
    assert [(step.one, step.other, step.what) for step in told.merging] == [
        ("{3rd}", "{Crew}", "merged"),
        ("{1st}", "{2nd}", "kept apart"),
    ]
    # χ² of 528, 178 against 673, 212, by hand: 0.3357 with one degree of freedom.
    assert told.merging[0].p_value == pytest.approx(0.5623, abs=1e-4)
    assert "  {3rd}  {Crew}     p = 0.562  merged" in str(told)


def test_the_merging_of_buckets_reads_as_intervals(request):
    table = request.config.rootpath / "tests" / "tables" / "penguins.csv"
    model = spinney.grow(table, "species", recipe="chaid", max_depth=1)
    told = model.explain(0, attribute="bill_length_mm", data=table)
    assert told.merging[2].other == "{missing}"
    assert told.merging[2].one == "41.75 < bill_length_mm ≤ 44.25"
    assert told.merging[-1].what == "kept apart"
