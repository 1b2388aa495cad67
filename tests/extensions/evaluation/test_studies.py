"""Evaluations as a user asks for them."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.model_selection import KFold

import spinney
from spinney import api
from spinney.errors import DataError, ParameterError, SpinneyNote, SpinneyWarning
from spinney.extensions.evaluation import study
from spinney.extensions.evaluation.measures import GROUPS
from spinney.extensions.evaluation.splits import Scheme, make_splits


def mixed_table(n_rows=90, seed=1):
    """Return rows of three classes with all kinds of columns, not easily told."""
    random = np.random.default_rng(seed)
    size = random.normal(size=n_rows)
    colour = random.choice(["red", "green", "blue"], n_rows)
    label = np.where(size + (colour == "red") > 0.4, "yes", "no")
    label = np.where(random.random(n_rows) < 0.25, "maybe", label)
    return {
        "size": [None if x > 1.5 else float(x) for x in size],
        "colour": colour.tolist(),
        "weight": random.integers(1, 4, n_rows).tolist(),
        "class": label.tolist(),
    }


TABLE = mixed_table()


def without_seconds(found):
    """Return the plain data of an evaluation without its times."""
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    for line in (*plain["table"], *plain["folds"]):
        for name in GROUPS["speed"]:
            line.pop(name, None)
            line.pop(f"{name}_sd", None)
    return plain


def test_measures_are_those_of_a_tree_grown_on_the_training_part():
    found = spinney.evaluate(TABLE, "class", "cart", folds=3, ignore=["weight"])
    frame = pd.DataFrame(TABLE).drop(columns="weight")
    truth = frame["class"]
    parts = make_splits(
        type("Rows", (), _rows_like(truth)),
        Scheme(folds=3),  # the same folds
    )
    for part, result in zip(parts, found.folds, strict=True):
        model = spinney.grow(frame.iloc[part.train], "class", recipe="cart")
        test = frame.iloc[part.test]
        labels, shares = model.predict(test), model.predict_proba(test)
        measures = result.measures
        assert measures["accuracy"] == metrics.accuracy_score(test["class"], labels)
        assert measures["log_loss"] == pytest.approx(
            metrics.log_loss(test["class"], shares, labels=model.classes_)
        )
        assert measures["auc"] == pytest.approx(
            metrics.roc_auc_score(test["class"], shares, multi_class="ovr")
        )
        assert measures["leaves"] == model.tree.n_leaves
        assert measures["nodes"] == len(model.tree)
        assert measures["depth"] == model.tree.height
        assert measures["mean_path_length"] == model.tree.mean_path_length
        rules = model.rules()
        assert measures["rules"] == len(rules)
        conditions = np.mean([len(rule.conditions) for rule in rules])
        assert measures["conditions_per_rule"] == pytest.approx(conditions)
        assert measures["seconds"] > 0
        assert measures["predict_seconds"] > 0
        assert measures["row_microseconds"] > 0
        assert (result.n_train, result.n_test) == (60, 30)


def _rows_like(truth):
    classes, codes = np.unique(truth, return_inverse=True)
    return {
        "classes": tuple(classes),
        "truth": codes,
        "n_rows": len(codes),
        "target": "class",
    }


def test_seconds_are_those_of_a_clock_that_loading_loops_stops(monkeypatch):
    ticks = iter(range(100))
    monkeypatch.setattr(study, "seconds_without_loading", lambda: next(ticks) ** 2)
    found = spinney.evaluate(TABLE, "class", "cart", folds=2)
    measured = [each.measures for each in found.folds]
    assert [(m["seconds"], m["predict_seconds"]) for m in measured] == [(1, 3), (7, 9)]


def test_all_recipes_are_tested_on_the_same_rows(monkeypatch):
    seen = {}
    grow = spinney.grow

    def noting(train, target, *, recipe, **arguments):
        seen.setdefault(recipe, []).append(train["size"].cells.tobytes())
        return grow(train, target, recipe=recipe, **arguments)

    monkeypatch.setattr(api, "grow", noting)
    spinney.evaluate(TABLE, "class", ["id3", "c4.5", "cart"], folds=4, repeats=2)
    assert len(seen["id3"]) == len(set(seen["id3"])) == 8
    assert seen["id3"] == seen["c4.5"] == seen["cart"]


def test_the_seed_decides():
    def run(seed):
        return without_seconds(
            spinney.evaluate(
                TABLE, "class", ["id3", "cart"], folds=3, random_state=seed
            )
        )

    assert run(5) == run(5)
    assert run(5)["folds"] != run(6)["folds"]


def test_a_random_state_is_any_of_scikit_learns():
    def run(random_state):
        return without_seconds(
            spinney.evaluate(TABLE, "class", "cart", folds=3, random_state=random_state)
        )

    assert run(None) == run(0) == run(np.int64(0))
    assert run(np.random.RandomState(4)) == run(np.random.RandomState(4))
    assert run(np.random.default_rng(4))["folds"] != run(0)["folds"]


@pytest.mark.parametrize("random_state", [-1, 2**32, 1.5, "3"])
def test_a_random_state_that_means_nothing(random_state):
    with pytest.raises(ParameterError, match="random_state=") as caught:
        spinney.evaluate(TABLE, "class", random_state=random_state)
    assert caught.value.parameter == "random_state"


@pytest.mark.parametrize(
    "study",
    [
        spinney.evaluate,
        spinney.learning_curve,
        spinney.robustness,
        spinney.scalability,
    ],
)
def test_a_seed_has_become_a_random_state(study):
    with pytest.raises(ParameterError, match=r"^seed=3 has become random_state=3$"):
        study(TABLE, "class", seed=3)


def test_means_and_deviations():
    found = spinney.evaluate(TABLE, "class", ["id3", "cart"], folds=5)
    for line in found.table:
        values = [
            result.measures["accuracy"]
            for result in found.folds
            if result.recipe == line["recipe"]
        ]
        assert line["accuracy"] == pytest.approx(np.mean(values))
        assert line["accuracy_sd"] == pytest.approx(np.std(values, ddof=1))


def test_comparisons_are_of_all_pairs():
    found = spinney.evaluate(TABLE, "class", ["id3", "c4.5", "cart"], folds=5)
    tests = found.compare("brier")
    pairs = [(test.first, test.second) for test in tests]
    assert pairs == [("id3", "c4.5"), ("id3", "cart"), ("c4.5", "cart")]
    values = {
        name: np.array([r.measures["brier"] for r in found.folds if r.recipe == name])
        for name in found.recipes
    }
    for test in tests:
        differences = values[test.first] - values[test.second]
        assert test.difference == pytest.approx(differences.mean())
        # 90 rows in 5 folds: 18 tested, 72 trained on.
        factor = 1 / 5 + 18 / 72
        t = differences.mean() / np.sqrt(factor * differences.var(ddof=1))
        assert test.t == pytest.approx(t)
        assert test.degrees == 4


def test_one_division_cannot_be_compared():
    found = spinney.evaluate(TABLE, "class", ["id3", "cart"], holdout=0.3)
    assert found.table[0]["accuracy_sd"] is None
    assert found.as_dict()["comparisons"] == []
    with pytest.raises(ParameterError, match="defined for 1 fold of 'id3' and 'cart'"):
        found.compare()


def test_recipes_that_are_the_same_differ_in_nothing():
    found = spinney.evaluate(TABLE, "class", {"a": "id3", "b": {"recipe": "id3"}})
    [test] = found.compare()
    assert (test.difference, test.p) == (0, 1)
    assert np.isnan(test.t)


def test_rows_without_a_target_are_left_out():
    rows = {name: list(cells) for name, cells in TABLE.items()}
    rows["class"][3] = rows["class"][60] = None
    chosen = [place for place in range(90) if place not in (3, 60)]
    without = {name: [cells[p] for p in chosen] for name, cells in rows.items()}
    with pytest.warns(SpinneyWarning, match="is missing in 2 of 90 rows") as told:
        found = spinney.evaluate(rows, "class", "cart", folds=3)
    assert len(told) == 1
    expected = spinney.evaluate(without, "class", "cart", folds=3)
    assert without_seconds(found) == without_seconds(expected)


def test_weights_count_in_growing_and_measuring():
    found = spinney.evaluate(TABLE, "class", "cart", holdout=0.4, weight="weight")
    [result] = found.folds
    frame = pd.DataFrame(TABLE)
    [part] = make_splits(
        type("Rows", (), _rows_like(frame["class"])), Scheme(holdout=0.4)
    )
    model = spinney.grow(
        frame.iloc[part.train], "class", recipe="cart", weight="weight"
    )
    test = frame.iloc[part.test]
    expected = model.score(test, sample_weight=test["weight"])
    assert result.measures["accuracy"] == pytest.approx(expected)
    assert expected != model.score(test)
    assert "weight" not in model.tree.schema.names


def test_rows_of_weight_zero_are_absent():
    rows = {name: [*cells, cells[0]] for name, cells in TABLE.items()}
    rows["weight"][-1] = 0
    rows["class"][-1] = "never"
    found = spinney.evaluate(rows, "class", "cart", folds=3, weight="weight")
    expected = spinney.evaluate(TABLE, "class", "cart", folds=3, weight="weight")
    assert without_seconds(found) == without_seconds(expected)
    rows["weight"] = [0] * 91
    with pytest.raises(DataError, match="no row has a positive weight"):
        spinney.evaluate(rows, "class", weight="weight")


def test_a_class_that_a_training_part_lacks():
    rows = {name: [*cells, cells[0]] for name, cells in TABLE.items()}
    rows["class"][-1] = "once"
    with pytest.warns(SpinneyWarning, match=r"'once' \(1\)") as told:
        found = spinney.evaluate(
            rows, "class", "cart", folds=3, class_weight={"once": 2, "yes": 3}
        )
    assert len(told) == 1
    assert found.classes == ("maybe", "no", "once", "yes")
    # The one fold that tests it takes it for impossible: 36 nats of one row in 31.
    assert max(result.measures["log_loss"] for result in found.folds) > 36 / 31


def test_whole_numbers_are_classes_in_every_part():
    rows = {"x": list(range(60)), "y": [n // 3 for n in range(60)]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpinneyWarning)
        found = spinney.evaluate(rows, "y", "cart", folds=3)
    assert found.classes == tuple(range(20))
    assert found.table[0]["accuracy"] is not None


def test_two_rows():
    rows = {"x": [1, 2], "y": ["a", "b"]}
    for folds in (None, 2, "loo"):
        with pytest.raises(DataError, match="no class has two rows"):
            spinney.evaluate(rows, "y", folds=folds)
    with pytest.raises(ParameterError, match="folds=10 is more than the 2 rows"):
        spinney.evaluate(rows, "y", repeats=2)
    with (
        pytest.warns(SpinneyWarning, match="one row only"),
        pytest.raises(
            DataError, match=r"recipe 'auto', repeat 1, fold 1: .*there is 1 sample"
        ),
    ):
        spinney.evaluate(rows, "y", holdout=0.5)


def test_a_training_part_of_one_class():
    rows = {"x": list(range(6)), "y": ["a"] * 5 + ["b"]}
    with pytest.warns(SpinneyWarning, match="fewer rows than the 2 folds"):
        found = spinney.evaluate(rows, "y", folds=2, cost_matrix=[[0, 1], [5, 0]])
    lines = found.as_dict()["table"]
    assert [line["accuracy"] for line in lines] == pytest.approx([5 / 6] * 3)


def test_one_row_of_a_class_can_be_left_out():
    rows = {"x": list(range(6)), "y": ["a"] * 5 + ["b"]}
    found = spinney.evaluate(rows, "y", "cart")
    assert found.as_dict()["table"][0]["accuracy"] == pytest.approx(5 / 6)


def test_what_is_odd_is_said_once():
    rows = {
        **TABLE,
        "name": [f"row {place}" for place in range(90)],
        "age": [*(str(place % 40) for place in range(89)), "NA"],
    }
    with pytest.warns(SpinneyWarning) as told:
        spinney.evaluate(rows, "class", ["c4.5", "cart"], folds=3)
    assert [str(w.message).split(":")[0] for w in told] == [
        "column 'name' has only unique values (90) and was excluded; to keep it, "
        "declare it (nominal=['name'])",
        "column 'age' reads as text because of 'NA' in row 90",
    ]


IDENTIFIED = {
    "ResponseID": [f"R_{place * 7919 % 1000:03}" for place in range(100)],
    "id": range(1, 101),
    "x": [place * 37 % 101 for place in range(100)],
    "y": ["yes"] * 50 + ["no"] * 50,
}


def test_all_recipes_are_measured_on_the_same_columns():
    """c4.5 kept what the default leaves out: 0.698 beside 0.766, for an identifier."""
    without = {name: IDENTIFIED[name] for name in ("x", "y")}
    recipes = ["auto", "c4.5", "cart", "forest"]
    settings = {"folds": 3, "random_state": 1}
    with pytest.warns(SpinneyNote) as told:
        found = spinney.evaluate(IDENTIFIED, "y", recipes, **settings)
    assert ["was excluded" in str(each.message) for each in told] == [True, True]
    expected = spinney.evaluate(without, "y", recipes, **settings)
    assert _qualities(found) == _qualities(expected)


def test_a_declared_identifier_stays_in_every_fold():
    """The default grew on folds as if nothing had been declared."""
    declared = {"folds": 2, "random_state": 0, "numeric": ["id"]}
    rows = {name: IDENTIFIED[name] for name in ("id", "y")}
    rows["x"] = [0, 1] * 50
    found = spinney.evaluate(rows, "y", ["cart"], **declared)
    assert found.as_dict()["table"][0]["accuracy"] > 0.9


def _qualities(found):
    return [(line["recipe"], line["accuracy"]) for line in found.as_dict()["table"]]


def test_costs():
    costs = {
        label: {true: 0 if label == true else 2 for true in ("maybe", "no", "yes")}
        for label in ("maybe", "no", "yes")
    }
    found = spinney.evaluate(TABLE, "class", "cart", folds=3, cost_matrix=costs)
    for result in found.folds:
        wrong = 1 - result.measures["accuracy"]
        assert result.measures["cost"] == pytest.approx(2 * wrong)


def test_costs_that_a_recipe_grows_by_and_a_part_that_lacks_a_class():
    rows = {name: [*cells, cells[0]] for name, cells in TABLE.items()}
    rows["class"][-1] = "once"
    labels = ("maybe", "no", "once", "yes")
    costs = {
        label: {true: (label != true) * (3 if true == "yes" else 1) for true in labels}
        for label in labels
    }
    with pytest.warns(SpinneyWarning, match="'once'"):
        found = spinney.evaluate(
            rows,
            "class",
            {"plain": "cart", "costly": {"recipe": "cart", "cost_matrix": costs}},
            folds=3,
            cost_matrix=costs,
        )
    assert {line["recipe"] for line in found.table} == {"plain", "costly"}
    assert all(line["cost"] > 0 for line in found.table)


def test_progress_is_told():
    told = []
    spinney.evaluate(
        TABLE,
        "class",
        ["id3", "cart"],
        folds=3,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(done, 6) for done in range(7)]


def test_settings_and_declarations_are_passed_on():
    found = spinney.evaluate(
        {**TABLE, "weight": [str(w) for w in TABLE["weight"]]},
        "class",
        folds=3,
        ordinal=["weight:1<2<3"],
        max_depth=1,
    )
    assert {line["depth"] for line in found.table} == {1}
    with pytest.raises(ParameterError, match="did you mean 'max_depth'"):
        spinney.evaluate(TABLE, "class", max_dept=1)
    with pytest.raises(DataError, match="'wieght' is declared but not in the table"):
        spinney.evaluate(TABLE, "class", nominal=["wieght"])


# A numeric target


def wave(n_rows=80):
    """Return rows whose target is a number, with weights."""
    random = np.random.default_rng(2)
    x = random.uniform(0, 6, n_rows)
    y = np.sin(x) + random.normal(0, 0.1, n_rows)
    return {"x": x.tolist(), "w": random.integers(1, 4, n_rows).tolist(), "y": y}


@pytest.mark.parametrize("weight", [None, "w"])
def test_measures_of_numbers(weight):
    rows = wave()
    found = spinney.evaluate(rows, "y", "cart", folds=4, weight=weight, max_depth=3)
    assert found.classes is None
    assert found.measures[:4] == ("rmse", "mae", "r2", "correlation")
    frame = pd.DataFrame(rows)
    parts = KFold(4, shuffle=True, random_state=0).split(frame)
    for (train, test), result in zip(parts, found.folds, strict=True):
        model = spinney.grow(
            frame.iloc[train], "y", recipe="cart", max_depth=3, weight=weight
        )
        tested = frame.iloc[test]
        at = {"sample_weight": tested["w"] if weight else None}
        truth, predicted = tested["y"], model.predict(tested)
        measures = result.measures
        rmse = metrics.root_mean_squared_error(truth, predicted, **at)
        assert measures["rmse"] == pytest.approx(rmse)
        mae = metrics.mean_absolute_error(truth, predicted, **at)
        assert measures["mae"] == pytest.approx(mae)
        r2 = metrics.r2_score(truth, predicted, **at)
        assert measures["r2"] == pytest.approx(r2)
        assert 0.9 < measures["correlation"] < 1
        assert measures["leaves"] == model.tree.n_leaves


def test_recipes_for_numbers_are_compared():
    found = spinney.evaluate(wave(), "y", ["id3", "c4.5", "cart"], folds=4)
    assert len(found.compare()) == 3
    assert "RMSE" in str(found)
    assert {test.measure for test in found.compare()} == {"rmse"}


def test_numbers_are_numbers_in_every_part():
    # 21 whole numbers in all; no training part has more than 20.
    rows = {"x": [n / 2 for n in range(21)], "y": list(range(21))}
    with pytest.warns(SpinneyNote, match="21 different integers, read as a number"):
        found = spinney.evaluate(rows, "y", "cart", folds=7)
    assert found.classes is None
    assert all(result.measures["rmse"] > 0 for result in found.folds)
    few = {"x": [n / 2 for n in range(21)], "y": [1, 2, 4] * 7}
    with pytest.warns(SpinneyNote, match="3 different integers, read as classes"):
        assert spinney.evaluate(few, "y", "cart", folds=3).classes == (1, 2, 4)
    declared = spinney.evaluate(few, "y", "cart", folds=3, numeric=["y"])
    assert declared.classes is None


def test_curves_and_damage_of_numbers():
    curve = spinney.learning_curve(wave(), "y", "cart", sizes=[10, 1.0], folds=4)
    few, all_rows = curve.table
    assert few["rmse"] > all_rows["rmse"]
    found = spinney.robustness(
        wave(), "y", "cart", noise=[0, 0.5], missing_rate=[], outliers=[], folds=4
    )
    plain, noisy, _ = found.table
    assert noisy["rmse"] > 1.5 * plain["rmse"]


def test_numbers_that_cannot_be_evaluated():
    with pytest.raises(ParameterError, match="cost_matrix needs classes"):
        spinney.evaluate(wave(), "y", cost_matrix=[[0]])


@pytest.mark.parametrize(
    "y, error", [([0.5] * 20, 0.0), ([0.5] * 19 + [1.5], 1 / math.sqrt(20))]
)
@pytest.mark.filterwarnings("ignore:.*rows have one value, 0.5")
def test_numbers_that_are_all_the_same_have_a_score(y, error):
    found = spinney.evaluate({"x": list(range(20)), "y": y}, "y", "cart", folds=20)
    assert found.table[0]["rmse"] == pytest.approx(error)
