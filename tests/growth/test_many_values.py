"""Nominal columns of many values: noise costs little, and what tells is used."""

import numpy as np
import pandas as pd
import pytest

import spinney
from spinney.errors import SpinneyNote
from spinney.trees import Groups, Threshold

N_VALUES, N_ROWS = 400, 1200
PLANTED = ["c0", "c1"]


def table(task: str, *, tells: bool, n_values: int = N_VALUES):
    """Return five numbers and two columns of many values, and a target."""
    random = np.random.default_rng(5)
    numbers = random.normal(size=(N_ROWS, 5))
    codes = random.integers(0, n_values, (N_ROWS, 2))
    score = numbers @ [1.5, 1.0, 0.8, 0.6, 0.5] + 0.5 * random.normal(size=N_ROWS)
    if tells:
        for own in codes.T:
            score = score + 3 * random.normal(size=n_values)[own]
    frame = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(5)])
    for name, own in zip(PLANTED, codes.T, strict=True):
        frame[name] = [f"v{code}" for code in own]
    if task == "number":
        return frame, score
    n_classes = int(task[0])
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return frame, np.array(["a", "b", "c"])[np.searchsorted(cuts, score)]


def score(model, frame, target) -> float:
    """Return what a model makes of the last third of rows, grown on the others."""
    model.fit(frame[:800], target[:800])
    return float(model.score(frame[800:], target[800:]))


def forest(task: str):
    kind = spinney.ForestRegressor if task == "number" else spinney.ForestClassifier
    return kind(30, random_state=0, oob_score=True)


@pytest.mark.parametrize("task", ["2 classes", "3 classes", "number"])
def test_columns_of_noise_cost_a_forest_little(task):
    frame, target = table(task, tells=False)
    model, bare = forest(task), forest(task)
    found = score(model, frame, target)
    without = score(bare, frame.drop(columns=PLANTED), target)
    assert found > without - 0.04
    assert abs(model.oob_score_ - bare.oob_score_) < 0.03
    assert not {5, 6} & {n.split.attribute for t in model.trees[:5] for n in inner(t)}


@pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyNote")
@pytest.mark.parametrize("task", ["2 classes", "3 classes"])
def test_columns_of_noise_cost_the_default_recipe_little(task):
    frame, target = table(task, tells=False)
    model = spinney.TreeClassifier()
    found = score(model, frame, target)
    bare = spinney.TreeClassifier()
    assert found > score(bare, frame.drop(columns=PLANTED), target) - 0.04
    assert not any(node.split.attribute >= 5 for node in inner(model))
    assert model.schema.names[5:] == tuple(PLANTED)


def test_what_is_not_split_on_is_told():
    frame, target = table("2 classes", tells=False)
    frame = frame.drop(columns="c1")
    with pytest.warns(
        SpinneyNote, match=r"column 'c0' \(\d+ values\) is excluded from splits"
    ):
        spinney.grow(frame.assign(y=target), "y")


@pytest.mark.parametrize("task", ["2 classes", "3 classes", "number"])
def test_columns_that_tell_are_used(task):
    frame, target = table(task, tells=True, n_values=60)
    model = forest(task)
    found = score(model, frame, target)
    without = score(forest(task), frame.drop(columns=PLANTED), target)
    assert found > without + 0.1
    assert abs(model.oob_score_ - found) < 0.06
    assert model.importances().mean[5:].min() > 0.05


def test_the_default_recipe_uses_a_column_that_tells():
    frame, target = table("2 classes", tells=True, n_values=30)
    model = spinney.TreeClassifier().fit(frame, target)
    assert {5, 6} & {node.split.attribute for node in inner(model)}


def test_a_split_that_is_asked_for_is_made():
    frame, target = table("2 classes", tells=False, n_values=30)
    with pytest.warns(SpinneyNote, match=r"'c1' \(30 values\) is excluded"):
        model = spinney.grow(
            frame.assign(y=target), "y", forced_splits={(): "c0"}, pruning="none"
        )
    assert model.tree.root.split.attribute == 5


@pytest.mark.parametrize("task", ["2 classes", "3 classes", "number"])
def test_a_forest_asks_for_sets_of_values(task, tmp_path):
    frame, target = table(task, tells=True, n_values=60)
    frame.loc[::7, "c0"] = None
    model = forest(task).fit(frame, target)
    attributes = model.schema.attributes
    assert [a.kind for a in attributes[5:]] == ["nominal"] * 2
    split_on = set()
    for tree in model.trees[:10]:
        for node in inner(tree):
            split_on.add(node.split.attribute)
            nominal = node.split.attribute >= 5
            assert isinstance(node.split, Groups if nominal else Threshold)
        lines = [line for line in str(tree).splitlines() if " c0 " in line]
        assert not [line for line in lines if "c0 <" in line or "c0 ≥" in line]
    assert split_on == set(range(7))
    # Trees by themselves send rows where those of the forest do.
    leaves = model.apply(frame)
    for number in (0, 7):
        np.testing.assert_array_equal(
            model.trees[number].apply(frame), leaves[:, number]
        )
    model.save(tmp_path / "forest.spinney")
    loaded = spinney.load(tmp_path / "forest.spinney")
    np.testing.assert_array_equal(loaded.outputs(frame), model.outputs(frame))
    assert str(loaded.trees[3]) == str(model.trees[3])


def test_importances_by_permutation_know_the_rows_again():
    frame, target = table("2 classes", tells=True, n_values=60)
    model = forest("2 classes").fit(frame, target)
    found = model.permutation_importances(frame, target).mean
    assert found[5:].min() > 0.01
    order = np.random.default_rng(0).permutation(len(frame))
    again = forest("2 classes").fit(frame.iloc[order], target[order])
    assert again.oob_score_ == pytest.approx(model.oob_score_)
    np.testing.assert_array_equal(again.outputs(frame), model.outputs(frame))


def inner(model):
    """Return the nodes of a tree that ask something."""
    return [node for node in model.tree if not node.is_leaf]


@pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyNote")
def test_the_default_recipe_uses_many_values_with_few_rows_that_tell_much():
    random = np.random.default_rng(0)
    town, x = random.integers(0, 250, 1200), random.normal(size=1200)
    effects = 3 * random.normal(size=250)
    sold = effects[town] + x + random.normal(size=1200) > 0
    frame = pd.DataFrame({"town": [f"t{code}" for code in town], "x": x})
    model = spinney.TreeClassifier()
    found = score(model, frame, sold)
    assert 0 in {node.split.attribute for node in inner(model)}
    assert found > score(spinney.TreeClassifier(), frame[["x"]], sold) + 0.15


@pytest.mark.parametrize("copies", [2, 3])
def test_copies_of_rows_do_not_tell_a_row_its_own_label(copies):
    frame, target = table("2 classes", tells=False)
    frame, target = frame[:600], target[:600]
    again = pd.concat([frame] * copies, ignore_index=True)
    model = forest("2 classes").fit(again, np.tile(target, copies))
    assert model.importances().mean[5:].tolist() == [0, 0]
