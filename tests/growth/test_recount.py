"""Trees counted again by the compiled kernels are those that drafts give."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth.test_grow_binned import training_sets
from tests.helpers.alike import same_node, same_tree
from tests.helpers.fuzz import examples

import spinney
from spinney.growth.binned.grow_binned import grow_binned_tree
from spinney.growth.folds import fold_growth
from spinney.growth.folds.teacher import smoothed_training
from spinney.growth.growers import BINNED, PLAIN, choose_grower
from spinney.growth.prune.mutable_nodes import recounted
from spinney.recipes import RECIPES
from spinney.sources.training_data import TrainingData

TAUGHT = RECIPES["cart"].changed(
    missing_policy="branch", min_samples_leaf=2, forest=0.75, pruning="cost-complexity"
)


@given(
    training=training_sets().filter(lambda rows: not rows.schema.target.is_numeric),
    seed=st.integers(0, 2**32 - 1),
    least=st.sampled_from([1, 2, 5]),
)
@settings(max_examples=examples(80))
def test_counts_of_the_true_classes_are_those_of_drafts(training, seed, least):
    random = np.random.default_rng(seed)
    n_classes = training.schema.n_classes
    guesses = random.dirichlet(np.full(n_classes, 0.3), len(training.classes))
    labels = 0.25 * np.eye(n_classes)[training.classes] + 0.75 * guesses
    labels[labels < 0.02] = 0.0
    labels /= labels.sum(axis=1, keepdims=True)
    recipe = RECIPES["auto"].changed(min_samples_leaf=least)
    taught = grow_binned_tree(smoothed_training(training, labels), recipe)
    plain = recounted(taught, training.source(), recipe=recipe)
    compiled = BINNED.recount(taught, TrainingData(training), recipe, None)
    same_tree(plain, compiled, same_node)


def test_a_taught_tree_is_the_same_by_compiled_loops(monkeypatch):
    random = np.random.default_rng(2)
    cells = random.normal(size=(150, 3))
    cells[random.random((150, 3)) < 0.05] = np.nan
    labels = np.where(cells[:, 0] + random.normal(size=150) > 0, "up", "down")
    engines = []

    def chosen(*arguments, **more):
        engines.append(choose_grower(*arguments, **more))
        return engines[-1]

    monkeypatch.setattr(fold_growth, "choose_grower", chosen)
    by_kernels = spinney.TreeClassifier(TAUGHT).fit(cells, labels)
    assert {engine.name for engine in engines} == {"binned"}
    monkeypatch.setattr(fold_growth, "choose_grower", lambda *_, **__: PLAIN)
    plain = spinney.TreeClassifier(TAUGHT).fit(cells, labels)
    assert str(by_kernels) == str(plain)
    assert str(by_kernels.explain(node=0)) == str(plain.explain(node=0))
    np.testing.assert_allclose(
        by_kernels.predict_proba(cells), plain.predict_proba(cells), atol=1e-12
    )
    first, other = (model.model_.sequence for model in (by_kernels, plain))
    assert [step.leaves for step in first] == [step.leaves for step in other]
