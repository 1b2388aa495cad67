"""What holds of every pruning of every tree, and the twins in plain recursion."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.growth.test_prune_methods import check_subtree
from tests.helpers.fuzz import examples
from tests.helpers.strategies import Rows, recipes, tables
from tests.twins import naive, naive_prune

from spinney.data.schema import Fingerprint, Schema, Target
from spinney.growth.growth_options import Options
from spinney.growth.model import Model
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune import EncodedRows, cost_complexity
from spinney.growth.prune.cost_complexity import (
    CrossValidationRows,
    cross_validated,
    validated,
)
from spinney.growth.prune.cost_complexity_sequence import sequence_of
from spinney.growth.prune.prune_methods import METHODS, pruned
from spinney.growth.prune.risk import leaf_risks, sums_below
from spinney.output.file.model_files import load_model, save_model
from spinney.trees import Tree, cut
from spinney.trees.predict.flat_tree import flatten

ROUNDING = 1e-9
COSTS = [[0.0, 5.0, 1.0, 2.0], [1.0, 0.0, 3.0, 1.0], [2.0, 1.0, 0.0, 4.0], [1.0] * 4]


@st.composite
def numeric_tables(
    draw: st.DrawFn, *, missing: bool = True, max_rows: int = 40
) -> Rows:
    """Draw a table whose target is a number."""
    table: Rows = draw(tables(missing=missing, max_rows=max_rows))
    numbers = st.sampled_from((-3.5, 0.0, 0.1, 1.0, 2.0, 7.25))
    target = Target("y", origin=draw(st.sampled_from((0.0, 1.5))))
    rows = [(cells, draw(numbers), weight) for cells, _, weight in table.rows]
    return Rows(Schema(table.schema.attributes, target), rows)


def grown(data: st.DataObject, *, numeric: bool, max_rows: int = 40) -> Tree:
    draw = numeric_tables if numeric else tables
    table = data.draw(draw(max_rows=max_rows))
    return grow_tree(table.source, data.draw(recipes()))


def costs_for(tree: Tree) -> np.ndarray:
    n_classes = tree.schema.n_classes
    return np.array(COSTS)[:n_classes, :n_classes]


def cuts_of(tree: Tree, small: Tree) -> frozenset[int]:
    """Return the nodes of a tree that are leaves in its pruned form."""
    found = set()
    pairs = [(tree.root, small.root)]
    while pairs:
        whole, kept = pairs.pop()
        if kept.is_leaf and not whole.is_leaf:
            found.add(whole.number)
        else:
            pairs += zip(tree.children(whole), small.children(kept), strict=True)
    return frozenset(found)


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data())
@settings(max_examples=examples(40))
def test_the_sequence_is_breimans(numeric, data):
    tree = grown(data, numeric=numeric)
    found = sequence_of(tree, leaf_risks(tree))
    twin = naive_prune.branch_of(tree)
    expected = naive_prune.weakest_links(twin)
    assert found.alphas == pytest.approx([a for a, _ in expected], rel=1e-6, abs=1e-7)
    for place, (_, gone) in enumerate(expected):
        row = found[place]
        assert naive_prune.visible(twin, found.cuts(place)) == gone
        assert row.leaves == naive_prune.size(twin, gone)
        assert row.splits == len(naive_prune.inner(twin, gone))
        assert row.risk == pytest.approx(naive_prune.risk(twin, gone), abs=1e-7)


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data())
@settings(max_examples=examples(40))
def test_alphas_rise_and_subtrees_nest(numeric, data):
    tree = grown(data, numeric=numeric)
    risks = leaf_risks(tree)
    found = sequence_of(tree, risks)
    assert found.alphas[0] == 0
    assert all(low < high for low, high in pairwise(found.alphas))
    assert all(low.leaves > high.leaves for low, high in pairwise(found.subtrees))
    whole = float(sums_below(tree, risks)[0])
    assert found[0].risk == pytest.approx(whole, abs=ROUNDING * max(1, risks[0]))
    assert (found[-1].leaves, found[-1].splits) == (1, 0)
    assert found[-1].risk == risks[0]
    smaller = [cut(tree, found.cuts(place)) for place in range(len(found))]
    for large, small, row in zip([tree, *smaller], smaller, found, strict=False):
        check_subtree(small, tree)
        assert len(small) <= len(large)
        assert n_reached(small) == row.leaves
    for large, small in pairwise(smaller):
        kept = frozenset(range(len(tree))) - below_cuts(tree, cuts_of(tree, large))
        assert cuts_of(tree, small) <= kept


def n_reached(tree: Tree) -> int:
    """Return how many leaves rows came to: others cost nothing."""
    return sum(leaf.n_rows > 0 for leaf in tree.leaves)


def below_cuts(tree: Tree, cuts: frozenset[int]) -> frozenset[int]:
    gone: set[int] = set()
    for node in tree:
        if node.parent is not None and (node.parent in cuts or node.parent in gone):
            gone.add(node.number)
    return frozenset(gone)


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data())
@settings(max_examples=examples(40))
def test_pruning_by_alpha_gives_the_subtree_of_the_sequence(numeric, data):
    tree = grown(data, numeric=numeric)
    found = sequence_of(tree, leaf_risks(tree))
    middles = (found.alphas[:-1] + found.alphas[1:]) / 2
    for alphas in (found.alphas, [*middles, 2 * found.alphas[-1] + 1]):
        for place, alpha in enumerate(alphas):
            result = pruned(tree, "cost-complexity", alpha=float(alpha))
            assert result.sequence.chosen == place
            expected = cut(tree, found.cuts(place))
            assert cuts_of(tree, result.tree) == cuts_of(tree, expected)


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data(), alpha=st.floats(0, 4))
@settings(max_examples=examples(40))
def test_no_pruned_form_is_cheaper_nor_as_cheap_and_smaller(numeric, data, alpha):
    tree = grown(data, numeric=numeric, max_rows=14)
    costs = None
    if not numeric and data.draw(st.booleans()):
        costs = costs_for(tree)  # labels are the majority's: a node may beat its tree
    result = pruned(tree, "cost-complexity", alpha=alpha, costs=costs)
    twin = naive_prune.branch_of(tree, costs=costs)
    forms = naive_prune.all_prunings(twin) if tree.n_leaves < 12 else []
    assume(forms)

    def cost(gone):
        return naive_prune.risk(twin, gone) + alpha * naive_prune.size(twin, gone)

    own = cuts_of(tree, result.tree)
    best = min(map(cost, forms))
    assert cost(own) == pytest.approx(best, abs=ROUNDING)
    sizes = [naive_prune.size(twin, f) for f in forms if cost(f) < best + 1e-12]
    if sizes:
        assert n_reached(result.tree) <= min(sizes)


@given(data=st.data())
@settings(max_examples=examples(40))
def test_pessimistic_pruning_is_quinlans(data):
    tree = grown(data, numeric=False)
    result = pruned(tree, "pessimistic")
    expected = naive_prune.pessimistic(naive_prune.branch_of(tree))
    assert cuts_of(tree, result.tree) == expected
    for step in result.steps:
        assert step.pruned == (step.before >= step.after - ROUNDING)


@given(data=st.data())
@settings(max_examples=examples(40))
def test_mdl_pruning_finds_the_fewest_bits(data):
    tree = grown(data, numeric=False, max_rows=14)
    assume(tree.n_leaves < 12)
    result = pruned(tree, "mdl")
    forms = naive_prune.all_prunings(naive_prune.branch_of(tree))
    bits = naive_prune.tree_bits(tree, cuts_of(tree, result.tree))
    least = min(naive_prune.tree_bits(tree, form) for form in forms)
    assert bits == pytest.approx(least, abs=ROUNDING)
    if result.steps:
        last = result.steps[-1]
        ended = last.after if last.pruned else last.before
        assert ended == pytest.approx(bits, abs=ROUNDING)


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data())
@settings(max_examples=examples(40))
def test_simplifying_changes_no_label_of_a_whole_row(numeric, data):
    draw = numeric_tables if numeric else tables
    table = data.draw(draw(missing=False))
    tree = grow_tree(table.source, data.draw(recipes()))
    result = pruned(tree, "simplify")
    check_subtree(result.tree, tree)
    gone = naive_prune.simplified(tree)
    assert cuts_of(tree, result.tree) == gone
    for cells, _, _ in table.rows:
        before, after = (naive.route(t, cells) for t in (tree, result.tree))
        (leaf,) = [n for n in tree.leaves if before.get(n.number, 0) == 1.0]
        (now,) = [n for n in result.tree.leaves if after.get(n.number, 0) == 1.0]
        assert now.label == leaf.label
        if numeric:
            assert now.value == pytest.approx(leaf.value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data())
@settings(max_examples=examples(40))
def test_every_method_yields_a_subtree_and_tells_the_truth(numeric, data):
    draw = numeric_tables if numeric else tables
    table = data.draw(draw())
    tree = grow_tree(table.source, data.draw(recipes()))
    columns, targets, weights = coded(table)
    options = {
        "reduced-error": {
            "validation": EncodedRows(columns, targets, np.ones(len(targets)))
        },
        "pre-pruning": {"validation": EncodedRows(columns, targets, weights)},
        "cost-complexity": {"alpha": 0.7},
        "manual": {"nodes": [n.number for n in tree if not n.is_leaf][:2]},
    }
    for name, method in METHODS.items():
        if numeric and not method.numeric:
            continue
        if name == "manual" and not options[name]["nodes"]:
            continue
        if not {need.split("|")[0] for need in method.needs} <= set(
            options.get(name, {})
        ):
            continue
        result = pruned(tree, name, **options.get(name, {}))
        check_subtree(result.tree, tree)
        risk = float(sums_below(tree, leaf_risks(tree))[0])
        if name == "pre-pruning":
            risk = float(leaf_risks(tree)[0])
        scale = ROUNDING * max(1.0, float(leaf_risks(tree)[0]))
        for step in result.steps:
            assert step.risk_before == pytest.approx(risk, abs=scale)
            changed = step.pruned != (name == "pre-pruning")
            risk = step.risk_after if changed else step.risk_before
        ended = float(sums_below(result.tree, leaf_risks(result.tree))[0])
        assert ended == pytest.approx(risk, abs=scale)
        assert str(result.steps).count("\n") == (len(result.steps) + 1) * bool(
            result.steps
        )


def coded(table: Rows) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    columns = []
    for place, attribute in enumerate(table.schema.attributes):
        absent = np.nan if attribute.kind == "numeric" else -1
        cells = [
            absent if row[place] is None else row[place] for row, _, _ in table.rows
        ]
        columns.append(np.array(cells))
    targets = np.array([target for _, target, _ in table.rows])
    return columns, targets, np.array([w for _, _, w in table.rows], dtype=float)


@given(data=st.data())
@settings(max_examples=examples(40))
def test_squared_errors_on_validation_rows_never_rise(data):
    table = data.draw(numeric_tables())
    tree = grow_tree(table.source, data.draw(recipes()))
    columns, targets, weights = coded(table)
    shifted = targets[::-1].copy()
    rows = EncodedRows(columns, shifted, weights)
    result = pruned(tree, "reduced-error", validation=rows)

    def mean_square(found: Tree) -> float:
        total = 0.0
        for (cells, _, weight), wanted in zip(table.rows, shifted, strict=True):
            reached = naive.route(found, cells)
            for leaf in found.leaves:
                part = reached.get(leaf.number, 0.0)
                total += weight * part * (leaf.value - wanted) ** 2
        return total / float(weights.sum())

    before, after = mean_square(tree), mean_square(result.tree)
    assert after <= before + ROUNDING * max(1.0, before)
    if result.steps:
        assert result.steps[0].before == pytest.approx(before, rel=1e-9, abs=1e-9)
        last = result.steps[-1]
        ended = last.after if last.pruned else last.before
        assert ended == pytest.approx(after, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data())
@settings(max_examples=examples(30))
def test_many_rows_are_judged_as_few_are(numeric, data):
    """Rows that are whole are added up together, those that are divided one by one."""
    table = data.draw((numeric_tables if numeric else tables)(max_rows=24))
    tree = grow_tree(table.source, data.draw(recipes()))
    columns, targets, weights = coded(table)
    rows = EncodedRows(columns, targets[::-1].copy(), weights)
    sequence = sequence_of(tree, leaf_risks(tree))
    few = validated(sequence, tree, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cost_complexity, "MAX_BLOCK", 1)
        many = validated(sequence, tree, rows)
    for one, other in zip(few.subtrees, many.subtrees, strict=True):
        assert other.error == pytest.approx(one.error, rel=1e-9, abs=1e-9)
        assert other.deviation == pytest.approx(one.deviation, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data())
@settings(max_examples=examples(30))
def test_a_sequence_is_judged_by_other_rows_as_by_plain_loops(numeric, data):
    table = data.draw((numeric_tables if numeric else tables)(max_rows=24))
    tree = grow_tree(table.source, data.draw(recipes()))
    columns, targets, weights = coded(table)
    targets = targets[::-1].copy()
    sequence = sequence_of(tree, leaf_risks(tree))
    found = validated(sequence, tree, EncodedRows(columns, targets, weights))
    for place, row in enumerate(found.subtrees):
        small = cut(tree, sequence.cuts(place))
        losses = np.zeros(len(targets))
        for number, (cells, _, _) in enumerate(table.rows):
            reached = naive.route(small, cells)
            losses[number] = loss_of(small, reached, targets[number])
        mean = losses @ weights / weights.sum()
        spread = max(losses**2 @ weights - mean**2 * weights.sum(), 0.0)
        spread /= max(1.0, np.count_nonzero(weights) / weights.sum())
        scale = max(1.0, float(losses.max()))
        assert row.error == pytest.approx(mean, abs=ROUNDING * scale)
        deviation = np.sqrt(spread) / weights.sum()
        assert row.deviation == pytest.approx(deviation, abs=1e-6 * scale)
    errors = [row.error for row in found.subtrees]
    least = pruned(
        tree, "cost-complexity", validation=EncodedRows(columns, targets, weights)
    )
    assert found[least.sequence.chosen].error <= min(errors) * (1 + 1e-9) + ROUNDING


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data())
@settings(max_examples=examples(40))
def test_cross_validation_is_that_of_plain_loops(numeric, data):
    draw = numeric_tables if numeric else tables
    table = data.draw(draw(max_rows=24))
    assume(len(table.rows) >= 4)
    recipe = data.draw(recipes())
    tree = grow_tree(table.source, recipe)
    columns, targets, weights = coded(table)
    n_folds = data.draw(st.integers(2, 3))
    folds = np.arange(len(targets)) % n_folds

    def regrow(mask) -> Tree:
        rows = [row for row, kept in zip(table.rows, mask, strict=True) if kept]
        return grow_tree(Rows(table.schema, rows).source, recipe)

    sequence = sequence_of(tree, leaf_risks(tree))
    masks = [folds == fold for fold in range(n_folds)]
    trees = [(held, regrow(~held)) for held in masks]
    found = cross_validated(
        sequence, CrossValidationRows(columns, targets, weights, trees)
    )
    scale = sequence.root_risk if sequence.root_risk > 0 else 1.0
    for place, row in enumerate(found.subtrees):
        losses = []
        for fold in range(n_folds):
            held = folds == fold
            share = weights[~held].sum() / weights.sum()
            alpha = sequence.middles[place] * share
            other = regrow(~held)
            small = cut(other, {0})
            if np.isfinite(alpha):
                small = pruned(other, "cost-complexity", alpha=float(alpha)).tree
            for number in np.flatnonzero(held):
                reached = naive.route(small, table.rows[number][0])
                losses.append((number, loss_of(small, reached, targets[number])))
        each = np.array([loss for _, loss in sorted(losses)])
        total = float((weights * each).sum())
        spread = float((weights * each**2).sum()) - total**2 / weights.sum()
        spread /= max(1.0, len(weights) / weights.sum())
        assert row.error * scale == pytest.approx(total, rel=1e-7, abs=1e-7)
        assert (row.deviation * scale) ** 2 == pytest.approx(
            max(spread, 0.0), rel=1e-6, abs=1e-6
        )


def loss_of(tree: Tree, reached, target) -> float:
    loss = 0.0
    for leaf in tree.leaves:
        part = reached.get(leaf.number, 0.0)
        if tree.schema.target.is_numeric:
            loss += part * (leaf.value - target) ** 2
        else:
            loss += part * (leaf.label != target)
    return loss


@given(data=st.data())
@settings(max_examples=examples(40))
def test_a_forced_tree_pruned_saved_and_loaded_predicts_the_same(
    data, tmp_path_factory
):
    table: Rows = data.draw(tables())
    recipe = data.draw(recipes(limited=False))
    able = [c.attribute for c in grow_tree(table.source, recipe).root.candidates]
    assume(able)
    options = Options(forced={(): data.draw(st.sampled_from(able))})
    tree = grow_tree(table.source, recipe, options)
    columns, targets, _ = coded(table)
    method = data.draw(st.sampled_from(("mdl", "pessimistic", "simplify", "alpha")))
    if method == "alpha":
        small = pruned(tree, "cost-complexity", alpha=data.draw(st.floats(0, 3))).tree
    else:
        small = pruned(tree, method).tree
    path = tmp_path_factory.mktemp("models") / "small.spinney"
    weight = float(tree.root.weight)
    origin = Fingerprint(len(targets), weight, "0" * 64, "0.1.0")
    save_model(Model(small, recipe, origin), path)
    loaded = load_model(path)
    one = flatten(small).outputs(columns, len(targets))
    other = flatten(loaded.tree).outputs(columns, len(targets))
    assert one.tobytes() == other.tobytes()
    assert [n.reason for n in loaded.tree] == [n.reason for n in small]
    assert [n.forced for n in loaded.tree] == [n.forced for n in small]
