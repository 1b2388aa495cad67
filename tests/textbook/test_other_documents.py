"""Documents 001 (netball, k-means), 002 (basics), 003 (fruit), 004 (computers)."""

import numpy as np
import pytest
from tests.textbook.tables_and_gains import child, gains, path_of

import spinney
from spinney.extensions.clustering import explain_k_means
from spinney.extensions.evaluation.measures import size_measures
from spinney.trees import Reason
from spinney.trees.costs import expected_costs, labels_of
from spinney.trees.criteria import (
    entropy,
    errors,
    gain,
    gain_ratio,
    gini,
    gini_gain,
    misclassification_gain,
    split_information,
    variance,
    variance_gain,
)


@pytest.fixture(scope="module")
def netball():
    return spinney.grow(path_of("netball"), "play", ignore=["day"], recipe="id3")


@pytest.fixture(scope="module")
def computers():
    return spinney.grow(path_of("buys_computer"), "buys_computer", recipe="id3")


# 001: netball


def test_netball_root(netball):
    root = netball.tree.root
    assert round(entropy(root.weights), 3) == 0.940
    assert gains(root, netball.tree.schema) == {
        "outlook": 0.247,
        "temperature": 0.029,
        "humidity": 0.152,
        "wind": 0.048,
    }
    assert netball.explain(node=0).chosen == "outlook"


def test_netball_below_the_root(netball):
    tree = netball.tree
    sunny = child(tree, tree.root, "outlook = Sunny")
    rain = child(tree, tree.root, "outlook = Rain")
    overcast = child(tree, tree.root, "outlook = Overcast")
    assert netball.explain(node=sunny.number).chosen == "humidity"
    assert netball.explain(node=rain.number).chosen == "wind"
    assert overcast.is_leaf
    assert tree.schema.target.classes[overcast.label] == "Yes"


# 001: k-means


@pytest.fixture(scope="module")
def five():
    table = spinney.read_table(path_of("kmeans_five"))
    return np.column_stack([table["attr1"].cells, table["attr2"].cells])


def test_first_distances(five):
    first = explain_k_means(five, five[[1, 3]]).iterations[0]
    apart = first.distances.round(2)
    assert apart[[0, 2, 4]].tolist() == [[1.12, 7.21], [2.50, 3.61], [3.61, 2.50]]


def test_clusters_and_centroids_after_one_update(five):
    first, second = explain_k_means(five, five[[1, 3]]).iterations
    assert first.clusters.tolist() == [0, 0, 0, 1, 1]
    assert first.after.round(2).tolist() == [[1.83, 2.33], [4.25, 6.00]]
    # The document goes on with rounded centroids, which gives 2.04 and 3.15 for
    # entities 3 and 5; from the exact ones the distances are 2.03 and 3.14.
    rounded = explain_k_means(five, first.after.round(2)).iterations[0]
    assert rounded.distances.round(2).tolist() == [
        [1.57, 5.96],
        [0.47, 4.85],
        [2.04, 2.36],
        [5.64, 1.25],
        [3.15, 1.25],
    ]
    assert second.distances[[2, 4], 0].round(2).tolist() == [2.03, 3.14]
    assert second.clusters.tolist() == first.clusters.tolist()


# 002: basics


def test_sky_alone_separates_enjoy_sport():
    model = spinney.grow(
        path_of("enjoy_sport"), "enjoy_sport", ignore=["example"], recipe="id3"
    )
    assert model.tree.height == 1
    assert model.explain(node=0).chosen == "sky"
    assert [rule.text().split("  ")[0] for rule in model.rules()] == [
        "IF sky = rainy THEN enjoy_sport = no",
        "IF sky = sunny THEN enjoy_sport = yes",
    ]


def test_size_of_two_trees_for_the_same_rows():
    # Five rows that a three-way and a two-way root both separate in two questions.
    rows = {
        "a": ["x", "y", "z", "z", "x"],
        "b": ["p", "p", "q", "p", "p"],
        "c": ["u", "u", "v", "u", "u"],
        "class": ["+", "-", "+", "-", "+"],
    }
    model = spinney.grow(rows, "class", recipe="id3", force={(): "a"})
    first = model.tree
    assert first.n_leaves == 4
    assert first.height == 2
    assert first.external_path_length == 6
    assert first.weighted_external_path_length == 7
    # The same among the measures of an evaluation; 7 questions for 5 rows.
    assert size_measures(model) == {
        "leaves": 4,
        "nodes": 6,
        "depth": 2,
        "mean_path_length": 7 / 5,
        "external_path_length": 6,
        "weighted_external_path_length": 7,
        "rules": 4,
        "conditions_per_rule": 6 / 4,
    }
    rows = {
        "a": ["x", "x", "y", "y", "y"],
        "b": ["p", "p", "q", "q", "p"],
        "class": ["+", "+", "-", "-", "+"],
    }
    second = spinney.grow(rows, "class", recipe="id3", force={(): "a"}).tree
    assert second.n_leaves == 3
    assert second.height == 2
    assert second.external_path_length == 5
    assert second.weighted_external_path_length == 8


def test_label_with_a_cost_matrix():
    shares = [0.7, 0.2, 0.1]
    costs = [[0, 1, 9], [2, 0, 1], [3, 1, 0]]
    by_hand = [0.2 * 1 + 0.1 * 9, 0.7 * 2 + 0.1 * 1, 0.7 * 3 + 0.2 * 1]
    assert expected_costs(shares, costs) == pytest.approx(by_hand)
    assert labels_of(shares, costs) == 0
    costs[0][2] = 15
    assert labels_of(shares, costs) == 1
    equal = np.ones((3, 3)) - np.eye(3)
    assert labels_of(shares, equal) == 0  # the majority


def test_misclassification_sees_no_difference_where_entropy_and_gini_do():
    left = [[3, 1], [1, 3]]  # [¾, ¼] and [¼, ¾]
    right = [[2, 4], [2, 0]]  # [⅓, ⅔] and [1, 0], weights ¾ and ¼
    assert misclassification_gain(left) == pytest.approx(1 / 4)
    assert misclassification_gain(right) == pytest.approx(1 / 4)
    assert gain(right) > gain(left)
    assert gini_gain(right) > gini_gain(left)


def test_errors_after_splitting_boolean():
    model = spinney.grow(
        path_of("boolean"),
        "y",
        nominal=["x1", "x2", "x3"],
        recipe="id3",
        criterion="misclassification",
    )
    found = [
        float(errors(candidate.branches)) for candidate in model.tree.root.candidates
    ]
    assert found == [2, 4, 4]
    assert model.explain(node=0).chosen == "x1"


def test_three_kinds_of_splits():
    rows = {
        "size": ["s", "m", "l", "l", "s", "m"],
        "class": ["-", "-", "+", "+", "-", "-"],
    }
    multiway = spinney.grow(rows, "class", recipe="id3")
    texts = [multiway.tree.condition(c) for c in multiway.tree.nodes[1:]]
    assert texts == ["size = l", "size = m", "size = s"]
    subset = spinney.grow(rows, "class", recipe="cart", max_depth=1)
    texts = [subset.tree.condition(c) for c in subset.tree.nodes[1:]]
    assert texts == ["size = l", "size ∈ {m, s}"]
    ordered = spinney.grow(
        rows, "class", recipe="cart", max_depth=1, ordinal={"size": ["s", "m", "l"]}
    )
    texts = [ordered.tree.condition(c) for c in ordered.tree.nodes[1:]]
    assert texts == ["size < l", "size ≥ l"]


# 003: fruit


@pytest.fixture(scope="module")
def fruit():
    table = spinney.read_table(path_of("fruit"))
    lemon = table["type"].levels.index("lemon")

    def sides(name, threshold):
        above = table[name].cells > threshold
        is_lemon = table["type"].cells == lemon
        return [
            [int((side & is_lemon).sum()), int((side & ~is_lemon).sum())]
            for side in (~above, above)
        ]

    return sides


def test_fruit_entropy_and_gini():
    assert round(entropy([3, 2]), 3) == 0.971
    assert round(gini([3, 2]), 3) == 0.480


def test_fruit_splits(fruit):
    width, height = fruit("width", 6.5), fruit("height", 7.5)
    assert round(gain(width), 3) == 0.020
    assert round(gain(height), 3) == 0.420
    assert round(gain_ratio(width), 3) == 0.021
    assert round(gain_ratio(height), 3) == 0.433
    assert round(gini([3, 2]) - gini_gain(width), 3) == 0.467
    assert round(gini([3, 2]) - gini_gain(height), 3) == 0.267


def test_fruit_best_midpoints_tie():
    model = spinney.grow(path_of("fruit"), "type", ignore=["id"], recipe="id3")
    root = model.explain(node=0)
    found = {c.attribute: (c.threshold, round(c.gain, 3)) for c in root.candidates}
    assert found == {"width": (5.65, 0.420), "height": (7.75, 0.420)}
    assert root.chosen == "width"


def test_003_fruit_cut_at_6_5_and_at_7_5():
    # The document cuts width at 6.5 and height at 7.5, which no search would do.
    def root(asked, recipe):
        fruit = path_of("fruit")
        model = spinney.grow(
            fruit,
            "type",
            ignore=["id"],
            recipe=recipe,
            pruning="none",
            force={(): asked},
            min_samples_leaf=1,
        )
        first = model.explain(node=0)
        return first, next(c for c in first.candidates if c.given)

    width, by_width = root("width > 6.5", "id3")
    assert round(width.impurity, 2) == 0.97
    assert [b.text for b in by_width.branches] == ["width ≤ 6.5", "width > 6.5"]
    assert [round(b.impurity, 2) for b in by_width.branches] == [0.92, 1.0]
    assert round(by_width.gain, 2) == 0.02
    _, by_height = root("height > 7.5", "id3")
    assert [round(b.impurity, 2) for b in by_height.branches] == [0.92, 0.0]
    assert round(by_height.gain, 2) == 0.42
    assert width.why.startswith(
        "width > 6.5: forced by the user; without it, "
        "width > 5.65 (information gain 0.420)"
    )
    # CART and C4.5 of the same cuts.
    _, by_width = root("width > 6.5", "cart")
    assert [round(b.impurity, 2) for b in by_width.branches] == [0.44, 0.5]
    ratios = [root(q, "c4.5")[1].gain_ratio for q in ("width > 6.5", "height > 7.5")]
    assert [round(ratio, 2) for ratio in ratios] == [0.02, 0.43]


def test_003_a_feature_that_was_asked_about_is_removed():
    # Step 5 of 003; 000 lets a number be asked about again.
    def deepest(**settings):
        recipe = spinney.Recipe.named("id3").changed(**settings)
        tree = spinney.grow(path_of("iris"), "class", recipe=recipe).tree
        names = [
            [step.candidate.attribute for step in tree.path(node.number)[:-1]]
            for node in tree
            if node.is_leaf
        ]
        reasons = {node.reason for node in tree if node.is_leaf}
        return max(len(path) - len(set(path)) for path in names), reasons

    assert deepest()[0] > 0
    again, reasons = deepest(reuse=False)
    assert again == 0
    assert Reason.EXHAUSTED in reasons


def test_003_fruit_tree_with_both_cuts_by_hand():
    force = {(): "height > 7.5", ("height ≤ 7.5",): "width <= 5"}
    model = spinney.grow(
        path_of("fruit"), "type", ignore=["id"], recipe="id3", force=force
    )
    assert str(model).splitlines() == [
        "type  (5: lemon 3 (60 %), orange 2 (40 %))",
        "├── height ≤ 7.5  (3: lemon 1 (33 %), orange 2 (67 %))",
        "│   ├── width ≤ 5 → lemon  (1: lemon 1 (100 %))",
        "│   └── width > 5 → orange  (2: orange 2 (100 %))",
        "└── height > 7.5 → lemon  (2: lemon 2 (100 %))",
    ]


def test_gain_of_149_rows():
    # 49 rows of one class, 100 half and half: the root has 99 and 50.
    found = gain([[49, 0], [50, 50]])
    assert 0.24 < found < 0.25
    assert split_information([[49, 0], [50, 50]]) == pytest.approx(0.914, abs=1e-3)


def test_regression_chooses_the_smallest_weighted_variance():
    y = np.array([1.0, 2.0, 3.0, 10.0, 11.0, 12.0])

    def moments(part):
        return [len(part), part.sum(), (part**2).sum()]

    assert variance(moments(y)) == pytest.approx(np.var(y, ddof=1))
    good = [moments(y[:3]), moments(y[3:])]
    bad = [moments(y[::2]), moments(y[1::2])]
    weighted = sum(3 / 6 * np.var(part, ddof=1) for part in (y[:3], y[3:]))
    assert variance(moments(y)) - variance_gain(good) == pytest.approx(weighted)
    assert variance_gain(good) > variance_gain(bad)


# 004: buys_computer


def test_computers_root(computers):
    root = computers.tree.root
    assert round(entropy(root.weights), 3) == 0.940
    assert round(gini(root.weights), 3) == 0.459
    assert gains(root, computers.tree.schema) == {
        "age": 0.247,
        "income": 0.029,
        "student": 0.152,
        "credit_rating": 0.048,
    }
    assert computers.explain(node=0).chosen == "age"


def test_income_split_information_and_gain_ratio(computers):
    income = {c.attribute: c for c in computers.explain(node=0).candidates}["income"]
    assert round(income.split_information, 3) == 1.557
    assert round(income.gain_ratio, 3) == 0.019


def test_gini_of_income_by_subsets():
    model = spinney.grow(path_of("buys_computer"), "buys_computer", recipe="cart")
    schema = model.tree.schema
    place = schema.position("income")
    income = next(c for c in model.tree.root.candidates if c.attribute == place)
    values = schema.attributes[place].values
    before = gini(model.tree.root.weights)

    def after(subset):
        branches = np.array([0 if value in subset else 1 for value in values])
        return round(before - gini_gain(income.table.merged(branches, 2)), 3)

    assert after({"low", "medium"}) == 0.443
    assert after({"low", "high"}) == 0.458
    assert after({"medium", "high"}) == 0.450
    chosen = {frozenset(values[code] for code in side) for side in income.split.groups}
    assert chosen == {frozenset({"low", "medium"}), frozenset({"high"})}
    assert income.exact


def test_rules_are_one_a_leaf_exclusive_and_exhaustive(computers):
    rules = computers.rules()
    assert len(rules) == computers.tree.n_leaves == 5
    table = spinney.read_table(path_of("buys_computer"))
    paths = computers.decision_path(table).toarray()
    leaves = [rule.leaf for rule in rules]
    assert (paths[:, leaves].sum(axis=1) == 1).all()
    assert sum(rule.support for rule in rules) == 14
    for row in range(14):
        cells = {
            name: table[name].levels[table[name].cells[row]] for name in table.names
        }
        true = [
            rule
            for rule in rules
            if all(
                cells[c.attribute.name] in {c.attribute.values[v] for v in c.values}
                for c in rule.conditions
            )
        ]
        assert len(true) == 1
        assert true[0].label == cells["buys_computer"]
