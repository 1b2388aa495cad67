"""A tree over buckets is the tree over their codes, asked in numbers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.plain.learner import grow_tree
from spinney.output.file.model_files import load_model, save_model
from spinney.output.tree_json import to_json
from spinney.recipes import RECIPES
from spinney.search.buckets import METHODS
from spinney.search.missing_values import POLICIES
from spinney.sources.rows.memory import MemorySource
from spinney.trees.predict.flat_tree import flatten

# What drops rows has tests of its own, ``tests/sources/test_incomplete_rows.py``.
KEPT = {name: policy for name, policy in POLICIES.items() if name != "drop"}
MULTIWAY = sorted(name for name in KEPT if not KEPT[name].surrogates)
NUMBERS = st.one_of(st.none(), st.integers(-3, 12).map(lambda n: n / 2))


@st.composite
def tables(draw: st.DrawFn):
    n_rows = draw(st.integers(4, 20))
    rows = st.lists(NUMBERS, min_size=n_rows, max_size=n_rows)
    numbers = [draw(rows), draw(rows)]
    classes = draw(st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows))
    return numbers, classes


@given(
    tables(),
    st.sampled_from(sorted(METHODS)),
    st.sampled_from(("multiway", "binary")),
    # The mean of all numbers may lie in another bucket than the mean of all codes.
    st.sampled_from(sorted(set(KEPT) - {"mean"})),
    st.integers(2, 4),
)
@settings(max_examples=examples(120))
def test_the_tree_over_codes(table, method, grouping, missing, n_buckets):
    numbers, classes = table
    assume(grouping == "binary" or missing in MULTIWAY)
    recipe = RECIPES["id3"].changed(grouping=grouping, missing_policy=missing)
    by_bucket = replace(recipe, buckets=method, n_buckets=n_buckets)
    target = Target("y", ("a", "b"))
    columns = [np.array([np.nan if x is None else x for x in c]) for c in numbers]
    numeric = Schema(tuple(Attribute(f"x{i}", "numeric") for i in range(2)), target)
    source = MemorySource(numeric, columns, classes=np.array(classes))
    tree = grow_tree(source, by_bucket)

    kind = "nominal" if grouping == "multiway" else "ordinal"
    coded, attributes = [], []
    for place, cells in enumerate(columns):
        known = ~np.isnan(cells)
        codes = np.full(len(cells), -1)
        n_codes = 1
        if known.any():
            found = spinney.discretise(
                cells[known],
                method,
                n_buckets=n_buckets,
                classes=np.array(classes)[known],
            )
            codes = found.codes(cells)
            n_codes = len(found)
        coded.append(codes)
        attributes.append(Attribute(f"x{place}", kind, tuple(range(n_codes))))
    twin = grow_tree(
        MemorySource(
            Schema(tuple(attributes), target), coded, classes=np.array(classes)
        ),
        recipe,
    )
    assert len(tree) == len(twin)
    for ours, theirs in zip(tree, twin, strict=True):
        assert ours.weights == pytest.approx(theirs.weights)
        assert ours.children == theirs.children
        agreements = [surrogate.agreement for surrogate in ours.surrogates]
        assert agreements == [surrogate.agreement for surrogate in theirs.surrogates]
        merits = [candidate.merit for candidate in ours.candidates]
        assert merits == pytest.approx([c.merit for c in theirs.candidates])


@pytest.mark.parametrize("missing", MULTIWAY)
def test_intervals_are_kept_and_asked_in_duckdb(tmp_path, missing):
    columns = {
        "x": [1.0, 2.0, 3.0, 4.0, 5.0, None, 7.0, 8.0],
        "y": ["a", "a", "b", "b", "c", "c", "a", "a"],
    }
    options = {
        "recipe": "id3",
        "buckets": "equal-width",
        "n_buckets": 3,
        "missing_policy": missing,
    }
    model = spinney.grow(columns, "y", **options)
    asked = [model.tree.condition(node) for node in model.tree.nodes[1:4]]
    assert [text.removesuffix(" or missing") for text in asked] == [
        "x ≤ 3.33333333333",
        "3.33333333333 < x ≤ 5.66666666667",
        "x > 5.66666666667",
    ]
    model.save(tmp_path / "m.spinney")
    loaded = load_model(tmp_path / "m.spinney")
    assert to_json(loaded) == to_json(model.model_)
    save_model(loaded, tmp_path / "again.spinney")
    assert (tmp_path / "again.spinney").read_bytes() == (
        tmp_path / "m.spinney"
    ).read_bytes()
    lines = zip(*columns.values(), strict=True)
    path = tmp_path / "t.csv"
    path.write_text(
        "x,y\n" + "".join(f"{'' if x is None else x},{y}\n" for x, y in lines),
        encoding="utf-8",
    )
    there = spinney.grow(str(path), "y", engine="duckdb", **options)
    assert str(there) == str(model)
    paths = model.decision_path(str(path)).sum(axis=0)
    assert np.asarray(paths).ravel() == pytest.approx([n.weight for n in model.tree])
    assert "3.33333333333 < x ≤ 5.66666666667" in model.rules().text()


@given(tables(), st.sampled_from(MULTIWAY), st.booleans())
@settings(max_examples=examples(80))
def test_merged_trees_route_their_own_rows(table, missing, exhaustive):
    numbers, classes = table
    recipe = RECIPES["chaid"].changed(
        missing_policy=missing,
        exhaustive=exhaustive,
        alpha_split=1.0,
        min_samples_split=2,
        min_samples_leaf=1,
    )
    columns = [np.array([np.nan if x is None else x for x in c]) for c in numbers]
    codes = np.array([-1 if x is None else int(x) % 3 for x in numbers[0]])
    attributes = (
        Attribute("x0", "numeric"),
        Attribute("x1", "numeric"),
        Attribute("c", "nominal", (0, 1, 2)),
    )
    schema = Schema(attributes, Target("y", ("a", "b")))
    source = MemorySource(schema, [*columns, codes], classes=np.array(classes))
    tree = grow_tree(source, recipe)
    reached = np.zeros(len(tree))
    for entries in flatten(tree).visits([*columns, codes], len(classes)):
        np.add.at(reached, entries.nodes, entries.weights)
    np.testing.assert_allclose(reached, [node.weight for node in tree], rtol=1e-9)
    for node in tree:
        for candidate in node.candidates:
            assert 0 <= candidate.p_value <= 1
