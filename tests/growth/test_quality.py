"""How well a tree predicts: known from folds, or from further trees, or not at all."""

from math import sqrt

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from tests.helpers.strategies import TABLES

import spinney
from spinney import TreeClassifier, TreeRegressor
from spinney.growth import Quality
from spinney.growth.folds import measure_quality
from spinney.output.file.header import QUALITY, header_of, read_quality
from spinney.output.file.strict_json import DamageError

IRIS, PENGUINS = TABLES / "iris.csv", TABLES / "penguins.csv"


def grown(recipe="c4.5", table=IRIS, target="class", **settings):
    return spinney.grow(table, target, recipe=recipe, **settings)


def right(model, rows):
    return model.score(rows) * rows.n_rows


def test_accuracy_is_that_of_trees_without_a_fold():
    """Other folds, by scikit-learn, agree within two standard errors."""
    quality, table = grown().quality_, spinney.read_table(IRIS)
    labels = table["class"].cells
    n_right = 0.0
    for kept, held_out in StratifiedKFold(5, shuffle=True, random_state=1).split(
        labels, labels
    ):
        model = grown(table=table.take(kept), measure_quality=False)
        n_right += right(model, table.take(held_out))
    assert (quality.n_folds, quality.n_rows) == (5, 150)
    assert abs(quality.accuracy - n_right / 150) <= 2 * quality.standard_error
    assert quality.n_right == round(quality.accuracy * 150)
    expected = sqrt(quality.accuracy * (1 - quality.accuracy) / 150)
    assert quality.standard_error == pytest.approx(expected)


@pytest.mark.parametrize("recipe", ["auto", "c4.5", "id3", "cart", "chaid"])
def test_training_accuracy_is_that_of_score(recipe):
    model = grown(recipe, PENGUINS, "species")
    training = model.score(spinney.read_table(PENGUINS))
    assert model.quality_.training_accuracy == pytest.approx(training)


@pytest.mark.parametrize("recipe", ["auto", "m5", "cart"])
def test_errors_of_numbers(recipe):
    table = spinney.read_table(TABLES / "cpu_prp.csv")
    model = grown(recipe, table)
    quality, truth = model.quality_, np.asarray(table["class"].cells, float)
    error = np.mean((model.predict(table) - truth) ** 2)
    assert quality.training_rmse == pytest.approx(sqrt(error))
    assert quality.training_r2 == pytest.approx(1 - error / truth.var())
    assert quality.rmse == pytest.approx(sqrt(quality.error))
    assert (quality.accuracy, quality.n_right, quality.n_rows) == (None, None, 209)
    assert str(quality).startswith("RMSE ")
    assert "in 5-fold cross-validation" in str(quality)


def naive_nested(model):
    """Judge each fold by the subtree of least error on all other folds."""
    sequence, by_fold, n_wrong = model.sequence_, model.sequence_.fold_losses, 0.0
    wrong = by_fold.losses * by_fold.unit
    for fold in range(len(wrong)):
        others = np.delete(wrong, fold, axis=0).sum(axis=0)
        least = np.flatnonzero(others <= others.min() + 1e-6)[-1]
        n_wrong += wrong[fold, least]
    np.testing.assert_allclose(wrong.sum(axis=0) / 150, sequence.mean_errors()[0])
    return n_wrong / 150


def test_pruning_by_folds_has_measured_it_already():
    recipe = spinney.Recipe.named("cart").changed(
        pruning="cost-complexity", folds=7, rule="minimum"
    )
    model = grown(recipe, measure_quality=False)
    quality = model.quality_
    assert quality == grown(recipe).quality_
    assert quality.error == pytest.approx(naive_nested(model))
    assert quality.error >= model.sequence_.mean_errors()[0].min() - 1e-12
    spread = sqrt(quality.error * (1 - quality.error) / 150)
    assert quality.standard_error == pytest.approx(spread)
    assert (quality.n_folds, quality.n_rows) == (7, 150)


def test_auto_has_measured_it_already():
    quality, table = grown("auto").quality_, spinney.read_table(IRIS)
    labels = np.array(table["class"].levels)[table["class"].cells]
    fitted = TreeClassifier().fit(table.without(("class",)), labels)
    assert fitted.quality_ == quality
    assert (quality.n_folds, quality.n_rows) == (5, 150)


def test_the_error_of_noise_is_not_the_least_of_many():
    """Half of the rows are of each class: the best of many subtrees looks better."""
    random, by_choice, nested = np.random.default_rng(5), [], []
    for _ in range(4):
        table = {f"x{i}": random.random(120) for i in range(6)}
        table["y"] = np.array(["a", "b"])[random.permutation(120) % 2]
        model = grown("auto", table, "y")
        by_choice += [s.risk for s in model.recipe_scores_ if s.chosen]
        nested.append(model.quality_.error)
    assert np.mean(by_choice) + 0.02 < np.mean(nested) < 0.6


@pytest.mark.parametrize("estimator", [TreeClassifier, TreeRegressor])
def test_fit_grows_no_further_trees(estimator):
    rows = np.arange(100.0)[:, None]
    model = estimator("c4.5").fit(rows, (np.arange(100) // 50) % 2)
    assert model.quality_ is None


def test_it_is_not_measured_where_nobody_wants_it():
    assert grown(measure_quality=False).quality_ is None


def test_few_rows_tell_the_training_error_only():
    weather = TABLES / "weather_nominal.csv"
    quality = grown("id3", weather, "play").quality_
    assert quality == Quality(0.0)
    assert (quality.accuracy, quality.n_rows, quality.method) == (None, 0, None)
    assert str(quality) == (
        "accuracy 100.0 % on training rows; new rows not measured: `spinney evaluate`"
    )


def test_many_cells_are_held_out_once_or_not_at_all(monkeypatch):
    cells = 150 * 4
    monkeypatch.setattr(measure_quality, "MAX_CELLS", 4 * cells)
    once = grown().quality_
    assert (once.n_folds, once.n_rows) == (1, 30)
    assert "± " in str(once)
    assert "on 30 held-out rows" in str(once)
    monkeypatch.setattr(measure_quality, "MAX_CELLS", cells - 1)
    assert grown().quality_.error is None


def test_progress_counts_the_further_trees():
    reports = []
    grown(progress=lambda done, total: reports.append((done, total)))
    assert reports[-1] == (6, 6)
    assert {total for _, total in reports} == {6}


def test_costs_and_class_weights_do_not_count():
    weighted = grown("auto", class_weight={"Iris-setosa": 1, "Iris-virginica": 100})
    assert weighted.quality_.training_accuracy == pytest.approx(
        weighted.score(spinney.read_table(IRIS))
    )
    others = ("Iris-setosa", "Iris-versicolor")
    costs = {
        "Iris-virginica": dict.fromkeys(others, 0.0),
        **{
            label: {"Iris-virginica": 50.0, **{o: 1.0 for o in others if o != label}}
            for label in others
        },
    }
    costly = grown("cart", cost_matrix=costs)
    expected = costly.score(spinney.read_table(IRIS))
    assert expected < 0.9
    assert costly.quality_.training_accuracy == pytest.approx(expected)
    assert costly.quality_.accuracy < 0.9


def test_a_row_of_weight_two_is_two_rows():
    table = {"x": [*range(40)], "y": ["a", "b", "b", "a"] * 10, "w": [2.0] * 40}
    twice = {"x": [*range(40)] * 2, "y": ["a", "b", "b", "a"] * 20}
    weighted = grown("id3", table, "y", weight="w").quality_
    repeated = grown("id3", twice, "y").quality_
    assert weighted.error == repeated.error
    assert weighted.standard_error == repeated.standard_error


def test_a_tree_pruned_at_an_alpha_is_judged_by_such_trees():
    stump = grown("cart", ccp_alpha=0.32)
    assert stump.get_n_leaves() == 2
    assert stump.quality_.accuracy == pytest.approx(2 / 3)


def test_remote_rows_tell_the_training_error():
    remote = grown("c4.5", engine="duckdb").quality_
    assert remote.n_rows == 0
    assert remote.training_error == grown().quality_.training_error


def test_pruning_by_hand_forgets_it():
    assert grown().prune(nodes=[0]).quality_ is None


@pytest.mark.parametrize("recipe", ["c4.5", "auto", "m5"])
def test_a_file_has_it(recipe, tmp_path):
    table = TABLES / "cpu_prp.csv" if recipe == "m5" else IRIS
    model = grown(recipe, table)
    model.save(tmp_path / "model.spinney")
    assert spinney.load(tmp_path / "model.spinney").quality_ == model.quality_
    model.export("json", path=tmp_path / "model.json")
    assert spinney.load(tmp_path / "model.json").quality_ == model.quality_


@pytest.mark.parametrize(
    "change",
    [
        {"training_error": -0.1},
        {"error": None},
        {"error": -1},
        {"n_rows": -1},
        {"n_folds": 2.5},
        {"variance": "much"},
        {"standard_error": True},
    ],
)
def test_a_damaged_quality_is_refused(change):
    header = header_of(grown().model_)
    assert read_quality(header) == grown().quality_
    header[QUALITY] = {**header[QUALITY], **change}
    with pytest.raises(DamageError, match="quality"):
        read_quality(header)
