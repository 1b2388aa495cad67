"""Forests against their naive twin: the same trees, votes and measures."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.growth.test_grow_binned import settings_of_recipes, training_sets
from tests.helpers.fuzz import examples
from tests.helpers.strategies import Rows, columns_of, recipes, tables
from tests.properties.test_twin import check_same, close, guide_of
from tests.twins import naive, naive_forest

import spinney
from spinney._support.jit.loading_time import MIN_KERNEL_WORK
from spinney.errors import ParameterError
from spinney.growth import prune
from spinney.growth.forest import ForestSettings, grow_forest, voting
from spinney.growth.forest import forest_growth as growing
from spinney.growth.forest.bags import ForestBags, tree_seeds
from spinney.growth.forest.choose_shrinkage import SHRINKAGES
from spinney.growth.forest.compact_tree import compact, completed, readable
from spinney.growth.forest.forest_settings import attributes_per_node, forest_recipe
from spinney.growth.forest.importances import impurity_importances
from spinney.growth.forest.interactions import interactions_of
from spinney.growth.growers import PLAIN
from spinney.growth.plain.learner import grow_tree
from spinney.output.tree_text import to_text
from spinney.recipes import RECIPES
from spinney.sources.rows.training_rows import TrainingSet
from spinney.trees.predict.flat_tree import FlatTree, flatten

N_TREES = 3


def training_of(table: Rows) -> TrainingSet:
    columns = columns_of(table.schema, [cells for cells, _, _ in table.rows])
    classes = np.array([label for _, label, _ in table.rows])
    weights = np.array([weight for _, _, weight in table.rows])
    unweighted = bool(np.all(weights == 1))
    return TrainingSet(
        table.schema, tuple(columns), classes, None if unweighted else weights
    )


def allowed(recipe):
    """Return the recipe of a forest's trees, if it is one of those the twin has."""
    try:
        recipe = forest_recipe(recipe, extra_random=False)
    except ParameterError:
        assume(False)
    assume(recipe.pruning == "none" and recipe.grouping != "merge")
    return recipe


def twin_of(table, training, recipe, forest_settings, number, tree):
    """Grow the twin of one tree: its bag, its draws, its splits."""
    bags = ForestBags(training, forest_settings)
    nodes, bag = tree_seeds(forest_settings.seed, number)
    weights = [weight for _, _, weight in table.rows]
    if forest_settings.bootstrap:
        copies = bags.copies
        size = forest_settings.bag_size(len(copies.places))
        drawn = naive_forest.bag(
            bag, copies.places, size, replace=forest_settings.replace
        )
        for row in range(len(weights)):
            unit = weights[row] if copies.weight is None else copies.weight
            weights[row] = unit * drawn.count(row)
    rows = [
        (cells, label, weight)
        for (cells, label, _), weight in zip(table.rows, weights, strict=True)
        if weight > 0
    ]
    p = len(table.schema.attributes)
    look = naive_forest.look_with(
        nodes,
        p,
        attributes_per_node(forest_settings.max_features, p),
        tells=recipe.missing_policy == "own-category",
    )
    twin = naive.grow(rows, table.schema, recipe, guide=guide_of(tree), look=look)
    return twin, [weight == 0 for weight in weights]


settings_of_forests = st.builds(
    ForestSettings,
    max_features=st.sampled_from(["sqrt", "log2", 1, 2, 0.7, None]),
    replace=st.booleans(),
    max_samples=st.sampled_from([None, 0.5, 1.0]),
    voting=st.sampled_from(["probability", "majority"]),
    shrinkage=st.sampled_from([None, None, 0, 2.5, 40.0]),
    seed=st.integers(0, 2**32 - 1),
)


@given(tables(), recipes(), settings_of_forests)
@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much],
)
def test_forests_are_their_twins(table, recipe, forest_settings):
    recipe, training = allowed(recipe), training_of(table)
    n_rows, n_classes = len(table.rows), table.schema.n_classes
    p = len(table.schema.attributes)
    grown = []

    def kept(*given, **options):
        result = prune.pruned_after_growing(*given, **options)
        grown.append(result.tree)
        return result

    with (
        patch.object(growing, "choose_forest_grower", return_value=PLAIN),
        patch.object(growing, "pruned_after_growing", kept),
    ):
        forest = grow_forest(
            training, recipe, forest_settings, n_trees=N_TREES, n_jobs=1
        )
    votes = np.zeros((n_rows, n_classes))
    asked = np.zeros(n_rows)
    gains, counts = np.zeros((N_TREES, p)), np.zeros((p, p))
    twins = []
    for number, tree in enumerate(grown):
        twin, out = twin_of(table, training, recipe, forest_settings, number, tree)
        twins.append(twin)
        check_same(tree, twin)
        gains[number] = naive_forest.gained(twin, p)
        counts += naive_forest.below(twin, p)
        for row in np.flatnonzero(out):
            cells = table.rows[row][0]
            shares = naive_forest.shares_of(twin, cells, forest.shrinkage)
            if forest_settings.voting == "majority":
                best = [c for c in range(n_classes) if shares[c] >= max(shares) - 1e-12]
                shares = [float(c == best[-1]) for c in range(n_classes)]
            votes[row] += shares
            asked[row] += 1
    bags = ForestBags(training, forest_settings)
    told, trees = voting.out_of_bag(forest, bags)
    assert trees.tolist() == asked.tolist()
    known = asked > 0
    assert close(told[known], votes[known] / asked[known, None])
    assert np.isnan(told[~known]).all()
    for line, sums in zip(impurity_importances(forest).by_tree, gains, strict=True):
        if sums.sum() > 1e-9:  # else it is a sum of roundings
            assert close(line, sums / sums.sum())
    assert interactions_of(forest).counts.tolist() == counts.tolist()
    if forest_settings.shrinkage is None:
        check_choice(forest, twins, table, bags)
    else:
        assert forest.shrinkage == forest_settings.shrinkage


def check_choice(forest, twins, table, bags):
    """The shrinkage is the least of those whose loss out of the bag is least."""
    copies, drawn = bags.copies, forest.settings
    n_copies = len(copies.places)
    weights = [weight for _, _, weight in table.rows]
    unit = sum(weights) / n_copies
    losses = []
    for tried in SHRINKAGES:
        votes = np.zeros((n_copies, table.schema.n_classes))
        trees = np.zeros(n_copies, int)
        for number, twin in enumerate(twins):
            size = drawn.bag_size(n_copies)
            _, seed = tree_seeds(drawn.seed, number)
            inside = naive_forest.draws(seed, n_copies, size, replace=drawn.replace)
            for copy in set(range(n_copies)) - set(inside):
                cells = table.rows[copies.places[copy]][0]
                votes[copy] += naive_forest.shares_of(twin, cells, tried * unit)
                trees[copy] += 1
        own = [table.rows[row] for row in copies.places]
        counted = [1.0 if copies.weight else weight for _, _, weight in own]
        classes = [label for _, label, _ in own]
        losses.append(naive_forest.log_loss(votes, trees, classes, counted))
    least = min(losses)
    first = [loss <= least + 1e-12 * abs(least) for loss in losses].index(True)
    if sum(loss <= least + 1e-9 for loss in losses) == 1 or first == 0:
        assert close(forest.shrinkage, SHRINKAGES[first] * unit)


@given(tables(), recipes())
@settings(max_examples=examples(150))
def test_a_member_is_its_tree(table, recipe):
    assume(recipe.missing_policy != "surrogate")  # which is no policy of a forest
    tree = grow_tree(table.source, recipe)
    member = compact(tree.arrays)
    again = readable(member, table.schema, recipe)
    assert to_text(again) == to_text(tree)
    for one, other in zip(again, tree, strict=True):
        assert (one.number, one.parent, one.branch, one.depth, one.reason) == (
            other.number,
            other.parent,
            other.branch,
            other.depth,
            other.reason,
        )
        assert one.children == other.children
        assert close(one.weights, other.weights)
        assert one.n_rows == other.n_rows
        assert close(one.distribution, other.distribution)
    columns = columns_of(table.schema, [cells for cells, _, _ in table.rows])
    flat = FlatTree(completed(member, table.schema.target, (recipe,)))
    n = len(table.rows)
    assert close(flat.outputs(columns, n), flatten(tree).outputs(columns, n))
    assert (
        flat.leaf_numbers(columns, n) == flatten(tree).leaf_numbers(columns, n)
    ).all()


@pytest.mark.parametrize("recipe", ["cart", "id3", "c4.5", "chaid"])
def test_a_member_is_its_tree_by_named_recipes(recipe):
    table = {
        "size": [1, 2, 3, 4, 5, 6, None, 8] * 4,
        "shade": ["a", "b", "c", None] * 8,
        "sold": (["no"] * 3 + ["yes"] * 5) * 4,
    }
    model = spinney.grow(table, "sold", recipe=recipe, missing_policy="own-category")
    member = compact(model.tree.arrays)
    tree = readable(member, model.tree.schema, RECIPES[recipe])
    assert str(model) == to_text(tree)


@given(training_sets(), settings_of_forests, settings_of_recipes)
@settings(max_examples=examples(100))
def test_compiled_loops_grow_the_trees_of_the_plain_learner(
    training, forest_settings, changes
):
    recipe = RECIPES["cart"].changed(**changes, missing_policy="branch")
    arguments = (training, recipe, forest_settings)
    with patch.object(growing, "choose_forest_grower", return_value=PLAIN):
        plain = grow_forest(*arguments, n_trees=N_TREES)
    with patch.object(growing.KernelGrower, "trees_per_run", return_value=2):
        by_kernels = grow_forest(*arguments, n_trees=N_TREES, n_jobs=1)
    assert close(by_kernels.shrinkage, plain.shrinkage)
    for one, other in zip(by_kernels.trees, plain.trees, strict=True):
        assert len(one.tree) == len(other.tree)
        for node, twin in zip(one.tree, other.tree, strict=True):
            check_nodes(node, twin)


def check_nodes(one, other):
    for name in ("parent", "branch", "depth", "n_rows", "label", "reason", "children"):
        assert getattr(one, name) == getattr(other, name), name
    assert close(one.weights, other.weights)
    assert close(one.distribution, other.distribution)
    if other.split is not None:
        for name in ("attribute", "missing", "threshold", "groups"):
            assert getattr(one.split, name, None) == getattr(other.split, name, None)
        assert close(one.candidate.gain, other.candidate.gain)


@given(tables(), st.integers(0, 2**32 - 1), st.sampled_from(["branch", "fractional"]))
@settings(max_examples=examples(150))
def test_drawn_cuts_are_where_they_are_drawn(table, seed, missing):
    recipe = RECIPES["cart"].changed(missing_policy=missing)
    forest_settings = ForestSettings(extra_random=True, bootstrap=False, seed=seed)
    training = training_of(table)
    forest = grow_forest(training, recipe, forest_settings, n_trees=1)
    nodes_seed, _ = tree_seeds(seed, 0)
    tree = forest.trees[0].tree
    p = len(table.schema.attributes)
    look = naive_forest.look_with(
        nodes_seed, p, attributes_per_node("sqrt", p), tells=False
    )
    here = {0: ((), table.rows)}
    for node in tree:
        path, rows = here[node.number]
        if node.is_leaf:
            continue
        split, place = node.split, node.split.attribute
        assert place in look(path, rows, list(range(p)))
        values = sorted({cells[place] for cells, _, _ in rows} - {None})
        kind = table.schema.attributes[place].kind
        key = naive_forest.key_at(nodes_seed, path)
        word = naive_forest.splitmix(key ^ naive_forest.splitmix(place + 1))
        if kind == "nominal":
            assert sorted(split.groups[0] + split.groups[1]) == values
            assert all(split.groups)
        else:
            share = (word >> 11) / 2**53
            cut = values[0] * (1 - share) + values[-1] * share
            if kind == "ordinal":
                cut = np.floor(cut) + 0.5
            assert split.threshold == cut
            assert values[0] <= cut < values[-1]
        way = naive.way_of(split)
        for branch, number in enumerate(node.children):
            parts = [
                row
                for row in rows
                if way.branch_of(row[0][place]) in (branch, None)
                and (row[0][place] is not None or way.missing in (branch, None))
            ]
            here[number] = ((*path, branch), parts)


def forest_and_rows(n_trees=5):
    random = np.random.default_rng(7)
    rows = [[float(a), float(b)] for a, b in random.integers(0, 9, (40, 2))]
    classes = [int(a + random.integers(0, 4) > 5) for a, _ in rows]
    model = spinney.ForestClassifier(n_trees, random_state=3).fit(rows, classes)
    return model, rows, classes


def test_proximities_are_shares_of_common_leaves():
    model, rows, _ = forest_and_rows()
    leaves = model.apply(rows)
    expected = np.array(naive_forest.proximities(leaves.tolist()))
    found = np.zeros_like(expected)
    for first, block in model.proximity_blocks(rows, rows=7):
        found[first : first + block.shape[0]] = block.toarray()
    assert close(found, expected)
    nearest = model.proximities(rows, k=3).toarray()
    for place, line in enumerate(expected):
        others = [other for other in range(len(line)) if other != place]
        best = sorted(others, key=lambda other: (-line[other], other))[:3]
        kept = [other for other in best if line[other] > 0]
        assert np.flatnonzero(nearest[place]).tolist() == sorted(kept)
        assert close(nearest[place][kept], line[kept])


def test_outliers_are_far_from_their_class():
    model, rows, classes = forest_and_rows()
    near = naive_forest.proximities(model.apply(rows).tolist())
    raw = []
    for one, line in enumerate(near):
        own = [n for n, c in zip(line, classes, strict=True) if c == classes[one]]
        raw.append(len(rows) / sum(n**2 for n in own))
    expected = []
    for one, number in enumerate(raw):
        own = [n for n, c in zip(raw, classes, strict=True) if c == classes[one]]
        middle = np.median(own)
        deviation = np.median([abs(n - middle) for n in own]) or 1.0
        expected.append((number - middle) / deviation)
    assert close(model.outliers(rows, classes), np.array(expected))


def test_permutation_importances_are_the_growth_of_errors():
    model, rows, classes = forest_and_rows()
    forest = model.forest_
    found = model.permutation_importances(rows, classes)
    bags = model._fitted()._bags(rows, classes, None)
    for number, model_of_tree in enumerate(forest.trees):
        out = np.flatnonzero(bags.out_of_bag(number))
        _, seed = tree_seeds(forest.settings.seed, number)

        def errors(cells, tree=model_of_tree.tree, out=out):
            wrong = 0
            for row, line in zip(out, cells, strict=True):
                reached = naive.route(tree, line)
                leaf = next(n for n in tree.leaves if reached[n.number] > 0)
                wrong += leaf.label != classes[row]
            return wrong / len(out)

        plain = [rows[row] for row in out]
        asked = {n.split.attribute for n in model_of_tree.tree if not n.is_leaf}
        for attribute in range(2):
            words = np.random.SeedSequence((seed, 1, attribute))
            order = np.random.Generator(np.random.PCG64(words)).permutation(len(out))
            moved = [list(line) for line in plain]
            for line, other in zip(moved, order, strict=True):
                line[attribute] = plain[other][attribute]
            growth = errors(moved) - errors(plain) if attribute in asked else 0.0
            assert close(found.by_tree[number, attribute], growth)
    assert close(found.mean, found.by_tree.mean(axis=0))
    assert close(found.spread, found.by_tree.std(axis=0))


@given(tables(), recipes(), settings_of_forests)
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much],
)
def test_many_rows_are_told_by_compiled_loops_all_the_same(
    table, recipe, forest_settings
):
    recipe, training = allowed(recipe), training_of(table)
    with patch.object(growing, "choose_forest_grower", return_value=PLAIN):
        forest = grow_forest(training, recipe, forest_settings, n_trees=N_TREES)
    arguments = (forest, training.columns, len(table.rows))
    bags = ForestBags(training, forest_settings)
    plain = voting.forest_outputs(*arguments), voting.forest_leaves(*arguments)
    told, trees = voting.out_of_bag(forest, bags)
    with patch.dict(MIN_KERNEL_WORK, {"predict": 0}):
        np.testing.assert_array_equal(voting.forest_outputs(*arguments), plain[0])
        np.testing.assert_array_equal(voting.forest_leaves(*arguments), plain[1])
        again, voters = voting.out_of_bag(forest, bags)
    assert voters.tolist() == trees.tolist()
    np.testing.assert_allclose(again, told, rtol=1e-12, atol=1e-15)
