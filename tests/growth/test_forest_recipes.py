"""Forests whose trees take several recipes in turn (document 001, section 4)."""

import numpy as np
import pytest

import spinney
from spinney import ForestClassifier, ForestRegressor, Recipe
from spinney.errors import ParameterError
from spinney.growth.forest import forest_growth as growing
from spinney.growth.growers import PLAIN
from spinney.output.file.forest_file import ARRAYS

MINDS = ["id3", "c4.5", "cart"]
RANDOM = np.random.default_rng(4)
TABLE = {
    "size": [*RANDOM.normal(size=57).round(1).tolist(), None, None, None],
    "shade": RANDOM.choice(["a", "b", "c"], size=60).tolist(),
    "even": RANDOM.integers(0, 2, size=60).tolist(),
}
CLASSES = [
    "no" if (size or 0) + 0.7 * even < 0.4 else "yes"
    for size, even in zip(TABLE["size"], TABLE["even"], strict=True)
]
NUMBERS = [
    (size or 0.0) + 2.0 * even
    for size, even in zip(TABLE["size"], TABLE["even"], strict=True)
]


def mixed(n=7, recipe=MINDS, **settings):
    return ForestClassifier(n, recipe, random_state=3, **settings).fit(TABLE, CLASSES)


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
        for name in ARRAYS
        if name not in ("branches", "cuts")
    )


def test_each_tree_is_that_of_a_forest_of_its_recipe_alone():
    forest = mixed().forest_
    assert [forest.recipe_of(t).name for t in range(4)] == [
        "id3",
        "c4.5",
        "cart",
        "id3",
    ]
    for turn, name in enumerate(MINDS):
        alone = ForestClassifier(7, name, random_state=3).fit(TABLE, CLASSES).forest_
        for number in range(turn, 7, 3):
            assert same(forest.members[number], alone.members[number])
    trees = [str(tree) for tree in mixed().trees]
    assert len(set(trees)) > 3


def test_numbers_too():
    model = ForestRegressor(4, ["cart", "id3"], random_state=3).fit(TABLE, NUMBERS)
    alone = ForestRegressor(4, "id3", random_state=3).fit(TABLE, NUMBERS)
    assert same(model.forest_.members[1], alone.forest_.members[1])
    changes = np.mean([tree.predict(TABLE) for tree in model.trees], axis=0)
    plain = ForestRegressor(4, ["cart", "id3"], shrinkage=0, random_state=3)
    np.testing.assert_allclose(plain.fit(TABLE, NUMBERS).predict(TABLE), changes)


def test_threads_and_compiled_loops_change_nothing(monkeypatch):
    grown = [mixed(n_jobs=n).forest_ for n in (1, 3)]
    monkeypatch.setattr(growing, "choose_forest_grower", lambda *_, **__: PLAIN)
    grown.append(mixed(n_jobs=1).forest_)
    for other in grown[1:]:
        assert other.shrinkage == pytest.approx(grown[0].shrinkage)
        for one, two in zip(grown[0].trees, other.trees, strict=True):
            assert str(one.tree) == str(two.tree)


def test_members_that_loops_suit_are_grown_by_them(monkeypatch):
    coded = []
    runs = growing._runs

    def noted(growers, *arguments):
        coded.extend((grower.recipe.name, grower.compiled) for grower in growers)
        return runs(growers, *arguments)

    monkeypatch.setattr(growing, "_runs", noted)
    mixed()
    assert coded == [("id3", False), ("c4.5", False), ("cart", True)]


def test_a_warm_start_goes_on_with_the_next_recipe():
    model = mixed(4, warm_start=True)
    more = model.set_params(n_estimators=9).fit(TABLE, CLASSES)
    for one, other in zip(more.forest_.members, mixed(9).forest_.members, strict=True):
        assert same(one, other)
    with pytest.raises(ParameterError, match="parameters have changed"):
        more.set_params(recipe=["cart", "id3"]).fit(TABLE, CLASSES)


def test_each_leaf_speaks_by_the_estimate_of_its_recipe():
    smooth = Recipe.named("cart").changed(probability="laplace")
    model = mixed(4, ["cart", smooth], shrinkage=0)
    by_tree = [tree.predict_proba(TABLE) for tree in model.trees]
    assert by_tree[0].min() == 0 < by_tree[1].min()
    np.testing.assert_allclose(model.predict_proba(TABLE), np.mean(by_tree, axis=0))
    row = {name: cells[:1] for name, cells in TABLE.items()}
    np.testing.assert_allclose(model.predict_proba(row), model.predict_proba(TABLE)[:1])


def test_what_is_measured_of_a_forest():
    steps = []
    table = {**TABLE, "sold": CLASSES}
    model = spinney.grow_forest(
        table,
        "sold",
        n_estimators=6,
        recipe=MINDS,
        progress=lambda done, total: steps.append((done, total)),
    )
    assert steps[-1] == (6, 6)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert model.importances().mean.sum() == pytest.approx(1)
    assert model.proximities(TABLE, k=2).shape == (60, 60)
    permuted = model.permutation_importances(table)
    assert permuted.by_tree.shape == (6, 3)
    assert mixed(9, oob_score=True).oob_score_ > 0.6
    assert "recipes id3, c4.5, cart in turn" in str(model)
    facts = model.facts()
    assert [recipe["name"] for recipe in facts["recipes"]] == MINDS
    assert [tree["recipe"] for tree in facts["trees"]] == MINDS * 2


@pytest.mark.parametrize(
    "recipes, settings, words",
    [
        ([], {}, r"recipe=\[\] names no recipe"),
        (["id3", "cat"], {}, "recipe='cat' is unknown: did you mean 'cart'"),
        (["id3", 3], {}, "recipe=3 is unknown"),
        (
            ["cart", "auto"],
            {},
            "recipe 'auto' of the forest: .* cannot be used in a forest|auto",
        ),
        (["cart", "m5"], {}, "recipe 'm5' of the forest: "),
        (["c4.5", "id3"], {"n_estimators": 1}, "less than the 2 recipes"),
        ("cart", {"n_estimators": 10**12}, "n_estimators"),
        (["cart", "chaid"], {"extra_random": True}, "recipe 'chaid' of the forest: "),
        (["cart", "id3"], {"criterion": "c_sep"}, "recipe 'id3' of the forest: "),
    ],
)
def test_recipes_that_do_not_suit_are_refused_by_name(recipes, settings, words):
    settings = {"n_estimators": 4, **settings}
    with pytest.raises(ParameterError, match=words):
        ForestClassifier(recipe=recipes, **settings).fit(TABLE, CLASSES)


def test_a_recipe_that_does_not_suit_the_target_is_refused_by_name():
    gini = Recipe.named("cart").changed(criterion="gini")
    with pytest.raises(ParameterError, match="recipe 'cart' of the forest: criterion"):
        ForestRegressor(4, ["id3", gini]).fit(TABLE, NUMBERS)


def test_averaged_gains_are_asked_of_the_criterion():
    """Which attributes count in an average depends on the weight of a bag."""
    c45, gain = Recipe.named("c4.5"), Recipe.named("id3")
    assert growing._depends_on_root(c45, numeric=False)
    assert not growing._depends_on_root(gain, numeric=False)
    assert not growing._depends_on_root(c45, numeric=True)
