"""Error-based pruning against its twin, and what must hold of any pruned tree."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests import naive_pruning as twins
from tests.naive import way_of
from tests.strategies import Rows, columns_of, recipes, tables

from spinney.files.model_file import load_model, save_model
from spinney.learner import grow_tree
from spinney.model import Fingerprint, Model
from spinney.predict import flatten
from spinney.prune import pruned_after_growing
from spinney.prune.error_based import SLACK
from spinney.recipe import Recipe
from spinney.tree import Reason, Tree

CLOSE = {"rel": 1e-9, "abs": 1e-9}


@st.composite
def pruning_recipes(draw: st.DrawFn) -> Recipe:
    return draw(recipes()).changed(
        pruning="error-based",
        confidence=draw(st.sampled_from((0.25, 0.1, 0.4, 0.5))),
        raising=draw(st.booleans()),
        probability=draw(st.sampled_from(("frequency", "laplace", "m-estimate"))),
    )


def path_of(tree: Tree, number: int) -> tuple[int, ...]:
    return tuple(node.branch for node in tree.path(number)[1:])


@given(tables(max_rows=40), pruning_recipes())
@settings(max_examples=200, deadline=None)
def test_the_pruned_tree_is_the_twins(table: Rows, recipe: Recipe):
    assume(recipe.missing != "surrogate")  # the twin divides rows, or sends them
    tree = grow_tree(table.source, recipe)
    found, _ = pruned_after_growing(tree, table.source, recipe=recipe)
    task = twins.Task(table.schema.n_classes, recipe.confidence, recipe.raising)
    twin = twins.twin_of(tree)
    twins.collapse(twin, table.rows, task)
    twins.prune(twin, table.rows, task)
    expected = twins.shape(twin, table.rows, task)
    assert len(found) == len(expected)
    for node, (path, attribute, sides, weights) in zip(found, expected, strict=True):
        assert path_of(found, node.number) == path
        assert (-1 if node.split is None else node.split.attribute) == attribute
        assert node.split is None or way_of(node.split).sides == sides
        assert node.weights == pytest.approx(weights, **CLOSE)


@given(tables(max_rows=40), pruning_recipes())
@settings(max_examples=100, deadline=None)
def test_every_step_is_within_its_slack(table: Rows, recipe: Recipe):
    tree = grow_tree(table.source, recipe)
    found, steps = pruned_after_growing(tree, table.source, recipe=recipe)
    for step in steps:
        assert step.pruned == (step.action in ("collapsed", "replaced"))
        if step.action != "kept":
            assert step.after <= step.before + SLACK + 1e-6
    assert len(found) <= len(tree)
    asked = {node.split for node in tree if node.split and not recipe.raising}
    if not recipe.raising:
        assert {node.split for node in found if node.split} <= asked
        assert not any(step.action == "raised" for step in steps)
    for leaf in found.leaves:
        assert leaf.reason is not None
        if leaf.reason is Reason.PURE:
            assert np.count_nonzero(leaf.weights) == 1


@given(table=tables(max_rows=40), recipe=pruning_recipes())
@settings(max_examples=60, deadline=None)
def test_a_pruned_model_is_the_same_from_its_file(
    table: Rows, recipe: Recipe, tmp_path_factory: pytest.TempPathFactory
):
    tree = grow_tree(table.source, recipe)
    found, _ = pruned_after_growing(tree, table.source, recipe=recipe)
    path = tmp_path_factory.mktemp("pruned") / "model.spinney"
    origin = Fingerprint(len(table.rows), float(found.root.weight), "", "0")
    save_model(Model(found, recipe, origin), path)
    again = load_model(path).tree
    columns = columns_of(table.schema, [cells for cells, _, _ in table.rows])
    n_rows = len(table.rows)
    before = flatten(found).outputs(columns, n_rows)
    assert np.array_equal(before, flatten(again).outputs(columns, n_rows))
