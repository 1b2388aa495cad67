"""Rulesets against their twin in plain loops, the tree, and worked examples."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.strategies import Rows, columns_of, recipes, tables, textbook
from tests.twins import naive, naive_rulesets

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.extensions.rulesets import tree_ruleset
from spinney.extensions.rulesets.build_ruleset import (
    RuleRows,
    _select_rules,
    _simplified_rule,
    _without_duplicates,
)
from spinney.extensions.rulesets.choose_rules import (
    _best_subset,
    _group_rows,
    _hill_climb,
    choose_rules,
)
from spinney.extensions.rulesets.description_length import rule_coding
from spinney.extensions.rulesets.paths import holds, matches, merge_tests, tree_paths
from spinney.extensions.rulesets.simplify_rules import simplify_rule
from spinney.growth.plain.learner import grow_tree
from spinney.output.leaf_rules import Condition, rules_of
from spinney.recipes import RECIPES
from spinney.sources.rows.training_rows import TrainingSet

TABLES = Path(__file__).parents[2] / "tables"

# Quinlan (1993), C4.5: Programs for Machine Learning, chapter 2: playing golf.
GOLF = {
    "outlook": ["sunny"] * 2 + ["overcast"] + ["rain"] * 3 + ["overcast"]
    + ["sunny"] * 2 + ["rain", "sunny"] + ["overcast"] * 2 + ["rain"],
    "temperature": [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71],
    "humidity": [85, 90, 78, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 80],
    "windy": [sign == "t" for sign in "ftfffttfffttft"],
    "play": ["no", "no", "yes", "yes", "yes", "no", "yes", "no"]
    + ["yes"] * 5 + ["no"],
}  # fmt: skip


def training_of(table: Rows) -> TrainingSet:
    cells = columns_of(table.schema, [cells for cells, _, _ in table.rows])
    classes = np.array([label for _, label, _ in table.rows])
    weights = np.array([weight for _, _, weight in table.rows], dtype=float)
    return TrainingSet(table.schema, tuple(cells), classes, weights)


# Before simplification


@given(tables(), recipes())
@settings(max_examples=examples(80))
def test_paths_say_what_the_rules_say(table, recipe):
    tree = grow_tree(table.source, recipe)
    rows = training_of(table)
    n_rows = len(rows.classes)
    for path, rule in zip(tree_paths(tree), rules_of(tree), strict=True):
        one = matches(path.tests, rows.columns, schema=tree.schema, n_rows=n_rows)
        for other in (merge_tests(path.tests), rule.conditions):
            two = matches(other, rows.columns, schema=tree.schema, n_rows=n_rows)
            np.testing.assert_array_equal(one, two)
        asked = [naive_rulesets.satisfies(table.schema, path.tests, cells)
                 for cells, _, _ in table.rows]  # fmt: skip
        np.testing.assert_array_equal(one, asked)


@given(tables(), recipes())
@settings(max_examples=examples(80))
def test_unsimplified_rules_give_the_trees_label(table, recipe):
    tree = grow_tree(table.source, recipe)
    # A rule says nothing of the surrogates that send a row without its values.
    assume(not any(node.surrogates for node in tree))
    training = training_of(table)
    ruleset = tree_ruleset(tree, training, simplify=False)
    assert len(ruleset) == tree.n_leaves
    for cells, _, _ in table.rows:
        reached = naive.route(tree, cells)
        leaves = [leaf for leaf in tree.leaves if reached[leaf.number] > 0]
        fired = [
            rule
            for rule in ruleset.rules
            if naive_rulesets.satisfies(table.schema, rule.conditions, cells)
        ]
        if len(leaves) > 1:
            # A divided row takes no path whole.
            assert fired == []
        else:
            assert [rule.order for rule in fired] == [tree.leaves.index(leaves[0])]
            assert fired[0].code == leaves[0].label


@pytest.mark.parametrize("name", ["watermelon_2.0", "watermelon_3.0", "netball"])
@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
def test_textbook_trees_and_their_rules_agree(name, recipe):
    path = str(TABLES / f"{name}.csv")
    target = "play" if name == "netball" else "ripe"
    header = Path(path).read_text(encoding="utf-8").splitlines()[0].split(",")
    target = target if target in header else header[-1]
    ignore = [column for column in ("id", "day", "example") if column in header]
    model = spinney.grow(path, target, ignore=ignore, recipe=recipe)
    ruleset = model.ruleset(path, simplify=False)
    np.testing.assert_array_equal(ruleset.predict(path), model.predict(path))
    leaves = [leaf.number for leaf in model.tree.leaves]
    np.testing.assert_array_equal(np.array(leaves)[ruleset.apply(path)],
                                  model.apply(path))  # fmt: skip


# Simplifying


@given(tables(weights=("none",), max_rows=25), recipes(), st.sampled_from((0.1, 0.25)))
@settings(max_examples=examples(60))
def test_simplification_is_that_of_plain_loops(table, recipe, level):
    tree = grow_tree(table.source, recipe)
    rows = RuleRows.of(training_of(table))
    for path in tree_paths(tree):
        if not path.tests:
            continue
        own = sum(label == path.code for _, label, _ in table.rows)
        found = simplify_rule(
            [rows.matching([test]) for test in path.tests],
            rows.weights,
            wrong=rows.classes != path.code,
            confidence=level,
            without_rows=1 - (own + 1) / (len(table.rows) + 2),
        )
        schema = table.schema
        kept = naive_rulesets.simplify(schema, path.tests, path.code, table.rows, level)
        assert list(found.tests) == kept
        left = [path.tests[number] for number in kept]
        expected = naive_rulesets.estimate(schema, left, path.code, table.rows, level)
        assert found.estimate == pytest.approx(expected, abs=1e-9)


@given(tables(), recipes())
@settings(max_examples=examples(60))
def test_simplified_rules_are_worth_having(table, recipe):
    tree = grow_tree(table.source, recipe)
    ruleset = tree_ruleset(tree, training_of(table))
    total = sum(weight for _, _, weight in table.rows)
    assert len(ruleset) <= tree.n_leaves
    said = set()
    for rule in ruleset.rules:
        own = sum(weight for _, label, weight in table.rows if label == rule.code)
        assert rule.estimate < 1 - (own + 1) / (total + 2)
        assert rule.estimate <= 0.7
        assert rule.conditions
        assert rule.coverage > 0
        said.add((rule.code, frozenset(c.text() for c in rule.conditions)))
    assert len(said) == len(ruleset)


def test_the_looser_bound_stands_when_the_tighter_goes():
    # Rows 0..9 of class 0 below 3 and in part up to 6; the path asks x ≤ 6, x ≤ 3.
    numbers = Attribute("x", "numeric")
    x = np.arange(12.0)
    wrong = x >= 6
    tests = [Condition(numbers, high=5.5), Condition(numbers, high=2.5)]
    found = simplify_rule(
        [holds(test, x) for test in tests],
        np.ones(12),
        wrong=wrong,
        confidence=0.25,
        without_rows=0.5,
    )
    assert found.tests == (0,)
    assert found.coverage == 6


# Description length


@given(tables(), recipes())
@settings(max_examples=examples(60))
def test_bits_are_those_of_plain_loops(table, recipe):
    training = training_of(table)
    coding = rule_coding(table.schema, training.columns, training.weights)
    bits = naive_rulesets.answer_bits(table.schema, table.rows)
    assume(sum(bits) > 0)
    assert list(coding.answer_bits.values()) == pytest.approx(bits, abs=1e-9)
    for rule in rules_of(grow_tree(table.source, recipe)):
        expected = naive_rulesets.rule_bits(table.schema, rule.conditions, table.rows)
        assert coding.rule_bits(rule.conditions) == pytest.approx(expected, abs=1e-9)


@given(tables(), recipes())
@settings(max_examples=examples(40))
def test_the_choice_is_the_cheapest_subset(table, recipe):
    tree = grow_tree(table.source, recipe)
    rows = RuleRows.of(training_of(table))
    found = (_simplified_rule(path, rows, 0.25) for path in tree_paths(tree))
    candidates = _without_duplicates(
        candidate for candidate in found if candidate is not None
    )
    coding = rule_coding(rows.schema, rows.columns, rows.weights)
    kept = _select_rules(candidates, rows)
    for code in range(table.schema.n_classes):
        own = [
            candidate.conditions for candidate in candidates if candidate.code == code
        ]
        costs = [coding.rule_bits(conditions) for conditions in own]
        if not 0 < len(own) <= 6:
            continue

        def bits_of(places, own=own, costs=costs, code=code):
            return naive_rulesets.set_bits(
                table.schema,
                [own[k] for k in places],
                code,
                table.rows,
                [costs[k] for k in places],
            )

        numbers = range(len(own))
        subsets = (
            [k for k, is_in in zip(numbers, choice, strict=True) if is_in]
            for choice in product((0, 1), repeat=len(own))
        )
        chosen = [candidate.conditions for candidate in kept if candidate.code == code]
        places = [own.index(conditions) for conditions in chosen]
        assert bits_of(places) <= min(map(bits_of, subsets)) + 1e-6


@given(st.integers(0, 2**32 - 1), st.integers(11, 16))
@settings(max_examples=examples(30))
def test_a_climb_ends_where_no_single_change_saves_bits(seed, n_rules):
    random = np.random.default_rng(seed)
    matching = random.random((n_rules, 60)) < random.uniform(0.02, 0.4)
    in_class = random.random(60) < 0.4
    weights = random.integers(1, 4, 60) / 3
    bits, estimates = random.uniform(1, 9, n_rules), random.random(n_rules)

    def cost(subset):
        covered = matching[subset].any(axis=0)
        positives = weights[covered & ~in_class].sum()
        negatives = weights[~covered & in_class].sum()
        choose = naive_rulesets.log2_choose
        inside, outside = weights[covered].sum(), weights[~covered].sum()
        exceptions = choose(inside, min(positives, inside))
        exceptions += choose(outside, min(negatives, outside))
        order = naive_rulesets.log2_factorial(int(subset.sum()))
        return 0.5 * (bits[subset].sum() - order) + exceptions

    choice = choose_rules(
        matching, weights, in_class=in_class, bits=bits, estimates=estimates
    )
    for number in range(n_rules):
        other = choice.copy()
        other[number] = not other[number]
        assert cost(other) >= cost(choice) - 1e-5
    task = _group_rows(matching, weights, in_class, bits)
    best = _best_subset(task)
    assert cost(best) <= cost(choice) + 1e-6
    from_best = _hill_climb(task, best)
    np.testing.assert_array_equal(from_best, best)


# Order, default and whole examples


def test_golf():
    model = spinney.grow(GOLF, "play", recipe="c4.5")
    ruleset = model.ruleset(GOLF)
    # By hand: 1 - 0.25^(1/N) is 37.0 %, 50 % and 29.3 % for 3, 2 and 4 rows without
    # an error; both rules of "no" are without false positives, and come first.
    assert str(ruleset).splitlines() == [
        "IF outlook = sunny AND humidity > 75 THEN play = no  "
        "(support 3, errors 0, estimated error 37.0 %)",
        "IF outlook = rain AND windy = true THEN play = no  "
        "(support 2, errors 0, estimated error 50.0 %)",
        "IF outlook = overcast THEN play = yes  "
        "(support 4, errors 0, estimated error 29.3 %)",
        "IF outlook = rain AND windy = false THEN play = yes  "
        "(support 3, errors 0, estimated error 37.0 %)",
        "OTHERWISE play = yes  (support 2)",
    ]
    assert ruleset.score(GOLF) == 1.0


def test_classes_of_few_false_positives_come_first():
    # a: x ≤ 4 takes one row of c. b: y = q takes none.
    schema = Schema(
        (Attribute("x", "numeric"), Attribute("y", "nominal", ("p", "q"))),
        Target("t", ("a", "b", "c")),
    )
    x = np.array([1.0] * 9 + [1.0] + [9.0] * 8 + [9.0] * 7)
    y = np.array([0] * 9 + [0] + [1] * 8 + [0] * 7, dtype=np.int32)
    classes = np.array([0] * 9 + [2] + [1] * 8 + [2] * 7)
    training = TrainingSet(schema, (x, y), classes, None)
    tree = grow_tree(training.source(), RECIPES["id3"])
    ruleset = tree_ruleset(tree, training)
    assert [rule.label for rule in ruleset.rules] == ["b", "c", "a"]
    assert [rule.errors for rule in ruleset.rules] == [0, 0, 1]
    assert ruleset.rules[2].weights == (9, 0, 1)
    assert ruleset.rules[2].confidence == pytest.approx(10 / 13)
    # Nothing is left over: the tie goes to the more frequent class, which is a; b
    # has 8 rows and c has 8.
    assert ruleset.default == "a"
    assert ruleset.default_weights == (0, 0, 0)


def test_the_default_is_the_class_of_rows_that_no_rule_takes():
    table = {"x": [1, 1, 1, 1, 1, 1, 2, 3, 4], "t": [*"aaaaaa", "b", "c", "c"]}
    model = spinney.grow(table, "t", recipe="id3")
    ruleset = model.ruleset(table)
    left = ruleset.apply(table) < 0
    if left.any():
        labels = np.array(table["t"])[left]
        counts = [(labels == label).sum() for label in "abc"]
        assert ruleset.default_weights == tuple(counts)
        assert counts["abc".index(ruleset.default)] == max(counts)


def test_a_tree_of_one_leaf_has_no_rules():
    table = {"x": [1, 2, 3, 4], "t": list("abab")}
    model = spinney.grow(table, "t", max_depth=0, recipe="c4.5")
    ruleset = model.ruleset(table)
    assert len(ruleset) == 0
    assert str(ruleset) == "ALWAYS t = b  (support 4)"
    assert ruleset.predict({"z": [0, 0]}).tolist() == ["b", "b"]
    np.testing.assert_allclose(ruleset.predict_proba({"z": [0]}), [[0.5, 0.5]])
    unsimplified = model.ruleset(table, simplify=False)
    assert str(unsimplified).startswith("ALWAYS t = b  (support 4, errors 2, ")


def test_missing_values_satisfy_no_condition_unless_it_says_so():
    table = {"x": [1.0] * 5 + [9.0] * 5 + [None], "t": ["a"] * 5 + ["b"] * 6}
    divided = spinney.grow(table, "t", recipe="c4.5").ruleset(table)
    assert divided.apply({"x": [None, 1.0]}).tolist()[0] == -1
    own = spinney.grow(table, "t", recipe="cart", missing_policy="branch").ruleset(
        table
    )
    assert own.predict({"x": [None, 1.0]}).tolist() == ["b", "a"]
    assert any("or missing" in str(rule) for rule in own.rules)


def test_shares_are_laplaces_of_the_rule_that_decides():
    table = {"x": [1] * 6 + [2] * 6, "t": ["a"] * 5 + ["b"] * 7}
    ruleset = spinney.grow(table, "t", recipe="id3").ruleset(table)
    shares = ruleset.predict_proba({"x": [1, 2]})
    np.testing.assert_allclose(shares, [[6 / 8, 2 / 8], [1 / 8, 7 / 8]])
    np.testing.assert_array_equal(ruleset.classes_, ["a", "b"])


@given(tables(weights=("whole",)), recipes())
@settings(max_examples=examples(30))
def test_weights_are_rows_said_more_than_once(table, recipe):
    tree = grow_tree(table.source, recipe)
    repeated = Rows(
        table.schema,
        [(cells, label, 1.0) for cells, label, w in table.rows for _ in range(int(w))],
    )
    one = tree_ruleset(tree, training_of(table))
    other = tree_ruleset(tree, training_of(repeated))
    assert one == other


@pytest.mark.parametrize("name", ["watermelon_2.0", "watermelon_3.0", "buys_computer"])
def test_textbook_tables_keep_their_classes(name):
    numeric = ("density", "sugar") if name == "watermelon_3.0" else ()
    table = textbook(name, numeric=numeric)
    tree = grow_tree(table.source, RECIPES["c4.5"])
    ruleset = tree_ruleset(tree, training_of(table))
    assert 0 < len(ruleset) <= tree.n_leaves
    for rule in ruleset.rules:
        here = [
            label
            for cells, label, _ in table.rows
            if naive_rulesets.satisfies(table.schema, rule.conditions, cells)
        ]
        assert rule.coverage == len(here)
        assert rule.errors == sum(label != rule.code for label in here)
        limit = naive_rulesets.upper_limit(int(rule.errors), len(here), 0.25)
        assert rule.estimate == pytest.approx(limit)
