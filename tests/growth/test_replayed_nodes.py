"""Small trees that loops grow, and the plain learner grows again for who looks."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth import growers
from spinney.growth.growth_options import Options
from spinney.growth.replayed_nodes import ReplayedNodes
from spinney.growth.user_options import options_of
from spinney.recipes import RECIPES
from spinney.sources.rows import TrainingSet
from spinney.sources.rows.training_rows import origin_of
from spinney.sources.training_data import TrainingData

GROWERS_AGREE = growers.growers_agree  # as it is before tests turn it off
RECIPES_OF_LOOPS = {
    "cart": RECIPES["cart"].changed(missing_policy="branch"),
    "cart, surrogates": RECIPES["cart"],
    "c4.5": RECIPES["c4.5"],
    "c4.5, whole": RECIPES["c4.5"].changed(pruning="none"),
    "c4.5, few leaves": RECIPES["c4.5"].changed(max_leaves=6, min_gain=0.0),
    "id3": RECIPES["id3"],
}
OF_NUMBERS = {
    "cart": RECIPES_OF_LOOPS["cart"],
    "cart, surrogates": RECIPES["cart"],
    "poisson": RECIPES["cart"].changed(numeric_criterion="poisson"),
    "variance_root": RECIPES["cart"].changed(numeric_criterion="variance_root"),
    "sdr": RECIPES["cart"].changed(numeric_criterion="sdr"),
}


@pytest.fixture
def replays(monkeypatch):
    """Let loops grow trees of any size, as if they were loaded."""
    monkeypatch.setattr(growers, "growers_agree", lambda training, options: True)
    monkeypatch.setattr(growers, "worth_loading", lambda *loops, instead: True)


def rows(seed: int, n_rows: int, *, gaps: bool) -> TrainingSet:
    """Return rows of two numbers, a nominal attribute and three classes."""
    random = np.random.default_rng(seed)
    kinds = (("a", "numeric"), ("b", "numeric"), ("c", "nominal"))
    values = {"nominal": ("p", "q", "r"), "numeric": ()}
    attributes = tuple(Attribute(n, kind, values[kind]) for n, kind in kinds)
    columns = [
        random.integers(0, 9, n_rows) / 2,
        random.random(n_rows),
        random.integers(0, 3, n_rows).astype(np.int32),
    ]
    if gaps:
        columns[0][random.random(n_rows) < 0.1] = np.nan
        columns[2][random.random(n_rows) < 0.1] = -1
    classes = random.integers(0, 3, n_rows)
    classes[:3] = range(3)
    schema = Schema(attributes, Target("y", ("u", "v", "w")))
    return TrainingSet(schema, tuple(columns), classes, None)


WEIGHED = ("not", "whole", "broken")


def weights_of(kind, seed, n_rows):
    """Return no weights, whole ones, or such as no float adds up exactly."""
    draw = np.random.default_rng(seed)
    if kind == "not":
        return None
    return draw.integers(1, 6, n_rows) / (1.0 if kind == "whole" else 7.0)


def both(training, recipe, options=None):
    """Return the tree of the plain learner, and what the chosen engine grew."""
    opened, options = TrainingData(training), options or Options()
    chosen = growers.choose_grower(training, recipe, options)
    assert chosen.name != "plain"
    assert chosen.replays
    grown = chosen.grow_and_prune(opened, recipe, options)
    return growers.PLAIN.grow_and_prune(opened, recipe, options).tree, grown.tree


@pytest.mark.usefixtures("replays")
@pytest.mark.parametrize("name", RECIPES_OF_LOOPS)
def test_every_bit_of_a_node_is_the_plain_learners(name):
    @given(
        seed=st.integers(0, 10**6),
        n_rows=st.integers(4, 60),
        gaps=st.booleans(),
        weighed=st.sampled_from(WEIGHED),
        class_weight=st.sampled_from([None, {"v": 3, "w": 2}, {"u": 0.1}, "balanced"]),
    )
    @settings(max_examples=examples(20), deadline=None)
    def compare(seed, n_rows, gaps, weighed, class_weight):
        recipe = RECIPES_OF_LOOPS[name]
        training = rows(seed, n_rows, gaps=gaps and name != "id3")
        training = replace(training, weights=weights_of(weighed, seed, n_rows))
        broken = weighed == "broken" and class_weight is not None
        options = options_of(
            TrainingData(training),
            recipe=recipe,
            class_weight=None if broken else class_weight,
        )
        assert GROWERS_AGREE(training, options)
        plain, by_kernels = both(training, RECIPES_OF_LOOPS[name], options)
        assert isinstance(by_kernels.nodes, ReplayedNodes)
        assert list(map(seen, by_kernels)) == list(map(seen, plain))

    compare()


@pytest.mark.usefixtures("replays")
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_whole_numbers_give_every_bit_of_a_node_as_well(name):
    @given(
        seed=st.integers(0, 10**6),
        n_rows=st.integers(4, 60),
        gaps=st.booleans(),
        most=st.sampled_from([5, 1000]),
        weighed=st.sampled_from(WEIGHED),
    )
    @settings(max_examples=examples(12), deadline=None)
    def compare(seed, n_rows, gaps, most, weighed):
        random = np.random.default_rng(seed)
        most = min(most, 100) if weighed == "broken" else most
        numbers = random.integers(0, most, n_rows).astype(float)
        weights = weights_of(weighed, seed, n_rows)
        training, recipe = rows(seed, n_rows, gaps=gaps), OF_NUMBERS[name]
        origin = 0.0 if recipe.counts_from_zero else origin_of(numbers)
        schema = replace(training.schema, target=Target("y", origin=origin))
        training = replace(training, schema=schema, classes=numbers, weights=weights)
        assert GROWERS_AGREE(training, Options())
        plain, by_kernels = both(training, recipe)
        assert isinstance(by_kernels.nodes, ReplayedNodes)
        assert list(map(seen, by_kernels)) == list(map(seen, plain))

    compare()


def seen(node):
    """Return a node as text, its candidates made."""
    return repr(replace(node, candidates=tuple(node.candidates)))


def table(n_rows=60):
    """Return columns and classes."""
    random = np.random.default_rng(1)
    cells = random.random((n_rows, 3))
    return cells, (cells[:, 0] + random.random(n_rows) / 2 > 0.7).astype(int)


@pytest.mark.usefixtures("replays")
def test_rows_that_change_after_fit_change_nothing():
    cells, classes = table()
    model = spinney.TreeClassifier("cart", missing_policy="branch").fit(cells, classes)
    twin = spinney.TreeClassifier("cart", missing_policy="branch").fit(cells, classes)
    assert isinstance(model.tree.nodes, ReplayedNodes)
    before = str(twin.explain(0))
    cells[:] = 0
    classes[:] = 0
    assert str(model.explain(0)) == before


@pytest.mark.usefixtures("replays")
@pytest.mark.parametrize("recipe", ["cart", "c4.5"])
def test_copies_and_files_keep_all_rivals_and_no_rows(recipe, tmp_path):
    model = spinney.TreeClassifier(recipe).fit(*table())
    twin = copy.deepcopy(model)
    thawed = pickle.loads(pickle.dumps(model))  # noqa: S301 - it is our own
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    for other in (twin, thawed, loaded):
        assert not isinstance(other.tree.nodes, ReplayedNodes)
        assert str(other.explain(0)) == str(model.explain(0))


@pytest.mark.usefixtures("replays")
def test_a_tree_that_comes_out_otherwise_keeps_what_loops_know(monkeypatch):
    training = rows(3, 50, gaps=False)
    recipe, options = RECIPES_OF_LOOPS["cart"], Options()
    chosen = growers.choose_grower(training, recipe, options)
    tree = chosen.grow(TrainingData(training), recipe, options)
    stump = growers.PLAIN.grow(TrainingData(rows(4, 4, gaps=False)), recipe, options)
    assert len(stump) != len(tree)
    monkeypatch.setattr(growers, "PLAIN", growers.Grower("plain", lambda *given: stump))
    assert (
        tree.nodes[0].split
        == chosen.grows(TrainingData(training), recipe, options).nodes[0].split
    )
