"""Trees in one flat layout predict what they predict one by one."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth.test_grow_binned import settings_of_recipes, training_sets
from tests.helpers.fuzz import examples
from tests.helpers.strategies import (
    CLASS_RECIPES,
    cells_of,
    columns_of,
    recipes,
    tables,
)

import spinney
from spinney._support.jit.loading_time import MIN_KERNEL_WORK
from spinney.data.schema import Attribute, Schema, Target
from spinney.data.table import Column, Table
from spinney.errors import SpinneyWarning
from spinney.growth import growers
from spinney.growth.binned import binned_dataset, parallel_search
from spinney.growth.binned.grow_binned import grow_binned_tree as grow_binned
from spinney.growth.plain.learner import grow_tree
from spinney.models.fitted_tree import FittedTree
from spinney.models.grow import grow_model
from spinney.recipes import RECIPES
from spinney.search.cut_points import midpoint, midpoints
from spinney.search.missing_values import POLICIES
from spinney.sources.rows.training_rows import TrainingSet
from spinney.sources.training_data import TrainingData
from spinney.trees.predict.compiled.flat_layout import (
    CHILDREN,
    FIRST,
    ROUTE,
    TreeLayout,
    majority,
    pack_nodes,
    tree_layout,
)
from spinney.trees.predict.compiled.kernels.walk import BY_TABLE
from spinney.trees.predict.compiled.walk_rows import NO_WORDS, leaves, votes
from spinney.trees.predict.flat_tree import FlatTree
from spinney.trees.predict.flat_tree import flatten as arrays_of
from spinney.trees.tree_arrays import arrays_of_nodes


def flatten(tree):
    """Lay one tree out."""
    return tree_layout(arrays_of(tree))


def walked(tree, row):
    """Return the leaf of a row by steps over nodes; None where it has none alone."""
    node = tree.root
    while not node.is_leaf:
        split = node.split
        cell = row[split.attribute]
        branch = int(split.branch_of(np.array([cell]))[0])
        if branch < 0:
            if node.surrogates:
                return None
            branch = (
                split.missing if node.default_branch is None else node.default_branch
            )
            if branch is None:
                return None
        node = tree.nodes[node.children[branch]]
    return node


@st.composite
def later_rows(draw, schema):
    """Draw rows of a schema, some of their cells missing."""
    row = st.tuples(*(st.none() | cells_of(a) | cells_of(a) for a in schema.attributes))
    return columns_of(schema, draw(st.lists(row, min_size=1, max_size=40)))


def check(tree, flat, columns):
    """Hold a layout against steps over nodes and against the plain arrays."""
    n_rows = len(columns[0])
    found, sums = leaves(flat, columns, n_rows)[:, 0], votes(flat, columns, n_rows)
    arrays = arrays_of(tree)
    expected = arrays.outputs(columns, n_rows)
    numbers = arrays.leaf_numbers(columns, n_rows)
    assert np.all(sums.voters == 1)
    for row in range(n_rows):
        leaf = walked(tree, [column[row] for column in columns])
        assert (leaf is None) == (found[row] < 0) == bool(sums.open[row])
        if leaf is not None:
            assert flat.numbers[found[row]] == leaf.number == numbers[row]
            assert sums.sums[row].tobytes() == expected[row].tobytes()
        else:
            assert not sums.sums[row].any()


def same(one, other, *names):
    """Refuse arrays of these names that differ in a bit of their numbers."""
    for name in names:
        each, twin = (np.asarray(getattr(arrays, name)) for arrays in (one, other))
        kind = np.float64 if each.dtype.kind == "f" else np.int64
        assert each.dtype.kind == twin.dtype.kind
        assert each.astype(kind).tobytes() == twin.astype(kind).tobytes(), name


@given(data=st.data())
@settings(max_examples=examples(150))
def test_a_drawn_tree(data):
    table = data.draw(tables())
    tree = grow_tree(table.source, data.draw(recipes()))
    check(tree, flatten(tree), data.draw(later_rows(table.schema)))


@pytest.mark.parametrize("name", CLASS_RECIPES)
@given(data=st.data())
@settings(max_examples=examples(25))
def test_a_tree_of_each_recipe(name, data):
    table = data.draw(tables())
    recipe = RECIPES[name].changed(max_depth=data.draw(st.sampled_from([None, 3])))
    if name == "chaid":
        recipe = recipe.changed(alpha_split=0.9, alpha_merge=0.5)
    tree = grow_tree(table.source, recipe)
    check(tree, flatten(tree), data.draw(later_rows(table.schema)))


@pytest.mark.parametrize("missing", ["branch", "fractional", "surrogate"])
@given(training=training_sets(), said=settings_of_recipes, laplace=st.booleans())
@settings(max_examples=examples(60))
def test_a_tree_that_kernels_grew(missing, training, said, laplace):
    recipe = RECIPES["cart"].changed(missing_policy=missing, **said)
    if laplace and not training.schema.target.is_numeric:
        recipe = recipe.changed(probability="laplace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binned_dataset, "SMALL_NODE_ROWS", 8)
        patch.setattr(parallel_search, "MIN_PARALLEL_ROWS", 20)
        tree = grow_binned(training, recipe)
    arrays, again = arrays_of(tree), FlatTree(arrays_of_nodes(list(tree)))
    questions = ("attribute", "cut", "listed", "branches", "cuts")
    same(
        arrays.arrays, again.arrays, *questions, "fallback_branch", "shares", "outputs"
    )
    same(arrays.links, again.links, "children", "first", "count")
    surrogates = arrays.arrays.surrogates, again.arrays.surrogates
    assert (surrogates[0] is None or not len(surrogates[0])) == (surrogates[1] is None)
    if surrogates[1] is not None:
        same(*surrogates, *questions, "count", "reversed")
    check(tree, tree_layout(arrays), training.columns)


def joined(flats):
    """Put several layouts into one, their trees in this order."""
    n_nodes = np.cumsum([0, *(len(flat.nodes) - 1 for flat in flats)])
    n_leaves = np.cumsum([0, *(len(flat.outputs) for flat in flats)])
    n_codes = np.cumsum([0, *(len(flat.tables) for flat in flats)])
    nodes = np.empty((n_nodes[-1] + 1, 4), np.int32)
    nodes[0] = flats[0].nodes[0]
    for place, flat in enumerate(flats):
        own = nodes[1 + n_nodes[place] : 1 + n_nodes[place + 1]]
        own[:] = flat.nodes[1:]
        is_leaf = own[:, CHILDREN] == 1 + np.arange(len(own))
        own[:, CHILDREN] += n_nodes[place]
        own[is_leaf, FIRST] += n_leaves[place]
        by_table = ~is_leaf & (own[:, ROUTE] & 3 == BY_TABLE)
        own[by_table, FIRST] += n_codes[place]
    trees = [
        flat.trees + np.array([n_nodes[place], 0]) for place, flat in enumerate(flats)
    ]
    return TreeLayout(
        nodes,
        np.concatenate([flat.tables for flat in flats]),
        np.concatenate(trees),
        np.concatenate([flat.outputs for flat in flats]),
        np.concatenate([flat.numbers for flat in flats]),
    )


@given(
    data=st.data(),
    training=training_sets(),
    depths=st.lists(st.sampled_from([0, 1, 3, None]), min_size=1, max_size=6),
)
@settings(max_examples=examples(60))
def test_trees_together_vote_as_trees_apart(data, training, depths):
    columns, n_rows = training.columns, len(training.classes)
    policy = st.sampled_from(["branch", "fractional"])
    flats = []
    for depth in depths:
        recipe = RECIPES["cart"].changed(
            missing_policy=data.draw(policy), max_depth=depth
        )
        flats.append(flatten(grow_tree(training.source(), recipe)))
    seed = data.draw(st.integers(0, 99))
    bag = np.random.default_rng(seed).integers(0, 2, (n_rows, len(flats)), np.uint8)
    forest = joined(flats)
    together = leaves(forest, columns, n_rows)
    offset = 0
    sums, voters = np.zeros((n_rows, flats[0].outputs.shape[1])), np.zeros(n_rows)
    is_open = np.zeros(n_rows)
    for place, flat in enumerate(flats):
        alone = leaves(flat, columns, n_rows)[:, 0]
        numbered = np.where(alone < 0, -1, alone + offset)
        np.testing.assert_array_equal(together[:, place], numbered)
        offset += len(flat.outputs)
        for row in np.flatnonzero(bag[:, place] == 0):
            voters[row] += 1
            if alone[row] < 0:
                is_open[row] += 1
            else:
                sums[row] += flat.outputs[alone[row]]
    found = votes(forest, columns, n_rows, in_bag=bag)
    assert found.sums.tobytes() == sums.tobytes()
    np.testing.assert_array_equal(found.voters, voters)
    np.testing.assert_array_equal(found.open, is_open)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 16, 40_000])
def test_one_array_is_not_copied_and_threads_change_nothing(dtype, n_rows, monkeypatch):
    random = np.random.default_rng(4)
    cells = random.normal(size=(n_rows, 9)).astype(dtype)
    cells[random.random(cells.shape) < 0.05] = np.nan
    flat = joined([flatten(_some_tree(seed)) for seed in range(12)])
    matrix = [cells[:, place] for place in range(9)]
    apart = [column.astype(np.float64) for column in matrix]
    one, other = votes(flat, matrix, n_rows), votes(flat, apart, n_rows)
    monkeypatch.setattr("spinney.trees.predict.compiled.walk_rows.gather", None)
    again = votes(flat, matrix, n_rows)
    monkeypatch.setattr("spinney._support.threads.n_threads", lambda: 1)
    alone = votes(flat, matrix, n_rows)
    for found in (other, again, alone):
        assert one.sums.tobytes() == found.sums.tobytes()


@pytest.mark.parametrize("n_rows", [1, 7, 8, 1_100])
def test_nodes_as_words_send_every_float32_as_cuts_do(n_rows, monkeypatch):
    """Also values next to a cut, which lies between two numbers of float32."""
    monkeypatch.setattr("spinney.trees.predict.compiled.walk_rows.STEPS_PER_WORD", 0)
    random = np.random.default_rng(5)
    flat = joined([flatten(_some_tree(seed)) for seed in range(12)])
    inner = flat.nodes[:, CHILDREN] != np.arange(len(flat.nodes))
    cuts = flat.nodes.view(np.float64)[inner, 0]
    next_to = random.choice(cuts, (n_rows, 9)).astype(np.float32)
    up, down = (np.nextafter(next_to, np.float32(to)) for to in (np.inf, -np.inf))
    cells = np.choose(random.integers(0, 3, next_to.shape), [down, next_to, up])
    cells[random.random(cells.shape) < 0.05] = random.choice([-np.inf, np.inf])
    matrix = [cells[:, place] for place in range(9)]
    assert len(pack_nodes(flat)) == len(flat.nodes)
    found = votes(flat, matrix, n_rows), leaves(flat, matrix, n_rows)
    monkeypatch.setattr(
        "spinney.trees.predict.compiled.walk_rows.pack_nodes", lambda flat: NO_WORDS
    )
    assert found[0].sums.tobytes() == votes(flat, matrix, n_rows).sums.tobytes()
    assert found[1].tobytes() == leaves(flat, matrix, n_rows).tobytes()


def test_nodes_that_do_not_fit_are_no_words():
    flat = flatten(_some_tree(1))
    flat.nodes[1, 3] = 4 * 256
    assert len(pack_nodes(flat)) == 0


def _some_tree(seed):
    """Return a tree over nine numbers that does not ask about the first."""
    random = np.random.default_rng(seed)
    columns = [np.zeros(60), *random.normal(size=(8, 60))]
    schema = Schema(
        tuple(Attribute(f"x{place}", "numeric") for place in range(9)),
        Target("y", ("a", "b", "c")),
    )
    classes = random.integers(0, 3, 60)
    training = TrainingSet(schema, tuple(columns), classes, None)
    return grow_tree(
        training.source(), RECIPES["cart"].changed(missing_policy="branch")
    )


def test_a_majority_has_whole_votes():
    flat = flatten(_some_tree(0))._replace(outputs=np.array([[0.2, 0.4, 0.4]]))
    assert majority(flat).outputs.tolist() == [[0.0, 0.0, 1.0]]
    assert majority(flat, [[0, 1, 1], [9, 0, 9], [9, 9, 0]]).outputs.tolist() == [
        [1.0, 0.0, 0.0]
    ]


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(
    pairs=st.lists(
        st.tuples(finite, finite)
        | st.tuples(st.integers(-1000, 1000), st.integers(1, 9)).map(
            lambda pair: (pair[0] / 100, (pair[0] + pair[1]) / 100)
        )
        | st.tuples(st.integers(0, 10**13), st.integers(-13, 13)).map(
            lambda pair: ((pair[0] - 0.5) * 10.0 ** pair[1], pair[0] * 10.0 ** pair[1])
        ),
        min_size=1,
        max_size=20,
    )
)
@settings(max_examples=examples(300))
def test_midpoints_are_those_of_pairs(pairs):
    ordered = [sorted(pair) for pair in pairs if pair[0] != pair[1]]
    low, high = np.array(ordered).reshape(-1, 2).T
    found = midpoints(low, high)
    expected = [midpoint(*pair) for pair in ordered]
    assert found.tobytes() == np.array(expected, np.float64).tobytes()


@st.composite
def readable_models(draw):
    """Draw a model of any recipe, and rows to predict."""
    training = draw(training_sets())
    if training.schema.target.is_numeric:
        recipe = RECIPES[draw(st.sampled_from(["cart", "m5"]))]
    else:
        recipe = RECIPES[draw(st.sampled_from(["cart", "c4.5", "id3", "chaid"]))]
    said = {"max_depth": draw(st.sampled_from([None, 2]))}
    if recipe.name == "cart":
        said["missing_policy"] = draw(
            st.sampled_from(sorted(set(POLICIES) - {"mean", "drop"}))
        )
    if recipe.name != "m5" and draw(st.booleans()):
        said |= {"buckets": "equal-frequency", "n_buckets": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpinneyWarning)  # of rows too light to split
        model = grow_model(TrainingData(training), recipe=recipe.changed(**said))
    return FittedTree(model), training


@given(drawn=readable_models())
@settings(max_examples=examples(80))
def test_a_model_predicts_the_same_either_way(drawn):
    model, training = drawn
    table = Table(
        tuple(
            Column(attribute.name, attribute.kind, cells, attribute.values)
            for attribute, cells in zip(
                training.schema.attributes, training.columns, strict=True
            )
        ),
        len(training.classes),
    )
    plain = model.outputs(table), model.apply(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(MIN_KERNEL_WORK, "predict", 0)
        swift = model.outputs(table), model.apply(table)
    assert plain[0].tobytes() == swift[0].tobytes()
    assert plain[1].tobytes() == swift[1].tobytes()


def test_a_model_that_kernels_grew_makes_no_node_to_predict(monkeypatch):
    monkeypatch.setattr(growers, "MAX_WAIT", 0)
    monkeypatch.setitem(MIN_KERNEL_WORK, "predict", 0)
    random = np.random.default_rng(8)
    cells = random.normal(size=(300, 4))
    labels = np.where(cells[:, 0] > random.normal(size=300), "up", "down")
    model = spinney.TreeClassifier(recipe="cart", missing_policy="branch").fit(
        cells, labels
    )
    assert (model.predict(cells) == labels).all()
    assert not model.tree.nodes._cache
    assert (arrays_of(model.tree).outputs(list(cells.T), 300).argmax(1) > 0).any()
