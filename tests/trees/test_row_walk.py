"""One row down lists, against the arrays that many rows go down."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.strategies import cells_of, columns_of, recipes, tables

import spinney
from spinney.growth.plain.learner import grow_tree
from spinney.trees.predict.flat_tree import flatten
from spinney.trees.predict.row_walk import row_walk_of


@given(tables(max_rows=30), recipes(), st.data())
@settings(max_examples=examples(150))
def test_a_row_comes_to_the_leaf_of_the_arrays_or_stays_open(table, recipe, data):
    tree = grow_tree(table.source, recipe)
    cells = [st.none() | cells_of(each) for each in table.schema.attributes]
    rows = data.draw(st.lists(st.tuples(*cells), min_size=1, max_size=8))
    flat = flatten(tree)
    walk = row_walk_of(flat, flat.needed.tolist())
    columns = columns_of(table.schema, rows)
    paths = flat.paths(columns, len(rows))
    inner = np.flatnonzero(flat.attribute >= 0)
    for number, row in enumerate(rows):
        asked = [row[attribute] for attribute in flat.needed]
        leaf = walk.leaf([np.nan if cell is None else cell for cell in asked], 0)
        weights = paths[[number]].toarray()[0]
        if leaf >= 0:
            assert weights[leaf] == 1
            assert flat.attribute[leaf] < 0
        else:  # somewhere on its way it is divided, or surrogates are asked
            way = inner[weights[inner] > 0]
            value = [row[attribute] for attribute in flat.attribute[way]]
            unseen = flat.arrays.branches_of(
                way, np.array([np.nan if cell is None else cell for cell in value])
            )
            assert (unseen < 0).any()


def test_several_intervals_of_a_number():
    numbers = [number / 4 for number in range(40)]
    table = {"x": numbers, "y": ["abca"[int(number) // 3] for number in numbers]}
    recipe = spinney.Recipe.named("id3").changed(buckets="entropy-mdl")
    model = spinney.grow(table, "y", recipe=recipe)
    assert len(model.tree.root.children) > 2
    flat = flatten(model.tree)
    walk = row_walk_of(flat, [0])
    for number in [*numbers, *flat.arrays.cuts.tolist(), -1.0, 99.0]:
        (leaf,) = flat.leaf_numbers([np.array([number])], 1)
        assert walk.leaf([number], 0) == leaf


def test_the_leaves_of_several_trees_or_none():
    table = {"x": [1.0, 2.0, 3.0, None] * 9, "y": ["a", "b", "a", "b"] * 9}
    forest = spinney.grow_forest(table, "y", n_estimators=5).forest_
    trees, roots = forest.voting_trees(forest.numbers)
    walk = row_walk_of(trees, [0], roots=roots)
    for number in (0.0, 2.0, 9.0):
        leaves = walk.leaves([number])
        assert leaves is not None
        here = trees.leaf_numbers([np.full(5, number)], 5, roots=roots)
        assert leaves == here.tolist()
    divided = spinney.grow_forest(table, "y", n_estimators=5, missing="fractional")
    trees, roots = divided.forest_.voting_trees(divided.forest_.numbers)
    assert row_walk_of(trees, [0], roots=roots).leaves([np.nan]) is None


@pytest.mark.parametrize("recipe", ["m5", "cart"])
def test_models_of_leaves_are_those_of_the_arrays(recipe):
    random = np.random.default_rng(3)
    x, sort = random.normal(size=80), random.choice(["a", "b", "c"], 80)
    table = {"x": x, "sort": sort, "y": 3 * x + (sort == "b") + (x > 0.5) * x**2}
    flat = flatten(spinney.grow(table, "y", recipe=recipe).tree)
    walk = row_walk_of(flat, flat.needed.tolist())
    assert bool(walk.models) == (recipe == "m5")
    for leaf, model in walk.models.items():
        for cells in ([0.7, 1.0], [np.nan, 2.0], [-0.3, np.nan]):
            asked = [cells[attribute] for attribute in flat.needed]
            expected = flat.outputs_at(np.array([leaf]), [np.array([c]) for c in cells])
            assert model.value(asked) == expected[0, 0]
