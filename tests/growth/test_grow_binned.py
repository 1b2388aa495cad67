"""The trees of the compiled kernels are those of the plain learner, node by node."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.alike import (
    PLAIN_OPTIONS,
    four_rows,
    same_candidate,
    same_node,
    same_surrogates,
    same_tree,
)
from tests.helpers.fuzz import examples

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth import growers
from spinney.growth.binned import (
    binned_dataset,
    grow_binned,
    grow_routed,
    parallel_search,
    subtree,
)
from spinney.growth.binned.binned_limits import routes_by_surrogates
from spinney.growth.growers import choose_grower
from spinney.growth.growth_options import Options
from spinney.growth.plain.learner import grow_tree
from spinney.recipes import RECIPES
from spinney.recipes.recipe import NO_GAIN
from spinney.sources.rows.training_rows import TrainingSet


@st.composite
def training_sets(draw):
    """Draw rows of all kinds: few and many values, missing cells, weights."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_classes = draw(st.integers(2, 250)), draw(st.sampled_from([0, 2, 3, 5]))
    attributes, columns = [], []
    kinds = st.sampled_from(["numeric", "numeric", "nominal", "ordinal"])
    for place, kind in enumerate(draw(st.lists(kinds, min_size=1, max_size=5))):
        n_values = draw(st.integers(1, 6))
        if kind == "numeric":
            cells = random.normal(size=n_rows)
            if draw(st.booleans()):
                cells = np.round(cells * n_values)
            cells = cells.astype(draw(st.sampled_from([np.float32, np.float64])))
            absent = np.nan
        else:
            cells = random.integers(0, n_values, n_rows).astype(np.int32)
            absent = -1
        if draw(st.booleans()):
            cells[random.random(n_rows) < 0.2] = absent
        values = () if kind == "numeric" else tuple(map(str, range(n_values)))
        attributes.append(Attribute(f"x{place}", kind, values))
        columns.append(cells)
    weights = draw(
        st.sampled_from(
            [
                None,
                random.integers(1, 4, n_rows).astype(float),
                random.random(n_rows) + 0.1,
            ]
        )
    )
    classes = random.integers(0, max(n_classes, 1), n_rows)
    target = Target("y", tuple("abcde"[:n_classes]))
    if not n_classes:
        classes = np.round(random.normal(size=n_rows) * 3, draw(st.integers(0, 3)))
        target = Target("y", origin=0.0)
    schema = Schema(tuple(attributes), target)
    return TrainingSet(schema, tuple(columns), classes, weights)


settings_of_recipes = st.fixed_dictionaries(
    {
        "max_depth": st.sampled_from([None, 1, 3, 8]),
        "min_samples_leaf": st.sampled_from([1, 2, 5, 0.07]),
        "min_samples_split": st.sampled_from([2, 10, 0.31]),
        "min_gain": st.sampled_from([0.0, NO_GAIN, 0.01]),
        "min_branch_share": st.sampled_from([0.0, 0.2]),
        "buckets": st.sampled_from([None, None, "equal-frequency", "equal-width"]),
    }
)
OF_CLASSES = ("gini", "gain", "gain_ratio", "misclassification", "twoing")
OF_NUMBERS = ("squared_error", "sdr", "variance_root", "poisson")


@st.composite
def recipes_for(draw, training):
    """Draw a recipe that the kernels know for these rows."""
    schema = training.schema
    numeric = schema.target.is_numeric
    changes, criteria = draw(settings_of_recipes), OF_NUMBERS if numeric else OF_CLASSES
    changes["missing_policy"] = draw(st.sampled_from(["branch", "surrogate"]))
    many = 0.3 * training.weight
    if routes_by_surrogates(training, RECIPES["cart"].changed(**changes)) or any(
        a.kind == "nominal" and len(a.values) >= many for a in schema.attributes
    ):
        criteria = [name for name in criteria if name != "gain_ratio"]
    changes["criterion"] = draw(st.sampled_from(criteria))
    if numeric:
        changes["min_deviation"] = draw(st.sampled_from([0.0, 0.3]))
    else:
        changes["min_cut_share"] = draw(st.sampled_from([0.0, 0.1]))
    if changes["buckets"] is not None:
        changes["n_buckets"] = draw(st.sampled_from([2, 4, 20]))
    return RECIPES["cart"].changed(**changes)


def same_competitors(one, other, rows, training, recipe, *, exact):
    """Refuse competitors that are not the plain learner's or do not hold.

    One that is not exact is a cut of the same attribute, counted over the same rows,
    and no better than the best; a number whose rows are in one bin may have none. Where
    rows have weights of their own, none are kept. ``exact`` says that all must be.
    """
    if training.weights is not None and (training.weights != 1).any():
        assert len(other.candidates) == (len(other.children) > 0)
        return
    kept = {found.attribute: found for found in other.candidates}
    assert list(kept) == sorted(kept)
    criterion = recipe.measure(numeric=training.schema.target.is_numeric)
    for best in one.candidates:
        found = kept.pop(best.attribute, None)
        if found is not None and found.exact:
            same_candidate(best, found)
            continue
        assert not exact
        assert training.schema.attributes[best.attribute].kind == "numeric"
        if found is None:
            continue
        assert found.merit <= best.merit + 1e-9
        assert found.merit == pytest.approx(criterion.merit(found.branches), abs=1e-9)
        low, high = found.table.values
        assert low <= found.split.threshold < high
        weights, counts = naive_sides(training, rows, found.split)
        np.testing.assert_allclose(found.table.weights, weights[:2], atol=1e-9)
        np.testing.assert_allclose(found.table.missing, weights[2], atol=1e-9)
        np.testing.assert_array_equal(found.table.rows, counts[:2])
        np.testing.assert_array_equal(found.table.missing_rows, counts[2])
    assert not kept


def naive_sides(training, rows, split):
    """Count rows by the side of a threshold, and then those without a value."""
    n_classes = training.schema.n_classes
    weights = np.zeros((3, n_classes or 3))
    counts = np.zeros((3, n_classes or 1), int)
    for row in rows:
        number, label = training.columns[split.attribute][row], training.classes[row]
        side = 2 if np.isnan(number) else int(number > split.threshold)
        if n_classes:
            weights[side, label] += 1.0
            counts[side, label] += 1
        else:
            weights[side] += np.array([1.0, label, label**2])
            counts[side] += 1
    return weights, counts


def rows_of_nodes(tree, training):
    """Return the rows of each node, all of them sent down."""
    found = [np.arange(len(training.classes))] * len(tree)
    for node in tree:
        if node.split is not None:
            branch = np.full(len(found[node.number]), -1)
            for question in (node.split, *node.surrogates):
                cells = training.columns[question.attribute][found[node.number]]
                absent = np.isnan(cells) if cells.dtype.kind == "f" else cells < 0
                by_split = np.where(absent, -1, question.branch_of(cells))
                branch = np.where(branch < 0, by_split, branch)
            last = (
                node.split.missing
                if node.default_branch is None
                else node.default_branch
            )
            branch = np.where(branch < 0, last, branch)
            for side, child in enumerate(node.children):
                found[child] = found[node.number][branch == side]
    return found


@pytest.mark.parametrize(
    ("small", "nodes", "sample"), [(1, 2, 12), (8, 7, 60), (96, 1024, 4096)]
)
@given(training=training_sets(), data=st.data())
@settings(max_examples=examples(120))
def test_nodes_are_the_plain_learners(small, nodes, sample, training, data):
    recipe = data.draw(recipes_for(training))
    if recipe.measure(numeric=not training.schema.n_classes).from_zero:
        training = replace(training, classes=np.abs(training.classes))
    plain = grow_tree(training.source(), recipe)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growers, "MAX_WAIT", 0)
        patch.setattr(binned_dataset, "SMALL_NODE_ROWS", small)
        patch.setattr(subtree, "INITIAL_NODES", nodes)
        patch.setattr(subtree, "INITIAL_COMPETITOR_NODES", 1)
        patch.setattr(parallel_search, "MIN_PARALLEL_ROWS", 20)
        patch.setattr(grow_routed, "MIN_GROUP_ROWS", 20)
        # Bins of few rows hold several values.
        patch.setattr(binned_dataset, "SAMPLE_ROWS", sample)
        assert choose_grower(training, recipe, Options()).name == "binned"
        by_kernels = grow_binned.grow_binned_tree(training, recipe)
    assert len(plain) == len(by_kernels)
    rows = rows_of_nodes(plain, training)
    for one, other in zip(plain, by_kernels, strict=True):
        same_node(one, other)
        same_surrogates(one, other)
        own = rows[other.number]
        exact = recipe.buckets is None and len(rows[0]) <= sample
        same_competitors(one, other, own, training, recipe, exact=exact)


@pytest.mark.parametrize("recipe", ["m5", "cart"])
@pytest.mark.parametrize("small", [8, 96])
@pytest.mark.parametrize("buckets", [None, "equal-frequency"])
def test_numbers_without_missing_cells_as_recipes_have_them(
    recipe, small, buckets, monkeypatch
):
    """A later missing value goes where the mean of all rows does, or by surrogates."""
    random = np.random.default_rng(small)
    cells = random.normal(size=(3, 700))
    numbers = np.round(cells[0] + cells[1] ** 2 + random.normal(size=700) / 3, 1)
    attributes = tuple(Attribute(f"x{j}", "numeric") for j in range(3))
    schema = Schema(attributes, Target("y", origin=0.0))
    training = TrainingSet(schema, tuple(cells), numbers, None)
    if recipe == "m5" and buckets is not None:
        pytest.skip("a bucket's mean is that of the node")
    changes = RECIPES[recipe].changed(buckets=buckets) if buckets else RECIPES[recipe]
    monkeypatch.setattr(binned_dataset, "SMALL_NODE_ROWS", small)
    monkeypatch.setattr(parallel_search, "MIN_PARALLEL_ROWS", 100)
    monkeypatch.setattr(binned_dataset, "SAMPLE_ROWS", 60)
    monkeypatch.setattr(growers, "MAX_WAIT", 0)
    assert choose_grower(training, changes, Options()).name == "binned"
    plain, by_kernels = (
        grow_tree(training.source(), changes),
        grow_binned.grow_binned_tree(training, changes),
    )
    same_tree(plain, by_kernels, same_node)
    assert {node.split.missing for node in by_kernels if node.split} == (
        {0, 1} if recipe == "m5" else {None}
    )
    for one, other in zip(plain, by_kernels, strict=True):
        assert [each.split for each in one.surrogates] == [
            each.split for each in other.surrogates
        ]


# As ``ROOT_TOLERANCE`` says, in the unit of the gain.
TOLERANCES = {"sdr": 1e-9, "variance_root": 1e-6}


@pytest.mark.slow
@pytest.mark.parametrize("lacking", [0.0, 0.1])
@pytest.mark.parametrize("criterion", ["sdr", "variance_root"])
def test_roots_of_variance_are_those_of_exact_arithmetic(criterion, lacking):
    """The gains of both engines at all nodes of some thousand rows, by fractions."""
    random = np.random.default_rng(1)
    cells = random.normal(size=(4, 2000))
    numbers = cells[0] + cells[1] ** 2 + random.normal(size=2000) / 3
    cells[random.random(cells.shape) < lacking] = np.nan
    attributes = tuple(Attribute(f"x{j}", "numeric") for j in range(4))
    schema = Schema(attributes, Target("y", origin=0.5))
    training = TrainingSet(schema, tuple(cells), numbers, None)
    recipe = RECIPES["cart"].changed(criterion=criterion)
    plain, by_kernels = (
        grow_tree(training.source(), recipe),
        grow_binned.grow_binned_tree(training, recipe),
    )
    same_tree(plain, by_kernels, same_node)
    measure, rows = recipe.measure(numeric=True), rows_of_nodes(plain, training)
    for one, other in zip(plain, by_kernels, strict=True):
        same_surrogates(one, other)
        if one.split is None:
            continue
        exact = exact_gain(training, rows[one.number], one.split, criterion)
        margin = TOLERANCES[criterion] * measure.gain_unit(one.weights)
        for found in (one.candidate, other.candidate):
            assert found.gain == pytest.approx(exact, rel=0, abs=margin)
            assert found.merit == pytest.approx(exact, rel=0, abs=margin)


def exact_gain(training, rows, split, criterion):
    """Return what a threshold gains, by fractions of the rows that have its value."""
    cells = training.columns[split.attribute][rows]
    numbers = (training.classes - training.schema.target.origin)[rows]
    left = list(map(Fraction, numbers[cells <= split.threshold]))
    right = list(map(Fraction, numbers[cells > split.threshold]))
    power = Decimal(1) / (2 if criterion == "sdr" else 5)

    def times_root(side):
        mean = sum(side) / len(side)
        spread = sum(number * number for number in side) / len(side) - mean * mean
        ratio = Decimal(spread.numerator) / spread.denominator
        return len(side) * (ratio**power if spread else Decimal(0))

    gained = times_root(left + right) - times_root(left) - times_root(right)
    return float(gained / len(rows))


@pytest.mark.parametrize("criterion", ["sdr", "variance_root"])
@pytest.mark.parametrize("small", [1, 96])
def test_attributes_that_divide_rows_alike_tie_far_from_the_origin(
    criterion, small, monkeypatch
):
    """What sums round by, in whatever order, is no reason to ask another attribute."""
    monkeypatch.setattr(binned_dataset, "SMALL_NODE_ROWS", small)
    random = np.random.default_rng(2)
    group = np.repeat([0.0, 1.0], 20)
    numbers = 500 + 400 * group + random.normal(size=40) / 100
    attributes = tuple(Attribute(f"x{j}", "numeric") for j in range(6))
    schema = Schema(attributes, Target("y", origin=0.0))
    recipe = RECIPES["cart"].changed(criterion=criterion, max_depth=1)
    for _ in range(20):
        columns = tuple(group * 10 + random.normal(size=(6, 40)))
        rows = TrainingSet(schema, columns, numbers, None)
        for tree in (
            grow_tree(rows.source(), recipe),
            grow_binned.grow_binned_tree(rows, recipe),
        ):
            assert next(iter(tree)).split.attribute == 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_flags", "n_numbers"), [(13, 3), (16, 8), (21, 0)])
def test_flags_at_the_end_of_a_row(n_flags, n_numbers, weighted, monkeypatch):
    """Their zeros are not counted, and are what remains of all rows."""
    random = np.random.default_rng(n_flags)
    flags = (random.random((600, n_flags)) < 0.03).astype(float)
    flags[random.random(flags.shape) < 0.01] = np.nan
    flags[random.random(flags.shape) < 0.01] = 3
    cells = np.column_stack([random.normal(size=(600, n_numbers)), flags])
    attributes = tuple(Attribute(f"x{j}", "numeric") for j in range(cells.shape[1]))
    training = TrainingSet(
        Schema(attributes, Target("y", tuple("abc"))),
        tuple(cells.T),
        random.integers(0, 3, 600),
        random.integers(1, 4, 600).astype(float) if weighted else None,
    )
    monkeypatch.setattr(binned_dataset, "SMALL_NODE_ROWS", 4)
    monkeypatch.setattr(parallel_search, "MIN_PARALLEL_ROWS", 20)
    recipe = RECIPES["cart"].changed(missing_policy="branch")
    dataset = binned_dataset.binned_dataset(training, recipe)
    assert dataset.cells.tail == -(-n_numbers // 8) * 8
    plain = grow_tree(training.source(), recipe)
    by_kernels = grow_binned.grow_binned_tree(training, recipe)
    same_tree(plain, by_kernels, same_node)


def rows_of_two_weights(heavy, light, n_classes=2):
    """Return rows of three numbers, of one weight and of another in turn."""
    random = np.random.default_rng(0)
    attributes = tuple(Attribute(f"x{place}", "numeric") for place in range(3))
    return TrainingSet(
        Schema(attributes, Target("y", tuple("abc"[:n_classes]))),
        tuple(random.normal(size=(3, 200))),
        random.integers(0, n_classes, 200),
        np.where(np.arange(200) % 2, heavy, light),
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weights", [(1.0, 1e-4), (1e9, 1.0)])
def test_light_rows_are_not_rounded_away_by_heavy_ones(weights, n_classes):
    training = rows_of_two_weights(*weights, n_classes)
    plain = grow_tree(training.source(), RECIPES["cart"])
    by_kernels = grow_binned.grow_binned_tree(training, RECIPES["cart"])
    same_tree(plain, by_kernels, same_node)


@pytest.mark.parametrize(
    "heavy, light, grower",
    [
        (1.0, 1e-7, "binned"),
        (1e20, 1e20, "binned"),
        (1e9, 1.0, "plain"),
        (1e21, 1e20, "plain"),
        (1e-141, 1e-141, "plain"),
        (1.0, 1e-300, "plain"),
    ],
)
def test_weights_that_round_otherwise_are_left_to_the_plain_learner(
    heavy, light, grower, monkeypatch
):
    monkeypatch.setattr(growers, "MAX_WAIT", 0)
    monkeypatch.setattr(growers, "MAX_WAIT_MULTIWAY", 0)
    rows = rows_of_two_weights(heavy, light)
    assert choose_grower(rows, RECIPES["cart"], Options()).name == grower
    ranked = grower.replace("binned", "multiway")
    assert choose_grower(rows, RECIPES["c4.5"], Options()).name == ranked


def test_what_the_kernels_do_not_know_is_left_to_the_plain_learner(monkeypatch):
    monkeypatch.setattr(growers, "MAX_WAIT", 0)
    training = four_rows()
    branch = RECIPES["cart"].changed(missing_policy="branch")
    assert choose_grower(training, branch, Options()).name == "binned"
    assert choose_grower(training, RECIPES["cart"], Options()).name == "binned"
    for recipe in (
        RECIPES["cart"].changed(criterion="gain_ratio"),  # and surrogates send a row
        RECIPES["c4.5"],
        RECIPES["chaid"],
        branch.changed(criterion="hellinger"),
        branch.changed(missing_policy="fractional"),
        branch.changed(missing_policy="most-common"),
        branch.changed(missing_policy="own-category"),
        branch.changed(missing_policy="mean"),
        branch.changed(linear_terms=2),
    ):
        assert choose_grower(training, recipe, Options()).name == "plain"
    for options in PLAIN_OPTIONS:
        assert choose_grower(training, branch, options).name == "plain"


def test_a_model_of_many_cells_is_like_any_other(monkeypatch, tmp_path):
    random = np.random.default_rng(3)
    cells = random.normal(size=(400, 4)).astype(np.float32)
    labels = np.where(cells[:, 0] + random.normal(size=400) > 0, "up", "down")
    changes = {"recipe": "cart", "missing_policy": "branch", "max_depth": 4}
    plain = spinney.TreeClassifier(**changes).fit(cells, labels)
    monkeypatch.setattr(growers, "MAX_WAIT", 0)
    by_kernels = spinney.TreeClassifier(**changes).fit(cells, labels)
    assert str(by_kernels) == str(plain)
    assert str(by_kernels.rules()) == str(plain.rules())
    np.testing.assert_array_equal(by_kernels.predict(cells), plain.predict(cells))
    np.testing.assert_array_equal(by_kernels.apply(cells), plain.apply(cells))
    np.testing.assert_allclose(
        by_kernels.feature_importances_, plain.feature_importances_, atol=1e-12
    )
    by_kernels.save(tmp_path / "m.spinney")
    again = spinney.load(tmp_path / "m.spinney")
    assert str(again) == str(plain)
    assert "Gini index" in str(by_kernels.explain(node=0))
    assert str(again.explain(node=0)) == str(by_kernels.explain(node=0))
    assert "a better one may exist" in str(by_kernels.explain(node=0))
    assert "a better one may exist" not in str(plain.explain(node=0))
    assert [len(node.candidates) for node in by_kernels.tree] == [
        len(node.candidates) for node in plain.tree
    ]
    assert by_kernels.prune("simplify").tree.n_leaves <= plain.tree.n_leaves
