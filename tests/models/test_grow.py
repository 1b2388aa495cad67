"""From any table to a model: where rows are counted, weights, targets, refusals."""

import warnings

import duckdb
import numpy as np
import pytest
from tests.helpers.models import assert_same_model
from tests.helpers.recipes import by_recipe
from tests.helpers.strategies import TABLES

import spinney
from spinney.data.declarations import Declarations
from spinney.data.readers import read_table
from spinney.errors import DataError, ParameterError, SpinneyNote, SpinneyWarning
from spinney.growth.model import Model
from spinney.growth.plain.learner import grow_tree
from spinney.models.grow import grow_from, grow_model
from spinney.output.tree_text import to_text
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource
from spinney.sources.rows.training_rows import as_classes, training_set
from spinney.sources.training_data import INPUT_PARAMETERS, TableInput, TrainingData

COLUMNS = {
    "x": [1.0, 2.0, 3.0, 4.0],
    "c": ["a", "b", "a", "b"],
    "y": ["n", "p", "p", "n"],
    "w": [1.0, 2.0, 0.5, 1.0],
}


def grow(data: object = None, target: str = "y", **options: object) -> Model:
    names = ("declarations", *INPUT_PARAMETERS)
    read = {name: options.pop(name) for name in names if name in options}
    table = TableInput(data=COLUMNS if data is None else data, target=target, **read)
    return grow_from(table, **{"recipe": RECIPES["id3"], **options})


def relation(columns: dict = COLUMNS) -> duckdb.DuckDBPyRelation:
    rows = list(zip(*columns.values(), strict=True))
    marks = ", ".join(f"({', '.join('?' * len(columns))})" for _ in rows)
    names = ", ".join(f'"{name}"' for name in columns)
    flat = [cell for row in rows for cell in row]
    connection = duckdb.connect()
    return connection.sql(f"SELECT * FROM (VALUES {marks}) AS t({names})", params=flat)


def test_the_model_knows_where_it_comes_from():
    model = grow(weight="w")
    assert model.recipe == RECIPES["id3"]
    assert model.schema.names == ("x", "c")
    assert (model.fingerprint.n_rows, model.fingerprint.weight) == (4, 4.5)
    assert model.fingerprint.digest
    assert model.fingerprint.version == spinney.__version__


def test_rows_in_a_database_have_no_digest():
    model = grow(relation(), weight="w")
    assert (model.fingerprint.n_rows, model.fingerprint.weight) == (4, 4.5)
    assert model.fingerprint.digest == ""


def test_a_relation_stays_in_duckdb_unless_told(monkeypatch):
    made = []
    monkeypatch.setattr(
        "spinney.sources.rows.training_rows.MemorySource",
        lambda *args, **options: made.append(1) or MemorySource(*args, **options),
    )
    grow(relation())
    assert made == []
    grow(relation(), engine="memory")
    assert made == [1]
    fruit = TABLES / "fruit.csv"
    ignored = Declarations(ignore=("id",))
    grow(fruit, "type", engine="duckdb", declarations=ignored)
    assert made == [1]
    grow(fruit, "type", declarations=ignored)
    assert made == [1, 1]


def test_an_unknown_source():
    with pytest.raises(
        ParameterError, match="engine='duckbd' is unknown: did you mean"
    ):
        grow(engine="duckbd")


@pytest.mark.parametrize("data", [COLUMNS, np.zeros((2, 2))])
def test_what_duckdb_cannot_count(data):
    with pytest.raises(ParameterError, match="engine='duckdb' cannot count"):
        grow(data, engine="duckdb")


# Weights


@pytest.mark.parametrize(
    "weight, message",
    [
        ("y", "weight 'y' is the target"),
        ("c", "weight 'c' is nominal: weights must be numbers"),
        ("ww", "no column 'ww': did you mean 'w'"),
    ],
)
def test_weights_that_are_refused(weight, message):
    with pytest.raises(DataError, match=message):
        grow(weight=weight)


@pytest.mark.parametrize(
    "cell, message",
    [(-1.0, "the weight -1 in row 3"), (None, "a missing cell in row 3")],
)
def test_a_cell_that_is_no_weight(cell, message):
    columns = {**COLUMNS, "w": [1.0, 1.0, cell, 1.0]}
    with pytest.raises(DataError, match=message):
        grow(columns, weight="w")
    found = "the weight -1.0" if cell else "1 missing cells"
    with pytest.raises(DataError, match=f"weight 'w' has {found}"):
        grow(relation(columns), weight="w")


@pytest.mark.parametrize("weight", ["c", "ww"])
def test_duckdb_refuses_the_same_weights(weight):
    with pytest.raises(DataError, match=f"'{weight}'"):
        grow(relation(), weight=weight)


def test_duckdb_refuses_the_target_as_weight():
    columns = {"x": [1.0, 2.0, 3.0, 4.0], "y": [1, 2, 2, 1]}
    with pytest.raises(DataError, match="weight 'y' is the target"):
        grow(columns, weight="y")
    with pytest.raises(DataError, match="weight 'y' is the target"):
        grow(relation(columns), weight="y")


def test_a_weight_that_is_no_name():
    with pytest.raises(DataError, match="weight"):
        grow(weight=3)


@pytest.mark.parametrize(
    "option", [{"connection": "x"}, {"format": "csv"}, {"encoding": "latin-1"}]
)
def test_options_that_mean_nothing_here_are_refused(option):
    with pytest.raises(ParameterError, match=next(iter(option))):
        grow(**option)


def test_a_source_grows_one_tree_after_another():
    table = read_table({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]})
    target, codes = as_classes(table["y"])
    source = training_set(table.without(["y"]), target, classes=codes).source()
    first, second = (grow_tree(source, RECIPES["cart"]) for _ in range(2))
    assert to_text(first) == to_text(second)


# Targets


@pytest.mark.parametrize("target", ["yy", "", "Y"])
def test_a_target_that_is_not_there(target):
    with pytest.raises(DataError):
        grow(target=target)
    with pytest.raises(DataError):
        grow(relation(), target)


def test_duckdb_refuses_no_target():
    with pytest.raises(DataError):
        grow(target=None)
    with pytest.raises(DataError):
        grow(relation(), None)


def test_missing_classes_are_told_in_memory():
    columns = {"x": [1.0, 2.0, 3.0], "y": ["a", "b", None]}
    with pytest.warns(SpinneyWarning, match="is missing in 1 of 3 rows"):
        model = grow(columns)
    assert model.fingerprint.n_rows == 2


def test_missing_classes_are_told_in_duckdb():
    columns = {"x": [1.0, 2.0, 3.0], "y": ["a", "b", None]}
    with pytest.warns(SpinneyWarning, match="is missing in 1 of 3 rows"):
        grow(relation(columns))


@pytest.mark.parametrize(
    "labels, message",
    [
        ([None, None], "(all 2 cells are|every cell is) missing"),
        (["a\nb", "c"], "line break"),
        ([0.5, 1e200], "whose square is beyond"),
    ],
)
def test_targets_that_both_refuse(labels, message):
    columns = {"x": [1.0, 2.0], "y": labels}
    for data in (columns, relation(columns)):
        with pytest.raises(DataError, match=message):
            grow(data)


def test_columns_worth_a_look_are_told():
    columns = {
        "name": [f"n{i}" for i in range(12)],
        "x": list(range(12)),
        "y": ["a", "b"] * 6,
    }
    with pytest.warns(SpinneyNote, match="'name' has only unique values"):
        assert grow(columns).schema.names == ("x",)


@pytest.mark.parametrize("n_repeats", [0, 2, 3])
def test_identifiers_are_told_alike_of_rows_in_memory_and_in_duckdb(n_repeats):
    names = [f"n{i}" for i in range(20 - n_repeats)] + ["n0"] * n_repeats
    columns = {"name": [*names, None], "x": list(range(21)), "y": list("ab" * 10 + "a")}
    told = []
    for data in (columns, relation(columns)):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            grow(data)
        told.append([str(w.message) for w in found])
    assert told[0] == told[1]
    assert len(told[0]) == (n_repeats < 3)


def test_markers_are_kept_for_later_tables():
    declared = Declarations(missing=("?", "99"))
    columns = {"x": [1.0, 99.0, 3.0, 4.0], "c": ["?", "b", "a", "b"], "y": list("npnp")}
    for data in (columns, relation(columns)):
        model = grow(data, declarations=declared)
        assert model.schema.markers == ("?", "99")
        assert model.schema.attributes[1].values == ("a", "b")
        assert {c.table.missing_rows.sum() for c in model.tree.root.candidates} == {1}


def test_growing_over_a_source_directly():
    table = spinney.read_table({"x": COLUMNS["x"], "c": COLUMNS["c"]})
    target = grow().schema.target
    training = training_set(table, target, classes=np.array([0, 1, 1, 0]))
    found = grow_model(TrainingData(training), recipe=RECIPES["id3"])
    without = {name: COLUMNS[name] for name in ("x", "c", "y")}
    assert_same_model(found, grow(without))


def test_options_reach_the_learner():
    forced = grow(forced_splits={(): "c"}, class_weight={"n": 3})
    assert forced.tree.root.forced
    assert forced.tree.root.weights.tolist() == [6, 2]
    preferred = grow({"a": [1, 2], "b": [1, 2], "y": ["n", "p"]}, tie_break_order=["b"])
    assert preferred.tree.root.split.attribute == 1


def test_rows_that_stay_away_are_missed_by_the_setting_that_asks_for_them():
    rows = duckdb.sql("SELECT i AS x, i > 3 AS y FROM range(8) AS t(i)")
    with pytest.raises(ParameterError, match=r"'c4.5'\) .*, or leave out forest$"):
        spinney.grow(rows, "y", **by_recipe(recipe="c4.5", forest=0.5))
    with pytest.raises(ParameterError, match=r"'auto'\) .*such as 'c4.5'$"):
        spinney.grow(rows, "y", **by_recipe(recipe="auto", forest=0.5))


IDENTIFIED = {
    "id": list(range(1, 25)),
    "name": [f"n{i}" for i in range(24)],
    "size": [1, 2, 3, 4] * 6,
    "sold": ["no", "no", "yes", "yes"] * 6,
}


@pytest.mark.parametrize(
    "recipe", ["auto", "id3", "c4.5", "cart", "chaid", "optimal", "hoeffding"]
)
def test_every_recipe_leaves_out_what_only_tells_rows_apart(recipe):
    with pytest.warns(SpinneyNote) as told:
        model = spinney.grow(IDENTIFIED, "sold", recipe=recipe)
    assert model.schema.names == ("size",)
    assert [str(each.message) for each in told] == [
        "column 'id' numbers the rows and was excluded; to keep it, declare it "
        "(numeric=['id'])",
        "column 'name' has only unique values (24) and was excluded; to keep it, "
        "declare it (nominal=['name'])",
    ]


def test_numbers_of_rows_are_left_out_by_a_recipe_for_numbers():
    rows = {**IDENTIFIED, "sold": [1.5, 2.5, 8.5, 9.5] * 6}
    with pytest.warns(SpinneyNote, match="was excluded"):
        model = spinney.grow(rows, "sold", recipe="m5")
    assert model.schema.names == ("size",)


@pytest.mark.filterwarnings("ignore:.*excluded from splits:spinney.SpinneyNote")
@pytest.mark.parametrize("recipe", [None, "c4.5"])
def test_what_is_declared_stays_and_so_does_all_where_nothing_else_would(recipe):
    declared = {"numeric": ["id"], "nominal": ["name"], "recipe": recipe}
    for data in (IDENTIFIED, relation(IDENTIFIED)):
        with pytest.warns(SpinneyWarning, match="'name' looks like an identifier"):
            model = spinney.grow(data, "sold", **declared)
        assert model.schema.names == ("id", "name", "size")
    only = {"name": IDENTIFIED["name"], "sold": IDENTIFIED["sold"]}
    with pytest.warns(SpinneyWarning, match="'name' looks like an identifier"):
        assert spinney.grow(only, "sold", recipe=recipe).schema.names == ("name",)


IRIS = TABLES / "iris.csv"


def test_progress_counts_the_trees_of_recipes_and_folds():
    told = []
    spinney.grow(IRIS, "class", progress=lambda *numbers: told.append(numbers))
    totals = [total for _, total in told]
    assert told[0] == (0, totals[0])
    assert totals == sorted(totals)
    dones = [done for done, _ in told]
    assert dones == sorted(dones)
    assert told[-1] == (totals[-1], totals[-1])
    assert totals[-1] > 10


def test_progress_of_a_single_tree():
    told = []
    options = {"recipe": "id3", "progress": lambda *n: told.append(n)}
    spinney.grow(IRIS, "class", **options, measure_quality=False)
    assert told == [(0, 1), (1, 1), (1, 1)]
    told.clear()
    spinney.grow(IRIS, "class", **options)  # and five trees that measure it
    assert [told[0], told[-1]] == [(0, 6), (6, 6)]


def test_progress_of_folds_that_prune():
    told = []
    model = spinney.grow(IRIS, "class", recipe="cart")
    model.prune(
        "cost-complexity", data=IRIS, folds=4, progress=lambda *n: told.append(n)
    )
    assert told == [(done, 4) for done in range(5)]
    with pytest.raises(ParameterError, match=r"progress=3 must be a function of two"):
        model.prune("collapse", progress=3)


@pytest.mark.parametrize("grow", [spinney.grow, spinney.grow_forest])
def test_progress_must_be_a_function(grow):
    with pytest.raises(ParameterError, match=r"progress=3 must be a function of two"):
        grow(IRIS, "class", progress=3)


def test_progress_of_a_forest():
    told = []
    spinney.grow_forest(
        IRIS, "class", n_estimators=5, progress=lambda *n: told.append(n)
    )
    assert told[-1] == (5, 5)
