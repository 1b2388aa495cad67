"""The methods on trees small enough to be worked out by hand."""

from dataclasses import replace
from math import log2, pi, sqrt

import numpy as np
import pytest
from tests.helpers.models import chain_model
from tests.helpers.sketches import Sketch, example, tree_of

import spinney
from spinney import TreeClassifier
from spinney.data.schema import Attribute, Schema, Target
from spinney.errors import DataError, ParameterError
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune import EncodedRows, validate
from spinney.growth.prune.cost_complexity_sequence import sequence_of
from spinney.growth.prune.pessimistic import corrected_errors
from spinney.growth.prune.prune_methods import METHODS, pruned
from spinney.growth.prune.risk import leaf_risks
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource
from spinney.trees import Reason, Tree


def test_risks_by_hand():
    tree = example()
    assert leaf_risks(tree).tolist() == [50, 10, 2, 8, 3, 1, 10, 4, 4]
    # The label of 0 and of 5, 6, 8 is b. To say b for an a costs 2, a for b 5.
    costs = np.array([[0, 5], [2, 0]])
    assert leaf_risks(tree, costs).tolist() == [100, 50, 10, 40, 15, 2, 20, 20, 8]


def test_the_sequence_by_hand():
    """Nodes 1 and 6 are equally weak and go together; then g(0) = (50 - 20) / 1."""
    found = sequence_of(example(), leaf_risks(example()))
    rows = [(r.alpha, r.leaves, r.splits, r.risk, r.cut) for r in found.subtrees]
    assert rows == [
        (0, 5, 4, 14, ()),
        (2, 2, 1, 20, (1, 6)),
        (30, 1, 0, 50, (0,)),
    ]
    assert [row.relative_error for row in found.subtrees] == [0.28, 0.4, 1.0]
    assert found.middles.tolist() == [0, sqrt(60), np.inf]
    assert [found.place(alpha) for alpha in (0, 1.9, 2, 29, 30, 99)] == [
        0,
        0,
        1,
        1,
        2,
        2,
    ]
    assert str(found).splitlines() == [
        "alpha        CP  splits  leaves  rel error",
        "   30  0.600000       0       1    1.00000",
        "    2  0.040000       1       2    0.40000",
        "    0  0.000000       4       5    0.28000",
    ]


def test_pruning_at_an_alpha_by_hand():
    """At 3 leaves 4 and 5 cost 4 + 6 and node 3 costs 8 + 3, so it stays at first.

    Node 1 costs 6 + 9 with what is below it, and 10 + 3 without.
    """
    result = pruned(example(), "cost-complexity", alpha=3)
    steps = [(s.node, s.before, s.after, s.pruned) for s in result.steps]
    assert steps == [
        (3, 29, 30, False),
        (1, 29, 27, True),
        (6, 27, 26, True),
        (0, 26, 53, False),
    ]
    assert [(s.risk_before, s.risk_after) for s in result.steps] == [
        (14, 18),
        (14, 18),
        (18, 20),
        (20, 50),
    ]
    assert result.steps[0].measure == "risk + 3 × leaves"
    assert [node.reason for node in result.tree] == [None, Reason.PRUNED, Reason.PRUNED]
    assert result.sequence.chosen == 1


def test_rules_by_hand():
    found = sequence_of(example(), leaf_risks(example()))
    with pytest.raises(ParameterError, match="needs errors on rows that were held out"):
        found.best("minimum")

    def by_folds(errors, deviations):
        return found.with_errors(np.array(errors), np.array(deviations), by="folds")

    judged = by_folds([0.4, 0.42, 1.0], [0.02, 0.04, 0.01])
    assert judged.best("minimum") == 0
    assert judged.best("1-se") == 1
    narrow = by_folds([0.4, 0.42, 1.0], [0.018, 0.04, 0.01])
    assert narrow.best("1-se") == 0
    equal = by_folds([0.4, 0.4, 1.0], [0.0] * 3)
    assert equal.best("minimum") == 1
    with pytest.raises(ParameterError, match="rule='2-se' is unknown"):
        judged.best("2-se")


def test_a_subtree_that_is_no_better_than_its_root_goes_at_alpha_0():
    sketch = Sketch((30, 6), [Sketch((20, 4)), Sketch((10, 2))])
    tree = tree_of(Sketch((32, 16), [sketch, Sketch((2, 10))]))
    found = sequence_of(tree, leaf_risks(tree))
    assert [(r.alpha, r.leaves, r.cut) for r in found.subtrees] == [
        (0, 2, (1,)),
        (8, 1, (0,)),
    ]
    assert len(pruned(tree, "cost-complexity", alpha=0).tree) == 3


def test_pessimistic_by_hand():
    """The root: 14 + 5/2 = 16.5 errors of 100, SE √(16.5 · 83.5 / 100) = 3.71.

    Node 1: 7.5 of 50, SE 2.52, below 10.5. Node 6: 9 of 50, SE 2.72, above 10.5.
    Node 3: 5 of 18, SE 1.90, below 8.5.
    """
    result = pruned(example(), "pessimistic")
    rows = [(s.node, round(s.before, 2), s.after, s.pruned) for s in result.steps]
    assert rows == [
        (0, 20.21, 50.5, False),
        (1, 10.02, 10.5, False),
        (6, 11.72, 10.5, True),
        (3, 6.9, 8.5, False),
    ]
    assert [(s.risk_before, s.risk_after) for s in result.steps][2] == (14, 16)
    assert result.tree.n_leaves == 4


def test_a_branch_without_rows_is_no_half_an_error():
    """Of 2 errors in two leaves with rows: 2 + 2/2 = 3, SE √(3 · 12 / 15) = 1.55."""
    inner = Sketch((1, 4), [Sketch((1, 4)), Sketch((1, 0))])
    tree = tree_of(Sketch((10, 5), [Sketch((9, 1)), inner]))
    tree = with_node(tree, 4, weights=np.zeros(2), n_rows=0)
    step = pruned(tree, "pessimistic").steps[0]
    assert (round(step.before, 2), step.after, step.pruned) == (4.55, 5.5, False)


def test_corrected_errors_of_more_leaves_than_rows():
    assert corrected_errors(0, 5, 2) == (2.5, 0.0)
    assert corrected_errors(0, 1, 0) == (0.5, 0.0)


def test_mdl_by_hand():
    """A leaf of n rows takes 1 + n H + log₂(n/2)/2 + log₂ π bits.

    A split takes 1 bit, log₂ 1 for the one attribute, log₂(n − 1) for the cut.
    """
    sketch = Sketch((8, 8), [Sketch((8, 0)), Sketch((0, 8))])
    as_leaf = 1 + 16 + log2(8) / 2 + log2(pi)
    as_tree = 1 + log2(15) + 2 * (1 + log2(4) / 2 + log2(pi))
    (step,) = pruned(tree_of(sketch), "mdl").steps
    assert (step.before, step.after) == pytest.approx((as_tree, as_leaf))
    assert not step.pruned
    useless = Sketch((8, 8), [Sketch((4, 4)), Sketch((4, 4))])
    (step,) = pruned(tree_of(useless), "mdl").steps
    assert step.before == pytest.approx(
        1 + log2(15) + 2 * (1 + 8 + log2(4) / 2 + log2(pi))
    )
    assert step.pruned


def test_by_hand_deepest_first():
    result = pruned(example(), "manual", nodes=[1, 3])
    steps = [(s.node, s.risk_before, s.risk_after, s.pruned) for s in result.steps]
    assert steps == [(3, 14, 18, True), (1, 18, 18, True)]
    assert len(result.tree) == 5
    assert len(pruned(example(), "manual", nodes=np.array([0])).tree) == 1


@pytest.mark.parametrize(
    "nodes, message",
    [
        ([9], "nodes: there is no node 9: they are numbered from 0, the root, to 8"),
        ([-1], "no node -1"),
        ([True], "no node True"),
        ([1.0], r"no node 1\.0"),
        ([2], "nodes: node 2 is a leaf: name a node that has branches"),
        ([], r"nodes=\[\] names no node"),
        (3, r"nodes=3 must be a list of numbers of nodes, such as \[3, 7\]"),
        ("3", "nodes='3' must be a list"),
    ],
)
def test_nodes_that_cannot_be_cut(nodes, message):
    with pytest.raises(ParameterError, match=message):
        pruned(example(), "manual", nodes=nodes)


def test_simplify_by_hand():
    """Leaves 3 and 4 say a, then so do 1 and 2; 0's do not."""
    inner = Sketch((20, 4), [Sketch((12, 2)), Sketch((8, 2))])
    tree = tree_of(
        Sketch((30, 20), [Sketch((28, 5), [Sketch((8, 1)), inner]), Sketch((2, 15))])
    )
    result = pruned(tree, "simplify")
    assert [(s.node, s.before, s.pruned) for s in result.steps] == [
        (3, 1, True),
        (1, 1, True),
        (0, 2, False),
    ]
    assert len(result.tree) == 3


# Numbers as targets


def numbers_tree() -> Tree:
    """Return a tree on x = 1…4, y = 0, 2, 10, 14; moments are counted from 6.

    ::

        0  mean 6.5   R = 42.25 + 20.25 + 12.25 + 56.25 = 131
        ├── 1  x ≤ 2.5  mean 1   R = 2      g = 2
        └── 4  x > 2.5  mean 12  R = 8      g = 8
    """
    schema = Schema((Attribute("x", "numeric"),), Target("y", origin=6.0))
    numbers = np.array([0.0, 2.0, 10.0, 14.0])
    source = MemorySource(schema, [np.arange(1.0, 5.0)], classes=numbers)
    return grow_tree(source, RECIPES["cart"])


def test_numbers_by_hand():
    tree = numbers_tree()
    assert leaf_risks(tree) == pytest.approx([131, 2, 0, 0, 8, 0, 0])
    found = sequence_of(tree, leaf_risks(tree))
    assert found.alphas == pytest.approx([0, 2, 8, 121])
    assert [row.leaves for row in found.subtrees] == [4, 3, 2, 1]
    # Validation rows of 1.5 at x = 1, 2: their mean square is 1.25 / 2 split, 0.25 not.
    rows = EncodedRows([np.array([1.0, 2.0])], np.array([1.5, 1.5]), np.ones(2))
    result = pruned(tree, "reduced-error", validation=rows)
    steps = [(s.node, s.before, s.after, s.pruned) for s in result.steps]
    assert steps == [
        (1, 1.25, 0.25, True),
        (4, 0.25, 0.25, False),
        (0, 0.25, 25.0, False),
    ]
    assert result.steps[0].measure == "mean squared error"
    top = pruned(tree, "pre-pruning", validation=rows)
    steps = [(s.node, s.before, s.after, s.pruned) for s in top.steps]
    assert steps == [
        (0, 25.0, 0.25, False),
        (1, 0.25, 1.25, True),
        (4, 0.25, 0.25, True),
    ]


def test_methods_that_count_errors_refuse_numbers():
    for name in ("pessimistic", "mdl"):
        with pytest.raises(
            ParameterError, match=f"pruning='{name}' counts errors, and"
        ):
            pruned(numbers_tree(), name)


# Nodes that do not say what most or the mean of their rows say


def with_node(tree: Tree, number: int, **changes: object) -> Tree:
    """Return the tree with another node at this place."""
    nodes = list(tree.nodes)
    nodes[number] = replace(nodes[number], **changes)
    return Tree(tree.schema, tuple(nodes))


def test_a_parent_that_says_something_else_stays():
    tree = tree_of(Sketch((12, 4), [Sketch((8, 2)), Sketch((4, 2))]))
    assert len(pruned(tree, "simplify").tree) == 1
    (step,) = pruned(with_node(tree, 0, label=1), "simplify").steps
    assert (step.before, step.pruned) == (1, False)


def test_simplify_counts_the_leaves_and_not_their_parent():
    """Two leaves with two means; the parent's is a third."""
    steps = pruned(numbers_tree(), "simplify").steps
    assert [(s.before, s.pruned) for s in steps] == [(2, False)] * len(steps)


def test_risk_of_a_number_that_is_not_the_mean():
    """The two rows below node 1 are 0 and 2: Σ (y − 4)² = 16 + 4."""
    tree = with_node(numbers_tree(), 1, distribution=np.array([4.0]))
    assert leaf_risks(tree)[1] == pytest.approx(20)


# Costs


def test_costs_in_validation():
    """Rows of class b at x in leaves 0, 1, and one of an unknown class at leaf 4."""
    tree = example()
    columns = [np.array([0.0, 1.0, 4.0])]
    rows, costs = (
        EncodedRows(columns, np.array([1, 1, -1]), np.ones(3)),
        [[0, 5], [2, 0]],
    )
    found = validate(tree, rows, costs=np.array(costs))
    assert found.loss[[2, 4, 8, 0]].tolist() == [5, 5, 2, 2]
    assert found.measure == "cost"
    plain = validate(tree, replace(rows, weights=np.array([1, 2, 3.0])))
    assert plain.loss[[2, 4, 8, 0]].tolist() == [1, 2, 3, 3]
    assert plain.weights[[0, 1, 6]].tolist() == [6, 3, 3]
    result = pruned(
        tree,
        "reduced-error",
        validation=rows,
        costs=np.array(costs),
    )
    assert result.steps[0].before == pytest.approx(12 / 3)
    assert result.steps[0].risk_before == 10 + 15 + 2 + 20 + 8


def test_a_tree_is_judged_by_the_costs_that_it_was_grown_under():
    tree = example()
    target = replace(tree.schema.target, costs=((0, 5), (2, 0)))
    dear = Tree(replace(tree.schema, target=target), tree.nodes)
    costs = np.array([[0, 5], [2, 0]])
    assert leaf_risks(dear).tolist() == leaf_risks(tree, costs).tolist()
    plain = 1 - np.eye(2)
    assert leaf_risks(dear, plain).tolist() == leaf_risks(tree).tolist()
    rows = EncodedRows([np.array([0.0, 1.0, 4.0])], np.array([1, 1, -1]), np.ones(3))
    assert validate(dear, rows).measure == "cost"
    # Errors are counted, whatever they cost; the record has the costs.
    one, other = pruned(tree, "pessimistic"), pruned(dear, "pessimistic")
    assert [s.before for s in one.steps] == [s.before for s in other.steps]
    assert other.steps[0].risk_before == 10 + 15 + 2 + 20 + 8


# Size


def test_long_chains_take_no_recursion_and_no_quadratic_time():
    tree = chain_model(3000).tree
    for name, options in {
        "cost-complexity": {"alpha": 0.5},
        "pessimistic": {},
        "mdl": {},
        "simplify": {},
        "manual": {"nodes": [2]},
    }.items():
        result = pruned(tree, name, **options)
        assert len(result.tree) <= len(tree)
        assert len(result.steps) <= len(tree)
    found = sequence_of(tree, leaf_risks(tree))
    assert [(r.leaves, r.cut) for r in found.subtrees] == [(3001, ()), (1, (0,))]


def test_a_single_leaf_is_pruned_to_itself():
    tree = tree_of(Sketch((3, 1)))
    found = sequence_of(tree, leaf_risks(tree))
    assert [(r.alpha, r.leaves, r.risk) for r in found.subtrees] == [(0, 1, 1)]
    for name in ("mdl", "pessimistic", "simplify"):
        result = pruned(tree, name)
        assert len(result.tree) == 1
        assert str(result.steps) == "no node was examined"


def test_every_method_is_known_by_its_name():
    assert all(name == method.name for name, method in METHODS.items())


def test_no_weight_to_validate_by():
    with pytest.raises(
        DataError, match="validation table has no rows with a weight above 0"
    ):
        validate(example(), EncodedRows([np.array([1.0])], np.array([0]), np.zeros(1)))


@pytest.mark.parametrize("weight", [1e-300, 1e138 / 60])
def test_weights_at_the_ends_of_floats_are_pruned_in_silence(weight, recwarn):
    random = np.random.RandomState(0)
    X = random.randint(0, 4, (60, 3)).astype(float)
    y = (X[:, 0] + random.randint(0, 3, 60) > 3).astype(int)
    weights = np.full(60, weight)
    rows = {"x0": X[:, 0], "x1": X[:, 1], "x2": X[:, 2], "y": y, "w": weights}
    model = TreeClassifier("id3").fit(X, y, sample_weight=weights)
    options = {name: {} for name, method in METHODS.items() if not method.needs}
    for name in ("reduced-error", "pre-pruning", "cost-complexity"):
        options[name] = {"validation": rows, "weight": "w"}
    for name, given in options.items():
        assert model.prune(name, **given).tree.n_leaves <= model.tree.n_leaves
    heavy = TreeClassifier("id3", pruning="error-based")
    heavy.fit(X, y, sample_weight=weights)
    assert not recwarn.list


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["reduced-error", "pre-pruning"])
@pytest.mark.parametrize("number", [1e154, 1e200])
def test_squared_errors_beyond_floats_are_refused(method, number):
    rows = {"a": [1.0, 2.0, 3.0, 4.0], "t": [1.0, 1.5, 5.0, 5.5]}
    model = spinney.grow(rows, "t", recipe="cart", numeric=["t"])
    validation = {"a": [1.0, 2.0, 3.0, 4.0], "t": [number] * 4}
    with pytest.raises(DataError, match=r"target 't' holds 1e\+\d+ where .* predicted"):
        model.prune(method, validation=validation)
