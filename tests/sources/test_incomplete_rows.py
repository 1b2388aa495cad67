"""Rows that lack a cell, left out before growing: everywhere alike, and counted."""

import duckdb
import numpy as np
import pytest
from tests.sources.comparing import arrow_of, assert_same_tree

import spinney
from spinney.errors import DataError, ParameterError, SpinneyNote
from spinney.recipes import Recipe

TABLE = {
    "x": [1.0, 2.0, None, 4.0, 5.0, 6.0, 7.0, 8.0],
    "hue": ["red", "red", "blue", None, "green", "red", "green", "red"],
    "w": [1.0, 2.0, 3.0, 4.0, 1.0, 1.0, 2.0, 1.0],
    "y": ["a", "a", "b", "a", "b", "b", "a", "c"],
}
# The rows that lack nothing; blue is among the others only.
KEPT = [0, 1, 4, 5, 6, 7]
COMPLETE = {name: [cells[row] for row in KEPT] for name, cells in TABLE.items()}
OPTIONS = {"recipe": "cart", "pruning": "none", "missing_policy": "drop"}
NOTE = (
    "missing_policy='drop': 2 of 8 rows lack a cell and are left "
    "out; column 'x' lacks most"
)


def test_a_tree_is_that_of_the_complete_rows():
    with pytest.warns(SpinneyNote, match=NOTE):
        model = spinney.grow(TABLE, "y", ignore=["w"], **OPTIONS)
    expected = spinney.grow(COMPLETE, "y", ignore=["w"], **OPTIONS)
    assert model.export("json") == expected.export("json")
    assert model.tree.schema.attributes[1].values == ("green", "red")
    assert model.model_.fingerprint.n_rows == 6


def test_weights_go_with_their_rows():
    with pytest.warns(SpinneyNote, match="2 of 8 rows, of weight 7, lack a cell"):
        model = spinney.grow(TABLE, "y", weight="w", **OPTIONS)
    expected = spinney.grow(COMPLETE, "y", weight="w", **OPTIONS)
    assert model.tree.root.weight == 8
    assert model.export("json") == expected.export("json")


@pytest.mark.parametrize("weight", [None, "w"])
def test_duckdb_leaves_the_same_rows_out(weight):
    options = {**OPTIONS, "weight": weight, "ignore": [] if weight else ["w"]}
    with pytest.warns(SpinneyNote) as notes:
        plain = spinney.grow(TABLE, "y", **options)
    with duckdb.connect() as connection:
        relation = connection.from_arrow(arrow_of(TABLE))
        with pytest.warns(SpinneyNote) as others:
            counted = spinney.grow(relation, "y", connection=connection, **options)
        assert_same_tree(counted.tree, plain.tree, whole=True)
    assert [str(n.message) for n in notes] == [str(n.message) for n in others]


def test_a_class_of_incomplete_rows_alone_is_none():
    table = {"x": [1, 2, 3, None], "y": ["a", "b", "a", "c"]}
    with pytest.warns(SpinneyNote, match="1 of 4 rows lacks a cell and is left out"):
        model = spinney.grow(table, "y", **OPTIONS)
    assert model.tree.schema.target.classes == ("a", "b")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_where_no_row_is_complete_it_is_refused(engine, tmp_path):
    table = "x,z,y\n1,,a\n,2,b\n,3,a\n"
    (tmp_path / "t.csv").write_text(table)
    with pytest.raises(DataError, match=r"leaves no row: .* column 'x' lacks most, 2"):
        spinney.grow(tmp_path / "t.csv", "y", engine=engine, **OPTIONS)


def test_nothing_is_said_where_nothing_is_missing(recwarn):
    spinney.grow(COMPLETE, "y", ignore=["w"], **OPTIONS)
    assert not recwarn


def test_a_row_that_lacks_a_cell_is_predicted_by_the_heaviest_branches():
    table = {"x": [1, 2, 3, 8, 9], "y": ["a", "a", "a", "b", "b"]}
    model = spinney.grow(table, "y", **OPTIONS)
    assert model.predict({"x": [None, 9.0]}).tolist() == ["a", "b"]


def test_estimators_and_forests_drop_rows_too():
    X = {name: TABLE[name] for name in ("x", "hue")}
    tree = spinney.TreeClassifier("cart", missing_policy="drop")
    with pytest.warns(SpinneyNote, match="2 of 8 rows, of weight 7, lack"):
        tree.fit(X, TABLE["y"], sample_weight=TABLE["w"])
    assert tree.tree.root.n_rows == 6
    assert tree.classes_.tolist() == ["a", "b", "c"]
    with pytest.warns(SpinneyNote, match="2 of 8 rows"):
        forest = spinney.grow_forest(
            TABLE, "y", ignore=["w"], missing_policy="drop", n_estimators=3
        )
    assert forest.forest_.fingerprint.n_rows == 6
    assert len(forest.predict(TABLE)) == 8


def test_pruning_by_folds_takes_the_table_as_it_was():
    table = {name: cells * 10 for name, cells in TABLE.items()}
    with pytest.warns(SpinneyNote):
        model = spinney.grow(table, "y", ignore=["w"], **OPTIONS)
    smaller = model.prune("cost-complexity", data=table)
    assert smaller.tree.root.n_rows == 60


def test_evaluations_train_on_complete_rows_and_test_on_all():
    random = np.random.default_rng(0)
    x = random.normal(size=60)
    table = {
        "x": [None if i % 7 == 0 else value for i, value in enumerate(x)],
        "y": np.where(x > 0, "a", "b").tolist(),
    }
    report = spinney.evaluate(
        table, "y", recipes=["cart"], missing_policy="drop", folds=3
    )
    assert "cart" in str(report)


def test_explanations_count_the_rows_that_were_kept():
    with pytest.warns(SpinneyNote):
        model = spinney.grow(TABLE, "y", ignore=["w"], **OPTIONS)
    told = model.explain(0, data=TABLE)
    assert told.given.same
    assert told.n_rows == 6


def test_a_forest_knows_its_rows_again():
    table = {name: cells * 3 for name, cells in TABLE.items() if name != "w"}
    with pytest.warns(SpinneyNote):
        forest = spinney.grow_forest(table, "y", missing_policy="drop", n_estimators=3)
    assert forest.permutation_importances(table).by_tree.shape == (3, 2)


def test_rule_sets_are_of_the_rows_that_were_kept(recwarn):
    with pytest.warns(SpinneyNote):
        model = spinney.grow(TABLE, "y", ignore=["w"], **OPTIONS)
    recwarn.clear()
    rules = model.ruleset(TABLE)
    assert not recwarn
    assert str(rules) == str(model.ruleset(COMPLETE))


def test_recipes_of_a_forest_leave_out_the_same_rows():
    dropping = Recipe.named("c4.5").changed(missing_policy="drop")
    with pytest.raises(ParameterError, match=r"c4\.5.*missing_policy='drop'.*'cart'"):
        spinney.grow_forest(TABLE, "y", recipe=["cart", dropping], n_estimators=2)
    with pytest.warns(SpinneyNote):
        spinney.grow_forest(TABLE, "y", recipe=[dropping, dropping], n_estimators=2)
