"""Every way to split: each is that of plain loops, and the best is what trees take."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.helpers.fuzz import examples
from tests.helpers.strategies import Rows, recipes, tables
from tests.twins import naive_splits
from tests.twins.naive import way_of
from tests.twins.naive_criteria import GAINS
from tests.twins.naive_splits import Task

from spinney.growth.growth_options import Options
from spinney.growth.plain import counted_node
from spinney.growth.plain.learner import grow_tree
from spinney.recipes import Recipe
from spinney.search import enumerate_splits, is_same_split
from spinney.trees import Candidate

ROUNDING = 1e-9
ALL = 10**6


def close(expected: float) -> object:
    return pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)


def task_of(table: Rows, recipe: Recipe) -> Task:
    """Return what the twin knows of a table."""
    places = range(len(table.schema.attributes))
    observed = [sorted({row[0][p] for row in table.rows} - {None}) for p in places]
    total = naive_splits.weight_of(table.rows)
    return Task(table.schema, recipe, total, (), lambda path, place: None, observed)


@given(tables(), recipes())
@settings(max_examples=examples(60))
def test_each_way_and_its_gain_are_those_of_plain_loops(table, recipe):
    tree = grow_tree(table.source, recipe)
    node = counted_node(table.source, tree, recipe, 0)
    task, rows = task_of(table, recipe), table.rows
    for place, attribute in enumerate(table.schema.attributes):
        told = enumerate_splits(
            node.search, node.tables[place], table.schema, place, max_splits=ALL
        )
        known = [row for row in rows if row[0][place] is not None]
        task.known = naive_splits.weight_of(known)
        ways = naive_splits.all_splits(rows, place, task)
        assert len(told.candidates) == told.n_splits == len(ways)
        if attribute.kind == "nominal":
            ours = [way_of(candidate.split) for candidate in told.candidates]
            assert {(w.sides, w.missing) for w in ours} == {
                (w.sides, w.missing) for w in ways
            }
            ways = ours
        for candidate, allowed, way in zip(
            told.candidates, told.allowed, ways, strict=True
        ):
            branches, rest = naive_splits.divide(rows, place, way)
            assert allowed == naive_splits.is_admissible(branches, task, attribute)
            counts = [
                naive_splits.class_weights_of(branch, table.schema.n_classes)
                for branch in branches
            ]
            assert candidate.branches.weights.tolist() == [close(x) for x in counts]
            if allowed:
                n_ways = sum(told.allowed)
                cost = naive_splits.cost_of(n_ways, rows, attribute, recipe)
                weight = naive_splits.weight_of(rest)
                gain = GAINS[recipe.criterion](counts, weight) - cost
                assert candidate.gain == close(gain)


def same_candidate(one: Candidate, other: Candidate) -> bool:
    return (
        is_same_split(one.split, other.split)
        and np.isclose(one.gain, other.gain, rtol=ROUNDING, atol=ROUNDING)
        and np.isclose(one.merit, other.merit, rtol=ROUNDING, atol=ROUNDING)
    )


@given(tables(), recipes())
@settings(max_examples=examples(60))
def test_the_best_way_is_the_one_that_the_node_kept(table, recipe):
    tree = grow_tree(table.source, recipe)
    for node in tree:
        if not node.candidates:
            continue
        told = counted_node(table.source, tree, recipe, node.number)
        assert told.node.weights.tolist() == [close(w) for w in node.weights]
        assert told.node.n_rows == node.n_rows
        assert told.node.chosen == node.chosen
        pairs = zip(told.node.candidates, node.candidates, strict=True)
        assert all(same_candidate(*pair) for pair in pairs)
        for kept in node.candidates:
            ways = enumerate_splits(
                told.search,
                told.tables[kept.attribute],
                table.schema,
                kept.attribute,
                max_splits=ALL,
            )
            best = ways.candidates[ways.best]
            assert same_candidate(best, kept)
            able = zip(ways.candidates, ways.allowed, strict=True)
            gains = [way.gain for way, allowed in able if allowed]
            assert best.gain == close(max(gains))


@given(tables(), recipes())
@settings(max_examples=examples(20))
def test_a_short_list_holds_the_best(table, recipe):
    tree = grow_tree(table.source, recipe)
    node = counted_node(table.source, tree, recipe, 0)
    for place in range(len(table.schema.attributes)):
        settings_ = (node.search, node.tables[place], table.schema, place)
        whole, short = (
            enumerate_splits(*settings_, max_splits=ALL),
            enumerate_splits(*settings_, max_splits=2),
        )
        assert len(short.candidates) == min(2, len(whole.candidates))
        assert short.n_splits == whole.n_splits
        if whole.best is None:
            assert short.best is None
            continue
        one, other = whole.candidates[whole.best], short.candidates[short.best]
        assert same_candidate(one, other)


@given(tables(max_classes=3), recipes(limited=False))
@settings(max_examples=examples(20))
def test_class_weights_and_costs_are_those_of_the_tree(table, recipe):
    n_classes = table.schema.n_classes
    scale = np.arange(1.0, n_classes + 1)
    costs = np.ones((n_classes, n_classes)) - np.eye(n_classes)
    costs[0] *= 5
    options = Options(class_weights=scale, costs=costs)
    tree = grow_tree(table.source, recipe, options)
    for node in tree:
        if not node.candidates:
            continue
        told = counted_node(
            table.source, tree, recipe, node.number, class_weights=scale
        )
        pairs = zip(told.node.candidates, node.candidates, strict=True)
        assert all(same_candidate(*pair) for pair in pairs)
