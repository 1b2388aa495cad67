"""Error-based pruning against its twin, and what must hold of any pruned tree."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.growth.test_prune_methods import check_subtree
from tests.helpers.fuzz import examples
from tests.helpers.strategies import Rows, columns_of, recipes, tables
from tests.properties.test_pruning import COSTS
from tests.twins import naive_pruning as twins
from tests.twins.naive import way_of

from spinney.data.schema import Fingerprint, Schema
from spinney.growth.model import Model
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune.error_based import COLLAPSE_SLACK, SLACK, estimated_errors
from spinney.growth.prune.prune_methods import pruned, pruned_after_growing
from spinney.growth.prune.risk import leaf_risks, sums_below
from spinney.output.file.model_files import load_model, save_model
from spinney.recipes import Recipe
from spinney.trees import Reason, Tree
from spinney.trees.predict.flat_tree import flatten

CLOSE = {"rel": 1e-9, "abs": 1e-9}


@st.composite
def pruning_recipes(draw: st.DrawFn) -> Recipe:
    return draw(recipes()).changed(
        pruning="error-based",
        confidence=draw(st.sampled_from((0.25, 0.1, 0.4, 0.5))),
        raising=draw(st.booleans()),
        probability=draw(st.sampled_from(("frequency", "laplace", "m-estimate"))),
    )


def with_costs(schema: Schema, matrix: tuple[tuple[float, ...], ...]) -> Schema:
    return replace(schema, target=replace(schema.target, costs=matrix))


def path_of(tree: Tree, number: int) -> tuple[int, ...]:
    return tuple(node.branch for node in tree.path(number)[1:])


@given(tables(max_rows=40), pruning_recipes())
@settings(max_examples=examples(200))
def test_the_pruned_tree_is_the_twins(table: Rows, recipe: Recipe):
    assume(recipe.missing != "surrogate")  # the twin divides rows, or sends them
    tree = grow_tree(table.source, recipe)
    found = pruned_after_growing(tree, table.source, recipe=recipe).tree
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
@settings(max_examples=examples(100))
def test_every_step_is_within_its_slack(table: Rows, recipe: Recipe):
    tree = grow_tree(table.source, recipe)
    result = pruned_after_growing(tree, table.source, recipe=recipe)
    found, steps = result.tree, result.steps
    for step in steps:
        assert step.pruned == (step.action in ("collapsed", "replaced"))
        if step.action != "kept":
            assert step.after <= step.before + SLACK + 1e-6
    assert len(found) <= len(tree)
    if not recipe.raising:
        check_subtree(found, tree)
        assert not any(step.action == "raised" for step in steps)
    for leaf in found.leaves:
        assert leaf.reason is not None
        if not leaf.n_rows:
            above = found.nodes[leaf.parent].distribution
            assert leaf.distribution.tolist() == above.tolist()
        if leaf.reason is Reason.PURE:
            assert np.count_nonzero(leaf.weights) == 1


def estimate(tree: Tree, confidence: float) -> float:
    costs = tree.schema.target.costs
    return sum(
        estimated_errors(leaf.weights, confidence, costs) for leaf in tree.leaves
    )


def risk(tree: Tree) -> float:
    return float(sums_below(tree, leaf_risks(tree))[0])


@given(st.data(), pruning_recipes(), st.booleans())
@settings(max_examples=examples(100))
def test_steps_account_for_the_objective_and_the_risk(data, recipe, dear):
    """What the steps say adds up to what the finished tree shows."""
    table = data.draw(tables(max_rows=40))
    if dear:
        n_classes = table.schema.n_classes
        matrix = tuple(tuple(line[:n_classes]) for line in COSTS[:n_classes])
        table = Rows(with_costs(table.schema, matrix), table.rows)
    tree = grow_tree(table.source, recipe)
    result = pruned_after_growing(tree, table.source, recipe=recipe)
    collapsed = pruned(tree, "collapse").tree
    changes = [s for s in result.steps if s.action in ("replaced", "raised")]
    change = sum(step.after - step.before for step in changes)
    before, after = (estimate(t, recipe.confidence) for t in (collapsed, result.tree))
    assert after == pytest.approx(before + change, **CLOSE)
    assert after <= before + len(changes) * (SLACK + 1e-6)
    total = risk(tree)
    for step in result.steps:
        assert step.risk_before == pytest.approx(total, **CLOSE)
        total = step.risk_before if step.action == "kept" else step.risk_after
    assert risk(result.tree) == pytest.approx(total, **CLOSE)


@given(tables(max_rows=40), recipes())
@settings(max_examples=examples(60))
def test_collapsing_adds_no_training_error(table: Rows, recipe: Recipe):
    tree = grow_tree(table.source, recipe)
    result = pruned(tree, "collapse")
    check_subtree(result.tree, tree)
    errors = [
        sum(float(leaf.weights.sum() - leaf.weights.max()) for leaf in t.leaves)
        for t in (tree, result.tree)
    ]
    assert errors[1] <= errors[0] + COLLAPSE_SLACK * len(result.steps)
    twin = twins.twin_of(tree)
    if recipe.missing != "surrogate":
        task = twins.Task(table.schema.n_classes, 0.25)
        twins.collapse(twin, table.rows, task)
        assert len(result.tree) == len(twins.shape(twin, table.rows, task))


@given(tables(max_rows=40), pruning_recipes())
@settings(max_examples=examples(60))
def test_a_finished_tree_is_pruned_as_one_while_growing(table: Rows, recipe: Recipe):
    """Without rows as without raising."""
    tree = grow_tree(table.source, recipe)
    low = recipe.changed(raising=False)
    while_growing = pruned_after_growing(tree, table.source, recipe=low)
    later = pruned(tree, "error-based", confidence=recipe.confidence)
    assert later.steps == while_growing.steps
    assert [n.weights.tolist() for n in later.tree] == [
        n.weights.tolist() for n in while_growing.tree
    ]


@given(table=tables(max_rows=40), recipe=pruning_recipes())
@settings(max_examples=examples(60))
def test_a_pruned_model_is_the_same_from_its_file(
    table: Rows, recipe: Recipe, tmp_path_factory: pytest.TempPathFactory
):
    tree = grow_tree(table.source, recipe)
    found = pruned_after_growing(tree, table.source, recipe=recipe).tree
    path = tmp_path_factory.mktemp("pruned") / "model.spinney"
    origin = Fingerprint(len(table.rows), float(found.root.weight), "", "0")
    save_model(Model(found, recipe, origin), path)
    again = load_model(path).tree
    columns = columns_of(table.schema, [cells for cells, _, _ in table.rows])
    n_rows = len(table.rows)
    before = flatten(found).outputs(columns, n_rows)
    assert np.array_equal(before, flatten(again).outputs(columns, n_rows))
