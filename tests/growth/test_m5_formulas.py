"""Model trees whose attributes have formulas, and what may prune model trees."""

from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.helpers.models import linear_values
from tests.helpers.recipes import by_recipe

import spinney
from spinney.data.formula import Linear
from spinney.errors import ParameterError
from spinney.growth.prune.risk import leaf_risks
from spinney.search.oblique.combinations import without_unused_formulas
from spinney.trees import Node, Tree
from spinney.trees.predict.flat_tree import flatten


def bent(seed: int, n: int = 60) -> dict[str, list[Any]]:
    """Return rows on two planes that meet where a + c = 0."""
    random = np.random.default_rng(seed)
    a, c = random.normal(size=(2, n))
    y = np.where(a + c > 0, 3 * a, -c) + random.normal(size=n) * 0.1
    return {"a": a.tolist(), "c": c.tolist(), "y": y.tolist()}


MADE = ({"linear_terms": 2}, {"construct": 2}, {"construct": 1, "linear_terms": 2})


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("seed", range(4))
def test_models_read_formulas(made, seed, tmp_path):
    rows = bent(seed)
    model = spinney.grow(rows, "y", **by_recipe(recipe="m5", **made))
    tree = model.tree
    columns = tree.schema.completed(
        [np.array(rows["a"]), np.array(rows["c"])], range(len(tree.schema.attributes))
    )
    leaves = flatten(tree).leaf_numbers(columns, 60)
    expected = []
    for row, leaf in enumerate(leaves):
        node = tree.nodes[leaf]
        cells = [cells[row : row + 1] for cells in columns]
        by_model = None if node.model is None else linear_values(node.model, cells)[0]
        expected.append(node.value if by_model is None else by_model)
    np.testing.assert_allclose(model.predict(rows), expected, rtol=1e-9)
    model.save(tmp_path / "bent.spinney")
    again = spinney.load(tmp_path / "bent.spinney")
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))


def shifted(node: Node, first: int) -> Node:
    """Return a node for which attributes from ``first`` on stand one place later."""

    def later(place: int) -> int:
        return place + (place >= first)

    def moved(holder: Any) -> Any:
        split = replace(holder.split, attribute=later(holder.attribute))
        return replace(holder, split=split)

    model = node.model
    if model is not None:
        terms = [replace(term, attribute=later(term.attribute)) for term in model.terms]
        model = replace(model, terms=tuple(terms))
    return replace(
        node,
        candidates=tuple(map(moved, node.candidates)),
        surrogates=tuple(map(moved, node.surrogates)),
        model=model,
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"recipe": "m5", "linear_terms": 2},
        {"recipe": "m5", "construct": 2, "pruning": "none"},
        {"recipe": "cart", "construct": 2, "missing_policy": "surrogate"},
    ],
)
def test_a_later_formula_stays_where_an_earlier_one_goes(settings):
    """A spare formula is put before those of the tree; without it, the tree is back."""
    found = 0
    for seed in range(4):
        tree = spinney.grow(bent(seed), "y", **by_recipe(**settings)).tree
        schema = tree.schema
        first = schema.n_columns
        found += len(schema.attributes) > first
        spare = replace(schema.constructed(Linear((0, 1), (1.0, 7.0))), name="spare")
        attributes = (*schema.attributes[:first], spare, *schema.attributes[first:])
        nodes = tuple(shifted(node, first) for node in tree)
        kept = without_unused_formulas(
            Tree(replace(schema, attributes=attributes), nodes)
        )
        assert kept.schema == schema
        for one, other in zip(kept, tree, strict=True):
            assert one.model == other.model
            assert one.split == other.split
            assert one.surrogates == other.surrogates
    assert found


@pytest.mark.slow
@pytest.mark.parametrize("made", MADE)
def test_duckdb_grows_the_same_model_tree(made):
    for seed in range(2):
        rows = bent(seed)
        here = spinney.grow(rows, "y", **by_recipe(recipe="m5", **made))
        relation = duckdb.from_arrow(pa.table(rows))
        there = spinney.grow(relation, "y", **by_recipe(recipe="m5", **made))
        assert str(here) == str(there)
        assert len(here.tree.schema.attributes) > 2
        np.testing.assert_allclose(here.predict(rows), there.predict(rows), rtol=1e-7)


def test_formulas_of_a_taught_tree_reach_the_models():
    rows = bent(0)
    settings = {"leaves": "linear", "smoothing": 15, "forest": 0.5, "construct": 1}
    model = spinney.grow(rows, "y", **by_recipe(recipe="cart", **settings))
    assert any(attribute.formula for attribute in model.tree.schema.attributes)
    error = np.mean((model.predict(rows) - np.array(rows["y"])) ** 2)
    assert error < np.var(rows["y"]) / 2


# Pruning


def squares(model: Any, rows: dict[str, list[Any]]) -> float:
    return float(((model.predict(rows) - np.array(rows["y"])) ** 2).sum())


@pytest.mark.parametrize("made", [{}, *MADE])
@pytest.mark.parametrize("method", ["reduced-error", "pre-pruning"])
def test_validation_rows_judge_models(made, method):
    """A step's squares are those of the predictions once its node is cut."""
    model = spinney.grow(
        bent(0, 200), "y", **by_recipe(recipe="m5", pruning="none", **made)
    )
    fresh = bent(1, 100)
    pruned = model.prune(method, validation=fresh)
    steps = pruned.pruning_
    assert steps[0].measure == "mean squared error"
    if method == "reduced-error":
        assert steps[0].before * 100 == pytest.approx(squares(model, fresh))
        cut = model.prune(nodes=[steps[0].node])
        assert steps[0].after * 100 == pytest.approx(squares(cut, fresh))
        assert squares(pruned, fresh) <= squares(model, fresh)
    else:
        cut = model.prune(nodes=[0])
        assert steps[0].before * 100 == pytest.approx(squares(cut, fresh))
    assert all(np.isnan(step.risk_before) for step in steps)
    assert "nan" not in str(steps)


def test_a_cut_node_may_read_what_no_leaf_did():
    """Unsmoothed, the model at the root reads columns that its leaves do not."""
    settings = {"recipe": "m5", "pruning": "none", "smoothing": 0.0, "max_depth": 1}
    model = spinney.grow(bent(0), "y", **by_recipe(**settings))
    assert model.tree.root.model is not None
    model.prune("reduced-error", validation=bent(1))
    tree = model.tree
    leaves = [replace(node, model=None) for node in tree.nodes[1:]]
    term = replace(tree.root.model.terms[0], attribute=1)
    other = replace(tree.root.model, terms=(term,), coefficients=(1.0,))
    root = replace(tree.root, model=other)
    flat = flatten(Tree(tree.schema, (root, *leaves)))
    assert set(flat.needed) == {tree.root.candidate.attribute}
    assert set(flat.read) == {tree.root.candidate.attribute, 1}


def test_the_risk_of_a_model_is_not_known():
    tree = spinney.grow(bent(0), "y", recipe="m5", pruning="none").tree
    modelled = [node.model is not None for node in tree]
    assert np.isnan(leaf_risks(tree)).tolist() == modelled


@pytest.mark.parametrize("pruning", ["cost-complexity", "simplify"])
def test_means_do_not_judge_models(pruning):
    """Refused in a recipe, and of a tree that has models."""
    rows = bent(0)
    with pytest.raises(ParameterError, match=r"leaves='mean'.*'adjusted-error'"):
        spinney.grow(rows, "y", recipe="m5", pruning=pruning, linear_terms=2)
    model = spinney.grow(rows, "y", recipe="m5", linear_terms=2)
    options = {"data": rows} if pruning == "cost-complexity" else {}
    with pytest.raises(ParameterError, match=r"'adjusted-error'.*leaves='mean'"):
        model.prune(pruning, **options)
    means = spinney.grow(rows, "y", recipe="m5", pruning=pruning, leaves="mean")
    assert not means.tree.model_names
    means.prune(pruning, **options)


@pytest.mark.filterwarnings("ignore:column .* alone predicts:UserWarning")
@pytest.mark.parametrize("source", ["memory", "duckdb"])
def test_a_number_far_from_zero_is_a_term(source):
    """Seconds since 1970 within ten minutes: the spread is a tiny share of the size."""
    random = np.random.default_rng(0)
    seconds = random.uniform(0, 600, 200).round(2)
    columns = {
        "x": (1.7e9 + seconds).tolist(),
        "y": (0.5 * seconds + random.normal(size=200)).tolist(),
    }
    rows = columns if source == "memory" else duckdb.from_arrow(pa.table(columns))
    (leaf,) = spinney.grow(rows, "y", recipe="m5").tree.leaves
    assert leaf.model.coefficients == (pytest.approx(0.5, abs=0.002),)
