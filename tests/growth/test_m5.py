"""Model trees: by hand, hard columns, files, sources, texts."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.models import linear_values
from tests.helpers.recipes import by_recipe

import spinney
from spinney import DataError, ParameterError, TreeRegressor
from spinney.growth.model_trees.least_squares import (
    Regressions,
    all_fitted,
    inverse_factors,
)
from spinney.growth.model_trees.m5 import MAX_TERMS, adjusted, terms_below
from spinney.output.file.file_arrays import flatten as arrays_of
from spinney.output.file.strict_json import DamageError
from spinney.output.file.tree_check import check_arrays
from spinney.output.tree_json import to_json
from spinney.search.root_statistics import RootStatistics
from spinney.sources.base import Products
from spinney.trees.linear import LinearModel, Term, flat_models
from spinney.trees.predict.flat_tree import flatten
from spinney.trees.split import Groups

STEP = {"x": [1.0, 2.0, 3.0, 4.0], "y": [0.0, 0.0, 10.0, 10.0]}


def mixed_rows(n=160, seed=3):
    """Return a table that is linear in parts, with every kind of column."""
    generator = np.random.default_rng(seed)
    x, z = generator.uniform(0, 10, n), generator.normal(size=n)
    sort = generator.integers(0, 4, n)
    size = generator.integers(0, 3, n)
    y = np.where(x > 5, 4 * x + 6 * (sort > 1), 30 - 2 * z) + size
    columns = {
        "x": x.round(2).tolist(),
        "z": z.round(2).tolist(),
        "sort": [("a", "b", "c", "d")[code] for code in sort],
        "size": [("low", "mid", "high")[code] for code in size],
        "y": (y + generator.normal(size=n) / 5).round(3).tolist(),
    }
    for place in range(0, n, 11):
        columns["x"][place] = None
        columns["sort"][(place + 3) % n] = None
    return columns


ORDINAL = {"ordinal": {"size": ["low", "mid", "high"]}}


@pytest.fixture(scope="module")
def model():
    return spinney.grow(mixed_rows(), "y", recipe="m5", **ORDINAL)


def products(columns, weights=None):
    """Return the products of plain columns, the target last."""
    lines = np.array(columns, dtype=float)
    weights = np.ones(lines.shape[1]) if weights is None else np.asarray(weights)
    means = lines @ weights / weights.sum()
    lines = lines - means[:, None]
    return Products(
        np.array([weights.sum()]),
        means[None],
        ((lines * weights) @ lines.T)[None],
    )


def numbers(n):
    return [Term(place, None, 0.0) for place in range(n)]


def fitted(one, terms, *, origin):
    """Return the model of a single node."""
    (found,) = all_fitted([one], [terms], origin=origin)
    return found


# By hand


def test_a_step_by_hand():
    """Four rows, y = 0, 0, 10, 10 at x = 1, 2, 3, 4: one split at 2.5.

    At the root Σ(x − 2.5)² = 5, Σ(x − 2.5)(y − 5) = 20 and Σ(y − 5)² = 100, so
    y = −5 + 4 x with the error 100 − 20²/5 = 20, adjusted √(20/4) · (4 + 2·2)/(4 − 2)
    = 8.9, which is more than the 0 of two leaves. These predict 0 and 10 over 2 rows
    each; smoothed, (2 · 0 + 15 (−5 + 4x)) / 17 and (2 · 10 + 15 (−5 + 4x)) / 17.
    """
    model = spinney.grow(STEP, "y", recipe="m5", numeric=["y"])
    left, right = model.tree.leaves
    assert left.model.intercept == pytest.approx(-75 / 17)
    assert right.model.intercept == pytest.approx(-55 / 17)
    for leaf in (left, right):
        assert leaf.model.coefficients == pytest.approx((60 / 17,))
    assert model.predict({"x": [1, 4]}) == pytest.approx([-15 / 17, 185 / 17])
    root = model.tree.root.model
    assert (root.intercept, *root.coefficients) == pytest.approx((-5, 4))
    assert model.text().splitlines() == [
        "y  (4: mean 5, sd 5.774)",
        "├── x ≤ 2.5 → LM1  (2: mean 0, sd 0)",
        "└── x > 2.5 → LM2  (2: mean 10, sd 0)",
        "",
        "LM1: y = -4.41176 + 3.52941 · x",
        "LM2: y = -3.23529 + 3.52941 · x",
    ]


def test_smoothed_means_by_hand():
    """(2 · 0 + 15 · 5) / 17 and (2 · 10 + 15 · 5) / 17."""
    model = spinney.grow(STEP, "y", recipe="m5", numeric=["y"], leaves="mean")
    values = [leaf.value for leaf in model.tree.leaves]
    assert values == pytest.approx([75 / 17, 95 / 17])
    assert not model.tree.model_names


def many_lines(n=300):
    """Return a table whose slopes differ between two halves, of six attributes."""
    generator = np.random.default_rng(5)
    cells = generator.uniform(0, 1, (n, 6))
    slopes = np.where(cells[:, :1] > 0.5, [9, 5, 4, 3, 2, 1], [1, 2, 3, -4, -5, -6])
    y = (slopes * cells).sum(axis=1) + generator.normal(size=n) / 20
    return {**{f"x{place}": cells[:, place] for place in range(6)}, "y": y}


def test_short_models_are_those_of_the_nodes_above_over_the_terms_of_the_leaf():
    """Twin: least squares on the rows of each node of the path, mixed by hand."""
    table = many_lines()
    recipe = spinney.Recipe.named("m5").changed(max_terms=3)
    tree = spinney.grow(table, "y", recipe=recipe).tree
    assert tree.n_leaves > 1
    cells, y = np.array([table[f"x{place}"] for place in range(6)]).T, table["y"]

    def check(node, path, rows):
        path = [*path, rows]
        if node.children:
            column = cells[rows, node.split.attribute]
            sides = column <= node.split.threshold, column > node.split.threshold
            for child, side in zip(node.children, sides, strict=True):
                check(tree.nodes[child], path, rows[side])
            return
        assert 1 <= len(node.model.terms) <= 3
        columns = [term.attribute for term in node.model.terms]
        mixed, size = np.zeros(len(columns) + 1), 0
        for above in path:
            design = np.c_[np.ones(len(above)), cells[np.ix_(above, columns)]]
            own = np.linalg.lstsq(design, y[above], rcond=None)[0]
            size = len(above)
            mixed = own if above is path[0] else (size * own + 15 * mixed) / (size + 15)
        found = [node.model.intercept, *node.model.coefficients]
        np.testing.assert_allclose(found, mixed, rtol=1e-5, atol=1e-6)

    check(tree.root, [], np.arange(300))


def test_of_many_terms_those_stay_that_lower_the_error_most():
    """The large slope of a copy is worth less than the small one of another column."""
    generator = np.random.default_rng(6)
    x, z = generator.normal(size=(2, 200))
    copy = x + generator.normal(size=200) / 1000
    columns = [x, copy, z, x + 0.6 * copy + 0.5 * z]
    found = all_fitted([products(columns)], [numbers(3)], origin=0.0, max_terms=2)
    (model,) = (each.model for each in found)
    assert {term.attribute for term in model.terms} in ({0, 2}, {1, 2})


def test_adjusted_errors_by_hand():
    sums, weight = [[36.0, 2.0], [36.0, 4.0], [0.0, 1.0]], [4.0, 4.0, 0.0]
    found = adjusted(np.array(sums), weight=np.array(weight))
    assert found.tolist() == [12.0, 30.0, 0.0]


def test_a_line_is_one_leaf_and_goes_on_outside():
    """What is linear everywhere needs no split, and is carried on beyond all rows."""
    table = {"x": [float(x) for x in range(30)], "y": [2.0 * x + 1 for x in range(30)]}
    model = spinney.grow(table, "y", recipe="m5", numeric=["y"])
    assert model.tree.n_leaves == 1
    assert model.predict({"x": [1000, -1000]}) == pytest.approx([2001, -1999], rel=1e-6)
    assert str(model.rules()).splitlines() == [
        "ALWAYS y = LM1  (support 30, sd 17.61)",
        "",
        "LM1: y = 1 + 2 · x",
    ]


# Least squares


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32 - 1), st.integers(5, 40))
def test_one_number_is_fitted_as_by_polyfit(seed, n):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=n) * 100 + 7
    y = 3 * x + generator.normal(size=n)
    weights = generator.uniform(0.5, 3, n)
    found = fitted(products([x, y], weights), numbers(1), origin=10.0)
    slope, intercept = np.polyfit(x, y, 1, w=np.sqrt(weights))
    assert found.model.coefficients == pytest.approx([slope], rel=1e-6)
    assert found.model.intercept == pytest.approx(intercept + 10, rel=1e-4, abs=1e-3)
    error = float((weights * (y - slope * x - intercept) ** 2).sum())
    assert found.squared_error == pytest.approx(error, rel=1e-4)


def test_terms_that_do_not_pay_are_dropped():
    generator = np.random.default_rng(0)
    x, noise = generator.normal(size=(2, 200))
    found = fitted(products([x, noise, 5 * x]), numbers(2), origin=0.0)
    assert [term.attribute for term in found.model.terms] == [0]
    nothing = fitted(products([noise, x]), numbers(1), origin=0.0)
    assert nothing.n_parameters in (1, 2)


def test_constant_and_collinear_columns():
    x = np.arange(20.0)
    y = x + np.sin(x)
    constant = fitted(products([np.full(20, 7.0), x, y]), numbers(2), origin=0.0)
    assert [term.attribute for term in constant.model.terms] == [1]
    twice = fitted(products([x, x, y]), numbers(2), origin=0.0)
    assert sum(twice.model.coefficients) == pytest.approx(np.polyfit(x, y, 1)[0])
    flat = fitted(products([x, np.full(20, 3.0)]), numbers(1), origin=1.0)
    assert flat.model == LinearModel(4.0)


def test_terms_that_cancel_each_other_do_not_stay():
    """y is the small difference of two columns: both would get huge coefficients."""
    generator = np.random.default_rng(2)
    x, small = generator.normal(size=(2, 50))
    found = fitted(products([x, x + small / 10, small]), numbers(2), origin=0.0)
    assert found.n_parameters < 3


def test_fewer_rows_than_terms():
    generator = np.random.default_rng(1)
    lines = generator.normal(size=(9, 4))
    found = fitted(products(lines), numbers(8), origin=0.0)
    assert np.isfinite(found.model.coefficients).all()
    assert found.n_parameters <= 4


def test_huge_numbers_are_left_out():
    x = np.array([1e200, -1e200, 3e200, 5e200, 0.0])
    with np.errstate(over="ignore", invalid="ignore"):
        found = fitted(products([x, np.arange(5.0)]), numbers(1), origin=0.0)
    assert found.model == LinearModel(2.0)


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_all_at_once_is_one_after_the_other(seed, n_nodes):
    """What else is fitted changes no model: collinear and constant terms among it."""
    generator = np.random.default_rng(seed)
    asked, terms = [], []
    for _ in range(n_nodes):
        n_terms, n_rows = generator.integers(0, 9), generator.integers(1, 40)
        lines = generator.normal(size=(n_terms + 1, n_rows)).round(1)
        if n_terms > 2:
            lines[0] = 7.0
            lines[1] = lines[2] + generator.choice([0.0, 1e-3]) * lines[-1]
            lines[-1] += 3 * lines[2]
        asked.append(products(lines, generator.integers(1, 4, n_rows)))
        terms.append([Term(int(at), None, float(at)) for at in range(n_terms)])
    together = all_fitted(asked, terms, origin=2.5)
    for one, own, found in zip(asked, terms, together, strict=True):
        alone = fitted(one, own, origin=2.5)
        assert found.model.terms == alone.model.terms
        assert found.n_parameters == 1 + len(alone.model.terms)
        assert found.squared_error == pytest.approx(alone.squared_error, 1e-7, 1e-9)
        ours, theirs = found.model, alone.model
        assert ours.intercept == pytest.approx(theirs.intercept, rel=1e-6, abs=1e-6)
        assert ours.coefficients == pytest.approx(theirs.coefficients, 1e-6, 1e-6)


@st.composite
def hard_equations(draw):
    """Draw columns of which some say the same, are sums of others, or nothing."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_terms, n_rows = draw(st.integers(1, 12)), draw(st.integers(5, 60))
    lines = generator.normal(size=(n_terms, n_rows)).round(draw(st.integers(0, 3)))
    if n_terms > 2 and draw(st.booleans()):
        lines[1] = 1 - 2 * lines[0]
    if n_terms > 5 and draw(st.booleans()):
        lines[4] = lines[2] + lines[3]
    target = lines.sum(axis=0) + draw(
        st.sampled_from([0.0, 0.1, 3.0])
    ) * generator.normal(size=n_rows)
    return products([*lines, target])


@settings(max_examples=examples(60), deadline=None)
@given(hard_equations(), st.randoms(use_true_random=False))
def test_terms_that_leave_are_equations_solved_anew(one, random):
    stack = Regressions([one, one], one.means.shape[1], 1.0)
    solved = stack.solved(stack.varying())
    while solved.terms.all(axis=0).any():
        dropped = random.choice(np.flatnonzero(solved.terms[0]).tolist())
        solved = solved.without(np.array([dropped, dropped]))
        anew = stack.solved(solved.terms)
        inverse = anew.factors @ anew.factors.swapaxes(1, 2)
        kept = solved.factors @ solved.factors.swapaxes(1, 2)
        kept[~solved.terms] = inverse[~solved.terms] = 0.0
        largest = np.abs(inverse).max()
        assert kept == pytest.approx(inverse, rel=1e-4, abs=1e-4 * largest)
        both = [stack.squared_errors(np.arange(2), each) for each in (solved, anew)]
        assert both[0] == pytest.approx(both[1], rel=1e-6, abs=1e-9 * stack.spread[0])
        slopes, errors = stack.final(solved.terms)
        assert both[0] == pytest.approx(errors, rel=1e-6, abs=1e-9 * stack.spread[0])
        assert slopes.shape == solved.slopes.shape


def test_a_hundred_terms_that_say_the_same_have_factors():
    """Their equations are not positive by rounding, so that Cholesky gives up."""
    equations = np.full((1, 100, 100), 1e9) + 1e-12 * np.eye(100)
    equations[0, 3, 5] = equations[0, 5, 3] = 1.0000001e9
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(equations)
    factors = inverse_factors(equations)
    assert np.isfinite(factors).all()
    solved = factors[0] @ (factors[0].T @ np.full(100, 1e9))
    assert solved.sum() == pytest.approx(1.0, rel=1e-3)


# Whole tables


def test_flat_models_predict_as_models_do(model):
    columns = model.model_.schema.encode(model.read(mixed_rows()))
    flat = flatten(model.tree)
    n = len(mixed_rows()["y"])
    for entries in flat.leaves(columns, n):
        for row, node in zip(entries.rows, entries.nodes, strict=True):
            leaf = model.tree.nodes[node]
            if leaf.model is not None:
                one = [column[row : row + 1] for column in columns]
                (expected,) = linear_values(leaf.model, one)
                assert flat.outputs(one, 1)[0, 0] == expected
    assert any(leaf.model is not None for leaf in model.tree.leaves)


def test_missing_and_unseen_values(model):
    """They count as the mean of a number and as the commonest category."""
    rows = {"x": [None], "z": [None], "sort": ["never seen"], "size": [None]}
    known = mixed_rows()
    mean = np.mean([x for x in known["x"] if x is not None])
    commonest = max("abcd", key=known["sort"].count)
    stands = {"x": [mean], "z": [np.mean(known["z"])], "sort": [commonest]}
    place = np.mean([["low", "mid", "high"].index(s) for s in known["size"]])
    stands["size"] = [["low", "mid", "high"][round(place)]]
    assert model.predict(rows) == pytest.approx(model.predict(stands), rel=1e-9)


def test_a_row_is_written_out(model):
    row = {name: cells[5:6] for name, cells in mixed_rows().items() if name != "y"}
    explained = model.explain(row=row)
    (leaf,) = [step for step in explained.steps if step.leaf]
    assert leaf.model.value == pytest.approx(model.predict(row)[0])
    total = leaf.model.intercept + sum(line.product for line in leaf.model.terms)
    assert total == pytest.approx(leaf.label)
    text = str(explained)
    assert f"→ {leaf.model.name} = " in text
    assert f"{leaf.model.name}: intercept" in text
    assert explained.text(ascii_only=True).isascii()
    json.dumps(explained.as_dict())


def test_missing_terms_are_marked(model):
    row = {"x": [None], "z": [0.5], "sort": ["a"], "size": ["low"]}
    assert "(missing)" in str(model.explain(row=row))


def test_rules_name_models(model):
    rules = model.rules()
    assert {rule.model for rule in rules} <= {None, *model.tree.model_names.values()}
    assert str(rules).count("LM1") == 2
    named = [entry["then"].get("model") for entry in rules.as_dicts()]
    assert "LM1" in named
    assert rules.text(ascii_only=True).isascii()


def test_saved_and_loaded_predictions_are_the_same_bits(model, tmp_path):
    model.save(tmp_path / "m.spinney")
    again = spinney.load(tmp_path / "m.spinney")
    before = model.predict(mixed_rows())
    assert np.array_equal(again.predict(mixed_rows()), before)
    assert str(again) == str(model)
    assert to_json(again.model_) == to_json(model.model_)
    assert [node.model for node in again.tree] == [node.model for node in model.tree]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("node.terms", lambda a: a + 1, "do not add up"),
        ("node.intercept", lambda a: a * np.nan, "a number that is not finite"),
        ("term.coefficient", lambda a: a[:-1], "entries where"),
        ("term.attribute", lambda a: a + 9, "unknown attribute"),
        ("term.codes", lambda a: np.where(a < 0, 0, a), "does not suit"),
        ("model.codes", lambda a: a + 9, "does not know"),
        ("model.codes", lambda a: a * 0, "do not increase"),
        ("model.codes", lambda a: a[None], "entries where"),
    ],
)
def test_damaged_models_are_refused(model, name, change, message):
    arrays = dict(arrays_of(model.tree))
    check_arrays(arrays, model.model_.schema)
    arrays[name] = change(arrays[name])
    with pytest.raises(DamageError, match=message):
        check_arrays(arrays, model.model_.schema)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"pruning": "none"},
        {"leaves": "mean"},
        {"missing_policy": "fractional", "grouping": "binary"},
        {"missing_policy": "fractional", "grouping": "multiway"},
    ],
)
def test_duckdb_gives_the_same(changes, tmp_path):
    columns = mixed_rows()
    path = tmp_path / "rows.csv"
    lines = [
        ",".join("" if cell is None else str(cell) for cell in line)
        for line in zip(*columns.values(), strict=True)
    ]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n", encoding="utf-8")
    options = {"recipe": "m5", **ORDINAL, **changes}
    here = spinney.grow(str(path), "y", **options)
    there = spinney.grow(str(path), "y", engine="duckdb", **options)
    assert str(here) == str(there)
    ours, theirs = here.predict(columns), there.predict(columns)
    np.testing.assert_allclose(ours, theirs, rtol=1e-8)


def test_cart_with_linear_leaves():
    """Every recipe can: pruning brings the models of inner nodes to leaves."""
    settings = {"recipe": "cart", "leaves": "linear", "pruning": "adjusted-error"}
    plain = spinney.grow(mixed_rows(), "y", recipe="cart", min_samples_leaf=10)
    linear = spinney.grow(mixed_rows(), "y", **settings, min_samples_leaf=10)
    assert linear.tree.model_names
    assert linear.tree.n_leaves < plain.tree.n_leaves


@pytest.mark.filterwarnings("ignore:splits on high-cardinality:spinney.SpinneyWarning")
def test_many_subsets_give_few_terms():
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 200, 600)
    table = {
        "id": [f"v{code}" for code in codes],
        "x": generator.normal(size=600).tolist(),
        "y": generator.normal(size=600).tolist(),
    }
    model = spinney.grow(table, "y", recipe="m5", pruning="none")
    roots = dict.fromkeys(range(2), RootStatistics(0.0, np.arange(200)))
    assert max(map(len, terms_below(model.tree, roots))) == MAX_TERMS


@pytest.mark.filterwarnings("ignore:splits on high-cardinality:spinney.SpinneyWarning")
def test_many_categories_are_split_by_but_no_terms():
    """Groups name the codes at their node only, so a level names each code once."""
    generator = np.random.default_rng(0)
    codes = generator.permutation(1200) // 2
    x = generator.normal(size=1200)
    table = {"id": [f"v{code}" for code in codes], "x": x, "y": 9 * (codes > 300) + x}
    model = spinney.grow(table, "y", recipe="m5", pruning="none")
    splits = [node.split for node in model.tree if node.split is not None]
    assert isinstance(model.tree.root.split, Groups)
    named = sum(len(g) for s in splits if isinstance(s, Groups) for g in s.groups)
    assert named <= 600 * model.tree.height
    terms = {t.attribute for n in model.tree if n.model for t in n.model.terms}
    assert terms == {1}


def test_classes_are_refused():
    table = {"x": [1, 2, 3, 4], "sort": ["a", "a", "b", "b"]}
    with pytest.raises(ParameterError, match=r"recipe='m5' .* needs .* 'c4.5'"):
        spinney.grow(table, "sort", recipe="m5")
    with pytest.raises(ParameterError, match="grouping='ordered' needs a target"):
        spinney.grow(table, "sort", recipe="cart", grouping="ordered")


@pytest.mark.parametrize(
    "settings",
    [{"leaves": "line"}, {"pruning": "some"}, {"smoothing": -1}, {"max_terms": 0}],
)
def test_bad_settings_are_refused(settings):
    (name,) = settings
    with pytest.raises(ParameterError, match=f"{name}="):
        TreeRegressor(**by_recipe(recipe="m5", **settings)).fit(
            [[1], [2], [3]], [1.0, 2.0, 4.0]
        )


def test_one_row_is_refused_as_ever():
    with pytest.raises(DataError, match="1 sample"):
        TreeRegressor("m5").fit([[1.0]], [2.0])


def test_terms_below_are_those_asked_there(model):
    whole = spinney.grow(mixed_rows(), "y", recipe="m5", pruning="none", **ORDINAL)
    tree = whole.tree
    roots = dict.fromkeys(range(4), RootStatistics(0.0, np.arange(4)))
    for node, terms in zip(tree, terms_below(tree, roots), strict=True):
        below = [n for n in tree if node in tree.path(n.number) and n.split is not None]
        asked = {n.split.attribute for n in below}
        assert {term.attribute for term in terms} == asked


def test_no_models_is_no_array():
    flat = flat_models([None, None])
    assert not flat.has.any()
    assert flat.attribute.shape == (0,)
