"""Every cut, subset, impurity and row that the documents list, and not only winners."""

from math import log2

import pytest
from tests.textbook.tables_and_gains import path_of

import spinney

MELONS = path_of("watermelon_3.0")
COMPUTERS = path_of("buys_computer")


@pytest.fixture(scope="module")
def melons():
    return spinney.grow(MELONS, "ripe", ignore=["id"], recipe="id3")


@pytest.fixture(scope="module")
def computers():
    return spinney.grow(COMPUTERS, "buys_computer", recipe="cart")


def thresholds(told):
    return [way.lines.threshold for way in told.ways]


# 000, section 4.4.1: continuous values. The document cuts its midpoints to 3 decimals.
DENSITY = (
    "0.244 0.294 0.351 0.381 0.420 0.459 0.518 0.574 "
    "0.600 0.621 0.636 0.648 0.661 0.681 0.708 0.746"
)
SUGAR = (
    "0.049 0.074 0.095 0.101 0.126 0.155 0.179 0.204 "
    "0.213 0.226 0.250 0.265 0.292 0.344 0.373 0.418"
)


@pytest.mark.parametrize(
    ("name", "cuts", "best", "gain"),
    [("density", DENSITY, 0.3815, 0.262), ("sugar", SUGAR, 0.126, 0.349)],
)
def test_000_the_sixteen_cuts_of_density_and_sugar(melons, name, cuts, best, gain):
    told = melons.explain(0, attribute=name, data=MELONS)
    assert told.n_ways == len(told.ways) == 16
    down = [int(cut * 1000 + 1e-9) / 1000 for cut in thresholds(told)]
    assert down == [float(cut) for cut in cuts.split()]
    assert told.best.lines.threshold == best
    assert round(told.best.lines.gain, 3) == gain
    assert max(way.lines.gain for way in told.ways) == told.best.lines.gain
    assert str(told).count("\n  " + name + " ≤ ") == 16 + 1
    for way in told.ways:
        (_, left_weight), (_, right_weight) = (
            (branch.weights, branch.weight) for branch in way.lines.branches
        )
        assert left_weight + right_weight == 17


def test_000_each_cut_of_density_has_the_counts_of_its_rows(melons):
    told = melons.explain(0, attribute="density", data=MELONS)
    table = spinney.read_table(MELONS)
    ripe = table["ripe"].cells == table["ripe"].levels.index("true")
    for way in told.ways:
        left = table["density"].cells <= way.lines.threshold
        counts = [
            (float((s & ~ripe).sum()), float((s & ripe).sum())) for s in (left, ~left)
        ]
        assert [branch.weights for branch in way.lines.branches] == counts


def test_000_figure_4_2_the_rows_of_each_child_of_texture(melons):
    given = melons.explain(0, data=MELONS).given
    assert given.same
    assert given.remark == ""
    assert {row.text: row.numbers for row in given.rows} == {
        "this node": tuple(range(1, 18)),
        "texture = clear": (1, 2, 3, 4, 5, 6, 8, 10, 15),
        "texture = slightly blurry": (7, 9, 13, 14, 17),
        "texture = blurry": (11, 12, 16),
    }
    assert "  texture = clear            1-6, 8, 10, 15\n" in str(
        melons.explain(0, data=MELONS)
    )


def test_000_rows_8_and_10_are_in_all_children_of_texture_by_shares():
    table = path_of("watermelon_2.0a")
    model = spinney.grow(table, "ripe", ignore=["id"], recipe="id3")
    given = model.explain(0, data=table).given
    parts = {
        row.text: dict(zip(row.numbers, row.parts, strict=True))
        for row in given.rows[1:]
    }
    expected = {
        "texture = clear": 7 / 15,
        "texture = slightly blurry": 5 / 15,
        "texture = blurry": 3 / 15,
    }
    assert set(parts) == set(expected)
    for text, share in expected.items():
        assert parts[text][8] == pytest.approx(share)
        assert parts[text][10] == pytest.approx(share)
    assert sum(part == 1 for part in parts["texture = clear"].values()) == 7


def test_000_formula_4_6_the_gini_index_of_each_attribute():
    model = spinney.grow(
        path_of("watermelon_2.0"), "ripe", ignore=["id"], recipe="id3", criterion="gini"
    )
    told = model.explain(0)
    for candidate in told.candidates:
        by_hand = sum(
            branch.weight
            / 17
            * (1 - sum((w / branch.weight) ** 2 for w in branch.weights))
            for branch in candidate.branches
        )
        assert candidate.split_impurity == pytest.approx(by_hand)
        assert candidate.split_impurity == pytest.approx(told.impurity - candidate.gain)
        assert f"Gini index after split {by_hand:.3f}" in str(told)
    least = min(told.candidates, key=lambda each: each.split_impurity)
    assert told.chosen == least.attribute == "texture"


# 002: surprise


def test_002_surprise_is_minus_lg_p_and_entropy_its_average():
    rows = {"x": [1, 1, 2, 2, 2], "v": ["zero", "one", "one", "one", "one"]}
    told = spinney.grow(rows, "v", recipe="id3").explain(0)
    assert told.classes == ("one", "zero")
    assert told.self_information == pytest.approx((-log2(0.8), -log2(0.2)))
    average = sum(
        w / 5 * s for w, s in zip(told.weights, told.self_information, strict=True)
    )
    assert average == pytest.approx(told.impurity)
    assert "self-information, −log₂ p  0.322  2.322" in str(told)


def test_002_probability_0_is_infinite_surprise_and_1_is_none():
    rows = {"x": [1, 1, 2, 2], "v": ["no", "no", "yes", "yes"]}
    model = spinney.grow(rows, "v", recipe="id3")
    assert model.explain(1).self_information == (0.0, None)
    assert "self-information, −log₂ p  0.000    ∞" in str(model.explain(1))


# 003: cuts by hand


def test_003_gain_and_ratio_of_any_cut_of_fruit():
    table = path_of("fruit")
    model = spinney.grow(table, "type", ignore=["id"], recipe="id3")
    for name, best in (("width", 5.65), ("height", 7.75)):
        told = model.explain(0, attribute=name, data=table)
        assert told.best.lines.threshold == best
        assert round(told.best.lines.gain, 3) == 0.420


# 004: subsets


def test_004_the_three_subsets_of_income(computers):
    told = computers.explain(0, attribute="income")
    left = {way.lines.branches[1].text: way.lines for way in told.ways}
    figures = {text: round(lines.split_impurity, 3) for text, lines in left.items()}
    assert figures == {
        "income ∈ {low, medium}": 0.443,
        "income = medium": 0.458,
        "income = low": 0.450,
    }
    assert told.n_ways == told.n_subsets == 3
    assert told.best.lines.branches[1].text == "income ∈ {low, medium}"
    assert told.exact
    lines = [line for line in str(told).splitlines() if line.endswith("best")]
    assert [line.split() for line in lines] == [
        ["income", "=", "high", "2", ":", "2", "3", ":", "7", "0.443", "0.016", "best"]
    ]


def test_004_a_branch_for_each_value_is_one_way():
    model = spinney.grow(COMPUTERS, "buys_computer", recipe="id3")
    told = model.explain(0, attribute="income")
    assert told.n_ways == 1
    assert told.ways[0].lines.split_information == pytest.approx(1.557, abs=5e-4)
    assert "income: 1 candidate split (one branch per value)" in str(told)
