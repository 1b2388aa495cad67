"""Leaves shrunk towards the nodes above, and how much, as rows out of the bag tell."""

import numpy as np
import pandas as pd
import pytest

import spinney
from spinney import ForestClassifier, ForestRegressor
from spinney.errors import ModelFormatError, ParameterError
from spinney.growth.forest import choose_shrinkage as choosing
from spinney.growth.forest.bags import ForestBags
from spinney.growth.forest.choose_shrinkage import SHRINKAGES
from spinney.growth.forest.shrinkage import shrunk
from spinney.growth.forest.voting import subset
from spinney.output.file.container import pack, read_header, unpack
from spinney.output.file.strict_json import dump, parse
from spinney.trees import joined

GENERATOR = np.random.default_rng(4)
ROWS = GENERATOR.normal(size=(240, 4))
NOISE = GENERATOR.random(240) < 0.35
NOISY = (ROWS[:, 0] > 0) ^ NOISE
CLEAN = (ROWS[:, 0] > 0) & (ROWS[:, 1] > 0)


def test_by_hand():
    """Two steps: 1/2, then 1/4 of 8 rows by λ = 8 counts half, and 1 of 2 by 1/5."""
    told = np.array([[0.5], [0.25], [1.0], [0.75]])
    weight, parent = np.array([8.0, 2.0, 1.0, 6.0]), np.array([-1, 0, 1, 0])
    found = shrunk(told, weight, parent, np.array([0, 1, 2, 1]), [8.0])
    first = 0.5 + (0.25 - 0.5) / (1 + 8 / 8)
    second = first + (1.0 - 0.25) / (1 + 8 / 2)
    expected = [0.5, first, second, 0.5 + (0.75 - 0.5) / 2]
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-15)
    assert (shrunk(told, weight, parent, np.array([0, 1, 2, 1]), [0.0]) == told).all()


def test_much_shrinkage_leaves_the_root():
    model = ForestClassifier(30, shrinkage=1e12, random_state=0).fit(ROWS, NOISY)
    shares = model.predict_proba(ROWS)
    np.testing.assert_allclose(shares, np.broadcast_to(shares[0], shares.shape))


def test_noise_is_shrunk_and_a_clean_rule_is_not():
    noisy = ForestClassifier(60, random_state=0).fit(ROWS, NOISY).forest_
    clean = ForestClassifier(60, random_state=0).fit(ROWS, CLEAN).forest_
    assert noisy.shrinkage >= 10
    assert clean.shrinkage == 0
    assert noisy.settings.shrinkage is None


def test_the_choice_is_in_units_of_an_average_row():
    light = ForestClassifier(60, random_state=0)
    light.fit(ROWS, NOISY, sample_weight=np.full(240, 0.3))
    found = light.forest_.shrinkage
    assert found > 0
    assert min(abs(found - 0.3 * tried) for tried in SHRINKAGES) < 1e-9


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", {True: 3}])
def test_classes_that_weigh_otherwise(class_weight):
    model = ForestClassifier(20, class_weight=class_weight, random_state=0)
    assert model.fit(ROWS, NOISY).forest_.shrinkage in SHRINKAGES


def test_without_rows_out_of_the_bag_nothing_is_shrunk():
    model = ForestClassifier(5, bootstrap=False, random_state=0).fit(ROWS, NOISY)
    assert model.forest_.shrinkage == 0
    changes = ForestClassifier(5, bootstrap=False, shrinkage=4, random_state=0)
    assert changes.fit(ROWS, NOISY).forest_.shrinkage == 4


def test_trees_in_runs_choose_as_all_at_once(monkeypatch):
    model = ForestClassifier(12, random_state=0).fit(ROWS, NOISY)
    nodes = len(model.forest_.members[0]) * model.forest_.n_outputs
    assert len(choosing._runs(model.forest_)) == 1
    monkeypatch.setattr(choosing, "MAX_NUMBERS", 3 * len(SHRINKAGES) * nodes)
    runs = choosing._runs(model.forest_)
    assert len(runs) > 2
    assert [number for run in runs for number in run] == list(range(12))
    again = ForestClassifier(12, random_state=0).fit(ROWS, NOISY)
    assert again.forest_.shrinkage == model.forest_.shrinkage > 0


@pytest.mark.parametrize("missing", ["fractional", "branch"])
@pytest.mark.parametrize("numeric", [False, True])
def test_loops_climb_as_plain_paths(numeric, missing):
    """What rows out of the bag are told: by compiled kernels, and node by node."""
    random = np.random.default_rng(7)
    frame = pd.DataFrame(random.normal(size=(120, 3)).round(1), columns=list("abc"))
    frame["d"] = random.choice(["x", "y", "z"], size=120)
    frame = frame.mask(random.random(frame.shape) < 0.1)
    told = frame["a"].fillna(0) + random.normal(size=120)
    if not numeric:
        told = np.digitize(told, [-0.5, 0.5]).astype(str)
    weights = random.choice([0.5, 1.0, 2.5], size=120)
    kind = ForestRegressor if numeric else ForestClassifier
    model = kind(15, missing_policy=missing, random_state=1)
    model.fit(frame, told, sample_weight=weights)
    forest = model.forest_
    training = model._rows(frame, told, weights, forest.recipes)
    bags = ForestBags(training, forest.settings)
    sample = choosing.OutOfBagSample(bags, bags.copies.places)
    rows = sample.rows
    own = np.zeros(len(rows), np.int64) if numeric else training.classes[rows]
    found = [
        votes(
            forest,
            forest.numbers,
            subset(training.columns, rows),
            sample.out_of_bag(range(15)),
            own.astype(np.int64),
            (0.0, 2.0, 50.0),
        )
        for votes in (choosing._compiled_votes, choosing._plain_votes)
    ]
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-12)
    assert np.ptp(found[1], axis=1).max() > 0.1


def test_numbers_are_shrunk_too():
    numbers = ROWS[:, 0] + 3 * GENERATOR.normal(size=240)
    model = ForestRegressor(50, min_samples_leaf=1, random_state=0).fit(ROWS, numbers)
    plain = ForestRegressor(50, min_samples_leaf=1, shrinkage=0, random_state=0)
    plain.fit(ROWS, numbers)
    assert model.forest_.shrinkage > 0
    truth = ROWS[:, 0]
    error = ((model.predict(ROWS) - truth) ** 2).mean()
    assert error < ((plain.predict(ROWS) - truth) ** 2).mean()


def test_trees_are_shown_as_they_were_grown():
    model = ForestClassifier(3, shrinkage=50, random_state=0).fit(ROWS, NOISY)
    for leaf in model.trees[0].tree.leaves:
        np.testing.assert_allclose(leaf.distribution, leaf.weights / leaf.weight)


@pytest.mark.parametrize("shrinkage", [-1, float("nan"), "much", True])
def test_what_is_no_shrinkage(shrinkage):
    with pytest.raises(ParameterError, match=r"shrinkage=.* must be a number"):
        ForestClassifier(2, shrinkage=shrinkage).fit(ROWS, NOISY)


@pytest.mark.parametrize("found", [-1.0, "3", 7.0])
def test_a_file_whose_shrinkage_is_none(found, tmp_path):
    path = tmp_path / "f.spinney"
    ForestClassifier(2, shrinkage=3, random_state=0).fit(ROWS, NOISY).save(path)
    assert spinney.load(path).forest_.shrinkage == 3
    data = path.read_bytes()
    header = read_header(data)
    texts = dict(header.texts)
    texts["model"] = dump({**parse(texts["model"]), "shrinkage": found})
    path.write_bytes(b"".join(pack(unpack(data, header), texts)))
    with pytest.raises(ModelFormatError, match=r"shrinkage|shrunk"):
        spinney.load(path)


def test_trees_side_by_side_are_the_trees():
    model = ForestClassifier(7, random_state=0).fit(ROWS, NOISY)
    members = model.forest_.members
    again = joined(list(members))
    whole, roots = again.whole, again.roots
    depth = np.concatenate([member.depth for member in members])
    assert (whole.depth == depth).all()
    assert (whole.parent[roots] == -1).all()
    assert len(roots) == 7
    assert whole.parent.tolist() == members.whole.parent.tolist()
    some = members[2:5]
    for one, other in zip(some, list(members)[2:5], strict=True):
        assert one.parent.tolist() == other.parent.tolist()
        assert one.cut.tolist() == other.cut.tolist()
    flat = model.forest_.full_layout
    assert flat.trees[:, 1].tolist() == [int(m.depth.max()) for m in members]
