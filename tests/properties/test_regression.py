"""Regression trees against their twin: every node, every candidate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.twins import naive_regression as naive

from spinney.data.schema import Attribute, Fingerprint, Schema, Target
from spinney.growth.model import Model
from spinney.growth.plain.learner import grow_tree
from spinney.output.file.model_files import load_model, save_model
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource
from spinney.trees.predict.flat_tree import flatten


@st.composite
def tasks(draw: st.DrawFn):
    n_rows = draw(st.integers(2, 14))
    codes = st.integers(0, 3)
    numbers = st.sampled_from((-1.5, 0.0, 0.25, 2.0, 7.0))
    rows = [
        ([draw(codes), draw(numbers)], draw(st.integers(0, 9)) / 2, draw(WEIGHTS))
        for _ in range(n_rows)
    ]
    criterion = draw(st.sampled_from(sorted(naive.IMPURITIES)))
    grouping = draw(st.sampled_from(("multiway", "binary")))
    recipe = RECIPES["cart"].changed(
        criterion=criterion, grouping=grouping, missing="branch"
    )
    origin = 0.0 if criterion == "poisson" else draw(st.sampled_from((0.0, 2.0, 2.3)))
    return rows, recipe, origin


WEIGHTS = st.sampled_from((1.0, 2.0, 0.5))


def grown(rows, recipe, origin):
    schema = Schema(
        (Attribute("c", "nominal", tuple("abcd")), Attribute("x", "numeric")),
        Target("y", origin=origin),
    )
    columns = [
        np.array([cells[0] for cells, *_ in rows]),
        np.array([cells[1] for cells, *_ in rows], dtype=float),
    ]
    source = MemorySource(
        schema,
        columns,
        classes=np.array([y for _, y, _ in rows]),
        weights=np.array([w for *_, w in rows]),
    )
    return grow_tree(source, recipe), columns


@given(tasks())
@settings(max_examples=examples(150))
def test_every_node_is_the_twins(task):
    rows, recipe, origin = task
    tree, columns = grown(rows, recipe, origin)
    inside = {0: rows}
    for node in tree:
        here = inside[node.number]
        if not here:
            assert node.value == tree.nodes[node.parent].value
            continue
        assert node.weight == pytest.approx(naive.weight_of(here))
        assert node.value == pytest.approx(naive.mean(here), abs=1e-9)
        if node.is_leaf:
            continue
        for candidate in node.candidates:
            kind = tree.schema.attributes[candidate.attribute].kind
            best = naive.best_gain(here, candidate.attribute, kind, recipe)
            assert candidate.gain == pytest.approx(best, abs=1e-9)
        merits = [candidate.merit for candidate in node.candidates]
        assert node.candidate.merit >= max(merits) - 1e-9
        goes = node.split.branch_of(
            np.array([cells[node.split.attribute] for cells, *_ in here])
        )
        for branch, child in enumerate(node.children):
            inside[child] = [
                row for row, way in zip(here, goes, strict=True) if way == branch
            ]
    predicted = flatten(tree).outputs(columns, len(rows))[:, 0]
    for leaf in tree.leaves:
        for row in inside[leaf.number]:
            place = rows.index(row)
            assert predicted[place] == leaf.value


@given(tasks())
@settings(max_examples=examples(40))
def test_saved_and_loaded_it_predicts_the_same(tmp_path_factory, task):
    tree, columns = grown(*task)
    path = tmp_path_factory.mktemp("model") / "tree.spinney"
    save_model(Model(tree, task[1], Fingerprint(1, 1.0, "", "0")), path)
    loaded = load_model(path).tree
    n_rows = len(task[0])
    np.testing.assert_array_equal(
        flatten(loaded).outputs(columns, n_rows), flatten(tree).outputs(columns, n_rows)
    )


def test_the_origin_does_not_matter_far_from_zero():
    rows = [([0, float(i)], 1e9 + i % 3, 1.0) for i in range(9)]
    near, _ = grown(rows, RECIPES["cart"], 1e9)
    assert [leaf.value for leaf in near.leaves if leaf.weight == 1] != []
    assert near.root.candidate.gain == pytest.approx(
        naive.best_gain(
            [(c, y - 1e9, w) for c, y, w in rows], 1, "numeric", RECIPES["cart"]
        )
    )
