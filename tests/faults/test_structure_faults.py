"""Faults 32 to 35: deep, wide, pruned and heavy trees."""

from itertools import pairwise

import numpy as np
import pytest
from tests.faults.fault_rows import AB, answers, grown, random_rows
from tests.helpers.models import chain_model, wide_model

import spinney
from spinney import ForestClassifier
from spinney.output.file.model_files import save_model

DEPTHS = [1_500, pytest.param(10_000, marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=DEPTHS)
def chain(request, tmp_path_factory):
    """Return a fitted tree that is one chain of questions, deeper than calls go."""
    path = tmp_path_factory.mktemp("chain") / "m"
    save_model(chain_model(request.param), path)
    return spinney.load(path)


def test_fault_32_a_chain_is_read_asked_and_saved(chain, tmp_path):
    assert max(node.depth for node in chain.tree) == chain.tree.n_leaves - 1 > 1000
    assert answers(chain, {"x": [-1.0, 1e9]}) == [False, True]
    chain.save(tmp_path / "again")
    again = spinney.load(tmp_path / "again")
    assert again.tree.n_leaves == chain.tree.n_leaves
    assert chain.explain(node=0)


@pytest.mark.parametrize("form", ["text", "dot", "json", "python", "javascript", "c"])
def test_fault_32_a_chain_is_exported(chain, form):
    assert chain.tree.n_leaves < len(chain.export(form)) < 60_000_000


def test_fault_32_a_chain_has_rules(chain):
    assert str(chain.rules()).count("THEN") >= chain.tree.n_leaves


def test_fault_32_a_chain_is_pruned(chain):
    assert chain.prune("pessimistic").tree.n_leaves <= chain.tree.n_leaves
    assert chain.prune("cost-complexity", alpha=1e9).tree.n_leaves == 1


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
def test_fault_32_a_deep_tree_is_grown(recipe):
    """Peeling off a row at a time is the best that there is to do."""
    y = [str(i) for i in range(24)]
    rows = {"x": [float(i) for i in range(24)], "y": y}
    model = grown(rows, recipe, pruning="none", min_samples_leaf=1)
    assert model.tree.n_leaves > 1
    assert model.text().count("\n") == len(model.tree.nodes) - 1


@pytest.mark.filterwarnings("ignore:splits on high-cardinality:spinney.SpinneyWarning")
def test_fault_33_ten_thousand_branches(tmp_path):
    save_model(wide_model(10_000), tmp_path / "m")
    model = spinney.load(tmp_path / "m")
    assert "and 4997 more" in str(model)  # of 5000 in 80 columns
    assert "and 4988 more" in model.text()
    assert str(model.rules())
    values = [f"v{i}" for i in range(10_000)]
    rows = {"x": values * 2, "y": [f"c{i % 3}" for i in range(10_000)] * 2}
    wide = grown(rows, "id3")
    assert answers(wide, {"x": values}) == rows["y"][:10_000]


def test_fault_33_ten_thousand_trees():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    forest = ForestClassifier(10_000, random_state=0, n_jobs=2).fit(X, AB)
    assert list(forest.predict([[1], [4]])) == ["a", "b"]
    assert len(forest.forest_) == 10_000


@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_fault_34_pruning_ends_and_is_nested():
    leaf = grown({"x": [1, 1], "y": ["a", "b"]})
    assert leaf.prune("cost-complexity", alpha=1.0).tree.n_leaves == 1
    whole = grown(random_rows(80), "cart")
    alphas = [0.0, 0.5, 1.0, 2.0, 5.0, 1e9]
    pruned = [whole.prune("cost-complexity", alpha=alpha) for alpha in alphas]
    sizes = [model.tree.n_leaves for model in pruned]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1
    # A smaller tree asks nothing that the larger one does not.
    asked = [
        {(n.depth, n.candidate.split, n.n_rows) for n in m.tree if not n.is_leaf}
        for m in pruned
    ]
    for larger, smaller in pairwise(asked):
        assert {(d, n) for d, _, n in smaller} <= {(d, n) for d, _, n in larger}


def test_fault_34_the_sequence_of_alphas_rises():
    rows = random_rows(80)
    sequence = grown(rows, "cart").prune("cost-complexity", data=rows).sequence_
    alphas = [line.alpha for line in sequence]
    assert alphas == sorted(alphas)
    assert len(set(alphas)) == len(alphas)


@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_fault_34_tied_links_go_together():
    """Four equal halves have one alpha: their links are cut in one step."""
    x = [float(i) for i in range(16)]
    y = ["a", "a", "b", "b"] * 4
    whole = grown({"x": x, "y": y}, "id3")
    sizes = {
        whole.prune("cost-complexity", alpha=alpha).tree.n_leaves
        for alpha in np.linspace(0, 10, 41)
    }
    assert {1, whole.tree.n_leaves} <= sizes


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
def test_fault_35_counts_beyond_31_bits(recipe, tmp_path):
    rows = {"x": [1, 1, 2, 2], "y": AB, "w": [3e9, 3e9, 3e9, 5e9]}
    model = grown(rows, recipe, weight="w")
    model.save(tmp_path / "m")
    loaded = spinney.load(tmp_path / "m")
    assert loaded.tree.root.weights.tolist() == [6e9, 8e9]
    assert "14000000000" in str(loaded).replace(",", "").replace(" ", "")
