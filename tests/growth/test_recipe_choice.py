"""The default recipe chooses among several: by risk on folds, then by leaves."""

import numpy as np
import pytest
from tests.helpers.strategies import TABLES
from tests.helpers.tree_texts import without_counts

import spinney
from spinney import Recipe
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth import RecipeScore, recipe_scores_text
from spinney.growth.folds import FoldGrowth, RowCopies, recipe_choice
from spinney.growth.folds.recipe_choice import _Trial
from spinney.growth.growth_options import Options
from spinney.recipes import RECIPES, candidates_of
from spinney.sources.rows.training_rows import TrainingSet

IRIS = TABLES / "iris.csv"


def names(recipe, numeric=False):
    return list(candidates_of(recipe, numeric=numeric))


def chosen(model):
    (name,) = (each.name for each in model.recipe_scores_ if each.chosen)
    return name


def number_rows(table):
    """Return a table of numbers as training rows; y is the target."""
    names = [name for name in table if name != "y"]
    schema = Schema(
        tuple(Attribute(name, "numeric") for name in names), Target("y", origin=0.0)
    )
    return TrainingSet(schema, tuple(table[name] for name in names), table["y"], None)


def colours(n_rows=120):
    """A class for each of three colours, and a number that says nothing."""
    random = np.random.default_rng(1)
    colour = random.choice(["blue", "green", "red"], n_rows)
    return {
        "colour": colour.tolist(),
        "noise": random.normal(size=n_rows).round(2),
        "sort": [text.upper() for text in colour],
    }


def shades(n_rows=240):
    """Two classes: four shades of each, with some noise."""
    random = np.random.default_rng(2)
    shade = random.integers(0, 8, n_rows)
    wrong = random.random(n_rows) < 0.1
    return {
        "shade": [f"s{code}" for code in shade],
        "sort": np.where((shade < 4) ^ wrong, "light", "dark").tolist(),
    }


def line(n_rows=150):
    random = np.random.default_rng(3)
    x = random.uniform(0, 10, n_rows).round(2)
    return {"x": x, "y": (3 * x + random.normal(scale=0.5, size=n_rows)).round(2)}


def steps(n_rows=200):
    """Ten steps up and down: no line is near them, and smoothing blurs them."""
    random = np.random.default_rng(4)
    x = random.uniform(0, 10, n_rows).round(2)
    levels = random.permutation(10) * 10.0
    noise = random.normal(scale=0.5, size=n_rows)
    return {"x": x, "y": (levels[x.astype(int)] + noise).round(2)}


def test_a_branch_for_each_value_where_one_question_must_do():
    model = spinney.grow(colours(), "sort", max_depth=1)
    assert chosen(model) == "c4.5"
    assert model.tree.n_leaves == 3
    assert model.model_.recipe.grouping == "multiway"
    assert model.model_.recipe.name == "auto"


def test_two_branches_where_they_say_the_same_with_fewer_leaves():
    model = spinney.grow(shades(), "sort")
    assert chosen(model).startswith("cart")
    assert model.tree.n_leaves == 2
    by_value = next(each for each in model.recipe_scores_ if each.name == "c4.5")
    assert by_value.leaves > 2


def test_linear_leaves_for_a_line_and_means_for_steps():
    sloping, stepping = spinney.grow(line(), "y"), spinney.grow(steps(), "y")
    assert (chosen(sloping), chosen(stepping)) == ("m5", "cart of means")
    assert sloping.model_.recipe.leaves == "linear"
    assert stepping.model_.recipe.leaves == "mean"


@pytest.mark.parametrize("table", [colours, shades])
def test_the_choice_is_the_fewest_leaves_of_nearly_the_least_risk(table):
    tried = spinney.grow(table(), "sort").recipe_scores_
    best = min(tried, key=lambda each: each.risk)
    near = [each for each in tried if each.risk <= best.risk + best.deviation / 2]
    fewest = min(each.leaves for each in near)
    first = next(each for each in near if each.leaves == fewest)
    assert [each for each in tried if each.chosen] == [first]


def test_losses_of_rows_held_out_add_up_to_the_risk():
    model = spinney.grow(steps(), "y", recipe="cart", pruning="cost-complexity")
    growth = FoldGrowth(RowCopies(number_rows(steps())), model.model_.recipe, Options())
    trial = recipe_choice._try("cart", growth)
    assert trial.losses.mean() == pytest.approx(trial.score.risk)
    deviation = np.std(trial.losses) / np.sqrt(len(trial.losses))
    assert deviation == pytest.approx(trial.score.deviation)


@pytest.mark.parametrize(
    ("gain", "n_terms", "expected"),
    [(0.3, 9, "m5"), (0.01, 9, "cart of means"), (0.01, 1, "m5"), (-0.3, 1, "cart")],
)
def test_linear_leaves_must_be_clearly_better_or_smaller(gain, n_terms, expected):
    """Losses differ by 1 from row to row, but by 0.2 between candidates."""
    random = np.random.default_rng(0)
    growth = FoldGrowth(RowCopies(number_rows(line())), RECIPES["m5"], Options())
    of_means = random.exponential(size=150)
    noise = random.normal(scale=0.2, size=150)
    of_lines = of_means - gain + noise - noise.mean()
    trials = [
        _Trial(growth, RecipeScore(name, losses.mean(), 0.1, 5), None, losses, size)
        for name, losses, size in (
            ("cart of means", of_means, 5),
            ("m5", of_lines, 3 + n_terms),
        )
    ]
    chosen = trials[recipe_choice._smallest_trial(trials)].score.name
    assert chosen.startswith(expected)


def test_wide_tables_of_numbers_are_compared_on_fewer_rows():
    random = np.random.default_rng(0)
    for n_columns, n_rows in ((3, 2000), (40, 1000), (90, 500)):
        table = {f"x{place}": random.random(30) for place in range(n_columns)}
        rows = number_rows({**table, "y": random.random(30)})
        assert recipe_choice._max_compared(rows) == n_rows


def test_the_risk_of_a_candidate_is_that_of_its_pruning():
    """The subtree that is judged is the one that pruning takes, of the same folds."""
    model = spinney.grow(IRIS, "class")
    (each,) = (each for each in model.recipe_scores_ if each.chosen)
    subtree = model.sequence_[model.sequence_.chosen]
    assert each.leaves == subtree.leaves == model.tree.n_leaves
    root_risk = model.sequence_.root_risk / 150
    assert each.risk == pytest.approx(subtree.error * root_risk)
    assert each.deviation == pytest.approx(subtree.deviation * root_risk)


def test_the_risk_of_a_finished_tree_is_its_error_on_rows_held_out():
    model = spinney.grow(IRIS, "class")
    (each,) = (each for each in model.recipe_scores_ if each.name == "c4.5")
    errors = 150 * each.risk
    assert errors == pytest.approx(round(errors))
    assert each.deviation == pytest.approx(np.sqrt(each.risk * (1 - each.risk) / 150))


def test_what_is_given_by_hand_holds_for_all():
    auto = RECIPES["auto"]
    deep = candidates_of(
        auto.changed(max_depth=2, missing_policy="fractional"), numeric=False
    )
    assert len(deep) == 3
    assert {each.max_depth for each in deep.values()} == {2}
    assert {each.missing_policy for each in deep.values()} == {"fractional"}
    assert names(auto.changed(criterion="gain")) == ["cart", "c4.5"]
    assert names(auto.changed(criterion="twoing")) == ["cart"]
    assert names(auto.changed(rule="1-se")) == ["cart", "cart by gain"]
    assert len(names(auto.changed(folds=3))) == 3
    assert names(auto.changed(pruning="cost-complexity"), numeric=True) == [
        "cart of means"
    ]


def test_a_recipe_that_tries_nothing_is_itself():
    for name in ("c4.5", "cart", "m5"):
        assert candidates_of(RECIPES[name], numeric=False) == {name: RECIPES[name]}
    assert spinney.grow(IRIS, "class", recipe="cart").recipe_scores_ == ()


def test_an_unpruned_tree_is_that_of_the_first():
    model = spinney.grow(IRIS, "class", pruning="none")
    assert model.recipe_scores_ == ()
    assert model.model_.recipe.criterion == "gini"


@pytest.mark.filterwarnings("ignore:column .* alone predicts:UserWarning")
@pytest.mark.parametrize(
    ("table", "target"), [(shades, "sort"), (colours, "sort"), (line, "y")]
)
def test_neither_order_nor_copies_change_the_choice(table, target):
    rows = {name: np.asarray(cells) for name, cells in table().items()}
    random = np.random.default_rng(5)
    n_rows = len(rows[target])
    weights = random.integers(1, 4, n_rows)
    copies = random.permutation(np.repeat(np.arange(n_rows), weights))
    weighed = spinney.grow({**rows, "w": weights}, target, weight="w")
    copied = spinney.grow({name: rows[name][copies] for name in rows}, target)
    assert without_counts(weighed) == copied.text()
    assert [each.name for each in weighed.recipe_scores_ if each.chosen] == [
        chosen(copied)
    ]
    for one, other in zip(weighed.recipe_scores_, copied.recipe_scores_, strict=True):
        assert one.risk == pytest.approx(other.risk)
        assert one.deviation == pytest.approx(other.deviation)


def test_costs_and_weights_of_classes_are_those_of_the_risk():
    table = shades()
    costs = {"light": {"dark": 5.0}, "dark": {"light": 1.0}}
    plain = spinney.grow(table, "sort").recipe_scores_
    costly = spinney.grow(table, "sort", cost_matrix=costs).recipe_scores_
    assert all(b.risk > a.risk for a, b in zip(plain, costly, strict=True))
    heavy = spinney.grow(table, "sort", class_weight={"light": 3.0}).recipe_scores_
    assert [each.risk for each in heavy] != [each.risk for each in plain]


def test_risks_of_huge_numbers_are_finite_and_can_be_saved(tmp_path):
    table = line()
    model = spinney.grow({"x": table["x"], "y": table["y"] * 1e130}, "y")
    assert all(
        np.isfinite([each.risk, each.deviation]).all() for each in model.recipe_scores_
    )
    model.save(tmp_path / "m.spinney")
    assert spinney.load(tmp_path / "m.spinney").recipe_scores_ == model.recipe_scores_


def test_large_tables_are_compared_on_some_rows(monkeypatch):
    monkeypatch.setattr(recipe_choice, "MAX_COMPARED", 100)
    few = spinney.grow(shades(), "sort")
    assert few.tree.root.weight == 240
    assert chosen(few).startswith("cart")
    for each in few.recipe_scores_:
        assert 100 * each.risk == pytest.approx(round(100 * each.risk))


def test_the_record_is_told_and_kept(tmp_path):
    model = spinney.grow(shades(), "sort")
    text = recipe_scores_text(model.recipe_scores_)
    assert text.startswith(f"chosen by folds: {chosen(model)} (risk 0.")
    assert text.count("also tried") == 1
    assert str(model.explain(0)).endswith(f"recipe: {text}")
    assert "tried" not in str(model.explain(1))
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    assert loaded.recipe_scores_ == model.recipe_scores_
    assert str(loaded.explain(0)) == str(model.explain(0))
    assert model.prune(nodes=[0]).recipe_scores_ == model.recipe_scores_


def test_a_forced_question_is_asked_by_the_one_that_is_chosen():
    model = spinney.grow(colours(), "sort", forced_splits={(): "noise"})
    assert model.tree.root.split.attribute == 1
    assert len(model.recipe_scores_) == 3


def test_the_words_of_one_leaf():
    assert str(RecipeScore("c4.5", 0.5, 0.1, 1)) == "c4.5 (risk 0.5 ± 0.1, 1 leaf)"


def test_a_recipe_of_ones_own_tries_what_it_is_changed_from():
    recipe = Recipe.named("auto").changed(min_samples_leaf=5)
    model = spinney.grow(IRIS, "class", recipe=recipe)
    assert len(model.recipe_scores_) == 3
    assert model.model_.recipe.min_samples_leaf == 5


def test_a_setting_that_one_candidate_can_use_leaves_that_one():
    auto = RECIPES["auto"].changed(leaves="linear")
    assert list(candidates_of(auto, numeric=True)) == ["m5"]
    cells = np.random.default_rng(0).random((60, 2))
    model = spinney.TreeRegressor(leaves="linear").fit(cells, cells @ [1.0, 2.0])
    assert model.model_.recipe.leaves == "linear"
    assert model.recipe_scores_ == ()
    with pytest.raises(spinney.ParameterError, match="leaves='linear'"):
        auto.refuse_target(numeric=False)


def test_a_setting_that_no_candidate_can_use_is_refused_at_once():
    with pytest.raises(spinney.ParameterError, match=r"alpha_split=0\.1 needs"):
        RECIPES["auto"].changed(alpha_split=0.1)


# Tables too small for folds


@pytest.mark.parametrize(
    ("name", "target", "n_leaves"),
    [
        ("fruit", "type", 2),  # 003
        ("buys_computer", "buys_computer", 5),  # 004, Fig. 2
        ("netball", "play", 5),  # 001
        ("watermelon_2.0", "ripe", 4),  # 000
        ("watermelon_3.0", "ripe", 4),
        ("weather_numeric", "play", 5),
        ("contact_lenses", "contact-lenses", 4),
    ],
)
def test_the_tables_of_the_documents_are_grown_by_c45(name, target, n_leaves):
    path = TABLES / f"{name}.csv"
    row_numbers = list({"id"} & set(spinney.read_table(path).names))
    model = spinney.grow(path, target, ignore=row_numbers)
    assert model.recipe_scores_ == (RecipeScore("c4.5", chosen=True),)
    assert model.tree.n_leaves == n_leaves
    assert model.tree.root.runners_up
    named = spinney.grow(path, target, recipe="c4.5", ignore=row_numbers)
    assert [model.tree.condition(node) for node in model.tree] == [
        named.tree.condition(node) for node in named.tree
    ]


def test_folds_begin_at_thirty_rows():
    few, enough = colours(29), colours(30)
    assert recipe_scores_text(spinney.grow(few, "sort").recipe_scores_) == (
        "a small table: grown by c4.5, not pruned by folds"
    )
    assert len(spinney.grow(enough, "sort").recipe_scores_) == 3
    # A row of weight 2 is as good as two rows.
    few["w"] = [2] + [1] * 28
    assert len(spinney.grow(few, "sort", weight="w").recipe_scores_) == 3
    assert str(RecipeScore("c4.5")) == "c4.5 (no rows held out)"


def test_folds_that_are_asked_for_are_drawn():
    recipe = Recipe.named("auto").changed(folds=3)
    assert len(spinney.grow(colours(20), "sort", recipe=recipe).recipe_scores_) == 3
    by_rule = Recipe.named("auto").changed(rule="1-se")
    model = spinney.grow(colours(20), "sort", recipe=by_rule)
    assert model.model_.recipe.pruning == "cost-complexity"


def test_few_numbers_are_grown_by_m5():
    model = spinney.grow(line(25), "y")
    assert model.recipe_scores_ == (RecipeScore("m5", chosen=True),)
    assert model.model_.recipe.leaves == "linear"


def test_that_a_table_was_small_is_kept(tmp_path):
    model = spinney.grow(colours(20), "sort")
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    assert loaded.recipe_scores_ == model.recipe_scores_
    assert str(loaded.explain(0)) == str(model.explain(0))
    assert str(model.explain(0)).endswith("not pruned by folds")


@pytest.mark.parametrize(("n_rows", "again"), [(60, 0), (90, 5)])
def test_folds_that_chose_are_not_grown_again_to_prune(n_rows, again, monkeypatch):
    random = np.random.default_rng(0)
    rows = {"x": random.random(n_rows), "z": random.random(n_rows)}
    rows["y"] = np.where(rows["x"] + random.normal(0, 0.4, n_rows) > 0.5, "a", "b")
    monkeypatch.setattr(recipe_choice, "MAX_COMPARED", 70)
    candidates, masks = [], []
    regrow = FoldGrowth.regrow

    def noted(growth, mask):
        candidates.append(growth.recipe.name)
        masks.append(len(mask))
        return regrow(growth, mask)

    monkeypatch.setattr(FoldGrowth, "regrow", noted)
    model = spinney.grow(rows, "y")
    assert model.model_.recipe.pruning == "cost-complexity"
    assert sum(size == n_rows for size in masks) == (10 if again == 0 else again)
    monkeypatch.undo()
    monkeypatch.setattr(recipe_choice, "MAX_COMPARED", 70)
    recipe = model.model_.recipe
    alone = spinney.grow(rows, "y", recipe=recipe)
    assert str(alone) == str(model)
    assert str(alone.sequence_) == str(model.sequence_)
