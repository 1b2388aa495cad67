"""Costs, priors and prices of questions in growing, labelling and keeping."""

from pathlib import Path

import numpy as np
import pytest

import spinney
from spinney import ParameterError

KYPHOSIS = str(Path(__file__).parents[1] / "tables" / "rpart_kyphosis.csv")
# What rpart's vignette uses: absent taken for present costs 4, the reverse 3.
LOSS = {"present": {"absent": 4}, "absent": {"present": 3}}


def stump(**changes):
    return spinney.grow(
        KYPHOSIS,
        "Kyphosis",
        recipe="cart",
        min_samples_leaf=7,
        max_depth=1,
        numeric=["Age", "Number", "Start"],
        **changes,
    )


def improvements(model) -> dict[str, tuple[float, float]]:
    root, schema = model.tree.root, model.tree.schema
    return {
        schema.names[c.attribute]: (c.split.threshold, root.weight * c.gain)
        for c in root.candidates
    }


def test_rparts_figures_for_plain_priors_and_losses():
    """The vignette's improvements: n times the decrease of Gini's index."""
    plain = improvements(stump())
    assert plain["Start"] == (8.5, pytest.approx(6.762, abs=5e-4))
    assert plain["Number"] == (5.5, pytest.approx(2.867, abs=5e-4))
    prior = improvements(stump(priors={"absent": 0.65, "present": 0.35}))
    assert prior["Start"] == (12.5, pytest.approx(10.897, abs=5e-4))
    assert prior["Number"] == (4.5, pytest.approx(5.087, abs=5e-4))
    assert prior["Age"] == (39.5, pytest.approx(4.635, abs=5e-4))
    loss = improvements(stump(cost_matrix=LOSS))
    assert loss["Start"] == (8.5, pytest.approx(5.077, abs=5e-4))
    assert loss["Number"] == (5.5, pytest.approx(2.165, abs=5e-4))
    assert loss["Age"] == (39.5, pytest.approx(1.535, abs=5e-4))


def test_labels_are_cheapest_and_shares_stay():
    plain, dear = (
        stump(),
        stump(cost_matrix={"present": {"absent": 1}, "absent": {"present": 9}}),
    )
    for node in dear.tree:
        assert node.distribution == pytest.approx(node.weights / node.weights.sum())
    root = dear.tree.root
    assert root.weights == pytest.approx(plain.tree.root.weights)
    assert dear.tree.label(root) == "present"  # 17 · 9 > 64 · 1
    assert plain.tree.label(plain.tree.root) == "absent"
    shares = dear.predict_proba(KYPHOSIS)
    assert shares.sum(axis=1) == pytest.approx(1)
    wanted = np.where(shares[:, 1] * 9 >= shares[:, 0], "present", "absent")
    assert dear.predict(KYPHOSIS).tolist() == wanted.tolist()


def test_costs_are_kept(tmp_path):
    model = stump(cost_matrix=LOSS, test_costs={"Age": 2.5})
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    assert loaded.tree.schema == model.tree.schema
    assert loaded.tree.schema.target.costs == ((0.0, 3.0), (4.0, 0.0))
    assert loaded.predict(KYPHOSIS).tolist() == model.predict(KYPHOSIS).tolist()
    assert loaded.export("json") == model.export("json")


def test_a_dear_question_is_asked_last():
    table = {
        "blood": [1, 1, 0, 0, 1, 0],
        "look": [1, 1, 0, 0, 0, 0],
        "ill": ["y", "y", "n", "n", "y", "n"],
    }
    changes = {"recipe": "id3", "nominal": ["blood", "look"]}
    assert spinney.grow(table, "ill", **changes).tree.root.candidate.attribute == 0
    frugal = spinney.grow(table, "ill", test_costs={"blood": 10, "look": 1}, **changes)
    assert frugal.tree.root.candidate.attribute == 1
    # look 1 is pure; those of look 0 are asked for their blood, too.
    assert frugal.test_costs_of(table).tolist() == [1, 1, 11, 11, 11, 11]


def test_an_attribute_is_paid_for_once():
    table = {
        "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "z": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
        "y": ["a", "a", "b", "b", "a", "a"],
    }
    model = spinney.grow(table, "y", recipe="cart", test_costs={"x": 5, "z": 5})
    assert model.test_costs_of(table).tolist() == [5.0] * 6


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"cost_matrix": [[0, 1], [0, 0]]}, "no error costs anything where 'absent'"),
        ({"cost_matrix": [[0, 1, 2]]}, "does not fit 2 classes"),
        ({"cost_matrix": {"absent": {"presnt": 1}}}, "no class 'presnt'.*present"),
        ({"test_costs": {"Agee": 1}}, "test_costs: .*Agee.*Age"),
        ({"test_costs": {"Age": -1}}, "'Age' costs -1; it must be a number"),
        ({"test_costs": 3}, "must map names to costs"),
        ({"priors": {"absent": 0.5}}, "must give a probability to each class"),
        ({"priors": {"absent": 0.5, "present": 0.6}}, "add up to 1.1"),
        (
            {"priors": {"absent": 0.5, "present": 0.5}, "class_weight": "balanced"},
            "say the same thing twice",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(changes, message):
    with pytest.raises(ParameterError, match=message):
        stump(**changes)


def test_explain_shows_the_price():
    table = {
        "blood": [1, 1, 0, 0, 1, 0],
        "look": [1, 1, 0, 0, 0, 0],
        "ill": ["y", "y", "n", "n", "y", "n"],
    }
    model = spinney.grow(
        table,
        "ill",
        recipe="id3",
        nominal=["blood", "look"],
        test_costs={"blood": 10, "look": 1},
    )
    text = str(model.explain(node=0))
    assert "attribute cost 10: 1.000 / (1 + 10) = 0.091" in text
    assert "look: the greatest information gain per attribute cost, 0.230" in text
    assert "ties" not in text


@pytest.mark.parametrize("size", [1e-310, 1.0, 1e307])
def test_the_unit_of_costs_does_not_matter(size):
    plain = stump(cost_matrix=[[0, 1], [1, 0]])
    other = stump(cost_matrix=[[0, size], [size, 0]])
    assert str(other) == str(plain)


def test_counts_are_not_negative():
    table = {"x": [1.0, 2.0, 3.0], "y": [-1.5, 2.0, 3.5]}
    with pytest.raises(spinney.DataError, match="takes counts, 0 or more"):
        spinney.grow(table, "y", recipe="cart", criterion="poisson")


def test_large_numbers_are_cross_validated():
    table = {"x": list(range(8)), "y": [z * 1e80 for z in (1, -2, 3.5, 4, 5, 6, 1, 2)]}
    model = spinney.grow(table, "y", recipe="cart", numeric=["y"])
    smaller = model.prune("cost-complexity", data=table, folds=2)
    assert smaller.tree.n_leaves <= model.tree.n_leaves
