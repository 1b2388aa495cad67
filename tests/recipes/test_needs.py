"""No setting is accepted and ignored: it changes the model, or it is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from tests.helpers.recipes import by_recipe

import spinney
from spinney import ParameterError, Recipe, TreeClassifier, TreeRegressor
from spinney.errors import in_words
from spinney.estimators.table_estimator import DECLARED
from spinney.growth.prune import RULES
from spinney.growth.prune.prune_methods import AFTER_GROWING, METHODS
from spinney.output.tree_json import to_json
from spinney.recipes import BY_VALIDATION, COMMON_SETTINGS, RECIPES, SETTINGS
from spinney.recipes.needs import CLASSES as CLASSES_NEEDED
from spinney.recipes.needs import NEEDS


def table():
    """Return 240 rows with noise: numbers, names, gaps; classes, and numbers."""
    random = np.random.default_rng(4)
    n = 240
    x, z = random.normal(size=(2, n)).round(2)
    near = (x + random.normal(scale=0.3, size=n)).round(4)
    letter = random.choice(list("abcdef"), size=n)
    high = near - z + (letter < "c") + random.normal(scale=0.6, size=n)
    gaps = random.random(n) < 0.2
    return {
        "x": [None if gap else number for gap, number in zip(gaps, x, strict=True)],
        "z": z.tolist(),
        "near": near.tolist(),
        "letter": letter.tolist(),
        "sort": np.where(high < 0, "low", np.where(high < 1, "mid", "top")).tolist(),
        "amount": (10 * high).round(3).tolist(),
    }


ROWS = table()
CLASSES, NUMBERS = ("sort", "amount"), ("amount", "sort")


def grown(target, **settings):
    """Grow on one of the two targets, the other left out; by C4.5 if not said."""
    name, other = target
    return spinney.grow(
        ROWS, name, ignore=[other], **by_recipe(**{"recipe": "c4.5", **settings})
    )


def told(model):
    """Return all that a model is, but for its recipe."""
    return {**json.loads(to_json(model.model_)), "recipe": None}


# A stream that decides on few rows, and one that takes any luck for a change.
SOON = RECIPES["hoeffding"].changed(delta=0.3, grace_period=20, tie_threshold=0.3)
TURNING = SOON.changed(delta=0.9, grace_period=10)


# For each setting a situation, and a value that makes another model of it.
EFFECTS = {
    "reuse_attributes": (CLASSES, {"recipe": "id3"}, False),
    "criterion": (CLASSES, {"recipe": "cart"}, "gain"),
    "grouping": (CLASSES, {"recipe": "id3"}, "binary"),
    "missing_policy": (CLASSES, {"recipe": "id3"}, "own-category"),
    "buckets": (CLASSES, {"recipe": "id3"}, "equal-width"),
    "n_buckets": (CLASSES, {"recipe": "chaid"}, 4),
    "alpha_merge": (CLASSES, {"recipe": "chaid"}, 0.5),
    "alpha_resplit": (CLASSES, {"recipe": "chaid", "n_buckets": 25}, 0),
    "exhaustive": (CLASSES, {"recipe": "chaid"}, True),
    "alpha_split": (NUMBERS, {"recipe": "chaid"}, 1e-9),
    "max_depth": (CLASSES, {}, 2),
    "max_leaves": (CLASSES, {}, 3),
    "min_samples_split": (CLASSES, {}, 90),
    "min_samples_leaf": (CLASSES, {}, 15),
    "min_weight_fraction_leaf": (CLASSES, {}, 0.2),
    "min_gain": (CLASSES, {}, 0.2),
    "mdl_correction": (CLASSES, {"recipe": "id3"}, True),
    "min_cut_share": (CLASSES, {"recipe": "id3"}, 0.5),
    "min_step": (NUMBERS, {"recipe": "cart"}, 0.005),
    "thresholds": (NUMBERS, {"recipe": "cart"}, "observed"),
    "pruning": (NUMBERS, {"recipe": "cart"}, "cost-complexity"),
    "confidence": (CLASSES, {}, 0.01),
    "raising": (CLASSES, {"criterion": "gain"}, False),
    "probability": (CLASSES, {}, "laplace"),
    "m": (CLASSES, {"probability": "m-estimate"}, 9),
    "folds": (NUMBERS, {"pruning": "cost-complexity"}, 2),
    "rule": (NUMBERS, {"pruning": "cost-complexity"}, "minimum"),
    "forest": (CLASSES, {"recipe": "cart"}, 0.9),
    "seed": (CLASSES, {"pruning": "cost-complexity"}, 3),
    "min_branch_share": (CLASSES, {"recipe": "cart"}, 0.3),
    "min_deviation": (NUMBERS, {"recipe": "cart"}, 0.5),
    "leaves": (NUMBERS, {"recipe": "m5"}, "mean"),
    "max_terms": (NUMBERS, {"recipe": "m5"}, 1),
    "smoothing": (NUMBERS, {"recipe": "cart"}, 15),
    "linear_terms": (CLASSES, {}, 3),
    "linear_penalty": (CLASSES, {"linear_terms": 3}, 9),
    "construct": (CLASSES, {}, 2),
    "surrogates": (CLASSES, {"recipe": "cart"}, 0),
    "search": (
        CLASSES,
        {"recipe": "cart", "missing_policy": "branch", "max_depth": 2},
        "optimal",
    ),
    "objective": (("sort", "x"), {"recipe": "optimal", "max_depth": 3}, "path_length"),
    "leaf_price": (CLASSES, {"recipe": "optimal", "max_depth": 2}, 30),
    "time_limit": (CLASSES, {"recipe": "optimal", "max_depth": 2}, 0),
    "delta": (CLASSES, {"recipe": SOON}, 1e-9),
    "grace_period": (CLASSES, {"recipe": SOON}, 60),
    "tie_threshold": (CLASSES, {"recipe": SOON}, 0),
    "max_active_leaves": (CLASSES, {"recipe": SOON}, 1),
    "drift": (CLASSES, {"recipe": TURNING}, True),
}

# What limits one split after the other is nothing to a search over all trees.
OF_SINGLE_SPLITS = {
    "min_samples_split": 9,
    "min_samples_leaf": 9,
    "min_weight_fraction_leaf": 0.1,
    "min_gain": 0.1,
    "min_branch_share": 0.1,
    "min_deviation": 0.1,
    "min_cut_share": 0.1,
    "min_step": 0.1,
    "buckets": "equal-width",
    "linear_terms": 2,
    "construct": 2,
    "forest": 0.5,
    "reuse_attributes": False,
    "thresholds": "observed",
    "pruning": "error-based",
}

# What rows that are seen once are learned by.
OF_STREAMS = {
    "delta": 0.1,
    "grace_period": 9,
    "tie_threshold": 0.1,
    "max_active_leaves": 9,
    "drift": True,
    "leaves": "adaptive",
}

# For each need the conditions that fail, with what brings that about.
REFUSALS = [
    (CLASSES, {"n_buckets": 4}, "n_buckets", "buckets='equal-width'"),
    (CLASSES, {"buckets": "entropy-mdl", "n_buckets": 4}, "n_buckets", "buckets="),
    (CLASSES, {"alpha_merge": 0.1}, "alpha_merge", "grouping='merge'"),
    (CLASSES, {"alpha_resplit": 0.01}, "alpha_resplit", "grouping='merge'"),
    (
        CLASSES,
        {"recipe": "chaid", "exhaustive": True, "alpha_merge": 0.1},
        "alpha_merge",
        "merging that is not exhaustive",
    ),
    (
        CLASSES,
        {"recipe": "chaid", "exhaustive": True, "alpha_resplit": 0.01},
        "alpha_resplit",
        "merging that is not exhaustive",
    ),
    (CLASSES, {"exhaustive": True}, "exhaustive", "grouping='merge'"),
    (CLASSES, {"alpha_split": 0.01}, "alpha_split", "a criterion that is a test"),
    (
        CLASSES,
        # Each kind of target has its own criterion, and one of them is no test.
        {"recipe": replace(RECIPES["chaid"], criterion="gain"), "alpha_split": 0.1},
        "alpha_split",
        "a criterion that is a test",
    ),
    (
        NUMBERS,
        {
            "recipe": replace(RECIPES["chaid"], numeric_criterion="sdr"),
            "alpha_split": 1,
        },
        "alpha_split",
        "a criterion that is a test",
    ),
    (CLASSES, {"folds": 5}, "folds", "pruning='cost-complexity'"),
    (CLASSES, {"rule": "1-se"}, "rule", "pruning='cost-complexity'"),
    (CLASSES, {"recipe": "id3", "confidence": 0.1}, "confidence", "pruning='error-"),
    (NUMBERS, {"confidence": 0.1}, "confidence", "a target of classes"),
    (CLASSES, {"recipe": "id3", "raising": True}, "raising", "pruning='error-based'"),
    (NUMBERS, {"raising": True}, "raising", "a target of classes"),
    (CLASSES, {"m": 3}, "m", "probability='m-estimate'"),
    (CLASSES, {"m": 3, "probability": "laplace"}, "m", "probability='m-estimate'"),
    (NUMBERS, {"recipe": "auto", "m": 3}, "m", "a target of classes"),
    (CLASSES, {"linear_penalty": 1}, "linear_penalty", "linear_terms=2 or more"),
    (
        CLASSES,
        {"linear_penalty": 1, "linear_terms": 0},
        "linear_penalty",
        "linear_terms=2 or more",
    ),
    (CLASSES, {"surrogates": 3}, "surrogates", "missing_policy='surrogate'"),
    (
        CLASSES,
        {"buckets": "k-means", "thresholds": "observed"},
        "thresholds",
        "numbers without buckets",
    ),
    (CLASSES, {"recipe": "chaid", "min_step": 0.1}, "min_step", "numbers without"),
    (
        CLASSES,
        {"recipe": "cart", "mdl_correction": True},
        "mdl_correction",
        "criterion='gain' or 'gain_ratio'",
    ),
    (
        CLASSES,
        {"grouping": "merge", "mdl_correction": True},
        "mdl_correction",
        "grouping='multiway' or 'binary'",
    ),
    (NUMBERS, {"mdl_correction": True}, "mdl_correction", "a target of classes"),
    (NUMBERS, {"probability": "laplace"}, "probability", "a target of classes"),
    (NUMBERS, {"min_cut_share": 0.1}, "min_cut_share", "a target of classes"),
    *(
        (NUMBERS, {"recipe": "cart", "pruning": name}, "pruning", "a target of classes")
        for name in ("collapse", "error-based", "pessimistic", "mdl")
    ),
    (NUMBERS, {"buckets": "entropy-mdl"}, "buckets", "a target of classes"),
    (CLASSES, {"min_deviation": 0.1}, "min_deviation", "a target that is a number"),
    (CLASSES, {"smoothing": 15}, "smoothing", "a target that is a number"),
    (NUMBERS, {"recipe": "cart", "max_terms": 5}, "max_terms", "leaves='linear'"),
    (CLASSES, {"leaves": "linear"}, "leaves", "a target that is a number"),
    (
        NUMBERS,
        {"recipe": "cart", "leaves": "linear"},
        "leaves",
        "pruning='adjusted-error' or smoothing above 0",
    ),
    (CLASSES, {"recipe": "cart", "grouping": "ordered"}, "grouping", "a target that"),
    (CLASSES, {"pruning": "adjusted-error"}, "pruning", "a target that is a number"),
    (
        CLASSES,
        {"missing_policy": "surrogate"},
        "missing_policy",
        "grouping='binary' or 'ordered'",
    ),
    (
        NUMBERS,
        {"recipe": "m5", "missing_policy": "own-category"},
        "missing_policy",
        "grouping='multiway' or 'binary' or 'merge'",
    ),
    (NUMBERS, {"recipe": "m5", "pruning": "simplify"}, "pruning", "leaves='mean'"),
    *(
        (CLASSES, {"recipe": "optimal", name: value}, name, "search='greedy'")
        for name, value in OF_SINGLE_SPLITS.items()
    ),
    (CLASSES, {"recipe": "cart", "leaf_price": 2}, "leaf_price", "search='optimal'"),
    (
        CLASSES,
        {"recipe": "optimal", "leaf_price": 2, "objective": "leaves"},
        "leaf_price",
        "objective='loss'",
    ),
    (
        CLASSES,
        {"recipe": "cart", "objective": "leaves"},
        "objective",
        "search='optimal'",
    ),
    (
        NUMBERS,
        {"recipe": "optimal", "objective": "leaves"},
        "objective",
        "a target of classes",
    ),
    (CLASSES, {"recipe": "cart", "time_limit": 2}, "time_limit", "search='optimal'"),
    *(
        (CLASSES, {"recipe": "cart", name: value}, name, "search='hoeffding'")
        for name, value in OF_STREAMS.items()
    ),
    (CLASSES, {"recipe": "hoeffding", "grouping": "binary"}, "search", "grouping="),
    (
        CLASSES,
        {"recipe": "hoeffding", "missing_policy": "mean"},
        "search",
        "missing_policy=",
    ),
    (CLASSES, {"recipe": "hoeffding", "criterion": "mdl"}, "search", "criterion="),
    (NUMBERS, {"recipe": "hoeffding"}, "search", "a target of classes"),
    (
        CLASSES,
        {"recipe": "optimal", "grouping": "multiway"},
        "search",
        "grouping='binary'",
    ),
    (
        CLASSES,
        {"recipe": "optimal", "missing_policy": "fractional"},
        "search",
        "missing_policy='branch' or 'drop'",
    ),
]


def test_every_setting_is_tried():
    assert sorted(EFFECTS) == sorted(SETTINGS)
    for need in NEEDS:
        assert need.setting in SETTINGS
        for condition in need.conditions:
            assert any(
                name == need.setting
                and in_words(condition.text, str).startswith(needed)
                for _, _, name, needed in REFUSALS
            ), (need.setting, condition.text)


def test_recipes_and_methods_of_pruning_tell_the_same():
    """A recipe knows no methods, so what it says of them is written twice."""
    said = {need.conditions: need.only for need in NEEDS if need.setting == "pruning"}
    of_classes = {name for name, method in METHODS.items() if not method.numeric}
    by_means = {name for name, method in METHODS.items() if method.by_means}
    assert set(said[CLASSES_NEEDED,]) == of_classes
    # While growing there are no models yet, and so no leaf is judged by one.
    while_growing = by_means | set(BY_VALIDATION)
    assert while_growing in map(set, said.values())
    for rule in RULES:
        assert replace(RECIPES["auto"], rule=rule).rule == rule
    for name in (*AFTER_GROWING, *BY_VALIDATION):
        assert replace(RECIPES["id3"], pruning=name).pruning == name


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.filterwarnings("ignore:column 'amount' alone")
def test_a_setting_changes_the_model(name):
    target, settings, value = EFFECTS[name]
    assert told(grown(target, **settings)) != told(
        grown(target, **settings, **{name: value})
    )


@pytest.mark.parametrize("target, settings, name, needed", REFUSALS)
def test_or_it_is_refused(target, settings, name, needed):
    with pytest.raises(ParameterError) as refusal:
        grown(target, **settings)
    message = str(refusal.value)
    recipe = settings.get("recipe", "c4.5")
    value = settings.get(name, getattr(RECIPES.get(recipe), name, None))
    assert message.startswith(f"{name}={value!r} needs {needed}")
    assert "; " in message  # and a remedy
    assert "\n" not in message


# Who is asked


def test_named_recipes_carry_what_they_like():
    for name in ("id3", "c4.5", "cart", "chaid"):
        assert len(grown(NUMBERS, recipe=name, max_depth=2).tree) > 1
    own = replace(RECIPES["id3"], confidence=0.1, probability="laplace", smoothing=3)
    assert len(grown(CLASSES, recipe=own).tree) > 1
    assert len(grown(NUMBERS, recipe=own).tree) > 1


def test_a_changed_recipe_remembers_what_was_changed():
    changed = RECIPES["c4.5"].changed(confidence=0.1, max_depth=None)
    assert changed.given == {"confidence"}
    assert RECIPES["c4.5"].given == frozenset()
    assert changed == replace(RECIPES["c4.5"], confidence=0.1)  # the same recipe
    assert "given" not in repr(changed)
    with pytest.raises(
        ParameterError, match=r"confidence=0.1 needs a target of classes"
    ):
        grown(NUMBERS, recipe=changed)
    with pytest.raises(ParameterError, match=r"confidence=0.1 needs pruning='error-b"):
        changed.changed(pruning="none")
    with pytest.raises(ParameterError, match="a recipe has no 'given'"):
        changed.changed(given=frozenset())


def test_a_saved_model_keeps_its_recipe_alone(tmp_path):
    model = grown(CLASSES, confidence=0.1)
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney").model_.recipe
    assert loaded == model.model_.recipe
    assert loaded.given == frozenset()


@pytest.mark.parametrize(
    "target, settings",
    [
        (NUMBERS, {"mdl_correction": False, "raising": False, "min_cut_share": 0}),
        (CLASSES, {"smoothing": 0, "min_deviation": 0.0, "leaves": "mean"}),
        (CLASSES, {"exhaustive": False, "surrogates": 0, "buckets": "k-means"}),
        (CLASSES, {"buckets": "k-means", "min_step": 0}),
    ],
)
def test_what_asks_for_nothing_is_never_refused(target, settings):
    kept = {k: v for k, v in settings.items() if k == "buckets"}
    plain = replace(RECIPES["c4.5"], mdl_correction=False, min_step=0.0)
    assert told(grown(target, recipe=plain, **settings)) == told(
        grown(target, recipe=plain, **kept)
    )


def test_a_seed_is_welcome_where_nothing_is_drawn():
    plain = told(grown(CLASSES))
    for seeded in (grown(CLASSES, seed=3), grown(CLASSES, random_state=3)):
        # The folds that measure the tree are drawn; the tree is not.
        drawn = ("error", "standard_error")
        measured = {name: plain["optional.quality"][name] for name in drawn}
        now = told(seeded)
        now["optional.quality"] = {**now["optional.quality"], **measured}
        assert now == plain
    rows = np.array([ROWS["z"], ROWS["near"]]).T
    for kind, y in ((TreeClassifier, "sort"), (TreeRegressor, "amount")):
        model = kind(random_state=3).fit(rows, ROWS[y])
        assert model.get_params()["random_state"] == model.model_.recipe.seed == 3


# Estimators


def test_estimators_refuse_when_they_are_fitted():
    rows = np.array([ROWS["z"], ROWS["near"]]).T
    for wrong, named in (
        (TreeClassifier(recipe="id3", confidence=0.1), "confidence=0.1 needs pruning"),
        (
            TreeClassifier(**by_recipe(smoothing=3)),
            "smoothing=3 needs a target that is a number",
        ),
    ):
        copy = clone(wrong).set_params(max_depth=2)  # not before
        with pytest.raises(ParameterError, match=named):
            copy.fit(rows, ROWS["sort"])
    with pytest.raises(ParameterError, match=r"pruning='mdl' needs a target of"):
        TreeRegressor(pruning="mdl").fit(rows, ROWS["amount"])


def test_a_grid_over_a_setting_with_what_it_needs():
    rows = np.array([ROWS["z"], ROWS["near"]]).T
    grid = [
        {"pruning": ["error-based"], "confidence": [0.01, 0.4]},
        {"pruning": ["none"], "max_depth": [1, 3]},
    ]
    search = GridSearchCV(TreeClassifier(), grid, cv=2, error_score="raise")
    search.fit(rows, ROWS["sort"])
    assert len(search.cv_results_["params"]) == 4
    chaid = Recipe.named("chaid")
    levels = {"recipe": [chaid.changed(alpha_split=p) for p in (0.001, 0.05)]}
    search = GridSearchCV(TreeRegressor("chaid"), levels, cv=2, error_score="raise")
    search.fit(rows, ROWS["amount"])


LEFT = sorted(set(SETTINGS) - set(COMMON_SETTINGS) - {"seed"})


@pytest.mark.parametrize("name", LEFT)
def test_a_setting_of_recipes_only_is_refused_with_the_way(name):
    way = rf"{name}=0 .*recipe=Recipe\.named\('cart'\)\.changed\({name}=0\)"
    for refused in (
        lambda: TreeClassifier("cart", **{name: 0}),
        lambda: TreeRegressor(recipe="cart", **{name: 0}),
        lambda: TreeClassifier("cart").set_params(**{name: 0}),
        lambda: spinney.grow(ROWS, "sort", recipe="cart", **{name: 0}),
        lambda: spinney.ForestClassifier(**{name: 0}),
        lambda: spinney.ForestRegressor().set_params(**{name: 0}),
        lambda: spinney.grow_forest(ROWS, "sort", **{name: 0}),
    ):
        with pytest.raises(ParameterError, match=way):
            refused()


def test_a_seed_has_become_a_random_state():
    for refused in (
        lambda: TreeClassifier(seed=3),
        lambda: TreeRegressor().set_params(seed=3),
        lambda: spinney.grow(ROWS, "sort", seed=3),
    ):
        with pytest.raises(ParameterError, match="seed=3 has become random_state=3"):
            refused()


def test_a_grid_over_a_setting_of_recipes_is_refused_with_the_way():
    search = GridSearchCV(TreeClassifier("c4.5"), {"min_step": [0, 1]}, cv=2)
    with pytest.raises(ParameterError, match=r"Recipe\.named\('c4.5'\)\.changed\("):
        search.fit(np.array([ROWS["z"], ROWS["near"]]).T, ROWS["sort"])


def test_constructors_can_be_taken_in():
    # What is declared of columns is about tables: ``grow`` and ``read_table`` have it.
    for estimator in (TreeClassifier(), TreeRegressor()):
        assert len(set(estimator.get_params()) - set(DECLARED)) <= 26
    assert set(COMMON_SETTINGS) <= {
        *TreeClassifier().get_params(),
        *TreeRegressor().get_params(),
    }


# Evaluations


@pytest.mark.filterwarnings("ignore:column .* alone predicts:UserWarning")
def test_a_setting_for_all_recipes_suits_all_of_them():
    with pytest.raises(
        ParameterError, match=r"recipe 'id3': confidence=0.1 needs prun"
    ):
        spinney.evaluate(ROWS, "sort", ["c4.5", "id3"], folds=2, confidence=0.1)
    with pytest.raises(
        ParameterError, match=r"recipe 'c4.5': probability='laplace' ne"
    ):
        spinney.evaluate(ROWS, "amount", "c4.5", folds=2, probability="laplace")
    own = ["id3", ("careful", {"recipe": "c4.5", "confidence": 0.1})]
    found = spinney.evaluate(ROWS, "sort", own, folds=2, max_depth=2)
    assert [line["recipe"] for line in found.table] == ["id3", "careful"]


def test_what_a_recipe_brings_is_told_as_the_recipe():
    said = r"recipe='m5' \(leaves='linear'\) needs a target that is a number"
    with pytest.raises(ParameterError, match=said) as refused:
        RECIPES["m5"].refuse_target(numeric=False)
    assert (refused.value.parameter, refused.value.value) == ("recipe", "m5")
    given = RECIPES["cart"].changed(pruning="adjusted-error")
    said = "^pruning='adjusted-error' needs .* or remove pruning$"
    with pytest.raises(ParameterError, match=said):
        given.refuse_target(numeric=False)
