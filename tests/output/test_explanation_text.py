"""What explanations say of forests, costs, smoothing and missing values."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import spinney
from spinney._support.text import costs_text

TABLES = Path(__file__).parents[1] / "tables"
IRIS = TABLES / "iris.csv"


# A forest

TAUGHT = spinney.Recipe.named("cart").changed(
    missing="branch", min_samples_leaf=2, forest=0.75, pruning="cost-complexity"
)


@pytest.fixture(scope="module")
def taught() -> Any:
    return spinney.grow(IRIS, "class", recipe=TAUGHT, max_depth=3)


def test_a_choice_on_smoothed_labels_is_told(taught):
    told = taught.explain(2)
    (only,) = told.candidates
    assert told.why == (
        "petalwidth: chosen on labels smoothed by a forest; on the original "
        f"labels its Gini decrease is {only.gain:.3f}"
    )
    assert "greatest" not in str(told)
    assert told.as_dict()["forest"] == 0.75
    assert only.competes
    # On the rows as they are no question need be worse.
    plain = spinney.grow(IRIS, "class", recipe="cart", max_depth=2).explain(2)
    assert max(each.gain for each in plain.candidates) > only.gain - 1e-12
    assert plain.forest == 0
    assert "the greatest Gini decrease" in plain.why


def test_limits_that_the_rows_as_they_are_would_fail_are_not_told(taught):
    strict = replace(taught.explain(2), min_gain=1.0)
    assert "below the least gain" not in str(strict)
    assert "below minimum gain 1: not considered" in str(replace(strict, forest=0.0))


def test_no_average_is_told_of_the_one_question_kept():
    recipe = TAUGHT.changed(criterion="gain_ratio", max_depth=1)
    taught = spinney.grow(IRIS, "class", recipe=recipe)
    told = taught.explain(0)
    assert told.average_gain is None
    assert ": chosen among those of at least average gain on labels" in told.why


# Missing values


def test_a_missing_value_is_told_at_its_own_question():
    rows = {"x": [1, 1, 2, 2, 2, 2], "y": [1, 2, 1, 1, 2, 2], "sort": list("aabbcc")}
    model = spinney.grow(rows, "sort", recipe="id3", nominal=["x", "y"])
    assert str(model.explain(row={"x": [2], "y": [None]})).splitlines() == [
        "node 0: the root",
        "  node 2: x = 2",
        "    node 3: y = 1  [weight 0.5]  (y is missing)  → b",
        "    node 4: y = 2  [weight 0.5]  (y is missing)  → c",
        "",
        "sort = c  (a 0.000, b 0.500, c 0.500)",
    ]
    lines = str(model.explain(row={"x": [None], "y": [1]})).splitlines()
    assert lines[1] == "  node 1: x = 1  [weight 0.3333]  (x is missing)  → a"
    assert lines[2] == "  node 2: x = 2  [weight 0.6667]  (x is missing)"
    assert lines[3] == "    node 3: y = 1  [weight 0.6667]  → b"


@pytest.mark.filterwarnings("ignore:splits on high-cardinality:spinney.SpinneyWarning")
def test_a_split_of_many_branches_is_cut():
    tickets = {"ticket": [f"t{i:02}" for i in range(40)] * 2, "y": [0, 1, 1, 1] * 20}
    model = spinney.grow(tickets, "y", recipe="id3")
    lines = str(model.explain(0)).splitlines()
    assert "  … 28 more branches        56" in lines
    (gain,) = (line for line in lines if line.startswith("  gain"))
    assert gain.count("2/80 ×") == 12
    assert " + … 28 more + 2/80 × 0.000) = 0.811" in gain
    assert str(model.explain(0, attribute="ticket")).count("ticket = ") == 40
    assert str(model.explain(row={"ticket": ["t03"]})).endswith("(0: 0.000, 1: 1.000)")


# Smoothing and costs

# At size 1: 2 n and 7 y; at size 2: 7 n and 2 y.
SHOP = {"size": [1] * 9 + [2] * 9, "sold": list("nnyyyyyyynnnnnnnyy")}


def test_smoothed_shares_are_told_from_counted_ones():
    model = spinney.grow(SHOP, "sold", recipe="id3", probability="laplace")
    told = model.explain(row={"size": [1]})
    # (7 + 1) / (9 + 2) and 7 / 9.
    assert str(told).splitlines()[-1] == (
        "sold = y  (n 0.273, y 0.727, smoothed; "
        "proportions of the training rows: n 0.222, y 0.778)"
    )
    assert told.as_dict()["counted"] == pytest.approx((2 / 9, 7 / 9))
    plain = spinney.grow(SHOP, "sold", recipe="id3")
    assert str(plain.explain(row={"size": [1]})).endswith("(n 0.222, y 0.778)")


def test_the_label_of_least_cost_is_told_with_its_figures():
    costs = {"n": {"y": 2}, "y": {"n": 10}}  # the label first, then what is true
    model = spinney.grow(SHOP, "sold", recipe="id3", cost_matrix=costs)
    rule = model.rules()[0]
    # n for 7 y costs 14, y for 2 n costs 20.
    assert rule.label == "n"
    assert rule.text().endswith("; least expected cost: n costs 14, y 20)")
    assert model.rules().as_dicts()[0]["costs"] == [
        {"label": "n", "cost": pytest.approx(14)},
        {"label": "y", "cost": pytest.approx(20)},
    ]
    leaf = model.explain(rule.leaf)
    assert leaf.label_costs == pytest.approx((14, 20))
    assert str(leaf).endswith("label: n, by least expected cost: n costs 14, y 20")
    row = model.explain(row={"size": [1]})
    assert row.costs == pytest.approx((14 / 9, 20 / 9))
    assert str(row).endswith("; least expected cost: n costs 1.5556, y 2.2222)")
    plain = spinney.grow(SHOP, "sold", recipe="id3")
    assert "cost" not in f"{plain.rules()}{plain.explain(1)}"
    assert "costs" not in plain.rules().as_dicts()[0]


def test_costs_beyond_floats_are_still_told():
    costs = [[0.0, 1e308], [1e307, 0.0]]
    model = spinney.grow(SHOP, "sold", recipe="id3", cost_matrix=costs)
    assert "sold = y" in str(model.rules())


def test_the_costs_of_many_labels_are_not_all_shown():
    text = costs_text("abcdefg", [5, 1, 2, 3, 4, 6, 7], "b")
    assert text == "b costs 1, c 2, d 3, e 4, a 5, 2 others as much or more"


def test_equal_counts_go_to_the_class_more_frequent_overall_under_m_estimates():
    rows = {"x": [1, 1, 2, 2, 2], "sort": list("abaab")}
    said = {"recipe": "id3", "max_depth": 1}
    assert spinney.grow(rows, "sort", **said).predict({"x": [1]}).tolist() == ["b"]
    smoothed = spinney.grow(rows, "sort", probability="m-estimate", **said)
    assert smoothed.predict({"x": [1]}).tolist() == ["a"]


# Losses


def test_a_loss_is_told_as_what_it_is():
    rows = {"x": list("aaaabb"), "z": range(6), "y": [1.5, 2.5, 1.0, 2.0, 0.0, 4.2]}
    text = str(spinney.grow(rows, "y", recipe="id3", max_depth=1).explain(0))
    loss = "(4/6 × 0.417 + 2/6 × 8.820) = -1.171, a loss, counts as 0.000"
    assert f"\n  gain = 2.047 − {loss}\n" in text
    assert "gain = 2.047 − (5/6 × 0.925 + 1/6 × 0.000) = 1.276\n" in text
