"""Surrogates of the compiled kernels are those of the plain learner, node by node."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.alike import same_node, same_surrogates, same_tree
from tests.helpers.fuzz import examples

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth import growers
from spinney.growth.binned import (
    binned_dataset,
    binned_surrogates,
    grow_binned,
    grow_routed,
    parallel_search,
)
from spinney.growth.growers import choose_grower
from spinney.growth.growth_options import Options
from spinney.growth.plain.learner import grow_tree
from spinney.recipes import RECIPES
from spinney.sources.rows.training_rows import TrainingSet
from spinney.trees.predict.flat_tree import FlatTree, flatten
from spinney.trees.tree_arrays import arrays_of_nodes


def weights_of(random, kind, n_rows):
    """Return weights: none, whole, of a few fractions, or all different."""
    if kind == "none":
        return None
    if kind == "whole":
        return random.integers(1, 4, n_rows).astype(float)
    if kind == "tenths":
        return random.integers(1, 4, n_rows) / 10
    return random.random(n_rows) + 0.1


@st.composite
def training_sets(draw, *, lacking=False):
    """Draw rows whose attributes follow each other or not, and may lack cells."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_classes = draw(st.integers(2, 300)), draw(st.sampled_from([0, 2, 3]))
    hidden = random.normal(size=n_rows)
    attributes, columns = [], []
    kinds = st.sampled_from(["numeric", "numeric", "nominal", "ordinal"])
    for place, kind in enumerate(draw(st.lists(kinds, min_size=1, max_size=6))):
        n_values, noise = draw(st.integers(1, 6)), draw(st.sampled_from([0, 0.3, 9]))
        numbers = draw(st.sampled_from([-1, 0, 1])) * hidden
        numbers = numbers + noise * random.normal(size=n_rows)
        if kind == "numeric":
            cells = np.round(numbers * n_values) if draw(st.booleans()) else numbers
        else:
            cells = np.clip(np.round(numbers + n_values / 2), 0, n_values - 1)
            cells = cells.astype(np.int32)
        if kind == "nominal":
            cells = random.permutation(n_values).astype(np.int32)[cells]
        if lacking:
            absent = random.random(n_rows) < draw(st.sampled_from([0, 0.1, 0.6]))
            cells[absent] = np.nan if kind == "numeric" else -1
        values = () if kind == "numeric" else tuple(map(str, range(n_values)))
        attributes.append(Attribute(f"x{place}", kind, values))
        columns.append(cells)
    numbers = hidden + draw(st.sampled_from([0, 1])) * random.normal(size=n_rows)
    target, classes = Target("y", origin=0.0), np.round(numbers, 2)
    if n_classes:
        target = Target("y", tuple("abc"[:n_classes]))
        classes = np.clip(np.round(numbers + 1), 0, n_classes - 1).astype(np.int64)
    kind = draw(st.sampled_from(["none", "whole", "tenths", "fractional"]))
    return TrainingSet(
        Schema(tuple(attributes), target),
        tuple(columns),
        classes,
        weights_of(random, kind, n_rows),
    )


@pytest.mark.parametrize("small", [1, 8, 96])
@given(
    training=training_sets(),
    most=st.sampled_from([0, 1, 3, 5]),
    depth=st.sampled_from([None, 1, 4]),
)
@settings(max_examples=examples(60))
def test_surrogates_are_the_plain_learners(small, training, most, depth):
    recipe = RECIPES["cart"].changed(surrogates=most, max_depth=depth)
    plain = grow_tree(training.source(), recipe)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growers, "MAX_WAIT", 0)
        patch.setattr(binned_dataset, "SMALL_NODE_ROWS", small)
        patch.setattr(parallel_search, "MIN_PARALLEL_ROWS", 20)
        patch.setattr(
            binned_dataset, "SAMPLE_ROWS", 40
        )  # others than its values are in the rows
        assert choose_grower(training, recipe, Options()).name == "binned"
        by_kernels = grow_binned.grow_binned_tree(training, recipe)
        same_tree(plain, by_kernels, same_surrogates)  # which are found now


@pytest.mark.parametrize("small", [1, 8, 96])
@given(
    training=training_sets(lacking=True),
    most=st.sampled_from([0, 1, 3, 5]),
    changes=st.fixed_dictionaries(
        {
            "max_depth": st.sampled_from([None, 1, 4]),
            "min_samples_leaf": st.sampled_from([1, 3]),
        }
    ),
    balanced=st.booleans(),
)
@settings(max_examples=examples(80))
def test_rows_without_a_value_go_by_surrogates(
    small, training, most, changes, balanced
):
    recipe = RECIPES["cart"].changed(surrogates=most, **changes)
    n_classes, options = training.schema.n_classes, Options()
    if balanced and n_classes:
        options = Options(class_weights=np.array([1.0, 2.5, 0.3])[:n_classes])
    plain = grow_tree(training.source(), recipe, options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growers, "MAX_WAIT", 0)
        patch.setattr(binned_dataset, "SMALL_NODE_ROWS", small)
        patch.setattr(parallel_search, "MIN_PARALLEL_ROWS", 20)
        patch.setattr(grow_routed, "MIN_GROUP_ROWS", 20)
        patch.setattr(
            binned_dataset, "SAMPLE_ROWS", 40
        )  # others than its values are in the rows
        assert choose_grower(training, recipe, options).name == "binned"
        by_kernels = grow_binned.grow_binned_tree(training, recipe, options)
    same_tree(plain, by_kernels, same_node)
    same_tree(plain, by_kernels, same_surrogates)


@pytest.mark.parametrize("weights", ["none", "whole", "tenths"])
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_bins_of_many_values_are_divided_and_opened(weights, correlation):
    # Branches of equal weight: of attributes that know nothing of them nearly every
    # bin may hold the best cut, more rows than are sorted at once.
    random, n_rows = np.random.default_rng(5), 60_000
    hidden = random.normal(size=(n_rows, 1))
    cells = correlation * hidden + random.normal(size=(n_rows, 7))
    cells[:, 4] = np.round(cells[:, 4] * 500)
    cells[:, 5] = -np.round(cells[:, 0], 2)
    # Values in heaps: parts of equal width that hold many rows each.
    for place in (2, 3):
        heaps = np.round(cells[:, place] * 40) / 40
        cells[:, place] = heaps + 1e-9 * random.normal(size=n_rows)
    cells[:3, 6], cells[3:6, 6] = 1e300, -1e300
    schema = Schema(
        tuple(Attribute(f"x{place}", "numeric") for place in range(7)),
        Target("y", ("a", "b")),
    )
    classes = (cells[:, 0] > np.median(cells[:, 0])).astype(np.int64)
    classes ^= random.random(n_rows) < 0.2
    weights = weights_of(random, weights, n_rows)
    training = TrainingSet(schema, tuple(cells.T), classes, weights)
    recipe = RECIPES["cart"].changed(max_depth=1)
    plain = grow_tree(training.source(), recipe)
    by_kernels = grow_binned.grow_binned_tree(training, recipe)
    assert any(node.surrogates for node in plain)
    same_tree(plain, by_kernels, same_surrogates)


def test_a_row_without_its_value_goes_by_the_surrogate(monkeypatch, tmp_path):
    random = np.random.default_rng(1)
    cells = random.normal(size=(300, 3))
    cells[:, 1] = cells[:, 0] + 0.1 * random.normal(size=300)
    labels = np.where(cells[:, 0] > 0, "up", "down")
    plain = spinney.TreeClassifier(recipe="cart").fit(cells, labels)
    monkeypatch.setattr(growers, "MAX_WAIT", 0)
    by_kernels = spinney.TreeClassifier(recipe="cart").fit(cells, labels)
    lacking = cells.copy()
    lacking[:, 0] = np.nan
    assert np.mean(by_kernels.predict(lacking) == labels) > 0.9
    np.testing.assert_array_equal(by_kernels.predict(lacking), plain.predict(lacking))
    by_kernels.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    np.testing.assert_array_equal(loaded.predict(lacking), plain.predict(lacking))
    assert str(by_kernels.explain(node=0)) == str(loaded.explain(node=0))


def correlated(n_rows=200):
    random = np.random.default_rng(3)
    cells = random.normal(size=(n_rows, 4))
    cells[:, 1] = cells[:, 0] + 0.1 * random.normal(size=n_rows)
    labels = np.where(cells[:, 0] > 0, "up", "down")
    labels[::7] = "up"
    lacking = cells.copy()
    lacking[::2, 0] = np.nan
    return cells, labels, lacking


def test_surrogates_are_found_when_a_cell_is_first_missing(monkeypatch):
    cells, labels, lacking = correlated()
    monkeypatch.setattr(growers, "MAX_WAIT", 0)
    monkeypatch.setattr(binned_surrogates, "MAX_CACHED_BYTES", 0)
    at_once = spinney.TreeClassifier(recipe="cart").fit(cells, labels)
    monkeypatch.undo()
    monkeypatch.setattr(growers, "MAX_WAIT", 0)
    given, walks = cells.copy(), []
    run = binned_surrogates._SurrogateWalk.run
    monkeypatch.setattr(
        binned_surrogates._SurrogateWalk,
        "run",
        lambda walk: walks.append(1) or run(walk),
    )
    later = spinney.TreeClassifier(recipe="cart").fit(given, labels)
    given[:] = 0  # they are the caller's to change
    cut_back = spinney.TreeClassifier(recipe="cart", max_leaf_nodes=4).fit(
        cells, labels
    )
    for model in (later, cut_back):
        model.predict(cells)
        model.predictor()(cells[0])
    assert not walks
    expected = at_once.predict_proba(lacking)
    np.testing.assert_array_equal(later.predict_proba(lacking), expected)
    np.testing.assert_array_equal(later.predict_proba(lacking), expected)
    assert len(walks) == 1
    assert later.asked == at_once.asked
    first = np.isnan(lacking[:, 0])
    kept = deepcopy(cut_back)
    assert len(walks) == 2
    np.testing.assert_array_equal(
        kept.predict_proba(lacking), cut_back.predict_proba(lacking)
    )
    assert np.mean(kept.predict(lacking)[first] == labels[first]) > 0.8


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=examples(30))
def test_arrays_without_nodes_are_those_of_nodes(seed):
    random = np.random.default_rng(seed)
    cells = random.normal(size=(80, 3))
    codes = (cells[:, 0] > 0) + random.integers(0, 3, 80)
    attributes = [Attribute(f"x{place}", "numeric") for place in range(3)]
    schema = Schema(
        (*attributes, Attribute("c", "nominal", tuple("uvwx"))), Target("y", ("a", "b"))
    )
    classes = (cells[:, 0] + 0.3 * random.normal(size=80) > 0).astype(np.int64)
    columns = (*cells.T, codes.astype(np.int32))
    tree = grow_binned.grow_binned_tree(
        TrainingSet(schema, columns, classes, None), RECIPES["cart"]
    )
    quick, plain = flatten(tree), FlatTree(arrays_of_nodes(list(tree)))
    one, other = quick.arrays, plain.arrays
    np.testing.assert_array_equal(one.fallback_branch, other.fallback_branch)
    if other.surrogates is None:
        assert one.surrogates is None or not len(one.surrogates)
    else:
        for name in ("count", "attribute", "cut", "listed", "reversed"):
            np.testing.assert_array_equal(
                getattr(one.surrogates, name), getattr(other.surrogates, name)
            )
    columns = [np.where(random.random(80) < 0.3, np.nan, c) for c in (*cells.T, codes)]
    np.testing.assert_allclose(quick.outputs(columns, 80), plain.outputs(columns, 80))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", [52, 56, 57])
def test_the_best_cut_is_inside_a_bin_after_the_best_edge(seed, n_classes):
    # Scores are raised by what missing rows leave out, and bins are opened by the same.
    random = np.random.default_rng(seed)
    hidden = random.normal(size=281)
    cells = np.where(random.random(281) < 0.1, np.nan, hidden)
    classes = np.clip(np.round(hidden + 1), 0, n_classes - 1).astype(np.int64)
    target = Target("y", tuple("abc"[:n_classes]))
    schema = Schema((Attribute("x", "numeric"),), target)
    training = TrainingSet(schema, (cells,), classes, None)
    recipe = RECIPES["cart"].changed(surrogates=0, max_depth=1)
    plain = grow_tree(training.source(), recipe)
    same_tree(plain, grow_binned.grow_binned_tree(training, recipe), same_node)


@pytest.mark.parametrize("numeric", [False, True])
def test_codes_of_equal_shares_are_taken_in_their_order(numeric):
    # Every known row is of one class, so that all subsets gain nothing and the first
    # of them wins; sums of tenths are not those of the codes to the bit.
    codes = np.array([0, -1, 0, -1, -1, 3, 2, 0, 0, 1], dtype=np.int32)
    weights = np.array([1, 1, 3, 3, 1, 1, 1, 1, 3, 2]) / 10
    classes = np.array([0, 1, 0, 0, 1, 0, 0, 0, 0, 0])
    target = Target("y", origin=0.0) if numeric else Target("y", ("a", "b"))
    if numeric:
        classes = classes + 0.1
    schema = Schema((Attribute("x", "nominal", tuple("0123")),), target)
    training = TrainingSet(schema, (codes,), classes, weights)
    recipe = RECIPES["cart"].changed(surrogates=1, max_depth=1)
    plain = grow_tree(training.source(), recipe)
    same_tree(plain, grow_binned.grow_binned_tree(training, recipe), same_node)
