"""Growing trees: the textbooks' trees, every reason to stop, force and limits."""

import gc
import warnings
from unittest.mock import Mock

import numpy as np
import pytest
from tests.helpers.strategies import Rows, textbook

from spinney.data.schema import Attribute, Schema, Target
from spinney.errors import ParameterError, SpinneyWarning
from spinney.growth.growth_options import Options
from spinney.growth.plain.growing_nodes import GrowingNode
from spinney.growth.plain.learner import grow_tree
from spinney.recipes import RECIPES, Recipe
from spinney.search import policy_named, tree_search
from spinney.sources.rows.memory import MemorySource
from spinney.trees import Reason, Tree

ID3, C45, CART = (RECIPES[name] for name in ("id3", "c4.5", "cart"))


def printed(tree: Tree) -> list[str]:
    """Return the tree as lines: what leads to a node, and a leaf's class."""
    lines = []
    for node in tree:
        label = tree.schema.target.classes[node.label]
        text = (
            f"{tree.condition(node)}: {label}" if node.is_leaf else tree.condition(node)
        )
        lines.append("  " * node.depth + text)
    return lines


def letters(columns: dict[str, str], classes: str, **options) -> Rows:
    """Return a table of nominal attributes whose values are letters; - is missing."""
    levels = {name: sorted(set(cells) - {"-"}) for name, cells in columns.items()}
    extra = options.pop("values", {})
    levels |= extra
    schema = Schema(
        tuple(Attribute(n, "nominal", tuple(levels[n])) for n in columns),
        Target("class", tuple(sorted(set(classes)))),
    )
    rows = []
    for place, label in enumerate(classes):
        cells = [
            None if column[place] == "-" else levels[name].index(column[place])
            for name, column in columns.items()
        ]
        rows.append((cells, schema.target.classes.index(label), 1.0))
    return Rows(schema, rows)


# The textbooks' trees (EXPECTED.md)


def test_the_netball_tree():
    # 001.
    assert printed(grow_tree(textbook("netball").source, ID3)) == [
        "",
        "  outlook = Overcast: Yes",
        "  outlook = Rain",
        "    wind = Strong: No",
        "    wind = Weak: Yes",
        "  outlook = Sunny",
        "    humidity = High: No",
        "    humidity = Normal: Yes",
    ]


def test_growing_nodes_are_freed_with_the_learner():
    source = textbook("netball").source
    gc.collect()
    gc.disable()
    try:
        grow_tree(source, ID3)
        left = [each for each in gc.get_objects() if type(each) is GrowingNode]
    finally:
        gc.enable()
    assert not left


def test_the_watermelon_tree():
    # 000: the tie under texture = clear goes to root; no light melon is clear and
    # slightly curly, so that branch takes its parent's class.
    tree = grow_tree(textbook("watermelon_2.0").source, ID3)
    assert printed(tree) == [
        "",
        "  texture = blurry: false",
        "  texture = clear",
        "    root = curly: true",
        "    root = slightly curly",
        "      color = dark",
        "        surface = hard: true",
        "        surface = soft: false",
        "      color = green: true",
        "      color = light: true",
        "    root = straight: false",
        "  texture = slightly blurry",
        "    surface = hard: false",
        "    surface = soft: true",
    ]


def test_an_empty_branch_is_a_leaf_with_its_parents_classes():
    tree = grow_tree(textbook("watermelon_2.0").source, ID3)
    (empty,) = [node for node in tree if node.reason is Reason.EMPTY]
    parent = tree.nodes[empty.parent]
    assert tree.condition(empty) == "color = light"
    assert (empty.n_rows, empty.weights.tolist()) == (0, [0, 0])
    assert parent.weights.tolist() == [1, 2]
    assert empty.distribution.tolist() == [1 / 3, 2 / 3]
    assert empty.label == parent.label == 1


def test_samples_8_and_10_go_to_every_texture():
    # 000: with the weights 7/15, 5/15 and 3/15; 15 of 17 are known.
    tree = grow_tree(textbook("watermelon_2.0a").source, ID3.changed(max_depth=1))
    found = {tree.condition(n): (n.weight, n.n_rows) for n in tree.leaves}
    assert found == {
        "texture = clear": (pytest.approx(7 + 2 * 7 / 15), 9),
        "texture = slightly blurry": (pytest.approx(5 + 2 * 5 / 15), 7),
        "texture = blurry": (pytest.approx(3 + 2 * 3 / 15), 5),
    }
    # 1 to 6 are ripe and 15 is not; 8 is ripe and 10 is not.
    clear = next(n for n in tree.leaves if tree.condition(n) == "texture = clear")
    assert clear.weights.tolist() == pytest.approx([1 + 7 / 15, 6 + 7 / 15])


def test_sky_alone_separates_enjoyed_sport():
    # 002.
    assert printed(grow_tree(textbook("enjoy_sport").source, ID3)) == [
        "",
        "  sky = rainy: no",
        "  sky = sunny: yes",
    ]


def test_the_tree_of_who_buys_a_computer():
    # 004: age first; its leaves are the rules.
    assert printed(grow_tree(textbook("buys_computer").source, C45)) == [
        "",
        "  age = 31-40: yes",
        "  age = <=30",
        "    student = no: no",
        "    student = yes: yes",
        "  age = >40",
        "    credit_rating = excellent: no",
        "    credit_rating = fair: yes",
    ]


# Every reason to stop


def test_pure():
    tree = grow_tree(letters({"p": "ab"}, "xx").source, ID3)
    assert [node.reason for node in tree] == [Reason.PURE]


def test_exhausted():
    tree = grow_tree(letters({"p": "aab"}, "xyx").source, ID3)
    assert [leaf.reason for leaf in tree.leaves] == [Reason.EXHAUSTED, Reason.PURE]


def test_identical():
    tree = grow_tree(letters({"p": "aab"}, "xyx").source, CART)
    assert [leaf.reason for leaf in tree.leaves] == [Reason.IDENTICAL, Reason.PURE]


def test_depth():
    source = letters({"p": "aabb", "q": "abab"}, "xyyx").source
    tree = grow_tree(source, ID3.changed(max_depth=1))
    assert [leaf.reason for leaf in tree.leaves] == [Reason.DEPTH] * 2
    source = letters({"p": "ab"}, "xy").source
    tree = grow_tree(source, ID3.changed(max_depth=0))
    assert [node.reason for node in tree] == [Reason.DEPTH]


def test_rows_to_split():
    table = letters({"p": "aabb", "q": "abab"}, "xyyx")
    reasons = {
        least: [
            leaf.reason
            for leaf in grow_tree(
                table.source, ID3.changed(min_samples_split=least)
            ).leaves
        ]
        for least in (4, 4.5)
    }
    assert reasons == {
        4: [Reason.ROWS_TO_SPLIT] * 2,
        4.5: [Reason.ROWS_TO_SPLIT],
    }


def test_rows_in_leaf():
    tree = grow_tree(letters({"p": "aab"}, "xyx").source, C45)
    assert [node.reason for node in tree] == [Reason.ROWS_IN_LEAF]


def test_min_gain():
    source = letters({"p": "aabb"}, "xyxy").source
    tree = grow_tree(source, ID3.changed(min_gain=0.001))
    assert [node.reason for node in tree] == [Reason.MIN_GAIN]
    assert len(tree.root.candidates) == 1


def test_leaves():
    source = letters({"p": "abc"}, "xyx").source
    tree = grow_tree(source, ID3.changed(max_leaves=2))
    assert [node.reason for node in tree] == [Reason.LEAVES]
    assert tree.root.split is None
    assert len(tree.root.candidates) == 1


def test_empty():
    source = letters({"p": "aab"}, "xxy", values={"p": ["a", "b", "c"]}).source
    tree = grow_tree(source, ID3)
    assert [leaf.reason for leaf in tree.leaves] == [
        Reason.PURE,
        Reason.PURE,
        Reason.EMPTY,
    ]
    assert [leaf.label for leaf in tree.leaves] == [0, 1, 0]


def test_deviation():
    """All four deviate by 4.1; 0 and 0.5 by 0.25, 8 and 8.8 by 0.4: under a tenth."""
    schema = Schema((Attribute("x", "numeric"),), Target("y", origin=0.0))
    numbers = np.array([0.0, 0.5, 8.0, 8.8])
    source = MemorySource(schema, [np.arange(4.0)], classes=numbers)
    tree = grow_tree(source, CART.changed(min_deviation=0.1))
    reasons = [leaf.reason for leaf in tree.leaves]
    assert reasons == [Reason.DEVIATION, Reason.DEVIATION]
    free = grow_tree(source, CART.changed(min_deviation=0.05))
    assert len(free.leaves) == 4


def test_significance():
    table = letters({"p": "ababababab" * 3}, "xxyyxyxxyy" * 3)
    tree = grow_tree(table.source, RECIPES["chaid"])
    assert [node.reason for node in tree] == [Reason.SIGNIFICANCE]
    assert tree.root.candidates[0].p_value > 0.05


def test_every_reason_of_growing_is_tested_here():
    tested = {name for name in globals() if name.startswith("test_")}
    for reason in Reason:
        elsewhere = reason in (Reason.PRUNED, Reason.BEST, Reason.UNDECIDED)
        assert elsewhere or f"test_{reason.name.lower()}" in tested


# Limits on leaves


def best_first_table() -> Rows:
    """p divides 12 rows; under p = a much is to be gained, under p = b little."""
    return letters(
        {"p": "aaaaaabbbbbb", "q": "aaabbbaaabbb"},
        "xxxyyy" + "xyzzzz",
    )


def test_the_split_that_gains_most_over_all_rows_is_made_first():
    table = best_first_table()
    recipe = CART.changed(criterion="gain")
    full = grow_tree(table.source, recipe, Options(forced={(): 0}))
    left, right = full.children(full.root)
    urgency = [n.weight * n.candidates[n.chosen].gain for n in (left, right)]
    assert urgency[0] > urgency[1] > 0
    limited = grow_tree(
        table.source, recipe.changed(max_leaves=3), Options(forced={(): 0})
    )
    assert printed(limited) == [
        "",
        "  p = a",
        "    q = a: x",
        "    q = b: y",
        "  p = b: z",
    ]
    assert limited.leaves[-1].reason is Reason.LEAVES


def test_a_heavy_node_comes_before_a_purer_split():
    # Under p = a, 2 rows gain 1 bit each; under p = b, 12 rows 0.5 bits or so.
    table = letters(
        {"p": "aa" + "b" * 12, "q": "ab" + "aaaaaabbbbbb"}, "xy" + "xxxxxyyyyyyx"
    )
    tree = grow_tree(
        table.source,
        CART.changed(criterion="gain", max_leaves=3),
        Options(forced={(): 0}),
    )
    assert [node.split and node.split.attribute for node in tree] == [
        0,
        None,
        1,
        None,
        None,
    ]


def test_a_split_too_wide_is_passed_over_for_one_that_fits():
    table = letters(
        {"p": "aaaaaabbbb", "q": "abcabcdddd", "r": "ssssssttuu"},
        "xyzxyz" + "xxyy",
        values={"r": ["t", "u", "s"]},
    )
    recipe = ID3.changed(max_leaves=4)
    tree = grow_tree(table.source, recipe, Options(forced={(): 0}))
    wide, narrow = tree.children(tree.root)
    assert wide.reason is Reason.LEAVES  # four branches of q
    assert wide.candidates
    assert narrow.children  # three of r
    assert tree.n_leaves == 4


def test_one_leaf_is_the_root():
    tree = grow_tree(letters({"p": "ab"}, "xy").source, CART.changed(max_leaves=1))
    assert len(tree) == 1
    assert tree.root.reason is Reason.LEAVES


# Force


def test_force_at_the_root_and_below():
    table = textbook("netball")
    forced = {(): 3, ("wind = Strong",): 2}
    tree = grow_tree(table.source, ID3.changed(max_depth=2), Options(forced=forced))
    names = table.schema.names
    split_attributes = {
        tree.condition(n): names[n.split.attribute] for n in tree if not n.is_leaf
    }
    assert split_attributes == {
        "": "wind",
        "wind = Strong": "humidity",
        "wind = Weak": "outlook",
    }
    assert [n.number for n in tree if n.forced] == [0, 1]


def test_nothing_is_forced_unasked():
    tree = grow_tree(textbook("netball").source, ID3)
    assert not any(node.forced for node in tree)


def test_force_of_an_attribute_that_cannot_split_is_refused():
    table = textbook("netball")
    with pytest.raises(ParameterError, match="'outlook' cannot split its node"):
        grow_tree(table.source, ID3, Options(forced={(): 0, ("outlook = Rain",): 0}))


def test_a_forced_path_that_is_never_reached_is_told():
    options = Options(forced={("outlook = Foggy",): 1})
    with pytest.warns(SpinneyWarning, match="no node to split .*'outlook = Foggy'"):
        tree = grow_tree(textbook("netball").source, ID3, options)
    assert not any(node.forced for node in tree)


def test_a_forced_path_that_ends_in_a_leaf_is_told():
    options = Options(forced={("outlook = Overcast",): 1})
    with pytest.warns(SpinneyWarning, match="'outlook = Overcast'"):
        grow_tree(textbook("netball").source, ID3, options)


def test_a_forced_path_that_is_reached_is_no_cause_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = grow_tree(textbook("netball").source, ID3, Options(forced={(): 3}))
    assert tree.root.forced


# Weights, preference, ties


def test_class_weights_turn_a_label():
    table = letters({"p": "aaab"}, "xxyy")
    plain = grow_tree(table.source, ID3)
    heavy = grow_tree(table.source, ID3, Options(class_weights=np.array([1.0, 3.0])))
    assert [leaf.label for leaf in plain.leaves] == [0, 1]
    assert [leaf.label for leaf in heavy.leaves] == [1, 1]
    assert heavy.root.weights.tolist() == [2, 6]
    assert heavy.root.n_rows == 4


def test_preference_holds_at_every_node():
    table = letters({"p": "aabb", "q": "aabb", "r": "abab"}, "xyzw")
    tree = grow_tree(table.source, ID3, Options(preference=(2, 1)))
    split_attributes = [
        table.schema.names[n.split.attribute] for n in tree if not n.is_leaf
    ]
    assert split_attributes == ["r", "q", "q"]


def test_a_used_attribute_is_asked_again_only_if_it_can_answer_again():
    source = letters({"p": "abcabc"}, "xyzxyz").source
    assert grow_tree(source, ID3).height == 1
    source = letters({"p": "abcabc"}, "xyzxyz").source
    assert grow_tree(source, CART).height == 2


# Long chains


@pytest.mark.slow
def test_a_chain_of_thousands_of_nodes_grows():
    # Classes alternate along one number: no cut errs less than the first one.
    n_rows = 2000
    schema = Schema((Attribute("n", "numeric"),), Target("class", ("x", "y")))
    numbers = np.arange(n_rows, dtype=float)
    source = MemorySource(schema, [numbers], classes=np.arange(n_rows) % 2)
    tree = grow_tree(source, CART.changed(criterion="misclassification"))
    assert len(tree) == 2 * n_rows - 1
    assert tree.height == n_rows - 1
    assert {leaf.reason for leaf in tree.leaves} == {Reason.PURE}
    assert [leaf.label for leaf in tree.leaves] == [n % 2 for n in range(n_rows)]


def test_what_is_constant_for_a_tree_is_resolved_once(monkeypatch):
    looked_up = []
    measure = Recipe.measure

    def counted(recipe, *, numeric):
        looked_up.append(recipe.criterion)
        return measure(recipe, numeric=numeric)

    monkeypatch.setattr(Recipe, "measure", counted)
    monkeypatch.setattr(
        tree_search, "policy_named", policies := Mock(wraps=policy_named)
    )
    tree = grow_tree(textbook("watermelon_3.0").source, C45)
    assert len(tree) > 5
    assert looked_up == ["gain_ratio"]
    assert policies.call_count == 1
