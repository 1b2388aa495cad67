"""Planted cases of trees that take new rows, and what they cost."""

import numpy as np
import pytest

import spinney
from spinney import TreeClassifier, TreeRegressor
from spinney.data import Declarations
from spinney.data.readers import read_table
from spinney.errors import DataError, ParameterError, SpinneyWarning
from spinney.extensions.incremental import incremental_source
from spinney.extensions.incremental.update_model import (
    IncrementalGrower,
    why_from_scratch,
)
from spinney.growth.growth_options import Options
from spinney.recipes import RECIPES, Recipe
from spinney.sources.rows import Batch, join_rows, rows_in_memory
from spinney.sources.training_data import TrainingData
from spinney.testing import assert_same_tree


@pytest.fixture
def every_node_stores_tables(monkeypatch):
    monkeypatch.setattr(incremental_source, "MAX_UNCACHED_ROWS", 0)


def rows_of(columns):
    declared = Declarations()
    return rows_in_memory(read_table(columns), "y", None, declared, from_zero=False)


def batch_of(columns):
    table = read_table(columns)
    return Batch(table.without(("y",)), table["y"])


def check_update(first, added, recipe, removed=None):
    """Return the tree of rows and a batch, and how it was grown; checked."""
    rows = rows_of(first)
    start = IncrementalGrower(join_rows(rows, None, None))
    start.grower.grow(TrainingData(rows), recipe, Options())
    joined = join_rows(
        rows, batch_of(added), None if removed is None else batch_of(removed)
    )
    again = IncrementalGrower(joined, start.tree_state)
    tree = again.grower.grow(TrainingData(rows), recipe, Options())
    every = {name: [*first[name], *added[name]] for name in first}
    if removed is not None:
        lines = list(zip(*every.values(), strict=True))
        for line in zip(*removed.values(), strict=True):
            lines.remove(line)
        every = dict(zip(every, map(list, zip(*lines, strict=True)), strict=True))
    whole = IncrementalGrower(join_rows(rows_of(every), None, None))
    expected = whole.grower.grow(TrainingData(rows_of(every)), recipe, Options())
    assert_same_tree(expected, tree, whole=True)
    return tree, start, again


def test_what_a_batch_changes_is_what_is_counted():
    random = np.random.default_rng(0)
    n_rows = 4000
    first = {
        "a": random.integers(0, 1000, n_rows).astype(float).tolist(),
        "b": random.choice(list("pqrs"), n_rows).tolist(),
    }
    first["y"] = [
        "high" if a > 500 else "low" if b in "pq" else "none"
        for a, b in zip(first["a"], first["b"], strict=True)
    ]
    recipe = RECIPES["cart"]
    one = {"a": [100.0], "b": ["p"], "y": ["low"]}
    _, start, again = check_update(first, one, recipe)
    # Tables of two attributes, and how one agrees with the other.
    assert again.n_counted <= 20
    assert start.n_counted >= 3 * n_rows
    ten = {"a": [100.0] * 10, "b": ["p"] * 10, "y": ["low"] * 10}
    _, _, more = check_update(first, ten, recipe)
    assert more.n_counted == 10 * again.n_counted
    # A row of another class in a leaf: its rows are counted, and nobody else's.
    other = {"a": [900.0], "b": ["p"], "y": ["low"]}
    _, _, stale = check_update(first, other, recipe)
    at_leaf = sum(a > 500 for a in first["a"])
    assert at_leaf < stale.n_counted < 8 * at_leaf < start.n_counted + 8 * at_leaf


def test_thresholds_of_all_rows_move_at_nodes_without_changes(every_node_stores_tables):
    """C4.5 cuts at the greatest value of the whole table below the middle."""
    first = {"side": ["l"] * 8 + ["r"] * 8, "x": [1.0, 1, 1, 1, 5, 5, 5, 5] * 2}
    first["y"] = ["a"] * 4 + ["b"] * 4 + ["b"] * 4 + ["c"] * 4
    recipe = Recipe.named("c4.5").changed(pruning="none", mdl_correction=False)
    added = {"side": ["r"], "x": [2.0], "y": ["b"]}
    tree, _, _ = check_update(first, added, recipe)
    thresholds = {
        getattr(node.split, "threshold", None)
        for node in tree
        if node.split is not None
    }
    assert 2.0 in thresholds - {None}


def test_limits_that_are_shares_reach_nodes_without_changes(every_node_stores_tables):
    first = {"side": ["l"] * 10 + ["r"] * 10, "x": [1.0, 1, 2, 2, 2] * 4}
    first["y"] = ["a", "a", "b", "b", "b"] * 2 + ["c"] * 10
    recipe = Recipe.named("cart").changed(min_samples_leaf=0.19)
    added = {"side": ["r"] * 8, "x": [1.0] * 8, "y": ["c"] * 8}
    small, _, _ = check_update(
        first, {name: cells[:1] for name, cells in added.items()}, recipe
    )
    tree, _, _ = check_update(first, added, recipe)
    assert len(tree) < len(small)


def test_new_values_and_classes_push_codes_up(every_node_stores_tables):
    first = {"b": ["d", "f"] * 6, "x": [1.0, 2, 3, 4, 5, 6] * 2, "y": ["n", "p"] * 6}
    added = {"b": ["a", "e", "z"], "x": [1.0, 9, 9], "y": ["m", "o", "n"]}
    for name in ("id3", "cart"):
        tree, _, _ = check_update(first, added, RECIPES[name])
        assert tree.schema.target.classes == ("m", "n", "o", "p")
        assert tree.schema.attributes[0].values == ("a", "d", "e", "f", "z")


def test_what_the_last_row_takes_with_it(every_node_stores_tables):
    first = {"b": ["d", "f", "g"] * 4, "x": [1.0, 2, 3, 4] * 3}
    first["y"] = ["n", "p", "q"] * 4
    added = {"b": ["d"], "x": [1.0], "y": ["p"]}
    lines = zip(*first.values(), strict=True)
    gone = [line for line in lines if line[0] == "g"]
    removed = dict(zip(first, map(list, zip(*gone, strict=True)), strict=True))
    tree, _, _ = check_update(first, added, RECIPES["id3"], removed)
    assert tree.schema.target.classes == ("n", "p")
    assert tree.schema.attributes[0].values == ("d", "f")


def test_partial_fit_is_fit():
    random = np.random.default_rng(1)
    cells = random.normal(size=(90, 3)).round(1)
    labels = np.where(cells[:, 0] > 0, "a", np.where(cells[:, 1] > 0, "b", "c"))
    for settings in ({"recipe": "id3"}, {"recipe": "c4.5"}, {"validation_share": 0.3}):
        parts, whole = TreeClassifier(**settings), TreeClassifier(**settings)
        for start in range(0, 90, 30):
            rows = slice(start, start + 30)
            parts.partial_fit(cells[rows], labels[rows])
        whole.fit(cells, labels)
        assert str(parts) == str(whole)
        assert parts.classes_.tolist() == whole.classes_.tolist()
    numbers = TreeRegressor("cart").partial_fit(cells[:50], cells[:50, 2])
    numbers.partial_fit(cells[50:], cells[50:, 2], sample_weight=np.full(40, 2.0))
    weights = [1.0] * 50 + [2.0] * 40
    expected = TreeRegressor("cart").fit(cells, cells[:, 2], weights)
    np.testing.assert_allclose(numbers.predict(cells), expected.predict(cells))


def test_one_row_at_a_time_from_the_first():
    model = TreeClassifier("id3")
    for number, label in enumerate("aabba"):
        model.partial_fit([[float(number)]], [label])
    assert model.get_n_leaves() == 3
    assert model.predict([[0.0], [2.0], [4.0]]).tolist() == ["a", "b", "a"]


def test_classes_that_are_named_at_first_are_all():
    model = TreeClassifier("id3").partial_fit([[1.0]], ["b"], classes=["a", "b"])
    assert model.classes_.tolist() == ["a", "b"]
    model.partial_fit([[2.0]], ["a"], classes=["a", "b"])
    with pytest.raises(DataError, match="'c', and its values are declared"):
        model.partial_fit([[3.0]], ["c"])
    with pytest.raises(ParameterError, match="differs from the first call"):
        model.partial_fit([[3.0]], ["a"], classes=["a", "c"])


def test_a_model_stays_as_it_is_when_rows_are_added():
    shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
    model = spinney.grow(shop, "sold", recipe="id3", keep_rows=True)
    before = str(model)
    one = model.updated({"size": [5], "sold": ["no"]})
    two = model.updated({"size": [6], "sold": ["no"]})
    assert str(model) == before
    assert "size ≤ 4.5" in str(one)
    assert "size ≤ 5" in str(two)
    assert str(one.updated(remove={"size": [5], "sold": ["no"]})) == before


def test_what_is_refused():
    shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
    with pytest.raises(ParameterError, match="keep_rows=True"):
        spinney.grow(shop, "sold").updated(shop)
    model = spinney.grow(shop, "sold", recipe="id3", keep_rows=True)
    with pytest.raises(DataError, match="row 2 is not among the 4 rows"):
        model.updated(remove={"size": [1, 9], "sold": ["no", "no"]})
    with pytest.raises(DataError, match="no row is left"):
        model.updated(remove=shop)
    with pytest.raises(ParameterError, match="data="):
        model.updated()
    with pytest.raises(ParameterError, match="not those to prune by"):
        spinney.grow(shop, "sold", keep_rows=True, validation=shop)
    with pytest.raises(DataError, match="'size'"):
        model.updated({"size": ["wide"], "sold": ["no"]})


def test_settings_of_later_calls_are_those_of_the_first():
    model = TreeClassifier(recipe="id3").partial_fit([[1], [2]], ["a", "b"])
    model.set_params(max_depth=1)
    with pytest.raises(ParameterError, match="max_depth=1 differs from the first"):
        model.partial_fit([[3]], ["a"])
    model.set_params(max_depth=None, n_jobs=1).partial_fit([[3]], ["a"])
    with pytest.raises(ParameterError, match="classes=3 is not a list of classes"):
        TreeClassifier(recipe="id3").partial_fit([[3]], ["a"], classes=3)
    fitted = TreeClassifier("id3").fit([[1], [2]], ["a", "b"])
    with pytest.warns(SpinneyWarning, match="does not store its rows, so partial_fit"):
        fitted.partial_fit([[3]], ["c"])
    assert fitted.classes_.tolist() == ["c"]


def test_rows_without_weight_bring_nothing():
    table = {"b": ["u", "v", "u", "v"], "y": ["p", "q", "p", "q"], "w": [1, 1, 1, 1]}
    none = {"b": ["new"], "y": ["r"], "w": [0]}
    model = spinney.grow(table, "y", recipe="id3", weight="w", keep_rows=True)
    assert str(model.updated(none)) == str(model)
    some = {"b": ["new", "u"], "y": ["r", "q"], "w": [0, 1]}
    all_rows = {name: [*cells, *some[name]] for name, cells in table.items()}
    expected = spinney.grow(all_rows, "y", recipe="id3", weight="w")
    assert str(model.updated(some)) == str(expected)


def test_rows_that_lack_a_cell_bring_nothing_where_they_are_dropped():
    table = {"b": [1, 2, 3, 4], "c": list("uvuv"), "y": list("ppqq")}
    recipe = RECIPES["cart"].changed(missing_policy="drop")
    model = spinney.grow(table, "y", recipe=recipe, keep_rows=True)
    some = {"b": [5, None, 6], "c": ["u", "v", None], "y": list("prp")}
    whole = {"b": [5], "c": ["u"], "y": ["p"]}
    all_rows = {name: [*cells, *whole[name]] for name, cells in table.items()}
    expected = spinney.grow(all_rows, "y", recipe=recipe)
    assert str(model.updated(some)) == str(expected)


def test_a_share_of_all_rows_that_is_reserved_is_drawn_anew():
    table = {"b": [*range(40)], "y": ["p", "q"] * 10 + ["q"] * 20}
    how = {"recipe": "id3", "pruning": "reduced-error", "validation_share": 0.3}
    model = spinney.grow(table, "y", keep_rows=True, **how)
    more = {"b": [40, 41], "y": ["q", "p"]}
    every = {name: [*cells, *more[name]] for name, cells in table.items()}
    assert str(model.updated(more)) == str(spinney.grow(every, "y", **how))


def test_a_number_that_is_the_same_in_all_rows_that_stay_is_a_leaf():
    table = {"b": [1, 2, 3], "y": [5.0, 5.0, 9.0]}
    model = spinney.grow(table, "y", recipe="cart", keep_rows=True)
    left = model.updated(remove={"b": [3], "y": [9.0]})
    assert left.predict({"b": [1, 3]}).tolist() == [5.0, 5.0]
    assert left.tree.root.is_leaf


def test_numbers_that_come_are_measured_from_near_their_mean(every_node_stores_tables):
    table = {"b": [1, 2, 3, 4], "y": [1.0, 2.0, 1.5, 3.0]}
    model = spinney.grow(table, "y", recipe="cart", keep_rows=True)
    more = {"b": [5, 6, 7, 8, 9], "y": [1e9, 1e9 + 1, 1e9 + 3, 1e9, 1e9 + 2]}
    every = {name: [*cells, *more[name]] for name, cells in table.items()}
    expected = spinney.grow(every, "y", recipe="cart")
    assert_same_tree(expected.tree, model.updated(more).tree, whole=True)


@pytest.mark.parametrize(
    "known, new, values",
    [
        ([1, 2, 1, 2], [3.0], (1, 2, 3)),
        ([1, 2, 1, 2], ["3"], (1, 2, 3)),
        (["1", "2", "1", "2"], [3], ("1", "2", "3")),
        (["u", "v", "u", "v"], [3], ("3", "u", "v")),
    ],
)
def test_new_values_are_of_the_kind_of_those_that_are_known(known, new, values):
    table = {"b": known, "y": list("pqpq")}
    model = spinney.grow(table, "y", recipe="id3", nominal=["b"], keep_rows=True)
    assert model.updated({"b": new, "y": ["p"]}).schema.attributes[0].values == values


def test_values_that_were_declared_are_all():
    table = {"b": ["u", "v", "u", "v"], "y": list("pqpq")}
    how = {"recipe": "id3", "values": {"b": ["u", "v"]}}
    model = spinney.grow(table, "y", keep_rows=True, **how)
    with pytest.raises(DataError, match="'b' holds 'w', and its values are declared"):
        model.updated({"b": ["w"], "y": ["p"]})


def test_a_tree_that_was_cut_keeps_no_rows():
    table = {"x": [1, 2, 3, 4], "y": ["a", "b", "a", "b"]}
    model = spinney.grow(table, "y", recipe="id3", keep_rows=True)
    with pytest.raises(ParameterError, match="does not store its 4 rows"):
        model.prune(nodes=[0]).updated(table)


def test_recipes_that_are_grown_whole_say_why():
    assert [name for name, recipe in RECIPES.items() if why_from_scratch(recipe)] == [
        "auto",
        "optimal",
    ]


def test_tables_of_very_many_rows_are_not_stored(monkeypatch):
    from spinney.extensions.incremental import update_model

    shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
    model = spinney.grow(shop, "sold", recipe="id3", keep_rows=True)
    more = {"size": [5], "sold": ["no"]}
    assert model.updated(more).model_.update_state.tree is not None
    monkeypatch.setattr(update_model, "MAX_SECONDS", 0.0)
    monkeypatch.setattr(
        update_model, "choose_grower", lambda *_: update_model.Grower("binned", None)
    )
    grown = model.updated(more)
    assert grown.model_.update_state.tree is None
    assert str(grown) == str(model.updated(more))


@pytest.mark.parametrize("n_more", [3, 60], ids=["same multiples", "coarser ones"])
def test_broken_weights_are_rounded_as_those_of_all_rows_at_once(n_more):
    random = np.random.default_rng(5)
    n_rows = 40 + n_more
    every = {
        "a": random.integers(0, 9, n_rows).tolist(),
        "w": (random.integers(1, 9, n_rows) / 7).tolist(),
        "y": random.choice(["p", "q"], n_rows).tolist(),
    }
    first, more = (
        {name: cells[part] for name, cells in every.items()}
        for part in (slice(40), slice(40, None))
    )
    grown = spinney.grow(first, target="y", weight="w", recipe="id3", keep_rows=True)
    whole = spinney.grow(every, target="y", weight="w", recipe="id3")
    for updated in (
        grown.updated(more),
        grown.updated(more).updated(more, remove=more),
    ):
        weights = [node.weights.tolist() for node in updated.tree]
        assert weights == [node.weights.tolist() for node in whole.tree]
