"""Model trees against a twin in plain loops, and what must hold of all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.twins import naive_m5

from spinney.data.schema import Attribute, Fingerprint, Schema, Target
from spinney.models.grow import grow_model
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource
from spinney.sources.training_data import TrainingData
from spinney.trees.predict.flat_tree import flatten

M5 = RECIPES["m5"]
ORIGIN = Fingerprint(1, 1.0, "", "0")
SIZES = (0, 4, 0)
KINDS = ["numeric", "nominal", "numeric"]
SCHEMA = Schema(
    (
        Attribute("a", "numeric"),
        Attribute("b", "nominal", ("p", "q", "r", "s")),
        Attribute("c", "numeric"),
    ),
    Target("y", origin=0.0),
)


@st.composite
def rows(draw, *, missing=False):
    """Draw rows whose target is nearly linear in parts, with some noise."""
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    n = draw(st.integers(5, 40))
    a, c = generator.integers(0, 12, n) * 1.0, generator.normal(size=n).round(2)
    b = generator.integers(0, draw(st.integers(1, 4)), n)
    y = np.where(a > 5, 3 * a - 10 * (b == 1), 20 - 2 * c)
    y = (y + generator.normal(size=n) * draw(st.sampled_from([0.1, 2.0, 8.0]))).round(3)
    w = generator.integers(1, 4, n) * 1.0 if draw(st.booleans()) else np.ones(n)
    columns = [a, b, c]
    if missing:
        a[generator.random(n) < 0.15] = np.nan
        b[generator.random(n) < 0.15] = -1
    return columns, y, w


def grown(columns, y, w, recipe=M5):
    source = MemorySource(SCHEMA, columns, classes=y, weights=w)
    return grow_model(TrainingData(counted=source, origin=ORIGIN), recipe=recipe).tree


def plain(columns, y, w):
    """Return rows for the twin; None where a cell is missing."""
    lines = zip(*columns, strict=True)
    cells = [
        [None if np.isnan(a) else float(a), None if b < 0 else int(b), float(c)]
        for a, b, c in lines
    ]
    return [(line, float(t), float(v)) for line, t, v in zip(cells, y, w, strict=True)]


@settings(max_examples=examples(60))
@given(rows(missing=True))
def test_predictions_are_those_of_the_twin(drawn):
    columns, y, w = drawn
    tree = grown(columns, y, w)
    known = naive_m5.filled(plain(columns, y, w), KINDS)
    root = naive_m5.model_tree(known, KINDS, SIZES)
    ours = flatten(tree).outputs(columns, len(y))[:, 0]
    scale = float(np.abs(y).max())
    for found, (cells, *_) in zip(ours, known, strict=True):
        path = naive_m5.leaf_path(root, cells)
        expected = naive_m5.smoothed(path, 15.0, cells)
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-5 * scale)


def conditions(tree, node):
    return tuple(tree.condition(step) for step in tree.path(node.number))


@settings(max_examples=examples(40))
@given(rows())
def test_pruning_gives_a_subtree(drawn):
    pruned = grown(*drawn)
    whole = grown(*drawn, recipe=M5.changed(pruning="none"))
    paths = {conditions(whole, node) for node in whole}
    assert {conditions(pruned, node) for node in pruned} <= paths
    assert pruned.n_leaves <= whole.n_leaves


@settings(max_examples=examples(40))
@given(rows())
def test_the_steps_of_pruning_tell_the_truth(drawn):
    """Without smoothing a step's risk is what the predictions of all rows make."""
    columns, y, w = drawn
    plain_m5 = M5.changed(smoothing=0.0)
    source = MemorySource(SCHEMA, columns, classes=y, weights=w)
    model = grow_model(TrainingData(counted=source, origin=ORIGIN), recipe=plain_m5)
    whole = grown(*drawn, recipe=plain_m5.changed(pruning="none"))
    assert len(model.steps) == len(whole) - whole.n_leaves

    def squares(tree):
        found = flatten(tree).outputs(columns, len(y))[:, 0]
        return float((w * (found - y) ** 2).sum())

    close = {"rel": 1e-5, "abs": 1e-5 * float(np.abs(y).max()) ** 2}
    total = squares(whole)
    for step in model.steps:
        assert step.measure == "adjusted error of the node"
        assert step.risk_before == pytest.approx(total, **close)
        if step.pruned:
            negligible = 1e-5 * float(np.sqrt(np.average(y**2, weights=w)))
            assert step.after <= max(step.before * (1 + 1e-9), negligible)
            total = step.risk_after
        else:
            assert step.after > step.before
    assert squares(model.tree) == pytest.approx(total, **close)
    cut = {conditions(whole, whole.nodes[s.node]) for s in model.steps if s.pruned}
    left = {conditions(model.tree, leaf) for leaf in model.tree.leaves}
    leaves = {conditions(whole, leaf) for leaf in whole.leaves}
    assert left <= cut | leaves


@settings(max_examples=examples(40))
@given(rows(missing=True))
def test_weights_are_repetitions(drawn):
    columns, y, w = drawn
    places = np.repeat(np.arange(len(y)), w.astype(int))
    repeated = [column[places] for column in columns]
    one = flatten(grown(columns, y, w)).outputs(columns, len(y))
    other = flatten(grown(repeated, y[places], np.ones(len(places))))
    found = other.outputs(columns, len(y))
    np.testing.assert_allclose(one, found, rtol=1e-6, atol=1e-6 * np.abs(y).max())


FREE = M5.changed(min_samples_split=2, min_samples_leaf=1)  # the limits of no weight


def assert_same_models(one, other):
    """Assert that two trees ask the same and have the same models but for rounding."""
    for here, there in zip(one, other, strict=True):
        assert here.children == there.children
        assert conditions(one, here) == conditions(other, there)
        assert (here.model is None) == (there.model is None)
        assert here.value == pytest.approx(there.value, rel=1e-6, abs=1e-6)
        if here.model is not None:
            assert here.model.terms == there.model.terms
            numbers = [
                (each.model.intercept, *each.model.coefficients)
                for each in (here, there)
            ]
            np.testing.assert_allclose(*numbers, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 0.4])
@settings(max_examples=examples(25))
@given(rows(missing=True))
def test_light_weights_count_by_their_proportions(scale, drawn):
    columns, y, w = drawn
    w = w / w.mean()
    whole = grown(columns, y, w, recipe=FREE)
    light = grown(columns, y, scale * w, recipe=FREE)
    assert_same_models(whole, light)


@pytest.mark.parametrize("seed", range(3))
def test_heavy_weights_are_many_repetitions(seed):
    """The more a row is repeated the less a term costs: in the end all of them stay."""
    generator = np.random.default_rng(seed)
    a, c = generator.normal(size=(2, 60))
    b = generator.integers(0, 4, 60)
    y = np.where(a > 0, 3 * a - 4 * (b == 1), 20 - 2 * c) + generator.normal(size=60)
    options = {"pruning": "none", "smoothing": 0.0, "max_depth": 3}
    recipe = FREE.changed(**options)
    trees = [grown([a, b, c], y, np.full(60, w), recipe) for w in (1.0, 1e6, 1e12)]
    for heavier in trees[1:]:
        asked = [node.split and node.split.attribute for node in heavier]
        assert asked == [node.split and node.split.attribute for node in trees[0]]
    few, many, most = (
        sum(len(node.model.terms) for node in tree if node.model is not None)
        for tree in trees
    )
    assert few <= many == most
    assert_same_models(trees[1], trees[2])
