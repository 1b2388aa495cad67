"""Trees with formulas that are pruned, taught, or get models at their leaves."""

import numpy as np
import pytest
from tests.helpers.models import linear_values
from tests.helpers.recipes import by_recipe
from tests.search.test_combinations import diagonal, formulas

import spinney

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")


@pytest.mark.parametrize("made", [{"linear_terms": 2}, {"construct": 2}])
@pytest.mark.parametrize(
    "settings",
    [
        {"recipe": "c4.5"},
        {"recipe": "c4.5", "raising": False},
        {"recipe": "cart", "pruning": "cost-complexity"},
        {"recipe": "cart", "forest": 0.5, "seed": 2},
    ],
)
def test_recipes_that_prune_or_are_taught(settings, made):
    """Noise makes branches to cut; folds grow trees with formulas of their own."""
    table = diagonal(300)
    random = np.random.default_rng(1)
    for place in random.choice(len(table["x"]), 30, replace=False):
        table["side"][place] = random.choice(["above", "below"])
    model = spinney.grow(table, "side", **by_recipe(**made, **settings))
    assert formulas(model) or "construct" in made
    assert model.score(diagonal(seed=1)) > 0.9
    leaves = model.apply(table)
    for leaf in model.tree.leaves:
        assert (leaves == leaf.number).sum() == leaf.n_rows


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("made", [{"linear_terms": 3}, {"construct": 4}])
def test_models_of_leaves_have_terms_with_formulas(made, seed, tmp_path):
    """M5 cuts branches that asked about a formula; its models may still have it."""
    random = np.random.default_rng(seed)
    cells = random.uniform(1, 10, (4, 300))
    steep = cells[0] / cells[1] > 1.3
    numbers = np.where(steep, 3 * cells[2], cells[0] * cells[3] - 2 * cells[1])
    data = {f"x{i}": cells[i].tolist() for i in range(4)}
    data["t"] = (numbers + random.normal(size=300) / 2).tolist()
    model = spinney.grow(data, "t", **by_recipe(recipe="m5", **made))
    assert formulas(model)
    assert model.score(data) > 0.8
    model.save(tmp_path / "m")
    loaded = spinney.load(tmp_path / "m")
    assert str(loaded) == str(model)
    np.testing.assert_array_equal(loaded.predict(data), model.predict(data))
    columns = model.tree.schema.encode(model.read(data))
    leaves = model.apply(data)
    for leaf in model.tree.leaves:
        here = leaves == leaf.number
        if leaf.model is not None:
            by_hand = linear_values(leaf.model, columns)
            np.testing.assert_allclose(model.predict(data)[here], by_hand[here])


@pytest.mark.parametrize("made", [{"linear_terms": 2}, {"construct": 2}])
def test_cross_validated_pruning_makes_formulas_in_each_fold(made):
    table = diagonal(300)
    model = spinney.grow(table, "side", **by_recipe(recipe="id3", **made))
    pruned = model.prune("cost-complexity", data=table, folds=3)
    assert pruned.score(diagonal(seed=1)) > 0.9
    leaf = model.prune(nodes=[0])
    assert formulas(leaf) == []
    assert (leaf.predict({"x": [1.0]}) == leaf.tree.label(leaf.tree.root)).all()
