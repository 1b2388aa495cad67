"""Rows to prune by, given or reserved, as users ask for them."""

import json

import numpy as np
import pytest
from tests.helpers.strategies import TABLES

import spinney
from spinney import ParameterError, TreeClassifier, TreeRegressor
from spinney.output.tree_json import to_json

MELONS = TABLES / "watermelon_2.0.csv"
TRAIN = TABLES / "watermelon_2.0_train.csv"
VALID = TABLES / "watermelon_2.0_valid.csv"
KYPHOSIS = TABLES / "rpart_kyphosis.csv"


@pytest.mark.parametrize("pruning", ["reduced-error", "pre-pruning", "cost-complexity"])
@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart", "chaid"])
def test_pruned_while_growing_as_by_hand(recipe, pruning):
    by_hand = {"recipe": recipe, "pruning": "none"}
    whole = spinney.grow(TRAIN, "ripe", ignore=["id"], **by_hand)
    expected = whole.prune(pruning, validation=VALID)
    settings = {"recipe": recipe, "pruning": pruning, "validation": VALID}
    found = spinney.grow(TRAIN, "ripe", ignore=["id"], **settings)
    assert str(found) == str(expected)
    assert str(found.sequence_) == str(expected.sequence_)
    assert [(s.condition, s.before, s.after) for s in found.pruning_] == [
        (s.condition, s.before, s.after) for s in expected.pruning_
    ]
    assert found.validation_rows_ is None


@pytest.mark.parametrize("pruning", ["reduced-error", "pre-pruning", "cost-complexity"])
def test_rows_are_reserved_and_named(pruning, tmp_path):
    settings = {"recipe": "cart", "pruning": pruning}
    model = spinney.grow(KYPHOSIS, "Kyphosis", validation_share=0.3, **settings)
    places = model.validation_rows_
    assert len(places) == 24
    assert model.tree.root.n_rows == 81 - 24
    table = spinney.read_table(KYPHOSIS)
    others = np.setdiff1d(np.arange(81), places)
    parts = {"data": table.take(others), "validation": table.take(places)}
    apart = spinney.grow(target="Kyphosis", **parts, **settings)
    assert str(model) == str(apart)
    assert json.loads(to_json(model.model_))["validation_rows"] == (places + 1).tolist()
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    assert loaded.validation_rows_ is None
    assert loaded.model_.recipe.pruning == pruning


def test_places_count_all_rows_of_the_table():
    """Rows without a class or a weight are left out; the others keep their places."""
    sizes = list(range(40))
    kinds = [None if size % 5 == 0 else ("a", "b")[size > 20] for size in sizes]
    table = {"size": sizes, "kind": kinds, "w": [size % 7 for size in sizes]}
    with pytest.warns(spinney.SpinneyWarning, match="is missing in 8 of 40 rows"):
        model = spinney.grow(table, "kind", weight="w", validation_share=0.4)
    assert len(model.validation_rows_) > 5
    assert all(size % 5 and size % 7 for size in model.validation_rows_)
    X = [[size] for size in sizes]
    weights = [size % 7 for size in sizes]
    tree = TreeClassifier(validation_share=0.4)
    tree.fit(X, ["ab"[size > 20] for size in sizes], sample_weight=weights)
    assert all(size % 7 for size in tree.validation_rows_)


def test_the_order_of_rows_is_of_no_concern():
    table = spinney.read_table(KYPHOSIS)
    shuffled = np.random.RandomState(0).permutation(81)
    settings = {"recipe": "cart", "validation_share": 0.3}
    one = spinney.grow(table, "Kyphosis", **settings)
    other = spinney.grow(table.take(shuffled), "Kyphosis", **settings)
    assert str(one) == str(other)
    found = [
        sorted(map(str, (t.row(int(place)) for place in m.validation_rows_)))
        for m, t in ((one, table), (other, table.take(shuffled)))
    ]
    assert found[0] == found[1]
    drawn = spinney.grow(table, "Kyphosis", random_state=3, **settings)
    assert drawn.validation_rows_.tolist() != one.validation_rows_.tolist()


def test_what_a_share_means_where_nothing_else_is_said():
    """As model.prune does: reduced-error pruning, but for what can choose itself."""
    said = {
        name: spinney.grow(
            KYPHOSIS, "Kyphosis", recipe=name, validation_share=0.3
        ).model_.recipe.pruning
        for name in ("id3", "c4.5", "cart", "chaid", "auto")
    }
    assert said.pop("auto") == "cost-complexity"
    assert set(said.values()) == {"reduced-error"}
    model = spinney.grow(KYPHOSIS, "Kyphosis", validation_share=0.3)
    assert model.sequence_.judged_by == "validation"
    assert model.tried_ == ()
    rule = spinney.Recipe.named("cart").changed(pruning="cost-complexity", rule="1-se")
    strict = spinney.grow(KYPHOSIS, "Kyphosis", recipe=rule, validation_share=0.3)
    assert strict.sequence_.chosen == strict.sequence_.best("1-se")


def test_numbers_costs_and_teachers_are_pruned_by_them_too():
    cpu = TABLES / "cpu_prp.csv"
    for pruning in ("reduced-error", "pre-pruning", "cost-complexity"):
        settings = {"recipe": "cart", "pruning": pruning, "validation_share": 0.3}
        model = spinney.grow(cpu, "class", **settings)
        assert isinstance(model, TreeRegressor)
        whole = spinney.grow(cpu, "class", **{**settings, "pruning": "reduced-error"})
        assert model.validation_rows_.tolist() == whole.validation_rows_.tolist()
    costs = [[0, 10], [1, 0]]
    dear = spinney.grow(
        KYPHOSIS,
        "Kyphosis",
        recipe="cart",
        validation_share=0.3,
        cost_matrix=costs,
    )
    assert {step.measure for step in dear.pruning_} == {"cost"}
    taught = spinney.Recipe.named("cart").changed(forest=0.5, pruning="pre-pruning")
    model = spinney.grow(KYPHOSIS, "Kyphosis", recipe=taught, validation_share=0.3)
    assert len(model.pruning_)


def test_estimators_reserve_rows():
    X = np.random.RandomState(0).rand(60, 2)
    y = (X[:, 0] > 0.5).astype(int)
    tree = TreeClassifier("cart", validation_share=0.25).fit(X, y)
    assert len(tree.validation_rows_) == 15
    assert len(tree.pruning_)
    assert tree.get_params()["validation_share"] == 0.25
    assert TreeClassifier("cart").fit(X, y).validation_rows_ is None


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"validation_share": 0}, "validation_share=0 must be a fraction of the rows"),
        ({"validation_share": "a"}, "validation_share='a' must be a fraction"),
        ({"validation_share": 0.001}, "of 17 rows reserves none that a class can"),
        ({"pruning": "pre-pruning"}, "needs rows that the tree is not grown on"),
        (
            {"pruning": "mdl", "validation_share": 0.3},
            "validation_share: of no use to pruning='mdl': leave it out, or prune by",
        ),
        (
            {"validation": MELONS, "validation_share": 0.3},
            "validation_share=0.3 and validation both give rows to prune by",
        ),
        (
            {"ccp_alpha": 0.1, "validation_share": 0.3},
            "validation_share and ccp_alpha=0.1 both say how to prune",
        ),
        (
            {"recipe": "c4.5", "confidence": 0.1, "validation_share": 0.3},
            "confidence=0.1 needs pruning='error-based'",
        ),
        (
            {"recipe": "auto", "validation_share": 3, "source": "duckdb"},
            "validation_share=3 must be a fraction of the rows",
        ),
    ],
)
def test_refusals(settings, message):
    with pytest.raises(ParameterError, match=message):
        spinney.grow(MELONS, "ripe", ignore=["id"], **{"recipe": "id3", **settings})


def test_folds_beside_other_rows_are_refused():
    recipe = spinney.Recipe.named("cart").changed(pruning="cost-complexity", folds=4)
    with pytest.raises(ParameterError, match="folds=4 and validation_share both"):
        spinney.grow(MELONS, "ripe", ignore=["id"], recipe=recipe, validation_share=0.3)


def test_rows_in_duckdb_are_pruned_by_a_table():
    for pruning in ("reduced-error", "pre-pruning", "cost-complexity"):
        settings = {"recipe": "id3", "pruning": pruning, "validation": VALID}
        here = spinney.grow(TRAIN, "ripe", ignore=["id"], **settings)
        away = spinney.grow(TRAIN, "ripe", ignore=["id"], source="duckdb", **settings)
        assert str(here) == str(away)
