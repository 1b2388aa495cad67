"""The trees of the compiled loops are those of the plain learner, node by node."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney
from spinney.learner import Options, grow_tree
from spinney.recipe import RECIPES
from spinney.schema import Attribute, Schema, Target
from spinney.swift import crowd, grow_swiftly, prepared, subtree, suiting, suits
from spinney.training import TrainingSet


@st.composite
def training_sets(draw):
    """Draw rows of all kinds: few and many values, missing cells, weights."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_classes = draw(st.integers(2, 250)), draw(st.sampled_from([0, 2, 3, 5]))
    attributes, columns = [], []
    kinds = st.sampled_from(["numeric", "numeric", "nominal", "ordinal"])
    for place, kind in enumerate(draw(st.lists(kinds, min_size=1, max_size=5))):
        n_values = draw(st.integers(1, 6))
        if kind == "numeric":
            cells = random.normal(size=n_rows)
            if draw(st.booleans()):
                cells = np.round(cells * n_values)
            cells = cells.astype(draw(st.sampled_from([np.float32, np.float64])))
            absent = np.nan
        else:
            cells = random.integers(0, n_values, n_rows).astype(np.int32)
            absent = -1
        if draw(st.booleans()):
            cells[random.random(n_rows) < 0.2] = absent
        values = () if kind == "numeric" else tuple(map(str, range(n_values)))
        attributes.append(Attribute(f"x{place}", kind, values))
        columns.append(cells)
    weights = draw(
        st.sampled_from(
            [
                None,
                random.integers(1, 4, n_rows).astype(float),
                random.random(n_rows) + 0.1,
            ]
        )
    )
    classes = random.integers(0, max(n_classes, 1), n_rows)
    target = Target("y", tuple("abcde"[:n_classes]))
    if not n_classes:
        classes = np.round(random.normal(size=n_rows) * 3, draw(st.integers(0, 3)))
        target = Target("y", origin=0.0)
    schema = Schema(tuple(attributes), target)
    return TrainingSet(schema, tuple(columns), classes, weights)


settings_of_recipes = st.fixed_dictionaries(
    {
        "max_depth": st.sampled_from([None, 1, 3, 8]),
        "min_samples_leaf": st.sampled_from([1, 2, 5]),
        "min_samples_split": st.sampled_from([2, 10]),
        "min_gain": st.sampled_from([0.0, 0.01]),
    }
)


def same(one, other):
    """Refuse nodes that differ in more than rounding."""
    for name in ("number", "parent", "branch", "depth", "n_rows", "label", "reason"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.children == other.children
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-9)
    np.testing.assert_allclose(one.distribution, other.distribution, atol=1e-9)
    assert (one.split is None) == (other.split is None)
    if one.split is None:
        return
    for name in ("attribute", "missing", "threshold", "groups"):
        assert getattr(one.split, name, None) == getattr(other.split, name, None), name
    np.testing.assert_allclose(one.split.shares, other.split.shares)
    assert one.candidate.gain == pytest.approx(other.candidate.gain, abs=1e-9)
    for name in ("values", "weights", "rows", "missing", "missing_rows"):
        np.testing.assert_allclose(
            getattr(one.candidate.table, name),
            getattr(other.candidate.table, name),
            atol=1e-9,
        )


@pytest.mark.parametrize(("small", "nodes"), [(1, 2), (8, 7), (96, 1024)])
@given(training=training_sets(), said=settings_of_recipes, entropy=st.booleans())
@settings(max_examples=60, deadline=None)
def test_nodes_are_the_plain_learners(small, nodes, training, said, entropy):
    recipe = RECIPES["cart"].changed(missing="branch", **said)
    if entropy and not training.schema.target.is_numeric:
        recipe = recipe.changed(criterion="gain")
    plain = grow_tree(training.source(), recipe)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suiting, "FEWEST_CELLS", 0)
        patch.setattr(prepared, "SMALL", small)
        patch.setattr(subtree, "FIRST_NODES", nodes)
        patch.setattr(crowd, "FEWEST_ROWS", 20)
        assert suits(training, recipe, Options())
        swift = grow_swiftly(training, recipe)
    assert len(plain) == len(swift)
    for one, other in zip(plain, swift, strict=True):
        same(one, other)


def test_what_the_kernels_do_not_know_is_left_to_the_plain_learner(monkeypatch):
    monkeypatch.setattr(suiting, "FEWEST_CELLS", 0)
    schema = Schema(
        (Attribute("x", "numeric"), Attribute("c", "nominal", ("u", "v"))),
        Target("y", ("a", "b")),
    )
    columns = (np.array([1.0, np.nan, 3.0, 4.0]), np.array([0, 1, 1, 0]))
    training = TrainingSet(schema, columns, np.array([0, 1, 0, 1]), None)
    branch = RECIPES["cart"].changed(missing="branch")
    assert suits(training, branch, Options())
    for recipe in (
        RECIPES["cart"],
        RECIPES["c4.5"],
        RECIPES["chaid"],
        branch.changed(max_leaves=3),
        branch.changed(criterion="twoing"),
        branch.changed(missing="fractional"),
        branch.changed(linear_terms=2),
    ):
        assert not suits(training, recipe, Options())
    for options in (
        Options(class_weights=np.ones(2)),
        Options(preference=(1,)),
        Options(forced={(): 0}),
        Options(prices={0: 1.0}),
        Options(costs=np.ones((2, 2))),
    ):
        assert not suits(training, branch, options)


def test_a_model_of_many_cells_is_like_any_other(monkeypatch, tmp_path):
    random = np.random.default_rng(3)
    cells = random.normal(size=(400, 4)).astype(np.float32)
    labels = np.where(cells[:, 0] + random.normal(size=400) > 0, "up", "down")
    said = {"recipe": "cart", "missing": "branch", "max_depth": 4}
    plain = spinney.TreeClassifier(**said).fit(cells, labels)
    monkeypatch.setattr(suiting, "FEWEST_CELLS", 0)
    swift = spinney.TreeClassifier(**said).fit(cells, labels)
    assert str(swift) == str(plain)
    assert str(swift.rules()) == str(plain.rules())
    np.testing.assert_array_equal(swift.predict(cells), plain.predict(cells))
    np.testing.assert_array_equal(swift.apply(cells), plain.apply(cells))
    np.testing.assert_allclose(
        swift.feature_importances_, plain.feature_importances_, atol=1e-12
    )
    swift.save(tmp_path / "m.spinney")
    assert str(spinney.load(tmp_path / "m.spinney")) == str(plain)
    assert "gini" in str(swift.explain(node=0))
    assert swift.prune("simplify").tree.n_leaves <= plain.tree.n_leaves
