"""Trees as text: five golden trees, limits, ASCII, and what hides below a limit."""

import datetime
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import compare_with_golden
from tests.helpers.fuzz import examples
from tests.helpers.models import chain_model
from tests.helpers.recipes import by_recipe
from tests.helpers.strategies import TABLES, recipes, tables

import spinney
from spinney._support.text_table import cells
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.plain.learner import grow_tree
from spinney.output.tree_text import class_counts, threshold_digits, to_text
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource
from spinney.trees import Tree


def everything() -> spinney.TreeClassifier:
    """Grow a tree with every kind of question, and hostile names and values."""
    days = [datetime.date(2024, 2, 28) + datetime.timedelta(days=n) for n in range(12)]
    columns = {
        "the\nday": days,
        "size": ["small", "large", "huge", None] * 3,
        "colour": ["red", "it's", "grün", "red", None, "red"] * 2,
        "fits?": [True, False, None, True, False, False] * 2,
        "weight, kg": [1, None, 2.5, 3, None, 1e6, 2, 0.1, 7, None, 5, 4],
        "sort": list("abcaddbcabcd"),
        "count": [1, 2, 1, 1 / 3, 1, 1, 2, 1, 1, 1, 1, 1],
    }
    return spinney.grow(
        columns,
        "sort",
        recipe="cart",
        missing_policy="own-category",
        weight="count",
        ordinal={"size": ["small", "large", "huge"]},
        forced_splits={(): "weight, kg"},
        max_depth=4,
    )


FIXED: dict[str, Callable[[], spinney.TreeClassifier]] = {
    "netball": lambda: spinney.grow(
        TABLES / "netball.csv", "play", ignore=["day"], recipe="id3"
    ),
    "watermelon_missing": lambda: spinney.grow(
        TABLES / "watermelon_2.0a.csv", "ripe", ignore=["id"], recipe="id3"
    ),
    "watermelon_numbers": lambda: spinney.grow(
        TABLES / "watermelon_3.0.csv",
        "ripe",
        ignore=["id"],
        **by_recipe(
            recipe="c4.5", pruning="none", mdl_correction=False, thresholds="midpoint"
        ),
    ),
    "fruit": lambda: spinney.grow(
        TABLES / "fruit.csv", "type", ignore=["id"], recipe="cart"
    ),
    "everything": everything,
}


@pytest.mark.filterwarnings("ignore:column .* looks like:spinney.errors.SpinneyWarning")
@pytest.mark.parametrize("name", FIXED)
def test_golden(name, assert_golden):
    model = FIXED[name]()
    parts = [
        to_text(model.tree),
        to_text(model.tree, max_depth=1, ascii_only=True),
        model.rules().text(),
        model.rules().text(ascii_only=True),
        str(model.explain(node=0)),
        str(model.explain(node=len(model.tree) - 1)),
    ]
    assert_golden(f"{name}.txt", "\n\n".join(parts) + "\n")


def test_a_mismatch_is_written_beside_and_accepted_on_demand(tmp_path: Path):
    path, proposal = tmp_path / "tree.txt", tmp_path / "tree.txt.new"
    with pytest.raises(pytest.fail.Exception, match=r"not there yet.* --accept"):
        compare_with_golden(path, "old", accept=False)
    assert proposal.read_text() == "old"
    compare_with_golden(path, "old", accept=True)
    assert path.read_text() == "old"
    assert not proposal.exists()
    compare_with_golden(path, "old", accept=False)
    with pytest.raises(pytest.fail.Exception, match=r"reads otherwise.* --accept"):
        compare_with_golden(path, "new", accept=False)
    assert (path.read_text(), proposal.read_text()) == ("old", "new")
    compare_with_golden(path, "old", accept=False)
    assert not proposal.exists()


def below(tree: Tree, number: int) -> list[int]:
    """Return the numbers of all nodes below one, by their paths."""
    return [
        node.number
        for node in tree
        if node.number != number and tree.nodes[number] in tree.path(node.number)
    ]


@given(tables(), recipes(), st.integers(0, 3))
@settings(max_examples=examples(60))
def test_a_limit_says_what_it_hides(table, recipe, limit):
    tree = grow_tree(table.source, recipe)
    lines = to_text(tree, max_depth=limit).splitlines()
    shared = [
        leaf.number for node in tree for leaf in tree.empty_sibling_leaves(node)[:-1]
    ]
    shown = [n for n in tree if n.depth <= limit and n.number not in shared]
    assert len(lines) == len(shown)
    for line, node in zip(lines, shown, strict=True):
        if node.depth < limit or node.is_leaf:
            assert "…" not in line
            continue
        hidden = below(tree, node.number)
        leaves = sum(tree.nodes[number].is_leaf for number in hidden)
        assert line.endswith(f" … [{len(hidden)} more nodes, {leaves} leaves below]")
    if tree.height <= limit:
        assert lines == to_text(tree).splitlines()


@given(tables(), recipes())
@settings(max_examples=examples(60))
def test_a_line_a_node_and_ascii_for_ascii_data(table, recipe):
    tree = grow_tree(table.source, recipe)
    lines = to_text(tree).splitlines()
    plain = to_text(tree, ascii_only=True)
    assert plain.isascii()
    assert to_text(tree, max_depth=1, ascii_only=True).isascii()
    shared = {
        leaf.number: s
        for n in tree
        if (s := tree.empty_sibling_leaves(n))
        for leaf in s
    }
    spoken = [n for n in tree if shared.get(n.number, (n,))[-1].number == n.number]
    assert len(lines) == len(plain.splitlines()) == len(spoken)
    digits = threshold_digits(tree, np.arange(len(tree)))
    for line, node in zip(lines, spoken, strict=True):
        label = tree.schema.target.classes[node.label]
        together = shared.get(node.number, ())
        assert tree.condition(node, together=together, digits=digits) in line
        assert (f"→ {label}  (" in line) == node.is_leaf
        if not node.n_rows:
            assert line.endswith("  (no rows: as its parent)")
            continue
        assert line.endswith(f"{class_counts(node.weights, tree.schema)})")


def test_a_value_on_the_threshold_reads_as_left():
    lines = to_text(chain_model(1).tree).splitlines()
    assert [line[4:].split("  ")[0] for line in lines[1:]] == [
        "x ≤ 0.5 → false",
        "x > 0.5 → true",
    ]


def test_class_counts_of_many_classes():
    schema = Schema((), Target("y", tuple("abcdefg")))
    weights = np.array([1.0, 5, 0, 2, 2, 10 / 3, 0.5])
    # The three heaviest, in their order, and the others together.
    assert class_counts(weights, schema) == (
        "13.8333: b 5 (36 %), d 2 (14 %), f 3.3333 (24 %), 3 other classes 3.5 (25 %)"
    )
    assert class_counts(np.array([0, 1, 1, 1, 0, 0, 1.0]), schema) == (
        "4: b 1 (25 %), c 1 (25 %), d 1 (25 %), g 1 (25 %)"
    )


def test_counts_of_classes_that_end_in_digits():
    numbers = Schema((), Target("y", (0, 1)))
    assert class_counts(np.array([59.0, 41.0]), numbers) == (
        "100; 0: 59 (59 %), 1: 41 (41 %)"
    )
    mixed = Schema((), Target("y", ("", "type 2")))
    assert class_counts(np.array([3.0, 1.0]), mixed) == (
        '4; "": 3 (75 %), type 2: 1 (25 %)'
    )


def test_classes_that_differ_by_rounding_are_shown_in_their_order():
    schema = Schema((), Target("y", tuple("abcdef")))
    equal = np.full(6, 20 / 3)
    nudged = np.nextafter(equal, [7, 7, 6, 6, 7, 7])
    assert class_counts(nudged, schema) == class_counts(equal, schema)
    assert class_counts(equal, schema).startswith("40: a 6.6667 (17 %), b 6.6667")


def test_lines_below_forty_levels_begin_with_their_depth():
    lines = to_text(chain_model(43).tree).splitlines()
    assert len(lines) == 87
    indent = " " * 4 * 40
    assert lines[79].startswith(" " * 4 * 39 + "├── x ≤ 39.5")
    assert lines[81].startswith(indent + "[41] x ≤ 40.5")
    assert lines[86].startswith(indent + "[43] x > 42.5")


def test_a_stump_is_one_line():
    source = MemorySource(
        Schema((Attribute("x", "numeric"),), Target("y", ("a", "b"))),
        [np.array([1.0, 1.0])],
        classes=np.array([0, 1]),
    )
    tree = grow_tree(source, RECIPES["id3"])
    assert to_text(tree) == "y → b  (2: a 1 (50 %), b 1 (50 %))"
    assert to_text(tree, max_depth=0) == to_text(tree)


def test_a_long_chain_is_written():
    tree = chain_model(5000).tree
    lines = to_text(tree).splitlines()
    assert len(lines) == 10_001
    assert max(map(len, lines)) < 300
    limited = to_text(tree, max_depth=0)
    assert limited.endswith(" … [10000 more nodes, 5001 leaves below]")


def test_numbers_of_nodes():
    tree = chain_model(5).tree
    plain, numbered = to_text(tree), to_text(tree, numbers=True)
    pairs = zip(plain.splitlines(), numbered.splitlines(), strict=True)
    for number, (line, with_number) in enumerate(pairs):
        assert with_number == f"{number:>2}  {line}"


@pytest.mark.parametrize("format", ["text", "numbered-text", "rules", "json"])
def test_a_long_chain_is_exported(format, tmp_path):
    chain = chain_model(2000)
    model = spinney.TreeClassifier(chain.recipe)._adopt_by_name(chain)
    text = model.export(format, path=tmp_path / "chain")
    assert (tmp_path / "chain").read_text(encoding="utf-8") == text
    assert text.endswith("\n")
    assert "1999.5" in text


@pytest.mark.parametrize("limit", [0, 1, 2, 5, 30])
def test_what_a_line_hides_is_what_lies_below(limit):
    """Counted by walking up from each node that is not shown."""
    random = np.random.default_rng(3)
    table = {
        "a": random.random(300),
        "b": random.choice(list("uvwx"), 300).tolist(),
        "y": random.choice(["no", "yes"], 300).tolist(),
    }
    tree = spinney.grow(table, "y", recipe="id3").tree
    hidden = {}
    for node in tree:
        above = node
        while above.depth > limit:
            above = tree.nodes[above.parent]
        if above is not node:
            nodes, leaves = hidden.get(above.number, (0, 0))
            hidden[above.number] = nodes + 1, leaves + node.is_leaf
    lines = to_text(tree, max_depth=limit, numbers=True).splitlines()
    assert [int(line.split()[0]) for line in lines] == [
        node.number for node in tree if node.depth <= limit
    ]
    for line in lines:
        nodes, leaves = hidden.get(int(line.split()[0]), (0, 0))
        words = f" … [{nodes} more nodes, {leaves} leaves below]"
        assert line.endswith(words) == (nodes > 0)
    # As of nodes that were made.
    made = Tree(tree.schema, tuple(tree))
    assert to_text(made, max_depth=limit, numbers=True).splitlines() == lines


@pytest.mark.filterwarnings("ignore:splits on high:spinney.errors.SpinneyWarning")
@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("width", [20, 60, 80, 120])
def test_no_line_is_wider(width, ascii_only):
    random = np.random.default_rng(5)
    towns = [f"town of the number {n}" for n in range(30)] + ["価格の高い町"]
    table = {
        "a long name of a column, as surveys have them": random.choice(towns, 400),
        "b": random.random(400),
        "y": random.choice(["no, never", "yes", "perhaps", "maybe", "later"], 400),
    }
    tree = spinney.grow(table, "y", recipe="cart").tree
    text = to_text(tree, width=width, ascii_only=ascii_only)
    assert max(map(cells, text.splitlines())) <= width
    assert len(text.splitlines()) == len(tree)
    wide = to_text(tree, width=100_000, ascii_only=ascii_only)
    assert wide == to_text(tree, ascii_only=ascii_only)


@given(tables(), recipes(), st.integers(1, 12))
@settings(max_examples=examples(60))
def test_a_limit_of_lines(table, recipe, limit):
    tree = grow_tree(table.source, recipe)
    lines = to_text(tree, max_lines=limit, numbers=True).splitlines()
    if len(tree) <= limit:
        assert lines == to_text(tree, numbers=True).splitlines()
        return
    assert len(lines) <= max(limit, 2)
    *shown, last = lines
    numbers = [int(line.split()[0]) for line in shown]
    hidden = tree.n_leaves - sum(tree.nodes[number].is_leaf for number in numbers)
    assert last == f"… {hidden} more {'leaf' if hidden == 1 else 'leaves'}"
    assert all(tree.nodes[n].parent in (None, *numbers) for n in numbers)


def test_thresholds_have_as_many_digits_as_tell_them():
    table = {
        "x": [0.1971740930188762 + n * 0.01 for n in range(8)],
        "y": ["no"] * 4 + ["yes"] * 4,
    }
    tree = spinney.grow(table, "y", recipe="id3").tree
    assert "x ≤ 0.232174 → no" in to_text(tree)
    near = [1 + n * 1e-9 for n in range(4)]
    tree = spinney.grow({"x": near, "y": list("abab")}, "y", recipe="id3").tree
    bounds = {line.split("x ")[1].split()[1] for line in to_text(tree).splitlines()[1:]}
    assert len(bounds) == 3


def test_weighted_rows_are_counted_too():
    table = {"x": [1, 1, 2, 2, 2], "y": ["a", "a", "b", "b", "b"], "w": [2, 1, 1, 1, 3]}
    tree = spinney.grow(table, "y", recipe="id3", weight="w").tree
    assert to_text(tree).startswith("y  (n = 5, weight 8: a 3 (38 %), b 5 (62 %))")
